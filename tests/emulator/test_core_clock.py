"""Clocks tell whole microseconds; only the virtual one is moved, and never back."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest

from emulator import Emulator
from emulator.engine.clock import ScaledClock, VirtualClock, WallClock, moment, moment_us, span_us


def test_a_virtual_clock_moves_only_when_it_is_moved():
    clock = VirtualClock(1_000)
    clock.move_to(2_000)
    assert clock.now_us() == 2_000
    with pytest.raises(ValueError, match="time cannot go back"):
        clock.move_to(1_999)


def test_the_wall_clock_tells_the_computers_time():
    before = time.time_ns() // 1_000
    assert before <= WallClock().now_us() <= time.time_ns() // 1_000


def test_a_scaled_clock_runs_faster():
    clock = ScaledClock(5_000_000, 3_600)
    time.sleep(0.02)
    assert clock.now_us() >= 5_000_000 + 72_000_000


@pytest.mark.parametrize(
    "start",
    ["2026-01-01T00:00:00Z", "2026-01-01", "2026-01-01T01:00:00+01:00", datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC),  # noqa: DTZ001 - without a zone it is UTC
     datetime(2025, 12, 31, 19, tzinfo=timezone(timedelta(hours=-5)))],
)  # fmt: skip
def test_a_start_is_iso_text_or_a_datetime(start):
    assert moment(moment_us(start)) == datetime(2026, 1, 1, tzinfo=UTC)
    assert Emulator(start=start).now == datetime(2026, 1, 1, tzinfo=UTC)


def test_pieces_of_a_span_add_up():
    total = rest = 0
    for _ in range(3):
        length, rest = span_us(1 / 3, rest)
        total += length
    assert total == 1_000_000
    emu = Emulator()
    for _ in range(7):
        emu.advance(1 / 7)
    assert emu.now == datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize("span", [-1, -0.001, timedelta(microseconds=-1)])
def test_a_negative_span_is_refused(span):
    with pytest.raises(ValueError, match="time cannot go back"):
        Emulator().advance(span)


@pytest.mark.parametrize("span", ["1", None, [1]])
def test_what_is_no_span_is_refused(span):
    with pytest.raises(TypeError):
        Emulator().advance(span)


def test_advance_to_a_moment():
    emu = Emulator()
    emu.advance_to("2026-01-01T06:00:00Z")
    assert emu.now == datetime(2026, 1, 1, 6, tzinfo=UTC)
    with pytest.raises(ValueError, match="time cannot go back"):
        emu.advance_to("2026-01-01T05:59:59Z")


@pytest.mark.parametrize("span", [float("nan"), float("inf")])
def test_endless_spans_are_refused(span):
    emu = Emulator()
    with pytest.raises((ValueError, OverflowError)):
        emu.advance(span)
    assert emu.now == datetime(2026, 1, 1, tzinfo=UTC)
