"""Large queues and long jumps: a hundred thousand waiting messages, a million delayed ones, and no more work than n log n."""

from __future__ import annotations

import os
import time
from math import log

import pytest

from emulator import Emulator
from tests.emulator.helpers import DAY, lines_run

MILLION = int(os.environ.get("EMULATOR_MILLION", "100000"))
"""So many delayed messages; CI sets a million."""


def fill(queue, emu, count, delay=None):
    """Send so many messages, no faster than a queue takes them."""
    for at in range(0, count, 100):
        queue.send_batch([{"body": n} if delay is None else {"body": n, "delaySeconds": delay(n)} for n in range(at, at + 100)])
        emu.advance(0.02)


@pytest.mark.parametrize("let_pass", [lambda emu: emu.advance(0), Emulator.run_until_idle], ids=["advance", "run_until_idle"])
def test_a_delivery_beside_ten_thousand_queues_costs_what_it_costs_beside_a_hundred(let_pass):
    def lines(count):
        emu = Emulator()
        for n in range(count):
            emu.create_queue(f"q{n}")
            emu.consume(f"q{n}", lambda _batch: None, max_batch_timeout=0)

        def deliver():
            for n in range(0, 100, 7):
                emu.queue(f"q{n}").send(1)
                let_pass(emu)

        deliver()
        return lines_run(deliver)

    assert lines(10_000) <= 1.3 * lines(100)


def test_one_jump_of_fourteen_days_over_a_hundred_thousand_waiting_messages(emu):
    kept = emu.create_queue("kept", message_retention_period=1_209_600)
    busy = emu.create_queue("busy", message_retention_period=1_209_600)
    fill(kept, emu, 50_000)
    fill(busy, emu, 50_000)
    seen = [0]

    def handler(batch):
        seen[0] += len(batch.messages)

    emu.consume("busy", handler, max_batch_size=100)
    before = time.perf_counter()
    emu.advance(14 * DAY)
    assert time.perf_counter() - before < 30
    assert seen == [50_000]
    report = emu.report()
    assert report["kept"].expired == report["busy"].acked == 50_000


def test_so_many_delayed_messages_are_delivered_in_order(emu):
    later = emu.create_queue("later")
    fill(later, emu, MILLION, delay=lambda n: 3600 + n * 7919 % 80_000)
    last, count = [0.0], [0]

    def handler(batch):
        for message in batch.messages:
            due = message.timestamp.timestamp() + 3600 + message.body * 7919 % 80_000
            assert due >= last[0]
            last[0] = due
        count[0] += len(batch.messages)

    emu.consume("later", handler, max_batch_size=100, max_batch_timeout=60)
    emu.advance(2 * DAY)
    assert emu.errors == []
    assert count == [MILLION]


@pytest.mark.parametrize("kind", ["delayed", "leased", "retried"])
def test_the_work_grows_no_faster_than_n_log_n(kind):
    def work(count):
        emu = Emulator(limits="relaxed")
        queue = emu.create_queue("jobs")
        if kind == "leased":
            emu.consume("jobs", type="http_pull", max_retries=100)
        before = time.process_time()
        if kind == "delayed":
            fill(queue, emu, count, delay=lambda n: 1 + n * 7919 % 80_000)
        else:
            fill(queue, emu, count)
        if kind == "leased":
            for at in range(count // 100):
                queue.pull(batch_size=100, visibility_timeout_ms=1000 * (1 + at * 31 % 40_000))
            emu.advance(DAY / 2)
        else:
            delays = iter(range(10**9))

            def handler(batch):
                if kind == "retried" and batch.messages[0].attempts < 3:
                    for message in batch.messages:
                        message.retry(delaySeconds=1 + next(delays) * 7919 % 20_000)

            emu.consume("jobs", handler, max_batch_size=100)
            emu.advance(2 * DAY)
        took = time.process_time() - before
        emu.close()
        return took

    small, large = 4_000, 32_000
    work(small)
    ratio = min(work(large) for _ in range(2)) / min(work(small) for _ in range(3))
    fair = large * log(large) / (small * log(small))
    assert ratio < 2.5 * fair, f"{ratio:.1f} times the work for {large // small} times the messages"


def test_a_purge_of_many_messages_and_a_queue_deleted_under_them(emu):
    jobs = emu.create_queue("jobs")
    fill(jobs, emu, 20_000, delay=lambda n: n % 1000)
    jobs.purge()
    assert jobs.bodies() == []
    fill(jobs, emu, 20_000)
    emu.delete_queue("jobs")
    emu.advance(14 * DAY)
    assert [f.state for f in emu.fates] == ["purged"] * 40_000


def test_ten_thousand_queues_cost_nothing_while_they_are_idle(emu):
    for n in range(9_000):
        emu.create_queue(f"q{n}").send(n)
    busy = emu.create_queue("busy")
    emu.consume("busy", lambda _batch: None, max_batch_timeout=0)
    before = time.perf_counter()
    for n in range(500):
        busy.send(n)
        emu.advance(1)
    assert time.perf_counter() - before < 5
    assert emu.report()["busy"].acked == 500
