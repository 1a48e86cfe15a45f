"""The decision tree of asynq, as in its source and as on its page; and whether a policy can work on its queue."""

from __future__ import annotations

import dataclasses

import pytest

from emulator.toolkit import (
    PAGE,
    Action,
    Consumer,
    DeadlineExceeded,
    ErrorClass,
    Policies,
    PolicyCannotWork,
    RateLimited,
    RetryPolicy,
    RevokeTask,
    SkipRetry,
    Task,
    asynq_policy,
    course_policies,
    exponential,
    fixed,
    is_panic,
    linear,
    place_of,
)  # fmt: skip

TASK = Task("m1", "jobs", "email:send", {"to": "ann"}, max_retries=25)


def retried(count):
    return dataclasses.replace(TASK, retried=count, attempt=count + 1)


class NotReady(Exception):  # noqa: N818 - what it is
    """What is no failure."""


def is_failure(error):
    return not isinstance(error, NotReady)


def wrapped(cause, text="user 7 not found"):
    error = RuntimeError(text)
    error.__cause__ = cause
    return error


def heard(**given):
    """A policy whose hooks are heard."""
    calls = []
    hooks = {name: (lambda _error, _task, name=name: calls.append(name)) for name in ("on_error", "on_exhausted", "on_panic")}
    return asynq_policy(**hooks, **given), calls


def test_twenty_five_retries_then_the_archive():
    policy = asynq_policy()
    assert policy.max_retries == 25
    assert policy.decide(OSError("x"), retried(24)).action is Action.RETRY
    verdict = policy.decide(OSError("x"), retried(25))
    assert (verdict.action, verdict.exhausted, verdict.reason) == (Action.ARCHIVE, True, "max retries exceeded (25)")


def test_retries_below_none_are_none():
    assert asynq_policy(max_retries=-3).max_retries == 0
    assert asynq_policy(max_retries=0).decide(OSError(), TASK).action is Action.ARCHIVE


def test_skip_retry_archives_at_once():
    for error in (SkipRetry("bad"), wrapped(SkipRetry())):
        verdict = asynq_policy().decide(error, TASK)
        assert (verdict.action, verdict.exhausted) == (Action.ARCHIVE, False)


def test_skip_retry_is_found_only_where_it_was_wrapped():
    unwrapped = RuntimeError("skip retry")
    unwrapped.__context__ = SkipRetry()
    assert asynq_policy().decide(unwrapped, TASK).action is Action.RETRY


def test_revoke_drops_even_when_nothing_is_left():
    for count in (0, 25):
        assert asynq_policy().decide(wrapped(RevokeTask()), retried(count)).action is Action.REVOKE


def test_own_exceptions_mean_skip_and_revoke():
    policy = RetryPolicy(skip_retry=(NotReady,), revoke=(KeyError,))
    assert policy.decide(NotReady(), TASK).action is Action.ARCHIVE
    assert policy.decide(KeyError(), TASK).action is Action.REVOKE


@pytest.mark.parametrize(
    ("error", "action"),
    [
        (wrapped(SkipRetry(), "bad JSON"), Action.ARCHIVE), (wrapped(SkipRetry(), "no such user"), Action.ARCHIVE),
        (TimeoutError(), Action.RETRY), (ConnectionRefusedError("database"), Action.RETRY), (RateLimited("429"), Action.RETRY),
        (wrapped(RevokeTask(), "cancelled"), Action.REVOKE), (None, Action.DONE),
    ],
)  # fmt: skip
def test_the_table_of_seven_situations(error, action):
    assert asynq_policy().decide(error, TASK).action is action


def test_decision_table():
    test_the_table_of_seven_situations(wrapped(SkipRetry(), "bad JSON"), Action.ARCHIVE)
    test_the_table_of_seven_situations(TimeoutError(), Action.RETRY)
    test_the_table_of_seven_situations(wrapped(RevokeTask()), Action.REVOKE)
    test_the_table_of_seven_situations(None, Action.DONE)


def test_what_is_no_failure_does_not_count_and_keeps_n():
    policy = RetryPolicy(max_retries=2, backoff=linear(10), is_failure=is_failure)
    verdict = policy.decide(NotReady(), retried(1))
    assert (verdict.action, verdict.counts, verdict.delay_seconds) == (Action.RETRY, False, 20)
    assert policy.decide(OSError(), retried(1)).counts


def test_a_full_count_ends_what_is_no_failure_in_the_source_and_not_on_the_page():
    source = asynq_policy(max_retries=0, is_failure=is_failure)
    assert source.decide(NotReady(), TASK).action is Action.ARCHIVE
    page = asynq_policy(max_retries=0, is_failure=is_failure, dialect=PAGE)
    assert page.decide(NotReady(), TASK).action is Action.RETRY
    assert page.decide(OSError(), TASK).action is Action.ARCHIVE


def test_is_failure_is_asked_only_before_a_retry():
    asked = []
    policy = asynq_policy(max_retries=1, is_failure=lambda error: asked.append(error) or True)
    for error, task in ((SkipRetry(), TASK), (RevokeTask(), TASK), (OSError(), retried(1))):
        policy.decide(error, task)
    assert asked == []
    policy.decide(OSError(), TASK)
    assert len(asked) == 1


def test_the_error_handler_hears_every_failure_in_the_source():
    policy, calls = heard(max_retries=1)
    policy.judge(OSError(), TASK)
    policy.judge(RevokeTask(), TASK)
    policy.judge(OSError(), retried(1))
    assert calls == ["on_error", "on_error", "on_error", "on_exhausted"]


def test_the_error_handler_hears_the_last_failure_on_the_page():
    policy, calls = heard(max_retries=1, dialect=PAGE)
    policy.judge(OSError(), TASK)
    assert calls == []
    policy.judge(OSError(), retried(1))
    assert calls == ["on_error", "on_exhausted"]


def test_a_panic_is_heard_separately():
    policy, calls = heard()
    policy.judge(KeyError("x"), TASK)
    assert calls == ["on_panic", "on_error"]
    assert is_panic(ZeroDivisionError())
    assert not is_panic(OSError())
    with pytest.raises(AttributeError) as caught:
        None.nothing  # noqa: B018 - it is the mistake that is wanted
    assert place_of(caught.value).startswith("test_policy.py:")


def test_a_deadline_is_a_failure_in_the_source_and_the_end_on_the_page():
    late = DeadlineExceeded("over")
    assert asynq_policy().decide(late, TASK).action is Action.RETRY
    assert asynq_policy(dialect=PAGE).decide(late, TASK).action is Action.ARCHIVE
    assert asynq_policy(dialect=PAGE).decide(TimeoutError(), TASK).action is Action.RETRY


def test_both_words_at_once_follow_the_dialect():
    both = SkipRetry()
    both.__cause__ = RevokeTask()
    assert asynq_policy().decide(both, TASK).action is Action.REVOKE
    assert asynq_policy(dialect=PAGE).decide(both, TASK).action is Action.ARCHIVE


def test_the_earlier_of_timeout_and_deadline_wins():
    policy = RetryPolicy(timeout_seconds=30, deadline_seconds=7_200)
    assert policy.budget_seconds(0) == 30
    assert policy.budget_seconds(7_190) == 10
    assert policy.budget_seconds(9_000) == 0
    assert RetryPolicy(timeout_seconds=0).budget_seconds(5) is None


def test_delays_by_error_type_and_class():
    policy = RetryPolicy(
        backoff=exponential(30), by_class={ErrorClass.RATE_LIMIT: linear(30)}, by_error={TimeoutError: fixed(1)}
    )
    assert policy.delay_seconds(RateLimited(), 2) == 90
    assert policy.delay_seconds(TimeoutError(), 5) == 1
    assert policy.delay_seconds(ValueError(), 2) == 120
    assert policy.delay_seconds(RateLimited(retry_after_seconds=500), 0) == 500


def test_delays_by_task_type():
    policies = Policies(
        asynq_policy(), {"email:send": asynq_policy(backoff=fixed(10)), "order:cancel": asynq_policy(backoff=linear(2))}
    )
    assert [policies["email:send"].delay_seconds(OSError(), n) for n in range(3)] == [10, 10, 10]
    assert [policies["order:cancel"].delay_seconds(OSError(), n) for n in range(3)] == [2, 4, 6]
    assert 15 <= policies["other"].delay_seconds(OSError(), 0) <= 44
    assert policies[None] is policies.default


def test_the_courses_table_of_policies():
    policies = course_policies(seed=0)
    table = {"parse_pdf": (3, 30), "ocr_image": (5, 10), "generate_embedding": (3, 60), "send_notification": (10, 5)}
    for kind, (retries, base) in table.items():
        assert policies[kind].max_retries == retries
        assert policies[kind].backoff.raw_bounds(0)[0] >= base * 0.75
        assert policies[kind].backoff.raw_bounds(0)[1] <= base * 1.25
    assert policies["unknown"].max_retries == 3
    assert policies["unknown"].backoff.bounds(0) == (23, 37)


def test_all_hooks_together():
    policy, calls = heard(by_class={ErrorClass.RATE_LIMIT: linear(30)}, is_failure=is_failure, max_retries=2)
    assert policy.judge(RateLimited(), TASK)[0].delay_seconds == 30
    assert not policy.judge(NotReady(), TASK)[0].counts
    assert policy.judge(TypeError(), retried(2))[0].action is Action.ARCHIVE
    assert calls == ["on_error", "on_error", "on_panic", "on_error", "on_exhausted"]


# --- can it work?


def problems(policy=None, **consumer):
    with pytest.raises(PolicyCannotWork) as caught:
        RetryPolicy(consumer=Consumer(**{"dead_letter_queue": "dead", **consumer}), **(policy or {}))
    return caught.value.problems


def test_the_courses_policies_cannot_work_on_the_courses_consumer():
    with pytest.raises(PolicyCannotWork) as caught:
        course_policies(Consumer(max_retries=3, dead_letter_queue="tasks-dlq"))
    assert [text.split(":")[0] for text in caught.value.problems] == ["ocr_image", "send_notification"]
    course_policies(Consumer(max_retries=10, dead_letter_queue="tasks-dlq"))


def test_asynqs_defaults_cannot_work_on_a_default_consumer():
    with pytest.raises(PolicyCannotWork) as caught:
        asynq_policy(consumer=Consumer(dead_letter_queue="dead"))
    assert len(caught.value.problems) == 2
    assert "25 retries" in caught.value.problems[0]
    assert "days" in caught.value.problems[1]
    asynq_policy(consumer=Consumer(max_retries=25, retention_seconds=1_209_600, dead_letter_queue="dead"))


def test_what_else_cannot_work_is_said():
    assert "no dead_letter_queue" in problems(dead_letter_queue=None)[0]
    assert "outside 0..100" in problems(max_retries=101)[0]
    assert "retention" in problems(retention_seconds=2_000_000)[0]
    assert "does not fit" in problems({"timeout_seconds": 1_800})[0]
    assert "deadline" in problems({"deadline_seconds": 500_000})[0]
    assert "deleted" in problems({"backoff": fixed(80_000), "max_retries": 3}, retention_seconds=86_400)[0]


def test_what_works_and_is_worth_knowing():
    notes = Consumer(max_retries=25, retention_seconds=1_209_600, dead_letter_queue="d").notes
    assert "cut to 86,400 s" in notes(asynq_policy())[0]
    assert "exhausting" in notes(RetryPolicy())[0]
    assert "still counts for the queue" in notes(asynq_policy(max_retries=25, is_failure=is_failure))[0]
