"""The avalanche of the course, on the emulator: a fixed interval keeps it going, jittered backoff ends it; and its plot."""

from __future__ import annotations

from pathlib import Path

from fixtures.consumers import avalanche

ROOT = Path(__file__).parents[3]


def test_a_fixed_interval_keeps_the_avalanche_going():
    load = avalanche.runs()["every 30 s"]
    assert set(load.requests.values()) == {100}, "all hundred come back together each time"
    assert load.failures == load.requests, "also after the upstream has recovered"
    assert (load.done, load.dead) == (0, 100)


def test_jittered_backoff_ends_the_avalanche():
    load = avalanche.runs()["30 s * 2^n, ± 25 %"]
    assert load.requests[0] == 100
    assert max(count for second, count in load.requests.items() if second) <= avalanche.CAPACITY_PER_SECOND
    assert (load.done, load.dead) == (100, 0)


def test_the_plot_is_fresh():
    drawn = avalanche.draw(avalanche.runs())
    kept = (ROOT / "docs" / "emulator" / "avalanche.svg").read_text(encoding="utf-8")
    assert drawn == kept, "python -m fixtures.consumers.avalanche docs/emulator/avalanche.svg"
