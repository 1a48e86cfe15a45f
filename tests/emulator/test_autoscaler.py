"""How many batches run beside each other when nobody says: Cloudflare's inputs, and a formula of our own that is stated."""

from __future__ import annotations

import asyncio

import pytest

from tests.emulator.helpers import seconds


class Load:
    """Counts the batches that run beside each other."""

    def __init__(self, emu, takes=5.0, fails=None):
        self.emu, self.takes, self.fails = emu, takes, fails
        self.running = self.most = 0
        self.at = []

    async def queue(self, batch):
        self.running += 1
        self.most = max(self.most, self.running)
        self.at.append((seconds(self.emu), self.running))
        try:
            await asyncio.sleep(self.takes)
            if self.fails:
                self.fails(batch)
        finally:
            self.running -= 1


def feed(emu, span, rate):
    for _ in range(span):
        emu.queue("jobs").send_batch([{"body": 1}] * rate)
        emu.advance(1)


def feed_fast(emu, jobs, span):
    for _ in range(span):
        for _ in range(4):
            jobs.send_batch([{"body": 1}] * 100)
        emu.advance(1)


def test_it_starts_with_one(emu, jobs):
    load = Load(emu)
    emu.consume("jobs", load.queue, max_batch_size=1, max_batch_timeout=0)
    jobs.send_batch([{"body": 1}] * 100)
    emu.advance(4.9)
    assert load.most == 1


def test_a_small_backlog_that_shrinks_needs_no_second(emu, jobs):
    load = Load(emu, takes=0.7)
    emu.consume("jobs", load.queue, max_batch_size=2, max_batch_timeout=0)
    jobs.send_batch([{"body": n} for n in range(6)])
    emu.run_until_idle()
    assert load.most == 1


def test_a_steady_stream_settles_near_what_it_needs(emu, jobs):
    load = Load(emu)
    emu.consume("jobs", load.queue, max_batch_size=100, max_batch_timeout=5)
    feed(emu, 600, 100)
    assert 4 <= max(running for at, running in load.at if at > 400) <= 7
    assert jobs.metrics().backlogCount < 3000


def test_it_grows_and_never_beyond_250(emu, jobs):
    load = Load(emu, takes=2)
    emu.consume("jobs", load.queue, max_batch_size=1, max_batch_timeout=0)
    feed_fast(emu, jobs, 80)
    assert load.most == 250


@pytest.mark.usefixtures("jobs")
def test_max_concurrency_is_a_ceiling_and_one_means_one(emu):
    load = Load(emu)
    emu.consume("jobs", load.queue, max_batch_size=1, max_batch_timeout=0, max_concurrency=1)
    feed(emu, 20, 50)
    emu.run_until_idle()
    assert load.most == 1


def throw(_batch):
    raise RuntimeError


def retry(batch):
    batch.retryAll()


@pytest.mark.parametrize(("fails", "grows"), [(throw, False), (retry, True)], ids=["throw", "retry"])
@pytest.mark.usefixtures("jobs")
def test_retries_do_not_scale_down(emu, fails, grows):
    load = Load(emu, fails=fails)
    emu.consume("jobs", load.queue, max_batch_size=10, max_batch_timeout=0, max_retries=100)
    feed(emu, 60, 50)
    assert (load.most > 4) == grows


@pytest.mark.usefixtures("jobs")
def test_the_same_load_gives_the_same_numbers(emu):
    from emulator import Emulator

    again = Emulator()
    again.create_queue("jobs")
    seen = []
    for each in (emu, again):
        load = Load(each)
        each.consume("jobs", load.queue, max_batch_size=7, max_batch_timeout=1)
        feed(each, 60, 40)
        seen.append(load.at)
    again.close()
    assert seen[0] == seen[1]
