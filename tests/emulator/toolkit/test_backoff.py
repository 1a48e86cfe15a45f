"""Delays: their curves, their chance, their limits; and the avalanche that a fixed interval makes."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from emulator.toolkit import (
    asynq,
    course,
    exponential,
    exponential_capped,
    fixed,
    full_jitter,
    linear,
    spread,
    staged,
    up_to_half_more,
)  # fmt: skip

ASYNQ_BOUNDS = {0: (15, 44), 1: (16, 74), 2: (31, 118), 3: (96, 212), 5: (640, 814), 10: (10_015, 10_334), 24: (331_791, 332_516)}
CHI_SQUARE_999 = {14: 36.12, 49: 85.35, 29: 58.30}
"""The value that chi-square exceeds once in a thousand, by degrees of freedom."""


def chi_square(counts, expected):
    return sum((count - expected) ** 2 / expected for count in counts)


def test_exponential_doubles_from_thirty_seconds_to_its_cap():
    assert [exponential()(n) for n in range(4)] == [30, 60, 120, 240]
    assert exponential(30, 100)(5) == 100
    assert exponential(cap_seconds=600, jitter=0.25, seed=0).bounds(9) == (450, 600)
    assert exponential(2, factor=10)(50) == 86_400


def test_nothing_is_longer_than_a_day():
    for backoff in (exponential(), course(), full_jitter(), up_to_half_more(), linear(), fixed(10**6), staged(), asynq()):
        for n in (0, 1, 10, 24, 100, 5_000):
            delay = backoff(n)
            assert type(delay) is int
            assert 0 <= delay <= 86_400, (backoff.name, n)
            assert backoff.bounds(n)[0] <= delay <= backoff.bounds(n)[1]


def test_ten_thousand_draws_lie_within_a_quarter_and_are_uniform():
    backoff = course(30, seed=1)
    draws = Counter(backoff(0) for _ in range(10_000))
    assert min(draws) == 23
    assert max(draws) == 37
    assert chi_square([draws[seconds] for seconds in range(23, 38)], 10_000 / 15) < CHI_SQUARE_999[14]
    wide = course(36_000, seed=2)
    seconds = [wide(0) for _ in range(10_000)]
    assert all(27_000 <= s <= 45_000 for s in seconds)
    bins = Counter(min((s - 27_000) // 360, 49) for s in seconds)
    assert chi_square([bins[place] for place in range(50)], 200) < CHI_SQUARE_999[49]


def test_what_reaches_beyond_a_day_is_still_spread():
    backoff = course(30, seed=9)
    draws = [backoff(14) for _ in range(1_000)]
    assert min(draws) >= 64_800
    assert max(draws) <= 86_400
    assert max(Counter(draws).values()) < 10


def test_a_hundred_that_failed_together_do_not_come_back_together():
    backoff = course(30, seed=3)
    moments = Counter(backoff(0) for _ in range(100))
    assert max(moments.values()) < 20
    assert len(moments) == 15
    assert len({fixed(30)(0) for _ in range(100)}) == 1


def test_same_seed_same_delays():
    assert [course(seed=5)(n) for n in range(8)] == [course(seed=5)(n) for n in range(8)]
    one, other = course(seed=5), course(seed=6)
    assert [one(4) for _ in range(9)] != [other(4) for _ in range(9)]
    assert course()(4, random.Random(1)) == course()(4, random.Random(1))


def test_asynqs_delays_have_the_bounds_of_its_source():
    backoff = asynq(seed=0)
    for n, bounds in ASYNQ_BOUNDS.items():
        assert backoff.raw_bounds(n) == bounds
    for n in range(25):
        least, most = n**4 + 15, n**4 + 15 + 29 * (n + 1)
        assert backoff.raw_bounds(n) == (least, most)
        draws = {backoff.raw(n) for _ in range(600)}
        assert draws == {least + k * (n + 1) for k in range(30)}


def test_asynqs_delays_take_twenty_days_together():
    least, most = asynq().raw_total(25)
    assert (round(least / 86_400, 2), round(most / 86_400, 2)) == (20.41, 20.52)
    assert asynq().total(25)[1] < 14 * 86_400, "each cut to a day"


def test_asynqs_steps_are_uniform():
    backoff = asynq(seed=4)
    steps = Counter((backoff.raw(9) - 9**4 - 15) // 10 for _ in range(10_000))
    assert chi_square([steps[k] for k in range(30)], 10_000 / 30) < CHI_SQUARE_999[29]


def test_the_pages_presets():
    assert [linear(1)(n) for n in range(4)] == [1, 2, 3, 4]
    assert [fixed(30)(n) for n in range(3)] == [30, 30, 30]
    assert [staged()(n) for n in range(6)] == [5, 10, 15, 60, 120, 180]
    assert [up_to_half_more().raw_bounds(n) for n in (1, 2, 3)] == [(2, 3), (4, 6), (8, 12)]
    assert [exponential_capped()(n) for n in (0, 1, 2, 10, 11, 24)] == [1, 2, 4, 1024, 1800, 1800]


def test_full_jitter_reaches_down_to_nothing():
    backoff = full_jitter(30, 100, seed=0)
    assert backoff.bounds(0) == (0, 30)
    assert backoff.bounds(9) == (0, 100)
    assert {backoff(0) for _ in range(2_000)} == set(range(31))


def test_any_curve_can_be_spread():
    backoff = spread(linear(60), 0.5, seed=0)
    assert backoff.bounds(1) == (60, 180)
    assert len({backoff(1) for _ in range(50)}) > 20


@pytest.mark.parametrize(
    "wrong", [lambda: fixed(-1), lambda: exponential(float("nan")), lambda: spread(fixed(), 1.5), lambda: fixed()(-1)]
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError):
        wrong()
