"""Dead letters go back to where they came from. Attempts start anew; id, body and content type stay, and so one timeline.

Each batch leaves the dead-letter queue in the very event that stores it in the other: whenever the process is killed, a letter
is in one of them, and never in both. A test, the REST API, the dashboard and the command line all come here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cfq_lint.facts import limits as cloudflare
from emulator.core import commands
from emulator.core.decide.manage import find
from emulator.core.messages import FLYING, Message
from emulator.core.refusals import Refused
from emulator.engine.ledger.steps import Kind, steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emulator.core.model import QueueState
    from emulator.engine.account import Account
    from emulator.engine.ledger.ledger import Origin


class Redriven(NamedTuple):
    """How many went back, how many stay, and why they stay; `error` is the refusal that stopped it, if one did."""

    moved: int
    left: int
    refused: str | None
    error: Refused | None = None

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"moved": self.moved, "left": self.left, "refused": self.refused}


def redrive(
    account: Account, queue: str, origins: dict[tuple[str, str], Origin], target: str | None = None, limit: int | None = None
) -> Redriven:
    """Send the dead letters of a queue, `limit` at most, each to its own source, or all that waits there to `target`.

    Letters that a consumer has in hand, and those whose source is gone or not known, stay. Raises Refused (11000).
    """
    held = find(account.state, queue)
    if target is not None:
        find(account.state, target)
    waiting = [each for each in list(held.messages.values()) if (each.dead or target is not None) and each.place < FLYING]
    letters = waiting[:limit]
    sources = dict.fromkeys((each.id for each in letters), target) if target else _sources(account, queue, letters, origins)
    parted: dict[str, list[Message]] = {}
    for letter in letters:
        source = sources.get(letter.id)
        if source is not None and source != queue and source in account.state.queues:
            parted.setdefault(source, []).append(letter)
    moved = 0
    for home, those in parted.items():
        for batch in _batches(those):
            try:
                account.execute(commands.Redrive(queue, home, tuple([letter.id for letter in batch])))
            except Refused as refusal:
                return Redriven(moved, len(waiting) - moved, str(refusal), refusal)
            moved += len(batch)
    return Redriven(moved, len(waiting) - moved, None if moved == len(letters) else "their source is not known or is gone")


def dead_letter_sources(queues: Iterable[tuple[str, QueueState]]) -> dict[str, list[str]]:
    """For each dead-letter queue, the queues whose consumers name it."""
    found: dict[str, list[str]] = {}
    for name, queue in queues:
        target = None if queue.consumer is None else queue.consumer.dead_letter_queue
        if target is not None:
            found.setdefault(target, []).append(name)
    return found


def _sources(
    account: Account, queue: str, letters: list[Message], origins: dict[tuple[str, str], Origin]
) -> dict[str, str | None]:
    """Where each letter came from: as watched, else as the journal says, else the only queue that sends its letters here."""
    sources: dict[str, str | None] = {
        letter.id: origins[queue, letter.id].source for letter in letters if (queue, letter.id) in origins
    }
    missing = {letter.id for letter in letters} - sources.keys()
    if missing:
        for event in account.journal.read():
            for step in steps(event):
                if step.kind is Kind.DEAD_LETTERED and step.other == queue:
                    sources.update(dict.fromkeys(missing.intersection(step.ids), step.queue))
        named = dead_letter_sources(list(account.state.queues.items())).get(queue, [])
        if len(named) == 1:
            sources.update(dict.fromkeys(missing - sources.keys(), named[0]))
    return sources


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
