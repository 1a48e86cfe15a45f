"""What handlers do is an outcome: sync or async, with one, two or three arguments, ending well, badly, late or never."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from datetime import UTC, datetime

import pytest

from emulator import Emulator
from tests.emulator.helpers import DAY, fates, following, moments, seconds, send, throw, timeline

NO_WAIT = "queue_consumer_no_wait_for_wait_until"


def outcomes(emu):
    return [(seconds(emu, d.at), d.outcome) for d in emu.deliveries]


# --- shapes


async def _async_one(batch):
    batch.ackAll()


class _Plain:
    def queue(self, batch):
        batch.ackAll()


class _WithContext:
    def __init__(self, ctx, env):
        self.ctx, self.env = ctx, env

    async def queue(self, batch):
        assert self.env.JOBS is not None
        assert self.ctx.waitUntil is not None
        batch.ackAll()


class _ThreeArguments:
    async def queue(self, batch, env=None, ctx=None):
        assert env.JOBS is not None
        assert ctx.wait_until is not None
        batch.ack_all()


class _Static:
    @staticmethod
    def queue(batch, env):
        assert env.JOBS is not None
        batch.ackAll()


SHAPES = {
    "function of one": lambda batch: batch.ackAll(),
    "function of two": lambda batch, env: (env.JOBS, batch.ackAll())[1],
    "function of three": lambda batch, env, ctx: (env.JOBS, ctx.waitUntil, batch.ackAll())[2],
    "function of anything": lambda *args: args[0].ackAll(),
    "function with a default": lambda batch, env=None: (env.JOBS, batch.ackAll())[1],
    "coroutine function": _async_one,
    "class": _Plain,
    "class made with ctx and env": _WithContext,
    "class with three arguments": _ThreeArguments,
    "class with a static method": _Static,
    "instance": _Plain(),
    "bound method": _Plain().queue,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", ["consume", "decorator", "attach"])
def test_every_shape_of_handler(emu, jobs, shape, way):
    handler = SHAPES[shape]
    if way == "consume":
        emu.consume("jobs", handler, max_batch_timeout=0)
    elif way == "decorator":
        assert emu.consume("jobs", max_batch_timeout=0)(handler) is handler
    else:
        emu.consume("jobs", throw, max_batch_timeout=0)
        emu.attach(handler, queue="jobs")
    jobs.send(1)
    emu.advance(0)
    assert outcomes(emu) == [(0, "ok")]
    assert fates(emu) == [(1, "acked")]


def test_a_class_without_queue_fails_the_batch_as_a_worker_without_a_handler_does(emu, jobs):
    class Nothing:
        pass

    emu.consume("jobs", Nothing, max_batch_timeout=0, max_retries=1)
    jobs.send(1)
    emu.advance(0)
    assert timeline(emu) == [(0, [1], [1]), (0, [1], [2])]
    assert "Handler does not export a queue() function." in emu.deliveries[0].error


@pytest.mark.parametrize("wrong", [3, "handler", None, lambda: None], ids=["number", "text", "None", "no arguments"])
@pytest.mark.usefixtures("jobs")
def test_what_cannot_be_called_is_refused_when_it_is_attached(emu, wrong):
    emu.consume("jobs", throw)
    with pytest.raises(TypeError):
        emu.attach(wrong, queue="jobs")


def test_what_a_handler_sees(emu, jobs):
    seen = []
    emu.consume("jobs", seen.append, max_batch_timeout=0)
    jobs.send({"n": [1]})
    emu.advance(0)
    batch, message = seen[0], seen[0].messages[0]
    assert batch.queue == "jobs"
    assert len(message.id) == 32
    assert set(message.id) <= set("0123456789abcdef")
    assert message.timestamp == datetime(2026, 1, 1, tzinfo=UTC)
    assert message.timestamp.tzinfo is not None
    assert (message.body, message.attempts) == ({"n": [1]}, 1)
    assert batch.metadata.metrics.backlogCount == batch.metadata.metrics.backlog_count == 0


def test_bodies_are_copies_and_every_delivery_has_its_own(emu, jobs):
    sent, seen = {"list": []}, []

    def handler(batch):
        body = batch.messages[0].body
        seen.append(list(body["list"]))
        body["list"].append("changed by the handler")
        raise RuntimeError

    emu.consume("jobs", handler, max_batch_timeout=0, max_retries=1)
    jobs.send(sent)
    sent["list"].append("changed by the sender")
    emu.advance(0)
    assert seen == [[], []]
    assert emu.fates[0].body == {"list": []}


@pytest.mark.parametrize(
    ("call", "again"),
    [(lambda m, _: m.retry(delaySeconds=5), 5), (lambda m, _: m.retry(delay_seconds=5), 5), (lambda m, _: m.retry({"delaySeconds": 5}), 5),
     (lambda _, b: b.retryAll(delaySeconds=5), 5), (lambda _, b: b.retry_all(delay_seconds=5), 5),
     (lambda _, b: b.retryAll({"delaySeconds": 5}), 5), (lambda m, _: m.retry(), 30), (lambda m, _: m.retry(delaySeconds=None), 30),
     (lambda m, _: m.retry({}), 30), (lambda m, _: m.retry(delaySeconds=5.9), 5), (lambda m, _: m.retry(delaySeconds=float("nan")), 0)],
)  # fmt: skip
def test_both_ways_to_spell_a_call(emu, jobs, call, again):
    emu.consume("jobs", following(lambda batch: call(batch.messages[0], batch)), max_batch_timeout=0, retry_delay=30)
    jobs.send(1)
    emu.run_until_idle()
    assert [at for at, _ in moments(emu)] == [0, again]


@pytest.mark.parametrize("options", [60, "60", True, 0, "", 1.5, [], [("delaySeconds", 5)]])
@pytest.mark.parametrize(("call", "of"), [("retry", "QueueMessage"), ("retryAll", "QueueController")])
def test_what_is_no_options_object_is_refused_in_workerds_words(emu, jobs, options, call, of):
    emu.consume("jobs", lambda batch: getattr(batch.messages[0] if call == "retry" else batch, call)(options), max_batch_timeout=0, max_retries=0)
    jobs.send(1)
    emu.advance(0)
    text = f"Failed to execute '{call}' on '{of}': parameter 1 is not of type 'QueueRetryOptions'."
    assert [(d.outcome, d.error) for d in emu.deliveries] == [("exception", f"TypeError: {text}")]


@pytest.mark.parametrize(
    ("options", "again"),
    [(None, 30), ({}, 30), ({"delay": 5}, 30), ({"delaySeconds": None}, 30), ({"delaySeconds": "60"}, 60), ({"delaySeconds": " 7 "}, 7),
     ({"delaySeconds": 1.5}, 1), ({"delaySeconds": True}, 1), ({"delaySeconds": "x"}, 0), ({"delaySeconds": ""}, 0),
     ({"delaySeconds": float("inf")}, 0)],
)  # fmt: skip
def test_options_as_workerd_reads_them(emu, jobs, options, again):
    emu.consume("jobs", following(lambda batch: batch.messages[0].retry(options)), max_batch_timeout=0, retry_delay=30)
    jobs.send(1)
    emu.run_until_idle()
    assert [at for at, _ in moments(emu)] == [0, again]


@pytest.mark.parametrize(("delay", "waits"), [(-1, 0), (86_401, DAY), (2**31 - 1, DAY)])
@pytest.mark.parametrize("named", ["retry() of message", "retryAll()"])
def test_a_delay_that_the_service_does_not_take_throws_nothing_and_is_told_of(emu, jobs, delay, waits, named):
    """As in workerd, which hands on any number; the service waits 0 to 86,400 seconds."""

    def ask(batch):
        batch.retryAll({"delaySeconds": delay}) if named == "retryAll()" else batch.messages[0].retry(delaySeconds=delay)

    emu.consume("jobs", following(ask), max_batch_timeout=0, retry_delay=30)
    jobs.send(1)
    emu.run_until_idle()
    assert outcomes(emu) == [(0, "ok"), (waits, "ok")]
    (warning,) = emu.report().warnings
    assert warning.startswith(named)
    assert warning.endswith(f"asked for a delay of {delay} seconds, which is not within 0..86400: it waits {waits} seconds")


def test_a_delay_beyond_32_bits_is_an_error_of_the_handler(emu, jobs):
    emu.consume("jobs", following(lambda batch: batch.messages[0].retry(delaySeconds=10**12)), max_batch_timeout=0, retry_delay=30)
    jobs.send(1)
    emu.run_until_idle()
    assert outcomes(emu) == [(0, "exception"), (30, "ok")]


# --- virtual time


@pytest.mark.usefixtures("jobs")
def test_hours_of_sleep_cost_no_real_time(emu):
    async def handler(batch):
        await asyncio.sleep(600)
        batch.ackAll()

    emu.consume("jobs", handler, max_batch_size=1, max_batch_timeout=0, max_concurrency=1)
    send(emu, "jobs", *range(50))
    before = time.perf_counter()
    emu.run_until_idle()
    assert time.perf_counter() - before < 5
    assert [at for at, _ in moments(emu)] == [600 * n for n in range(50)]
    assert seconds(emu) == 600 * 50


def test_wait_for_and_timeout_follow_virtual_time(emu, jobs):
    ends = []

    async def handler(_batch):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.sleep(1000), 30)
        ends.append(seconds(emu))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(60):
                await asyncio.Event().wait()
        ends.append(seconds(emu))
        await asyncio.gather(asyncio.sleep(5), asyncio.sleep(7))
        ends.append(seconds(emu))
        assert asyncio.get_running_loop().time() >= 0

    emu.consume("jobs", handler, max_batch_timeout=0)
    jobs.send(1)
    emu.run_until_idle()
    assert outcomes(emu) == [(0, "ok")]
    assert ends == [30, 90, 97]


def test_time_moves_on_even_while_a_handler_sleeps(emu, jobs):
    async def handler(_batch):
        await asyncio.sleep(100)

    emu.consume("jobs", handler, max_batch_timeout=0)
    jobs.send(1)
    emu.advance(40)
    assert seconds(emu) == 40
    assert fates(emu) == [(1, "waiting")]
    assert emu.deliveries[0].outcome is None
    emu.advance(60)
    assert fates(emu) == [(1, "acked")]


@pytest.mark.parametrize(("slots", "starts"), [(1, [0, 10, 20, 30]), (2, [0, 0, 10, 10]), (3, [0, 0, 0, 10])])
@pytest.mark.usefixtures("jobs")
def test_so_many_batches_run_beside_each_other(emu, slots, starts):
    async def handler(_batch):
        await asyncio.sleep(10)

    emu.consume("jobs", handler, max_batch_size=1, max_batch_timeout=0, max_concurrency=slots)
    send(emu, "jobs", *range(4))
    emu.run_until_idle()
    assert [at for at, _ in moments(emu)] == starts


def test_what_a_handler_sends_is_delivered_in_the_same_step(emu, jobs):
    emu.create_queue("next")
    emu.consume("next", lambda _batch: None, max_batch_timeout=0)

    async def handler(_batch, env):
        await env.NEXT.send("from the handler")
        await env.NEXT.sendBatch([{"body": "later", "delaySeconds": 3}])

    emu.consume("jobs", handler, max_batch_timeout=0)
    jobs.send(1)
    emu.advance(0)
    assert moments(emu, "next") == [(0, ["from the handler"])]
    emu.advance(3)
    assert moments(emu, "next") == [(0, ["from the handler"]), (3, ["later"])]


def test_a_thread_is_awaited_while_virtual_time_stands_still(emu, jobs):
    seen = []

    async def handler(_batch):
        seen.append(await asyncio.to_thread(lambda: threading.current_thread() is not threading.main_thread()))
        seen.append(seconds(emu))

    emu.consume("jobs", handler, max_batch_timeout=0)
    jobs.send(1)
    emu.run_until_idle()
    assert seen == [True, 0]


# --- the end of a handler


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), GeneratorExit(), asyncio.CancelledError(), MemoryError()])
@pytest.mark.parametrize("kind", ["sync", "async", "async later"])
def test_whatever_a_handler_raises_is_the_batchs_outcome(emu, jobs, error, kind):
    def handler(batch):
        batch.messages[0].ack()
        raise error

    async def slow(batch):
        if kind == "async later":
            await asyncio.sleep(1)
        handler(batch)

    emu.consume("jobs", handler if kind == "sync" else slow, max_batch_timeout=0, max_batch_size=2, max_retries=0)
    send(emu, "jobs", 0, 1)
    emu.run_until_idle()
    assert fates(emu) == [(0, "acked"), (1, "dropped")]
    assert [d.outcome for d in emu.deliveries] == ["exception"]
    assert type(error).__name__ in emu.deliveries[0].error
    jobs.send("the emulator lives on")
    emu.run_until_idle()
    assert len(emu.deliveries) == 2


def test_sys_exit_in_a_handler_does_not_end_the_test(emu, jobs):
    emu.consume("jobs", lambda _batch: sys.exit("bye"), max_batch_timeout=0, max_retries=0)
    jobs.send(1)
    emu.advance(0)
    assert fates(emu) == [(1, "dropped")]


@pytest.mark.parametrize("length", [899, 900, 901, 100_000])
@pytest.mark.usefixtures("jobs")
def test_a_handler_has_fifteen_minutes(emu, length):
    reached = []

    async def handler(batch):
        batch.messages[0].ack()
        await asyncio.sleep(length)
        reached.append(length)

    emu.consume("jobs", handler, max_batch_timeout=0, max_batch_size=2, max_retries=0)
    send(emu, "jobs", 0, 1)
    emu.run_until_idle()
    in_time = length <= 900
    assert fates(emu) == [(0, "acked"), (1, "acked" if in_time else "dropped")]
    assert outcomes(emu) == [(0, "ok" if in_time else "exceededWallTime")]
    assert bool(reached) == in_time
    assert seconds(emu) == min(length, 900)


def test_a_handler_that_catches_its_cancellation_cannot_hold_the_batch(emu, jobs):
    async def handler(_batch):
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue

    emu.consume("jobs", handler, max_batch_timeout=0, max_retries=0)
    jobs.send(1)
    emu.advance(900)
    assert fates(emu) == [(1, "dropped")]
    emu.advance(10_000)


def test_a_handler_that_awaits_what_never_comes_fails_at_once(emu, jobs):
    async def handler(_batch):
        await asyncio.get_running_loop().create_future()

    emu.consume("jobs", following(), max_batch_timeout=0)
    emu.attach(handler, queue="jobs")
    jobs.send(1)
    emu.advance(0)
    assert [attempts for _, _, attempts in timeline(emu)] == [[1], [2], [3], [4]]
    assert {d.outcome for d in emu.deliveries} == {"exception"}
    assert fates(emu) == [(1, "dropped")]


def test_a_handler_that_spins_at_one_moment_is_ended(emu, jobs, monkeypatch):
    from emulator.engine.targets import loop

    monkeypatch.setattr(loop, "TURNS_MAX", 1000)

    async def handler(_batch):
        while True:  # noqa: ASYNC110 - as bad as a handler can be
            await asyncio.sleep(0)

    emu.consume("jobs", handler, max_batch_timeout=0, max_retries=0)
    jobs.send(1)
    emu.advance(0)
    assert fates(emu) == [(1, "dropped")]
    assert emu.deliveries[0].outcome == "exceededCpu"


def test_calls_after_the_batch_was_settled_change_nothing(emu, jobs):
    kept = []
    emu.consume("jobs", kept.append, max_batch_timeout=0)
    jobs.send(1)
    emu.advance(0)
    kept[0].messages[0].retry()
    kept[0].retryAll()
    kept[0].messages[0].ack()
    emu.advance(1000)
    assert fates(emu) == [(1, "acked")]
    assert "settled" in str(emu.report())


@pytest.mark.usefixtures("jobs")
def test_a_failure_after_calls_keeps_what_was_said_before_the_end(emu):
    async def handler(batch):
        batch.messages[0].ack()
        batch.messages[1].retry(delaySeconds=5)
        await asyncio.sleep(2)
        raise RuntimeError("late")

    emu.consume("jobs", handler, max_batch_timeout=0, max_batch_size=3, max_retries=1, retry_delay=60)
    send(emu, "jobs", 0, 1, 2)
    emu.advance(6)
    assert timeline(emu) == [(0, [0, 1, 2], [1, 1, 1])]
    emu.advance(1)
    assert timeline(emu)[1:] == [(7, [1], [2])]


# --- waitUntil


@pytest.mark.parametrize("name", ["waitUntil", "wait_until"])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_the_batch_waits_for_wait_until(emu, jobs, name, kind):
    async def later(batch):
        await asyncio.sleep(30)
        batch.messages[0].retry()

    def handler(batch, _env, ctx):
        if batch.messages[0].attempts == 1:
            getattr(ctx, name)(later(batch))

    async def slow(batch, env, ctx):
        handler(batch, env, ctx)

    emu.consume("jobs", handler if kind == "sync" else slow, max_batch_timeout=0)
    jobs.send(1)
    emu.run_until_idle()
    assert timeline(emu) == [(0, [1], [1]), (30, [1], [2])]


@pytest.mark.parametrize(("flags", "state"), [([], "dropped"), ([NO_WAIT], "acked")])
def test_a_promise_that_fails_fails_the_batch_unless_the_flag_says_otherwise(flags, state):
    emu = Emulator(flags=flags)
    jobs = emu.create_queue("jobs")

    async def fails():
        await asyncio.sleep(3)
        raise RuntimeError("the promise was rejected")

    emu.consume("jobs", lambda _batch, _env, ctx: ctx.waitUntil(fails()), max_batch_timeout=0, max_retries=0)
    jobs.send(1)
    emu.run_until_idle()
    assert fates(emu) == [(1, state)]
    emu.advance(10)
    emu.close()


@pytest.mark.usefixtures("jobs")
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_handler_that_raises_waits_for_its_promises_as_well(emu, kind):
    async def later(batch):
        await asyncio.sleep(30)
        batch.messages[0].ack()

    def handler(batch, _env, ctx):
        if batch.messages[0].attempts == 1:
            ctx.waitUntil(later(batch))
            raise RuntimeError("after the promise was made")

    async def slow(batch, env, ctx):
        handler(batch, env, ctx)

    emu.consume("jobs", handler if kind == "sync" else slow, max_batch_timeout=0, max_batch_size=2)
    send(emu, "jobs", "acked later", "not")
    emu.run_until_idle()
    assert timeline(emu) == [(0, ["acked later", "not"], [1, 1]), (30, ["not"], [2])]
    assert outcomes(emu) == [(0, "exception"), (30, "ok")]


def test_with_the_flag_the_promise_goes_on_after_the_batch():
    emu = Emulator(flags=[NO_WAIT])
    jobs, done = emu.create_queue("jobs"), []

    async def later():
        await asyncio.sleep(3)
        done.append(seconds(emu))

    emu.consume("jobs", lambda _batch, _env, ctx: ctx.waitUntil(later()), max_batch_timeout=0)
    jobs.send(1)
    emu.advance(0)
    assert fates(emu) == [(1, "acked")]
    emu.advance(3)
    assert done == [3]
    emu.close()


# --- re-entrancy


def test_a_handler_may_send_look_and_pull(emu, jobs):
    emu.create_queue("pulled").send("x")
    emu.consume("pulled", type="http_pull")
    seen = []

    def handler(_batch):
        seen.append(jobs.bodies())
        seen.append([m.value for m in emu.queue("pulled").pull()])
        seen.append(jobs.metrics().backlogCount)
        emu.queue("pulled").send("y")

    emu.consume("jobs", handler, max_batch_timeout=0)
    jobs.send(1)
    emu.advance(0)
    assert seen == [[1], ["x"], 1]


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("call", [lambda emu: emu.advance(1), lambda emu: emu.run_until_idle()], ids=["advance", "run_until_idle"])
def test_a_handler_cannot_move_time(emu, jobs, kind, call):
    def handler(_batch):
        call(emu)

    async def slow(_batch):
        call(emu)

    emu.consume("jobs", handler if kind == "sync" else slow, max_batch_timeout=0, max_retries=0)
    jobs.send(1)
    emu.advance(0)
    assert outcomes(emu) == [(0, "exception")]
    assert "RuntimeError" in emu.deliveries[0].error
    assert seconds(emu) == 0


def test_a_handler_may_pause_and_purge_its_own_queue(emu, jobs):
    def handler(_batch):
        jobs.pause()
        jobs.purge()
        raise RuntimeError

    emu.consume("jobs", handler, max_batch_timeout=0, max_batch_size=1)
    send(emu, "jobs", "in hand", "waiting")
    emu.advance(100)
    assert timeline(emu) == [(0, ["in hand"], [1])]
    assert fates(emu) == [("in hand", "waiting"), ("waiting", "purged")]


def test_a_handler_may_shorten_the_retention_of_what_is_due_at_this_very_moment(emu, jobs):
    other = emu.create_queue("other")
    seen = []
    emu.consume("jobs", lambda _batch: emu.update_queue("other", message_retention_period=60), max_batch_timeout=60)
    emu.consume("other", seen.append, max_batch_timeout=60)
    other.send("old")
    jobs.send(1)
    emu.advance(60)
    assert seen == []
    assert fates(emu, "other") == [("old", "expired")]


@pytest.mark.usefixtures("jobs")
@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("deed", ["delete_queue", "remove_consumer"])
def test_a_handler_may_take_its_own_queue_or_consumer_away(emu, kind, deed):
    def handler(_batch):
        getattr(emu, deed)("jobs")
        raise RuntimeError

    async def slow(batch):
        await asyncio.sleep(1)
        handler(batch)

    emu.consume("jobs", handler if kind == "sync" else slow, max_batch_timeout=0, max_batch_size=1, max_concurrency=1)
    send(emu, "jobs", 1, 2)
    emu.advance(100)
    assert len(emu.deliveries) == 1
    assert {state for _, state in fates(emu)} == {"purged" if deed == "delete_queue" else "waiting"}
    emu.advance(5 * 86_400)
    assert emu.report().total.waiting == 0


# --- what the test learns


def test_the_report_counts_and_names_errors(emu, jobs):
    emu.consume("jobs", throw, max_batch_timeout=0, max_retries=0)
    jobs.send(1)
    emu.advance(0)
    text = str(emu.report())
    assert "jobs" in text
    assert "thrown by the test" in text


def test_strict_mode_raises_the_handlers_error_in_the_test():
    emu = Emulator(strict=True)
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", throw, max_batch_timeout=0)
    jobs.send(1)
    with pytest.raises(RuntimeError, match="thrown by the test"):
        emu.advance(0)
    emu.close()


def test_a_trace_tells_the_life_of_one_message(emu, jobs):
    emu.consume("jobs", following(throw), max_batch_timeout=0, retry_delay=60)
    jobs.send("a")
    jobs.send("b", delay_seconds=5)
    emu.run_until_idle()
    first = emu.fates[0].id
    text = str(emu.trace(first))
    assert first[:8] in text
    assert emu.fates[1].id[:8] not in text
    for word in ("sent", "delivered", "retried", "thrown by the test", "acked"):
        assert word in text
