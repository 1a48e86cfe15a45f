"""By count and batch by batch, a run is what the emulator makes of it: every total, every row, every recovery."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings

from emulator.core.model import Consumer
from emulator.simulate import exact_run as exact
from emulator.simulate.by_count import returned_lots as returned
from emulator.simulate.by_count import run as batched
from emulator.simulate.scenario import BATCH, MESSAGE
from emulator.simulate.tally import Tally
from tests.emulator.simulation.scenarios import S, scenario, scenarios

HOUR_US = 3_600 * S


def same(case):
    # the emulator's clock goes on to the end of a batch's wait, even if all that waited has expired
    mortal = any(queue.message_retention_period * S <= case.load.duration_us + 2 * HOUR_US for queue in case.queues)
    apart = {"rows", "end_us"} if case.load.drain and mortal else set()
    for one, other in zip(exact.run(case), batched.run(case), strict=True):
        for name in set(Tally.__slots__) - apart:
            assert getattr(one, name) == getattr(other, name), (one.name, name)


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios())
def test_by_count_is_what_the_emulator_makes_of_it(case):
    same(case)


@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios())
def test_what_has_left_may_be_forgotten_at_any_time(case):
    kept = batched.run(case)
    with mock.patch.object(returned, "_TRIM", 2):
        assert batched.run(case) == kept


@pytest.mark.parametrize(
    "case",
    [
        scenario(seconds=20, rate=100, outage=(5, 8)),
        scenario(seconds=20, rate=100, outage=(5, 8), mode=MESSAGE, max_retries=100, retry_delay=1),
        scenario(seconds=40, rate=50, failure=0.5, dead=Consumer(max_batch_size=7, max_concurrency=2)),
        scenario(seconds=90, rate=20, retention=60, max_concurrency=1, max_batch_size=1),
        scenario(seconds=20, rate=50, processing_us=0, mode=MESSAGE),
    ],
    ids=["throws", "retries", "dead letters consumed", "retention", "at once"],
)
def test_written_down(case):
    same(case)


def test_an_outage_within_the_recovery_from_another():
    case = scenario(seconds=120, rate=20, failure=0, mode=MESSAGE, max_concurrency=1, max_retries=100, retry_delay=1)
    case = case._replace(load=case.load._replace(outages=((3 * S, 63 * S), (64 * S, 76 * S))))
    [jobs, _] = batched.run(case)
    assert jobs.watches[1].recovered_us > 77 * S, "not at once, and before the first"
    same(case)


@pytest.mark.parametrize("failure", [0, 0.1, 0.3])
@pytest.mark.parametrize(("rate", "timeout"), [(50, 0), (50, 1), (7, 1)])
@pytest.mark.parametrize("took_us", [1_000_003, 3_000_000, 200_000])
def test_slots_that_come_and_go(failure, rate, timeout, took_us):
    same(scenario(
        seconds=30, rate=rate, processing_us=took_us, failure=failure, outage=(8, 12), max_batch_size=5, max_batch_timeout=timeout, retry_delay=2,
    ))  # fmt: skip


@pytest.mark.parametrize("mode", [MESSAGE, BATCH])
@pytest.mark.parametrize(("delay", "retry_delay"), [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (1, 2), (2, 0)])
@pytest.mark.parametrize(("size", "timeout"), [(1, 0), (3, 0), (3, 1), (10, 1), (10, 5)])
def test_what_comes_back_and_what_is_fresh_at_one_moment(mode, delay, retry_delay, size, timeout):
    case = scenario(
        seconds=12, rate=10, processing_us=S, mode=mode, failure=0.3, max_batch_size=size, max_batch_timeout=timeout, retry_delay=retry_delay,
        max_retries=5, max_concurrency=7, outage=(4, 6),
    )  # fmt: skip
    same(case._replace(queues=(case.queues[0]._replace(delivery_delay=delay), *case.queues[1:])))


def test_what_is_sent_is_somewhere():
    for case in (
        scenario(outage=(100, 150), max_concurrency=30),
        scenario(mode=MESSAGE, retention=60, max_concurrency=9),
        scenario(mode=MESSAGE, retention=100, outage=(100, 300), max_retries=10, retry_delay=17),
    ):
        jobs, dead = batched.run(case)
        assert jobs.sent == 500 * 600
        assert jobs.delivered >= jobs.acked + jobs.retried + jobs.dead_lettered
        assert jobs.delivered == sum(jobs.by_attempt.values())
        assert 0 <= jobs.waiting == jobs.rows[-1].backlog
        assert dead.sent == jobs.dead_lettered


def test_the_same_seed_gives_the_same_run_and_another_one_another():
    case = scenario(seconds=600, outage=(100, 150))
    assert batched.run(case) == batched.run(case)
    other = case._replace(load=case.load._replace(seed=1))
    assert batched.run(other)[0].failed_batches != batched.run(case)[0].failed_batches


def test_what_only_the_emulator_can_take_is_said():
    circle = scenario(seconds=10, rate=1)
    circle = circle._replace(queues=(circle.queues[0], circle.queues[1]._replace(consumer=Consumer(dead_letter_queue="jobs"))))
    with pytest.raises(batched.Unfit, match="circle"):
        batched.run(circle)
    exact.run(circle)


def test_too_fast_a_producer_is_refused():
    case = scenario(seconds=2, rate=6_000, failure=0, max_batch_size=100)
    [jobs, _], [counted, _] = exact.run(case), batched.run(case)
    assert jobs.sent == counted.sent == 10_000
    assert jobs.refused == counted.refused == 2_000
    assert abs(jobs.delivered - counted.delivered) <= 100
