"""A handler takes what it wants, may be a function, a class or an object, and what floats after it is cut off."""

from __future__ import annotations

import asyncio
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


def test_a_handler_that_takes_nothing_is_refused_at_once():
    with pytest.raises(TypeError, match="takes nothing"):
        handler_call(lambda: None)


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
