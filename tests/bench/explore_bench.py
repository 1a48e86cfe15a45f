"""How fast `emulator.explore` searches, beside Hypothesis with the same choices: `python tests/bench/explore_bench.py [--check]`.

Schedules a processor second of a sync and an async consumer, and a second through workerd, the first failure, two processes
beside one, and how many schedules, and how long, each takes until the bug of a consumer whose guard comes after its effect.
`--check` exits 1 where a goal is missed. `--memory 1000000` runs as many schedules of the sync consumer instead, and prints
what the process holds on its way.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from emulator import explore
from emulator.explore.schedule import Schedule
from emulator.explore.world import World
from tests.emulator.explore import twins

SYNC_GOAL, ASYNC_GOAL, WORKERD_GOAL, FIRST_GOAL_SECONDS, TWO_GOAL = 1_500, 700, 150, 0.1, 0.6
MEMORY_FAULTS, MEMORY_STEPS, MEMORY_GOAL = 6, 20, 1.1
"""With so many faults all schedules would never end; what is held at the end, as a share of what is held after a tenth."""
TYPESCRIPT = twins.WORKERS.parent / "guard_after_effect_ts" / "wrangler.jsonc"
CACHE = Path(__file__).resolve().parents[2] / ".bench" / "cache"
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


def through_workerd(emu: Any) -> None:
    """The world of a TypeScript Worker."""
    emu.worker(TYPESCRIPT, fetch=lambda _request: (200, "charged"))
    emu.queue("payments").send({"key": "order-7"})


def nothing_wrong() -> None:
    """Holds."""


def workerd_rate() -> float:
    """Schedules through workerd a processor second, of this process and of workerd's together: what one core would do."""
    os.environ.setdefault("XDG_CACHE_HOME", str(CACHE))
    explore(through_workerd, nothing_wrong, schedules=50, max_faults=1)  # which starts it
    best = 0.0
    for _ in range(ROUNDS):
        before = spent()
        done = explore(through_workerd, nothing_wrong, schedules=400)
        best = max(best, done.schedules / (spent() - before))
    return best


def spent() -> float:
    """Processor seconds of this process and of those that it began."""
    ticks, mine = 0, str(os.getpid())
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12]) if mine in {fields[1], stat.parent.name} else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(schedules: int) -> float:
    """Run so many schedules, and print what is held on the way; how much more it is at the end than after a tenth."""
    held: list[int] = []
    step = max(1, schedules // MEMORY_STEPS)

    def progress(done: int, seconds: float) -> None:
        if done >= step * (len(held) + 1):
            held.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize())
            print(f"{done:12,} schedules {held[-1] / 1e6:8.1f} MB {done / seconds:8,.0f} a second", flush=True)

    explore(twins.key_of_the_table, twins.charged_once, MEMORY_FAULTS, schedules=schedules, progress=progress)
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.1f} MB")
    return held[-1] / held[max(1, MEMORY_STEPS // 10) - 1]


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
    parser.add_argument("--memory", type=int, metavar="SCHEDULES")
    given = parser.parse_args()
    check = given.check
    if given.memory:
        grown = memory(given.memory)
        print(f"memory                {grown:8.2f} of what it was after a tenth (goal {MEMORY_GOAL})")
        return 1 if check and grown > MEMORY_GOAL else 0
    sync, asynchronous = rate(twins.key_of_the_table, twins.charged_once), rate(twins.ack_last, twins.charged)
    workerd = workerd_rate()
    schedules, seconds = first_failure()
    drawn, took = by_hypothesis()
    share = two_processes()
    print(f"sync handler          {sync:8,.0f} schedules a processor second (goal {SYNC_GOAL:,})")
    print(f"async handler         {asynchronous:8,.0f} schedules a processor second (goal {ASYNC_GOAL:,})")
    print(f"through workerd       {workerd:8,.0f} schedules a processor second of both (goal {WORKERD_GOAL:,})")
    print(f"first failure         {schedules:8,} schedules, {seconds:.3f} s (goal {FIRST_GOAL_SECONDS} s)")
    print(f"the same, Hypothesis  {drawn:8,} runs with shrinking, {took:.3f} s")
    print(f"two processes         {share:8.2f} of the time of one (goal {TWO_GOAL})")
    missed = sync < SYNC_GOAL or workerd < WORKERD_GOAL or asynchronous < ASYNC_GOAL or seconds >= FIRST_GOAL_SECONDS or share > TWO_GOAL
    return 1 if check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
