"""The virtual loop never sleeps, keeps timers in order, and waits for what is real."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emulator.engine.targets import loop as loop_module
from emulator.engine.targets.loop import Spinning, VirtualLoop

SECOND = 1_000_000


@pytest.fixture
def loop():
    made = VirtualLoop(0)
    yield made
    if not made.is_closed():
        made.close()


def run(loop: VirtualLoop, coroutine) -> object:
    """Run a coroutine to its end, moving virtual time from timer to timer."""
    task = loop.create_task(coroutine)
    now_us = loop.now_us
    while not task.done():
        loop.run_ready(now_us)
        if not task.done():
            now_us = loop.next_timer_us()
            assert now_us is not None, "nothing will ever wake the task"
    return task.result()


def test_six_hours_pass_at_once(loop):
    async def sleeps():
        for _ in range(360):
            await asyncio.sleep(60)
        return asyncio.get_running_loop().time()

    began = time.monotonic()
    assert run(loop, sleeps()) == 6 * 3600
    assert time.monotonic() - began < 1


def test_timers_of_one_moment_run_in_the_order_in_which_they_were_set(loop):
    seen: list[int] = []
    for place in range(50):
        loop.call_at(1.0, seen.append, place)
    loop.run_ready(SECOND)
    assert seen == list(range(50))


def test_the_next_timer_is_told_exactly_and_cancelled_ones_are_not(loop):
    first = loop.call_later(0.3, print)
    loop.call_later(0.7, print)
    assert loop.next_timer_us() == 300_000
    first.cancel()
    assert loop.next_timer_us() == 700_000
    loop.run_ready(SECOND)
    assert loop.next_timer_us() is None


def test_a_timer_does_not_run_before_its_moment(loop):
    seen: list[float] = []
    loop.call_later(0.1 + 0.2, lambda: seen.append(loop.time()))
    loop.run_ready(299_999)
    assert seen == []
    loop.run_ready(300_000)
    assert seen == [0.3]


@given(
    st.integers(0, 10**15), st.lists(st.floats(0, 2_000, allow_nan=False), min_size=1, max_size=8), st.integers(1, 900_000_000),
)  # fmt: skip
@example(0, [900.000001], 900_000_000)
@example(59_500_000, [0.0000005, 0.0000015, 0.000001], 1)
def test_at_every_microsecond_what_is_due_runs_and_the_rest_is_let_alone(start_us, delays, step_us):
    """Timers between two microseconds, or a microsecond after the moment, must not keep time from going on."""
    loop = VirtualLoop(start_us)
    ran = []
    try:
        for delay in delays:
            loop.call_later(delay, lambda delay=delay: ran.append((delay, loop.now_us - start_us)))
        loop.run_ready(start_us + step_us)
        while (next_us := loop.next_timer_us()) is not None:
            assert next_us > loop.now_us, "what is due has run"
            loop.run_ready(next_us)
    finally:
        loop.close()
    assert sorted(delay for delay, _ in ran) == sorted(delays)
    for delay, at_us in ran:
        assert abs(at_us - max(delay * SECOND, step_us)) <= 1 or at_us == step_us


def test_timeouts_are_virtual(loop):
    async def gives_up():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 900)
        try:
            async with asyncio.timeout(5):
                await asyncio.sleep(10)
        except TimeoutError:
            return loop.time()

    assert run(loop, gives_up()) == 905


def test_time_stands_still_while_a_thread_works(loop):
    async def works():
        done, _ = await asyncio.wait([asyncio.create_task(asyncio.to_thread(time.sleep, 0.05))], timeout=3600)
        return len(done), loop.time()

    assert run(loop, works()) == (1, 0.0)


def test_a_thread_that_does_not_end_does_not_keep_time_for_ever(loop, monkeypatch):
    monkeypatch.setattr(loop_module, "REAL_WAIT_SECONDS", 0.05)

    async def works():
        await asyncio.wait([asyncio.create_task(asyncio.to_thread(time.sleep, 0.3))], timeout=60)
        return loop.time()

    assert run(loop, works()) == 60


def test_sockets_work(loop):
    here, there = socket.socketpair()
    here.setblocking(False)
    there.setblocking(False)

    async def talks():
        await loop.sock_sendall(there, b"hello")
        return await loop.sock_recv(here, 5)

    assert run(loop, talks()) == b"hello"
    here.close()
    there.close()


def test_turns_without_end_are_an_error(loop, monkeypatch):
    monkeypatch.setattr(loop_module, "TURNS_MAX", 1_000)

    async def spins():
        while True:  # noqa: ASYNC110 - the mistake that is tested
            await asyncio.sleep(0)

    task = loop.create_task(spins())
    with pytest.raises(Spinning, match="1,000 turns"):
        loop.run_ready(0)
    task.cancel()
    loop.run_ready(0)


def test_it_runs_inside_a_running_loop(loop):
    async def sleeps():
        await asyncio.sleep(5)
        return asyncio.get_running_loop() is loop

    async def test():
        outer = asyncio.get_running_loop()
        inside = run(loop, sleeps())
        await asyncio.sleep(0)
        return inside, asyncio.get_running_loop() is outer, asyncio.current_task() is not None

    assert asyncio.run(test()) == (True, True, True)
