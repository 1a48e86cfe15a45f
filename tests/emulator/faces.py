"""The other faces of the emulator that every scenario must pass: async handlers, and a store that is closed and opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator import Emulator
from tests.emulator.random_scenarios import Play
from tests.emulator.scenario_files import Player

if TYPE_CHECKING:
    from pathlib import Path


class AsyncHandlers(Player):
    """The same handlers as coroutine functions."""

    asynchronous = True


class Reopened(Player):
    """The SQLite journal is closed and opened again between every two steps; handlers are attached anew, as after a restart."""

    def __init__(self, scenario: dict, journal: Path) -> None:
        self.journal = journal
        self.reopened = 0
        super().__init__(scenario)

    def open(self) -> Emulator:
        """The emulator on the journal."""
        if "wrangler" in self.scenario:
            path = self.folder / self.scenario["wrangler"]
            return Emulator.from_wrangler(path, env=self.scenario.get("env"), plan=self.plan, journal=self.journal)
        return Emulator(plan=self.plan, journal=self.journal)

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
