"""Dead letters go back to where they came from. Attempts start anew; id, body and content type stay, and so one timeline.

Each batch is stored in its queue before it leaves the dead-letter queue. After a crash in between, the next redrive finds the
message there already and only takes it away: nothing is lost, nothing is doubled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cfq_lint import limits as cloudflare
from emulator.core import commands
from emulator.core import events as happened
from emulator.core.decide.manage import find
from emulator.core.model import FLYING, Message
from emulator.core.refusals import Refused
from emulator.http.watch import dead_letter_sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emulator.broker import Broker
    from emulator.http.watch import Death


class SentBack(NamedTuple):
    """How many went back, how many stay, and why they stay."""

    moved: int
    left: int
    refused: str | None


def send_back(broker: Broker, queue: str, deaths: dict[tuple[str, str], Death], target: str | None = None) -> SentBack:
    """Send the dead letters of a queue to `target`, or each to its own source. Raises Refused (11000).

    Letters that a consumer has in hand, and those whose source is gone or not known, stay.
    """
    held = find(broker.state, queue)
    if target is not None:
        find(broker.state, target)
    letters = [each for each in list(held.messages.values()) if each.dead and each.place < FLYING]
    homes = dict.fromkeys((each.id for each in letters), target) if target else _homes(broker, queue, letters, deaths)
    parted: dict[str, list[Message]] = {}
    for letter in letters:
        home = homes.get(letter.id)
        if home is not None and home != queue and home in broker.state.queues:
            parted.setdefault(home, []).append(letter)
    moved = 0
    for home, waiting in parted.items():
        for batch in _batches(waiting):
            try:
                _move(broker, queue, home, batch)
            except Refused as refusal:
                return SentBack(moved, len(letters) - moved, str(refusal))
            moved += len(batch)
    left = len(letters) - moved
    return SentBack(moved, left, "their source is not known or is gone" if left else None)


def _homes(broker: Broker, queue: str, letters: list[Message], deaths: dict[tuple[str, str], Death]) -> dict[str, str | None]:
    """Where each letter came from: as watched, else as the journal says, else the only queue that sends its letters here."""
    homes: dict[str, str | None] = {
        letter.id: deaths[queue, letter.id].source for letter in letters if (queue, letter.id) in deaths
    }
    missing = {letter.id for letter in letters} - homes.keys()
    if missing:
        for event in broker.journal.read():
            if isinstance(event, happened.Settled | happened.LeasesSettled | happened.LeasesLapsed) and event.target == queue:
                homes.update(dict.fromkeys(missing.intersection(event.dead), event.queue))
        sources = dead_letter_sources(list(broker.state.queues.items())).get(queue, [])
        if len(sources) == 1:
            homes.update(dict.fromkeys(missing - homes.keys(), sources[0]))
    return homes


def _batches(letters: Iterable[Message]) -> Iterator[list[Message]]:
    """As many together as one sendBatch() takes."""
    batch: list[Message] = []
    size_bytes = 0
    for letter in letters:
        full = len(batch) == cloudflare.SEND_BATCH_COUNT_MAX or size_bytes + len(letter.body) > cloudflare.SEND_BATCH_SIZE_BYTES
        if batch and full:
            yield batch
            batch, size_bytes = [], 0
        batch.append(letter)
        size_bytes += len(letter.body)
    if batch:
        yield batch


def _move(broker: Broker, queue: str, home: str, batch: list[Message]) -> None:
    there = broker.state.queues[home].messages
    new = [letter for letter in batch if letter.id not in there]
    if new:
        ids, bodies = tuple([letter.id for letter in new]), tuple([letter.body for letter in new])
        kinds = tuple([letter.content_type for letter in new])
        broker.execute(commands.Send(home, ids, bodies, kinds, (None,) * len(new), many=True))
    broker.execute(commands.Purge(queue, tuple([letter.id for letter in batch])))
