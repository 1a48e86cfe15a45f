"""How fast `emulator.explore` searches, beside Hypothesis with the same choices: `python tests/bench/explore_bench.py [--check]`.

Schedules a processor second of a sync and an async consumer, the first failure, two processes beside one, and how many
schedules, and how long, each takes until the bug of a consumer whose guard comes after its effect. `--check` exits 1 where a
goal is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from emulator import explore
from emulator.explore.schedule import Schedule
from emulator.explore.world import World
from tests.emulator.explore import twins

SYNC_GOAL, ASYNC_GOAL, FIRST_GOAL_SECONDS, TWO_GOAL = 1_500, 700, 0.1, 0.6
ROUNDS = 3
ORDINARY = 6
"""Hypothesis draws the ordinary course so many times as often as each other one, as the study did."""


def rate(setup: Any, invariant: Any) -> float:
    """Schedules a processor second, the best of some rounds."""
    best = 0.0
    for _ in range(ROUNDS):
        before = time.process_time()
        done = explore(setup, invariant)
        best = max(best, done.schedules / (time.process_time() - before))
    return best


def first_failure() -> tuple[int, float]:
    """Schedules and seconds until the bug is found."""
    best, schedules = float("inf"), 0
    for _ in range(ROUNDS):
        before = time.perf_counter()
        schedules = explore(twins.guard_after_effect, twins.charged_once).schedules
        best = min(best, time.perf_counter() - before)
    return schedules, best


def by_hypothesis() -> tuple[int, float]:
    """The same for Hypothesis, which draws every choice and shrinks what it finds."""
    world, runs = World(twins.guard_after_effect, [twins.charged_once]), 0

    @settings(
        max_examples=2_000, deadline=None, database=None, suppress_health_check=list(HealthCheck), report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink), print_blob=False,
    )  # fmt: skip
    @given(st.data())
    def test(data: Any) -> None:
        nonlocal runs
        runs += 1

        def draw(n: int, _label: str) -> int:
            return int(data.draw(st.sampled_from([0] * ORDINARY + list(range(1, n)))))

        error = world.run(Schedule(draw=draw)).error
        if error is not None:
            raise error

    before = time.perf_counter()
    try:
        test()
    except AssertionError:
        return runs, time.perf_counter() - before
    return runs, float("inf")


def two_processes() -> float:
    """The time of two processes as a share of that of one."""
    times = []
    for workers in (1, 2):
        before = time.perf_counter()
        explore(twins.ack_last, twins.charged, schedules=6_000, max_faults=3, workers=workers)
        times.append(time.perf_counter() - before)
    return times[1] / times[0]


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    sync, asynchronous = rate(twins.key_of_the_table, twins.charged_once), rate(twins.ack_last, twins.charged)
    schedules, seconds = first_failure()
    drawn, took = by_hypothesis()
    share = two_processes()
    print(f"sync handler          {sync:8,.0f} schedules a processor second (goal {SYNC_GOAL:,})")
    print(f"async handler         {asynchronous:8,.0f} schedules a processor second (goal {ASYNC_GOAL:,})")
    print(f"first failure         {schedules:8,} schedules, {seconds:.3f} s (goal {FIRST_GOAL_SECONDS} s)")
    print(f"the same, Hypothesis  {drawn:8,} runs with shrinking, {took:.3f} s")
    print(f"two processes         {share:8.2f} of the time of one (goal {TWO_GOAL})")
    missed = sync < SYNC_GOAL or asynchronous < ASYNC_GOAL or seconds >= FIRST_GOAL_SECONDS or share > TWO_GOAL
    return 1 if check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
