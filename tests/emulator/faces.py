"""The other faces of the emulator that every scenario must pass: async handlers, a URL, a store that is closed and opened again."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from emulator import Emulator
from emulator.core.limits import RELAXED
from emulator.core.messages import Columns
from emulator.engine.targets.batch import MessageBatch
from tests.emulator.endpoints import Endpoint
from tests.emulator.random_scenarios import Play
from tests.emulator.scenario_files import Player

if TYPE_CHECKING:
    from pathlib import Path


class AsyncHandlers(Player):
    """The same handlers as coroutine functions."""

    asynchronous = True


class BehindURL(Player):
    """The same handlers behind a URL: each batch is posted, and what they say comes back as the runtime's own result."""

    def attach(self, consumer: dict) -> None:
        """An endpoint for the consumer, in place of its handler."""
        super().attach(consumer)
        queue = consumer["queue"]
        if queue in self.handlers:
            handler = self.handlers[queue]
            endpoint = self.endpoints.enter_context(Endpoint(lambda batch: result_of(handler, batch)))
            self.emu.attach(endpoint.url, queue=queue)

    def play(self) -> dict:
        """The whole scenario; the endpoints end with it."""
        with ExitStack() as self.endpoints:
            return super().play()


def result_of(handler: Any, posted: dict) -> dict:
    """What a handler makes of a batch that was posted, in the form of the runtime's result."""
    rows = [(m["id"], m["attempts"], json.dumps(m["body"]).encode(), "json", 0) for m in posted["messages"]]
    batch = MessageBatch(posted["queue"], lambda: Columns(*zip(*rows, strict=True)), None, RELAXED, lambda _warning: None)
    outcome = "ok"
    try:
        handler(batch)
    except RuntimeError:
        outcome = "exception"
    said = batch.settlement(0, outcome, None, frozenset({"acks are wanted"}))
    return {
        "outcome": outcome,
        "ackAll": said.ack_all,
        "retryBatch": {"retry": said.retry_all, "delaySeconds": said.retry_all_delay_seconds},
        "explicitAcks": sorted(said.acks),
        "retryMessages": [{"msgId": id, "delaySeconds": delay} for id, delay in said.retries],
    }


class Reopened(Player):
    """The journal is closed and opened again between every two steps; handlers are attached anew, as after a restart."""

    reopened = 0

    def between(self) -> None:
        """Close, open, attach."""
        self.emu.close()
        self.emu = self.open()
        self.reopened += 1
        for queue, handler in self.handlers.items():
            self.emu.attach(handler, queue=queue)


class ReopenedPlay(Play):
    """The same for a random scenario whose handlers take no time: what is in flight does not survive its process."""

    def __init__(self, data: dict, journal: Path, **options: Any) -> None:
        self.journal = journal
        super().__init__(data, **options)

    def open(self) -> Emulator:
        """The emulator on the journal."""
        return Emulator(plan=self.data["plan"], journal=self.journal)

    def between(self) -> None:
        """Close, open, attach."""
        self.emu.close()
        self.emu = self.open()
        for queue, handler in self.handlers.items():
            self.emu.attach(handler, queue=queue)
