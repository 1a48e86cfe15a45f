"""What somebody reads of a run stays what it was: tables, ids and all."""

from __future__ import annotations

import pytest

from tests.emulator.traces import GOLDEN, NAMES, trace_of


@pytest.mark.parametrize("name", NAMES)
def test_trace_is_the_golden_one(name):
    assert trace_of(name) == (GOLDEN / f"{name}.trace").read_text(encoding="utf-8")


def test_every_golden_trace_is_compared():
    assert sorted(path.stem for path in GOLDEN.glob("*.trace")) == sorted(NAMES)
