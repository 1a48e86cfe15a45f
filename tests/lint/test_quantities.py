"""Quantities as people write them, and as they are shown."""

from __future__ import annotations

import pytest

from cfq_lint.facts.errors import WrongQuantity
from cfq_lint.facts.quantities import dollars, duration, number, rate, seconds, share, size


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (rate, "500/s", 500),
        (rate, "500", 500),
        (rate, "30/min", 0.5),
        (rate, " 7200 / h ", 2),
        (rate, "1M/day", 1_000_000 / 86_400),
        (rate, "1.5k/s", 1_500),
        (rate, "100M/month", 100_000_000 / 2_592_000),
        (size, "2KB", 2_000),
        (size, "127 kb", 127_000),
        (size, "64KiB", 65_536),
        (size, "1.5k", 1_500),
        (size, "2_000", 2_000),
        (share, "3%", 0.03),
        (share, "0.03", 0.03),
        (share, "100 %", 1),
        (duration, "200ms", 0.2),
        (duration, "2", 2),
        (duration, "1.5s", 1.5),
        (duration, "5m", 300),
        (duration, "1h", 3_600),
        (duration, "1h30m", 5_400),
        (duration, "1 d 12 h", 129_600),
        (duration, "250us", 0.00025),
        (rate, "1,000/s", 1_000),
        (rate, "2G/day", 2_000_000_000 / 86_400),
    ],
)
def test_what_is_written_is_read(read, text, value):
    assert read(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        *((read, "9" * count) for read in (rate, size, duration, share) for count in (16, 400)),
        *((rate, text) for text in ("", "s", "-1/s", "5/x", "5/ms", "500 per second", "1e9/s")),
        *((size, text) for text in ("", "KB", "-2KB", "2 TB", "2KBB")),
        *((share, text) for text in ("", "3", "101%", "-1%", "x")),
        *((duration, text) for text in ("", "ms", "2 years", "-1s", "1h30", "1h 30", "9" * 300 + "!", "1s" * 300 + "!")),
    ],
)
def test_what_is_no_quantity_says_what_is(read, text):
    with pytest.raises(WrongQuantity, match="write"):
        read(text)


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (1234, "1,234"), (1234.5, "1,234"), (41.24, "41.24"), (1.5, "1.5"), (0.412, "0.41"), (0.0005, "0.0005")]
)
def test_numbers_are_shown_with_the_places_that_matter(value, shown):
    assert number(value) == shown


def test_what_is_read_is_exact():
    assert duration("0.1s") * 10 == 1
    assert share("0.1%") * 1_000 == 1
    assert rate("1/day") * 86_400 == 1


def test_times_and_money():
    assert seconds(345_600) == "4 days (345,600 s)"
    assert seconds(86_400) == "1 day (86,400 s)"
    assert seconds(90) == "90 s"
    assert dollars(1234.5) == "$1,234.50"
