"""What each sample of a failing test is told, at two widths. To keep what is told now: `python -m tests.emulator.stories`."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

from emulator import Emulator
from emulator.testing.failure import story
from tests.emulator import story_samples as samples

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "fixtures" / "stories"
SAMPLES = [name for name, value in vars(samples).items() if callable(value)]
WIDTHS = (80, 120)


def told(name, width, *, colour=False):
    """The story of a sample, as it is told in the repository's own folder."""
    with Emulator() as emu, chdir(ROOT):
        getattr(samples, name)(emu)
        return story(emu, width, colour=colour) + "\n"


def golden(name, width):
    return FOLDER / f"{name}.{width}.txt"


if __name__ == "__main__":
    for each in SAMPLES:
        for columns in WIDTHS:
            golden(each, columns).write_text(told(each, columns), encoding="utf-8")
