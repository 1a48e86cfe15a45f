"""A handler takes what it wants, may be a function, a class or an object, and what floats after it is cut off."""

from __future__ import annotations

import asyncio
import copy
import types
from functools import partial
from unittest.mock import AsyncMock, Mock

import pytest

from emulator import Emulator, Faults
from emulator.engine.targets.handlers import handler_call


@pytest.fixture
def emu():
    with Emulator() as emulator:
        emulator.create_queue("jobs")
        yield emulator


def deliver(emu, handler, **settings):
    """Send one message to a handler and let it run."""
    emu.consume("jobs", handler, max_batch_timeout=0, max_retries=0, **settings)
    emu.queue("jobs").send({"n": 1})
    emu.run_until_idle()
    return emu.deliveries[-1]


class OneArgument:
    def queue(self, batch):
        self.env.SEEN.append(batch.queue)


class ThreeArguments:
    async def queue(self, batch, env=None, ctx=None):
        env.SEEN.append((batch.queue, ctx is self.ctx))


class MadeWithContext:
    def __init__(self, ctx, env):
        self.ctx, self.env = ctx, env

    async def queue(self, batch):
        self.env.SEEN.append((batch.queue, hasattr(self.ctx, "waitUntil")))


class Callable:
    def __init__(self, seen):
        self.seen = seen

    def __call__(self, batch, env):
        self.seen.append((batch.queue, env is not None))


@pytest.mark.parametrize(
    ("handler", "seen"), [(OneArgument, "jobs"), (ThreeArguments, ("jobs", True)), (MadeWithContext, ("jobs", True))]
)
def test_worker_classes(emu, handler, seen):
    emu.env.bind("SEEN", [])
    assert deliver(emu, handler).outcome == "ok"
    assert list(emu.env.SEEN) == [seen]


def test_a_worker_class_is_made_anew_for_every_batch(emu):
    made = []

    class Worker:
        def queue(self, _batch):
            made.append(self)

    emu.consume("jobs", Worker, max_batch_size=1)
    emu.queue("jobs").send_batch([{"body": 1}, {"body": 2}])
    emu.advance(0)
    assert len(set(map(id, made))) == 2


def test_objects_that_can_be_called_or_have_queue(emu):
    seen: list = []
    assert deliver(emu, Callable(seen)).outcome == "ok"
    assert seen == [("jobs", True)]


@pytest.mark.parametrize("mock", [Mock(), AsyncMock()])
def test_a_mock_is_called_itself(emu, mock):
    assert deliver(emu, mock).outcome == "ok"
    assert mock.call_args.args[0].queue == "jobs"


@pytest.mark.parametrize("handler", [5, None, "handler", object()])
def test_what_is_no_handler_is_refused_at_once(handler):
    with pytest.raises(TypeError, match="a consumer is a function"):
        handler_call(handler)


def four(a, b, c, d):
    pass


class Queue:
    """An object with a queue() of any make."""

    def __init__(self, queue):
        self.queue = queue


def worker(function):
    return type("Worker", (), {"queue": function})


REFUSED = [
    lambda: None, lambda **more: more, four, lambda a, b, c, d, e=None: (a, b, c, d, e), lambda a, b, c, d, *more: (a, b, c, d, more),
    lambda batch, *, db: (batch, db), partial(lambda a, b, c, d, e: (a, b, c, d, e), 1), Queue(four),
    worker(lambda self: self), worker(lambda self, a, b, c, d: (self, a, b, c, d)), worker(staticmethod(four)),
    worker(classmethod(lambda cls, a, b, c, d: (cls, a, b, c, d))), worker(lambda self, batch, *, db: (self, batch, db)),
]  # fmt: skip


@pytest.mark.parametrize("handler", REFUSED)
def test_a_handler_that_needs_other_arguments_than_it_gets_is_refused_at_once(handler):
    with Emulator() as emu:
        emu.create_queue("jobs")
        with pytest.raises(TypeError, match=r"a handler takes \(batch\), \(batch, env\) or \(batch, env, ctx\), not \("):
            emu.consume("jobs", handler)
        assert emu.queue("jobs").consumer is None


def three(*given):
    """Told apart by what they are given: batch, env, ctx."""
    assert [type(each).__name__ for each in given] == ["MessageBatch", "Environment", "Context"][: len(given)]
    return len(given)


TAKEN = [
    (three, 3), (lambda batch, *more: three(*[batch, *more]), 3), (lambda batch, env=None, *, db=None: (three(batch, env), db)[0], 2),
    (lambda batch, env, ctx, more=None: (three(batch, env, ctx), more)[0], 3), (partial(lambda a, batch: (a, three(batch))[1], 1), 1),
    (worker(lambda self, batch, env, ctx: (self, three(batch, env, ctx))[1]), 3), (worker(lambda self, *given: (self, three(*given))[1]), 3),
    (worker(lambda *given: three(*given[1:])), 3), (worker(staticmethod(lambda batch, env: three(*[batch, env]))), 2),
    (worker(classmethod(lambda cls, batch: (cls, three(batch))[1])), 1), (Queue(lambda batch, env: three(*[batch, env])), 2),
]  # fmt: skip


@pytest.mark.parametrize(("handler", "count"), TAKEN)
def test_a_handler_gets_as_many_arguments_as_it_takes(emu, handler, count):
    batch, env, ctx = [type(name, (), {})() for name in ("MessageBatch", "Environment", "Context")]
    assert handler_call(handler)(batch, env, ctx) == count
    assert deliver(emu, handler).outcome == "ok"


def stray(batch):
    yield batch.messages[0].retry()


async def stray_async(batch):
    yield batch.messages[0].retry()


class Stray:
    def queue(self, batch):
        yield batch.messages[0].retry()

    async def queue_async(self, batch):
        yield batch.messages[0].retry()

    @staticmethod
    def queue_static(batch):
        yield batch.messages[0].retry()


@pytest.mark.parametrize(
    "handler",
    [stray, stray_async, Stray, Stray(), Stray().queue, Stray().queue_async, worker(Stray.queue_async), Stray.queue_static,
     lambda batch: stray(*[batch]), lambda batch: stray_async(*[batch]), partial(stray)],
)  # fmt: skip
def test_a_handler_that_is_a_generator_never_ran_and_that_is_told(emu, handler):
    delivery = deliver(emu, handler)
    assert (delivery.outcome, delivery.error.split(":")[0]) == ("exception", "NeverRan")
    assert "it is a generator" in str(emu.report())
    assert [fate.state for fate in emu.fates] == ["dropped"]


def test_a_generator_that_can_be_awaited_is_no_mistake(emu):
    ran = []

    @types.coroutine
    def old(batch):
        ran.append(batch.queue)
        yield

    assert deliver(emu, old).outcome == "ok"
    assert ran == ["jobs"]


def empties(batch, how):
    messages = batch.messages
    first = messages.pop(0)
    first.retry(delaySeconds=60)
    {"pop": messages.clear, "clear": messages.clear, "append": lambda: messages.append(first), "other": messages.reverse}[how]()
    if how == "other":
        batch.messages = []


@pytest.mark.parametrize("how", ["pop", "clear", "append", "other"])
def test_what_a_handler_does_to_its_list_of_messages_says_nothing_about_them(emu, how):
    emu.consume("jobs", lambda batch: empties(batch, how), max_batch_size=3, max_batch_timeout=0)
    emu.queue("jobs").send_batch([{"body": n} for n in range(3)])
    emu.advance(0)
    assert [(fate.body, fate.state) for fate in emu.fates] == [(0, "waiting"), (1, "acked"), (2, "acked")]
    emu.advance(59)
    assert len(emu.deliveries) == 1
    emu.advance(1)
    assert [body for _, body, _ in emu.deliveries[1].messages] == [0]


def test_messages_retried_off_an_emptied_list_keep_their_retries_when_the_handler_raises(emu):
    def handler(batch):
        while batch.messages:
            message = batch.messages.pop()
            message.ack() if message.body == 1 else message.retry(delaySeconds=60)
        raise RuntimeError

    emu.consume("jobs", handler, max_batch_size=3, max_batch_timeout=0, retry_delay=5)
    emu.queue("jobs").send_batch([{"body": n} for n in range(3)])
    emu.advance(59)
    assert [(fate.body, fate.state) for fate in emu.fates] == [(0, "waiting"), (1, "acked"), (2, "waiting")]
    assert len(emu.deliveries) == 1


def test_a_bindings_call_is_a_coroutine_wherever_one_is_taken(emu):
    emu.create_queue("next")
    seen = []

    async def handler(_batch, env):
        send = env.NEXT.send
        seen.append((await asyncio.create_task(send(1))).metadata.metrics.backlogCount)
        seen.extend(reply.metrics.backlogCount for reply in await asyncio.gather(send(2), env.NEXT.sendBatch([{"body": 3}])))
        seen.append((await asyncio.wait_for(send(4), 5)).metrics.backlogCount)
        seen.append((await asyncio.ensure_future(send(5))).metrics.backlogCount)
        seen.append((await env.NEXT.metrics()).backlogCount)
        async with asyncio.TaskGroup() as group:
            seen.append(group.create_task(send(6)))
        seen[-1] = seen[-1].result().metrics.backlogCount
        done, _ = await asyncio.wait([asyncio.create_task(send(7))], timeout=1)
        seen.append(done.pop().result().metrics.backlogCount)
        again = send(8)
        seen.extend([(await again).metrics.backlogCount, (await again).metrics.backlogCount])
        assert asyncio.iscoroutine(send(9))

    assert (deliver(emu, handler).outcome, emu.report().errors) == ("ok", [])
    assert seen == [1, 2, 3, 4, 5, 5, 6, 7, 8, 8]
    assert emu.queue("next").bodies() == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_a_body_crosses_however_deep_it_is_and_whatever_stands_deep_in_it_is_refused(emu):
    emu.create_queue("next")
    seen = []

    def handler(_batch, env):
        deep, refused, circle = [], [(1,)], []
        for _ in range(2_000):
            deep, refused = [deep], {"a": refused}
        circle.append(circle)
        env.NEXT.send(deep)
        for value in (refused, circle):
            with pytest.raises(TypeError) as told:
                env.NEXT.send(value)
            seen.append(str(told.value))

    assert deliver(emu, handler).outcome == "ok"
    assert seen == ["tuple cannot be sent over RPC.", "Converting circular structure to JSON"]
    assert len(emu.queue("next").bodies()) == 1


def test_a_sync_handler_reads_the_reply_without_awaiting(emu):
    emu.create_queue("next")
    seen = []

    def handler(_batch, env):
        reply = env.NEXT.send("a")
        seen.extend([reply.metadata.metrics.backlogCount, len(reply.id), env.NEXT.metrics().backlogCount])
        assert not hasattr(reply, "nothing")
        assert not hasattr(copy.copy(reply), "nothing")

    assert deliver(emu, handler).outcome == "ok"
    assert seen == [1, 32, 1]


def test_a_lambda_that_returns_a_coroutine_is_awaited(emu):
    done = []

    async def later(batch):
        await asyncio.sleep(7)
        done.append(batch.queue)

    assert deliver(emu, lambda batch, _env: later(batch)).outcome == "ok"
    assert done == ["jobs"]


def test_a_task_that_floats_is_cut_off_when_the_batch_ends(emu):
    seen = []

    async def floats():
        await asyncio.sleep(5)
        seen.append("too late")

    async def handler(_batch):
        handler.task = asyncio.create_task(floats())

    assert deliver(emu, handler).outcome == "ok"
    emu.advance(60)
    assert seen == []
    assert handler.task.cancelled()


def test_a_task_group_inside_a_handler_works(emu):
    async def handler(batch):
        async with asyncio.TaskGroup() as group:
            for message in batch.messages:
                group.create_task(asyncio.sleep(message.body["n"]))

    before = emu.now
    assert deliver(emu, handler).outcome == "ok"
    assert (emu.now - before).total_seconds() == 1


def test_batches_of_one_moment_end_in_the_order_in_which_they_began():
    emu, ended = Emulator(), []

    async def handler(batch):
        await asyncio.sleep(10)
        ended.append(batch.messages[0].body)

    for name in "abcdefgh":
        emu.create_queue(name)
        emu.consume(name, handler, max_batch_timeout=0)
        emu.queue(name).send(name)
    emu.advance(10)
    assert ended == list("abcdefgh")
    emu.close()


def test_closing_ends_what_runs(emu):
    ended = []

    async def handler(_batch):
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    emu.consume("jobs", handler, max_batch_timeout=0)
    emu.queue("jobs").send(1)
    emu.advance(1)
    emu.close()
    assert ended == ["cancelled"]
    with pytest.raises(RuntimeError, match="closed"):
        emu.advance(1)


def test_many_failures_do_not_hold_on_to_their_batches(monkeypatch):
    monkeypatch.setattr("emulator.engine.delivery._TRACEBACKS_MAX", 3)

    def fails(batch):
        raise ValueError(batch.messages[0].body)

    emu = Emulator()
    emu.create_queue("jobs")
    emu.consume("jobs", fails, max_batch_size=1, max_retries=4)
    emu.queue("jobs").send("x")
    emu.run_until_idle()
    assert [error.__traceback__ is not None for error in emu.errors] == [True, True, True, False, False]
    assert [str(error) for error in emu.errors] == ["x"] * 5


def test_a_strict_test_does_not_fail_on_chaos():
    emu = Emulator(strict=True, faults=Faults(crashes=1))
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", lambda batch: batch.messages[0].body, max_batch_timeout=0, max_retries=2)
    jobs.send("x")
    emu.run_until_idle()
    assert [delivery.outcome for delivery in emu.deliveries] == ["exception"] * 3
    assert len(emu.report().errors) == 3
