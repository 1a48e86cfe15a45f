"""Lots of what came back, against single messages in a list."""

from __future__ import annotations

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from emulator.simulate.by_count import returned_lots as returned
from emulator.simulate.by_count.returned_lots import NOBODY, Returned
from emulator.simulate.sources import NEVER_US

AGAIN_US = 3
STEPS = st.one_of(
    st.tuples(st.just("enter"), st.integers(1, 4), st.integers(1, 2), st.booleans()),
    st.tuples(st.just("pass"), st.integers(0, 3)),
    st.tuples(st.just("take"), st.integers(1, 6), st.integers(-3, 3)),
    st.tuples(st.just("expire"), st.integers(0, 60)),
)


@given(st.permutations(range(12)), st.lists(STEPS, max_size=40), st.sampled_from([1, 1 << 16]))
def test_lots_are_what_single_messages_would_be(order, steps, trim):
    """Numbers come in any order, in runs of at most five; runs that follow each other may become one lot."""
    lots, single = Returned(), []
    waiting, now_us = list(order), 0
    with mock.patch.object(returned, "_TRIM", trim):
        for step, *values in steps:
            if step == "enter" and waiting:
                count, attempts, together = values
                parts = [(5 * waiting.pop(), count, attempts)]
                if together and count > 1:
                    first = parts[0][0]
                    parts = [(first, 1, attempts), (first + 1, count - 1, attempts)]
                lots.enter(now_us + AGAIN_US, parts)
                single += [(now_us + AGAIN_US, first + k, attempts) for first, many, attempts in parts for k in range(many)]
            elif step == "pass":
                now_us += values[0]
                lots.promote(now_us)
            elif step == "take":
                count, before_us = values[0], now_us + values[1]
                parts = []
                taken = lots.take(count, before_us, parts)
                due = [each for each in single if each[0] <= now_us and each[0] < before_us][:count]
                assert [(first + k, attempt) for first, many, attempt in parts for k in range(many)] == [(n, a + 1) for _, n, a in due]
                assert taken == len(due)
                single = [each for each in single if each not in due]
            elif step == "expire":
                over = [number for _, number, _ in single if number < values[0]]
                assert lots.expire(values[0]) == (len(over), max(over, default=-1))
                single = [each for each in single if each[1] >= values[0]]
            lots.promote(now_us)
            in_line, later = [e for e in single if e[0] <= now_us], [e for e in single if e[0] > now_us]
            assert lots.ready == len(in_line)
            assert lots.next_us == min((ready_us for ready_us, _, _ in later), default=NEVER_US)
            assert lots.oldest() == lots.dies() == min((number for _, number, _ in single), default=NOBODY)
            assert not in_line or lots.since_us() == in_line[0][0]
            assert sum(count for _, count in lots.coming(now_us + AGAIN_US)) == len(later)
