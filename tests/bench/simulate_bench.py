"""How much faster than exact emulation `simulate` is: `python tests/bench/simulate_bench.py [--rounds N] [--check]`.

A day at 500 messages a second with an outage of two hours, by count, in turn with a slice of it on the emulator; the ratio of
deliveries a processor second, for each way to fail. `--check` exits 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from fractions import Fraction
from typing import TYPE_CHECKING

from cfq_lint.facts import limits
from emulator.core.model import Consumer
from emulator.simulate import exact_run as exact
from emulator.simulate.by_count import run as batched
from emulator.simulate.scenario import BATCH, MESSAGE, Load, Scenario, Setting
from emulator.simulate.verify import slice_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.simulate.tally import Tally

GOAL = 50
SECOND_US = 1_000_000
HOUR_US = 3_600 * SECOND_US
CASES = {
    "batches throw": (BATCH, {}),
    "messages are retried": (MESSAGE, {}),
    "100 retries, 73 s apart": (MESSAGE, {"max_retries": 100, "retry_delay": 73}),
    "ten slots": (BATCH, {"max_concurrency": 10}),
    "batches of one": (BATCH, {"max_batch_size": 1, "max_concurrency": 110}),
    "10 retries, 10 min apart, kept an hour": (MESSAGE, {"max_retries": 10, "retry_delay": 600, "retention": 3_600}),
}


def day(mode: str, settings: dict) -> Scenario:
    """A day with its outage."""
    load = Load(Fraction(500), 24 * HOUR_US, ((6 * HOUR_US, 8 * HOUR_US),), 0.03, processing_us=SECOND_US // 5, mode=mode)
    retention = settings.get("retention", limits.RETENTION_SECONDS_DEFAULT)
    consumer = Consumer(dead_letter_queue="dead", **{key: value for key, value in settings.items() if key != "retention"})
    jobs = Setting("jobs", consumer, message_retention_period=retention, loaded=True)
    return Scenario(load, (jobs, Setting("dead", None, dead_letters=True)))


def rate(run: Callable[[Scenario], list[Tally]], scenario: Scenario) -> float:
    """Deliveries a processor second."""
    before = time.process_time()
    tallies = run(scenario)
    return sum(tally.delivered for tally in tallies) / (time.process_time() - before)


def main() -> int:
    """Measure every case and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="exit 1 where a goal is missed")
    options = parser.parse_args()
    missed = False
    for name, (mode, settings) in CASES.items():
        scenario = day(mode, settings)
        ratios = []
        for _ in range(options.rounds):
            slowly = rate(exact.run, slice_of(scenario))
            ratios.append(rate(batched.run, scenario) / slowly)
        median = statistics.median(ratios)
        missed |= median < GOAL
        print(f"{name:<40} {median:>8,.0f} x exact emulation (goal {GOAL})", flush=True)
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
