"""Golden traces: what `emu.trace()` shows of some scenarios. `python -m tests.emulator.traces` writes them anew; review the difference."""

from __future__ import annotations

from pathlib import Path

from tests.emulator.scenario_files import FOLDER, Player, load

GOLDEN = Path(__file__).parents[2] / "fixtures" / "traces"
NAMES = ("C101", "C102", "C106", "C107", "C109", "C116", "C119", "C121", "C125", "C131", "C135", "C137", "C146")


def trace_of(name: str) -> str:
    """The trace of a scenario, as text."""
    player = Player(load(FOLDER / f"{name}.scenario.json"))
    player.play()
    return f"{player.emu.trace()}\n"


if __name__ == "__main__":
    for each in NAMES:
        (GOLDEN / f"{each}.trace").write_text(trace_of(each), encoding="utf-8")
