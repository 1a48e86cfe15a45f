"""settle: message by message, effect first, dead letters on purpose."""

from __future__ import annotations

import asyncio

import pytest

from emulator.toolkit import (
    PAGE,
    DeadLetters,
    DeadlineExceeded,
    MemoryKV,
    Policies,
    RetryPolicy,
    RevokeTask,
    SkipRetry,
    TaskTable,
    asynq_policy,
    fixed,
    linear,
    settle,
)  # fmt: skip
from tests.emulator.toolkit.support import NOW, Batch, Binding, Message, account, clock_of, database, run, states

CLOCK = lambda: NOW  # noqa: E731 - a clock that stands
FAST = RetryPolicy(backoff=fixed(1))


class Env:
    """What a Worker finds in env."""

    def __init__(self, **bindings):
        self.__dict__.update(bindings)


def test_each_message_is_acknowledged_after_its_effect():
    done = []

    @settle(FAST, clock=CLOCK)
    async def handle(task):
        assert task.message.word is None, "no ack() before the effect"
        done.append(task.body)

    batch = Batch(Message(1), Message(2))
    run(handle(batch))
    assert done == [1, 2]
    assert [m.word for m in batch.messages] == ["ack", "ack"]


def test_a_failure_leaves_its_neighbours_alone():
    @settle(FAST, clock=CLOCK)
    def handle(task):
        if task.body == 8:
            raise TimeoutError

    batch = Batch(*(Message(n) for n in range(1, 11)))
    run(handle(batch))
    assert [m.word for m in batch.messages] == ["ack"] * 7 + [("retry", 1)] + ["ack"] * 2


def test_the_retry_index_is_attempts_minus_one():
    @settle(RetryPolicy(backoff=linear(10)), clock=CLOCK)
    def handle(task):
        assert task.retried == task.attempt - 1
        raise TimeoutError

    batch = Batch(Message(1, attempts=1), Message(2, attempts=3))
    run(handle(batch))
    assert [m.word for m in batch.messages] == [("retry", 10), ("retry", 30)]


def test_a_policy_is_taken_by_the_type_in_the_body():
    policies = Policies(FAST, {"slow": RetryPolicy(backoff=fixed(99))})

    @settle(policies, clock=CLOCK)
    def handle(_task):
        raise TimeoutError

    batch = Batch(Message({"type": "slow"}), Message({"type": "other"}), Message("text"))
    run(handle(batch))
    assert [m.word[1] for m in batch.messages] == [99, 1, 1]


def test_what_is_given_up_goes_to_the_binding_and_then_is_acknowledged():
    dead = Binding()

    @settle(FAST, dead_letter="DEAD", clock=CLOCK)
    def handle(_task):
        raise SkipRetry("never")

    message = Message({"id": 7})
    run(handle(Batch(message), Env(DEAD=dead)))
    assert (dead.sent, message.word) == ([{"id": 7}], "ack")


def test_what_cannot_be_buried_stays_in_its_queue():
    @settle(FAST, dead_letter=Binding(ConnectionError("down")), clock=CLOCK)
    def handle(_task):
        raise SkipRetry("never")

    message = Message(1)
    run(handle(Batch(message)))
    assert message.word == ("retry", 5)


def test_exhausting_reaches_the_dead_letter_queue_without_working_again():
    with account() as emu:
        worked = []

        @settle(RetryPolicy(backoff=fixed(1), max_retries=1), tally=MemoryKV(clock_of(emu)), clock=clock_of(emu))
        def handle(task):
            worked.append(task.body)
            raise SkipRetry("never") if task.body == "bad" else TimeoutError("later")

        emu.create_queue("jobs").send_batch([{"body": "bad"}, {"body": "slow"}])
        emu.consume("jobs", handle, max_batch_timeout=0, max_retries=5, dead_letter_queue="dead")
        emu.run_until_idle()
        assert states(emu, "jobs") == ["dead-lettered", "dead-lettered"]
        assert sorted(worked) == ["bad", "slow", "slow"]
        assert sorted(emu.queue("dead").bodies()) == ["bad", "slow"]


def test_an_ack_in_place_of_a_dead_letter_loses_it():
    """The course's section 8: a comment says dead-letter queue, and the code says ack()."""
    with account() as emu:

        def broken(batch):
            for message in batch.messages:
                if message.attempts <= 3:
                    message.retry(delaySeconds=1)
                else:
                    message.ack()

        emu.create_queue("jobs").send(1)
        emu.consume("jobs", broken, max_batch_timeout=0, max_retries=3, dead_letter_queue="dead")
        emu.run_until_idle()
        assert states(emu, "jobs") == ["acked"]
        assert emu.queue("dead").bodies() == []


def test_exhausted_messages_reach_the_dead_letter_queue_by_themselves():
    with account() as emu:

        @settle(FAST, clock=clock_of(emu))
        def handle(_task):
            raise TimeoutError

        emu.create_queue("jobs").send(1)
        emu.consume("jobs", handle, max_batch_timeout=0, max_retries=3, dead_letter_queue="dead")
        emu.run_until_idle()
        assert len(emu.deliveries) == 4
        assert states(emu, "jobs") == ["dead-lettered"]


def test_a_revoked_task_is_neither_retried_nor_kept():
    dead = Binding()

    @settle(FAST, dead_letter=dead, clock=CLOCK)
    def handle(_task):
        raise RevokeTask("cancelled")

    message = Message(1)
    run(handle(Batch(message)))
    assert (message.word, dead.sent) == ("ack", [])


def test_what_is_no_failure_is_counted_by_the_tally():
    with account() as emu:
        seen = []
        policy = asynq_policy(max_retries=1, backoff=linear(1), is_failure=lambda error: not isinstance(error, LookupError))

        @settle(policy, tally=MemoryKV(clock_of(emu)), clock=clock_of(emu))
        def handle(task):
            seen.append((task.attempt, task.retried))
            raise LookupError("not ready") if task.attempt < 5 else OSError("broken")

        emu.create_queue("jobs").send(1)
        emu.consume("jobs", handle, max_batch_timeout=0, max_retries=20, dead_letter_queue="dead")
        emu.run_until_idle()
        assert seen == [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 1)]
        assert states(emu, "jobs") == ["dead-lettered"]


def test_is_failure_needs_somebody_who_counts():
    with pytest.raises(ValueError, match="needs a tally"):
        settle(RetryPolicy(is_failure=lambda _error: False))


def test_unlimited_retries_end_with_the_queues_own_count():
    with account() as emu:
        policy = RetryPolicy(max_retries=0, backoff=fixed(1), is_failure=lambda _error: False, dialect=PAGE)

        @settle(policy, tally=MemoryKV(clock_of(emu)), clock=clock_of(emu))
        def handle(_task):
            raise OSError("overloaded")

        emu.create_queue("jobs").send(1)
        emu.consume("jobs", handle, max_batch_timeout=0, max_retries=7, dead_letter_queue="dead")
        emu.run_until_idle()
        assert len(emu.deliveries) == 8


def test_an_attempt_is_cut_off_and_sees_it():
    with account() as emu:
        seen = []

        @settle(RetryPolicy(timeout_seconds=30, backoff=fixed(1), max_retries=1), clock=clock_of(emu))
        async def handle(task):
            try:
                await asyncio.sleep(60 if task.attempt == 1 else 20)
            except asyncio.CancelledError:
                seen.append((task.attempt, (emu.now.timestamp() - NOW)))
                raise
            seen.append("done")

        emu.create_queue("jobs").send(1)
        emu.consume("jobs", handle, max_batch_timeout=0)
        emu.run_until_idle()
        assert seen == [(1, 30.0), "done"], "each attempt has its own 30 seconds"


def deadline_run(**given):
    """The attempts that a task with a deadline of 100 s makes, and its fate."""
    with account() as emu:
        began, errors, tally = [], [], MemoryKV(clock_of(emu))
        policy = RetryPolicy(
            deadline_seconds=100, backoff=fixed(60), max_retries=4, on_error=lambda error, _task: errors.append(error), **given
        )

        @settle(policy, tally=tally, clock=clock_of(emu))
        async def handle(_task):
            began.append(emu.now.timestamp() - NOW)
            await asyncio.sleep(50)
            raise OSError("late")

        emu.create_queue("jobs").send(1)
        emu.consume("jobs", handle, max_batch_timeout=0, max_retries=4, dead_letter_queue="dead")
        emu.run_until_idle()
        return began, [type(error) for error in errors], len(emu.deliveries)


def test_a_deadline_does_not_start_anew_with_a_retry():
    assert deadline_run() == ([0.0], [OSError, *[DeadlineExceeded] * 4], 5)


def test_a_deadline_archives_at_once_on_the_page():
    began, errors, deliveries = deadline_run(dialect=PAGE)
    assert began == [0.0]
    assert errors == [DeadlineExceeded]
    assert deliveries == 5, "the queue still has to exhaust it"


def test_a_task_tells_what_asynqs_context_tells():
    told = []

    @settle(RetryPolicy(max_retries=7, deadline_seconds=60), clock=CLOCK)
    def handle(task):
        told.append((task.id, task.queue, task.type, task.attempt, task.retried, task.max_retries, task.deadline_at - NOW))

    run(handle(Batch(Message({"type": "mail"}, attempts=3, id="m9"), queue="mail")))
    assert told == [("m9", "mail", "mail", 3, 2, 7, 60)]


def test_a_method_of_a_worker_gets_env_and_ctx():
    seen = []

    class Default:
        env = "own env"
        messages = ()

        @settle(FAST, clock=CLOCK)
        async def queue(self, task, env, ctx):
            seen.append((type(self).__name__, task.body, task.env, env, ctx))

    run(Default().queue(Batch(Message(1)), "env", "ctx"))
    assert seen == [("Default", 1, "env", "env", "ctx")]


def test_a_method_without_env_finds_the_workers_own():
    dead = Binding()

    class Default:
        env = Env(DEAD=dead)

        @settle(FAST, dead_letter="DEAD", clock=CLOCK)
        def queue(self, _task):
            raise SkipRetry

    run(Default().queue(Batch(Message(1))))
    assert dead.sent == [1]


def test_dead_letters_keep_payload_error_and_stack_and_tell_somebody():
    with database() as connection:
        told = []
        letters = DeadLetters(connection, tell=told.append, clock=CLOCK)
        run(letters.create())
        policy = RetryPolicy(on_exhausted=letters.keep)

        @settle(policy, clock=CLOCK)
        def handle(_task):
            raise SkipRetry("no such user")

        run(handle(Batch(Message({"type": "mail", "to": "ann"}))))
        letter = run(letters.all())[0]
        assert (letter["task_id"], letter["type"], letter["queue"]) == ("m1", "mail", "jobs")
        assert letter["payload"] == '{"type": "mail", "to": "ann"}'
        assert letter["error"] == "SkipRetry: no such user"
        assert "test_settling.py" in letter["stack"]
        assert letter["created_at"] == "2026-01-01T00:00:00.000Z"
        assert told == ["[DEAD LETTER] id=m1 type=mail queue=jobs err=no such user"]
        queue = Binding()
        assert run(letters.resend("m1", queue))
        assert queue.sent == [{"type": "mail", "to": "ann"}]
        assert not run(letters.resend("m1", queue))


def test_a_hook_that_fails_retries_its_message_and_is_heard():
    def broken(_error, _task):
        raise OSError("no database")

    @settle(RetryPolicy(on_exhausted=broken), clock=CLOCK)
    def handle(task):
        if task.body == 1:
            raise SkipRetry

    batch = Batch(Message(1), Message(2))
    with pytest.raises(ExceptionGroup, match="settling failed"):
        run(handle(batch))
    assert [m.word for m in batch.messages] == [("retry", 5), "ack"]


def test_a_task_table_follows_each_task():
    with database() as connection:
        table = TaskTable(connection, clock=CLOCK)
        run(table.create())
        for id in ("good", "slow", "bad", "gone"):
            run(table.add(id, "ann", "mail", {}))
        outcome = {"slow": TimeoutError("t"), "bad": SkipRetry("b"), "gone": RevokeTask("r")}

        @settle(FAST, table=lambda env: env.TASKS, dead_letter=Binding(), clock=CLOCK)
        def handle(task):
            if task.key() in outcome:
                raise outcome[task.key()]

        run(handle(Batch(*(Message({"taskId": id}, attempts=2) for id in ("good", "slow", "bad", "gone"))), Env(TASKS=table)))
        rows = {id: run(table.get(id)) for id in ("good", "slow", "bad", "gone")}
        assert {id: row["status"] for id, row in rows.items()} == {
            "good": "completed", "slow": "pending", "bad": "failed", "gone": "revoked",
        }  # fmt: skip
        assert rows["slow"]["retry_count"] == 2
        assert "not worth a retry" in rows["bad"]["error_message"]


def test_a_body_that_cannot_be_read_is_given_up():
    class Broken(Message):
        @property
        def body(self):
            raise ValueError("no JSON")

        @body.setter
        def body(self, value):
            pass

    dead = Binding()

    @settle(FAST, dead_letter=dead, clock=CLOCK)
    def handle(_task):
        raise AssertionError("not reached")

    message = Broken(None)
    run(handle(Batch(message, Message(2, attempts=9))))
    assert message.word == ("retry", 0), "only the queue can move what cannot be read"
    assert dead.sent == [2]
