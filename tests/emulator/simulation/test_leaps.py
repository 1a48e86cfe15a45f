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
    plain, leaping = batched.run(case, plain=None), batched.run(case, plain=0)
    for one, other in zip(plain, leaping, strict=True):
        for name in FLOWS:
            a, b = getattr(one, name), getattr(other, name)
            assert abs(a - b) <= max(TOLERANCE * a, CHANCES * sqrt(2 * max(a, b, 1)) + 3 * 100), (one.name, name, a, b)
        area, other_area = one.backlog_seconds, other.backlog_seconds
        assert abs(area - other_area) <= 0.03 * area + case.load.duration_us / S * 500, (one.name, area, other_area)
        for watch, seen in zip(one.watches, other.watches, strict=True):
            assert (watch.recovered_us is None) == (seen.recovered_us is None) or len(one.rows) < 10
            if watch.recovered_us is not None and seen.recovered_us is not None:
                took, took_too = watch.recovered_us - watch.end_us, seen.recovered_us - seen.end_us
                assert abs(took - took_too) <= 0.03 * took + 5 * S, (took / S, took_too / S)
    return leaping


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
    "waves of retries after an outage": {"mode": MESSAGE, "outage": (200, 300), "max_retries": 10, "retry_delay": 60},
    "a hundred retries at once": {"mode": MESSAGE, "outage": (200, 260), "max_retries": 100},
    "longer than a wave": {"mode": MESSAGE, "outage": (100, 300), "max_retries": 2, "retry_delay": 300},
    "dead letters are consumed": {"mode": MESSAGE, "outage": (200, 300), "dead": Consumer(max_concurrency=20)},
}


@pytest.mark.parametrize("given", CASES.values(), ids=CASES)
def test_totals_are_within_one_percent_of_the_run_batch_by_batch(given):
    jobs, *_ = near(scenario(seconds=900, **given))
    assert jobs.leapt > 0.3 * jobs.delivered, "the case shows nothing"


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


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([1, 10, 25]), st.sampled_from([0, 3, 10, 100]), st.sampled_from([0, 10, 60]), st.sampled_from([20, 60, 250]),
    st.sampled_from([0.01, 0.03, 0.2]), st.sampled_from([20_000, 200_000]), st.sampled_from([None, (150, 200)]),
)  # fmt: skip
def test_batches_that_throw_too(size, retries, delay, slots, failure, took_us, outage):  # noqa: PLR0917 - one for each strategy
    near(scenario(
        seconds=500, rate=200, mode=BATCH, max_batch_size=size, max_retries=retries, retry_delay=delay, max_concurrency=slots,
        failure=failure, processing_us=took_us, outage=outage,
    ))  # fmt: skip


@pytest.mark.parametrize("delay", [0, 60])
def test_slots_that_wander_are_followed(delay):
    """An autoscaler that falls when batches throw is a matter of chance: the mean over seeds is what must agree."""
    case = scenario(seconds=1_800, mode=BATCH, outage=(300, 400), retry_delay=delay, max_retries=10)
    sums = {"plain": [0, 0], "leaping": [0, 0]}
    for seed in range(6):
        each = case._replace(load=case.load._replace(seed=seed))
        for name, plain in (("plain", None), ("leaping", 0)):
            jobs = batched.run(each, plain=plain)[0]
            sums[name][0] += jobs.delivered
            sums[name][1] += jobs.retried
            assert name == "plain" or jobs.leapt > 0.5 * jobs.delivered
    for one, other in zip(sums["plain"], sums["leaping"], strict=True):
        assert abs(one - other) <= TOLERANCE * one, sums
