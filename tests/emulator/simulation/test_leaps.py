"""What leaps change: nothing above 1 %. They are compared with the run batch by batch, which is the emulator's."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulator.core.model import Consumer
from emulator.simulation import batched
from emulator.simulation.scenario import BATCH, MESSAGE
from tests.emulator.simulation.scenarios import FLOWS, S, scenario

TOLERANCE = 0.01
CHANCES = 5
"""Rare totals are chance: so many standard deviations of two independent counts are let pass."""


def near(case):
    """The totals and the recovery of both runs are near each other, and so is the backlog."""
    plain, leaping = totals_near(case)
    backlog_near(case, plain, leaping)
    return leaping


def totals_near(case):
    plain, leaping = batched.run(case, plain=None), batched.run(case, plain=0)
    for one, other in zip(plain, leaping, strict=True):
        for name in FLOWS:
            a, b = getattr(one, name), getattr(other, name)
            assert abs(a - b) <= max(TOLERANCE * a, CHANCES * sqrt(2 * max(a, b, 1)) + 3 * 100), (one.name, name, a, b)
        for watch, seen in zip(one.watches, other.watches, strict=True):
            assert (watch.recovered_us is None) == (seen.recovered_us is None) or len(one.rows) < 10
            if watch.recovered_us is not None and seen.recovered_us is not None:
                took, took_too = watch.recovered_us - watch.end_us, seen.recovered_us - seen.end_us
                assert abs(took - took_too) <= 0.03 * took + 5 * S, (took / S, took_too / S)
    return plain, leaping


def backlog_near(case, plain, leaping):
    for one, other in zip(plain, leaping, strict=True):
        area, other_area = one.backlog_seconds, other.backlog_seconds
        assert abs(area - other_area) <= 0.03 * area + case.load.duration_us / S * 500, (one.name, area, other_area)


CASES = {
    "below": {"mode": MESSAGE},
    "below, an outage, no delay": {"mode": MESSAGE, "outage": (200, 300)},
    "an outage that retries outlive": {"mode": MESSAGE, "outage": (200, 300), "max_retries": 100, "retry_delay": 10},
    "an outage while batches throw": {"mode": BATCH, "outage": (200, 300), "max_concurrency": 30},
    "just enough slots": {"mode": MESSAGE, "max_concurrency": 11, "outage": (100, 160)},
    "too few slots": {"mode": MESSAGE, "max_concurrency": 8},
    "too few slots, batches throw": {"mode": BATCH, "max_concurrency": 12},
    "single messages": {"max_batch_size": 1, "max_concurrency": 120},
    "large batches": {"max_batch_size": 100, "mode": MESSAGE, "outage": (200, 260), "retry_delay": 5},
    "half of all fails": {"failure": 0.5, "mode": MESSAGE, "retry_delay": 3},
    "everything fails": {"failure": 1, "mode": BATCH, "max_concurrency": 50},
    "messages expire": {"mode": MESSAGE, "max_concurrency": 8, "retention": 60},
    "without a dead-letter queue": {"mode": BATCH, "max_concurrency": 40, "dead_letter_queue": None, "failure": 0.2, "max_retries": 1},
    "dead letters are consumed": {"mode": MESSAGE, "outage": (200, 300), "dead": Consumer(max_concurrency=20)},
}


BACKLOG_IS_OFF = {"everything fails"}
"""A fault that is known: where the slots just suffice for the retries, a leap has some thousand messages too many in line."""


@pytest.mark.parametrize("name", CASES)
def test_totals_are_within_one_percent_of_the_run_batch_by_batch(name):
    case = scenario(seconds=900, **CASES[name])
    plain, leaping = totals_near(case)
    assert leaping[0].leapt > 0.3 * leaping[0].delivered, "the case shows nothing"
    if name not in BACKLOG_IS_OFF:
        backlog_near(case, plain, leaping)


@pytest.mark.xfail(reason="a fault that is known, see BACKLOG_IS_OFF", strict=True)
@pytest.mark.parametrize("name", sorted(BACKLOG_IS_OFF))
def test_the_backlog_is_near_also_where_it_is_known_not_to_be(name):
    case = scenario(seconds=900, **CASES[name])
    backlog_near(case, *totals_near(case))


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([1, 10, 25, 100]), st.sampled_from([0, 5, 60]), st.sampled_from([0, 3, 10]), st.sampled_from([0, 10, 60]),
    st.sampled_from([None, 2, 20, 250]), st.sampled_from([0, 0.03, 0.5, 1]), st.sampled_from([20_000, 200_000]),
    st.sampled_from([None, (150, 250)]), st.sampled_from([345_600, 90]), st.booleans(),
)  # fmt: skip
def test_drawn_settings_too(  # noqa: PLR0917 - one for each strategy
    size, timeout, retries, delay, slots, failure, took_us, outage, retention, dead_letters,
):
    near(scenario(
        seconds=500, rate=200, mode=MESSAGE, max_batch_size=size, max_batch_timeout=timeout, max_retries=retries, retry_delay=delay,
        max_concurrency=slots, failure=failure, processing_us=took_us, outage=outage, retention=retention,
        dead_letter_queue="dead" if dead_letters else None,
    ))  # fmt: skip
