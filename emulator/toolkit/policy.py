"""What becomes of a task that failed: asynq's decision tree, as in its source, with what its page says otherwise as options.

https://github.com/hibiken/asynq, processor.go, handleFailedMessage: the error handler hears of every failure; then a revoked
task is done with; then one whose retries are used up, or that says SkipRetry, is archived; everything else is retried.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .backoff import Backoff, asynq, course
from .decide import asked_for
from .errors import DeadlineExceeded, ErrorClass, RevokeTask, SkipRetry, chain, classify, is_error
from .panics import PANICS, is_panic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .consumer import Consumer
    from .task import Task

ASYNQ_MAX_RETRIES = 25
COURSE_MAX_RETRIES = 3


class Action(enum.StrEnum):
    """What to do with a task."""

    DONE = "done"
    RETRY = "retry"
    ARCHIVE = "archive"
    REVOKE = "revoke"


@dataclass(frozen=True, slots=True)
class Verdict:
    """An action; for a retry its `delay_seconds` and whether it `counts`; else a reason. `exhausted`: no try is left."""

    action: Action
    delay_seconds: int = 0
    counts: bool = True
    exhausted: bool = False
    reason: str = ""
    error_class: ErrorClass = ErrorClass.UNKNOWN


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where asynq's page and asynq's source differ. All False is the source.

    error_handler_at_the_end: `on_error` hears only of the last failure, not of each.
    strict_deadline: a task past its deadline is archived at once; in the source it fails at once and goes on being retried.
    unlimited_non_failures: what `is_failure` denies is retried for ever; in the source a task whose count is full is archived.
    skip_before_revoke: an error that says both is archived; in the source it is revoked.
    """

    error_handler_at_the_end: bool = False
    strict_deadline: bool = False
    unlimited_non_failures: bool = False
    skip_before_revoke: bool = False


SOURCE = Dialect()
PAGE = Dialect(error_handler_at_the_end=True, strict_deadline=True, unlimited_non_failures=True, skip_before_revoke=True)


def _nothing(*_given: Any) -> None:
    """A hook that nobody gave."""


def _always(_error: BaseException) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How one type of task is tried again.

    `max_retries` is how often (below 0 counts as 0). `backoff` gives the delays; `by_class` and `by_error` (exception type,
    the first that fits) go before it. `skip_retry` and `revoke` are further exception types that mean the same as SkipRetry
    and RevokeTask. `is_failure(error)` False: the retry does not count. `timeout_seconds` is for one attempt,
    `deadline_seconds` for the whole task from its being sent; the earlier wins, 0 or None is none. Hooks, each (error, task):
    `on_error` at every failure, `on_exhausted` when it is given up, `on_panic` when the error is a programming error
    (`panics`). With a `consumer` the policy is checked against it: raises PolicyCannotWork.
    """

    max_retries: int = COURSE_MAX_RETRIES
    backoff: Backoff = field(default_factory=course)
    by_class: Mapping[ErrorClass, Backoff] = field(default_factory=dict)
    by_error: Mapping[type[BaseException], Backoff] = field(default_factory=dict)
    skip_retry: tuple[type[BaseException], ...] = ()
    revoke: tuple[type[BaseException], ...] = ()
    skip_client_errors: bool = True
    is_failure: Callable[[BaseException], bool] = _always
    timeout_seconds: float | None = None
    deadline_seconds: float | None = None
    on_error: Callable[[BaseException, Task], Any] = _nothing
    on_exhausted: Callable[[BaseException, Task], Any] = _nothing
    on_panic: Callable[[BaseException, Task], Any] = _nothing
    panics: tuple[type[BaseException], ...] = PANICS
    dialect: Dialect = SOURCE
    consumer: Consumer | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_retries", max(0, self.max_retries))
        if self.consumer is not None:
            self.consumer.check(self)

    @property
    def counts_everything(self) -> bool:
        """Whether each failure counts, so that the queue's own `attempts` tell the count."""
        return self.is_failure is _always

    def delay_seconds(self, error: BaseException, retried: int) -> int:
        """The delay before the next attempt: by exception type, else by class, else the curve; no less than was asked for."""
        backoff = self.by_class.get(classify(error), self.backoff)
        for kind, given in self.by_error.items():
            if is_error(error, kind):
                backoff = given
                break
        return max(backoff(retried), asked_for(error, backoff.longest_seconds))

    def budget_seconds(self, age_seconds: float) -> float | None:
        """How long an attempt may take that starts at that age: timeout or deadline, the earlier; None: no limit."""
        limits = [self.timeout_seconds] if self.timeout_seconds else []
        if self.deadline_seconds:
            limits.append(max(0.0, self.deadline_seconds - age_seconds))
        return min(limits) if limits else None

    def decide(self, error: BaseException | None, task: Task) -> Verdict:
        """The verdict on an attempt, without calling a hook. No error: done."""
        if error is None:
            return Verdict(Action.DONE)
        kind = classify(error)
        revoked = is_error(error, (RevokeTask, *self.revoke))
        skipped = self._skips(error, kind)
        if revoked and not (skipped and self.dialect.skip_before_revoke):
            return Verdict(Action.REVOKE, reason=f"revoked: {error}", error_class=kind)
        if skipped:
            return Verdict(Action.ARCHIVE, reason=f"not worth a retry: {error}", error_class=kind)
        if self.dialect.strict_deadline and is_error(error, DeadlineExceeded):
            return Verdict(Action.ARCHIVE, exhausted=True, reason="the deadline is over", error_class=kind)
        full = task.retried >= self.max_retries
        if full and not (self.dialect.unlimited_non_failures and not self.is_failure(error)):
            text = f"max retries exceeded ({self.max_retries})"
            return Verdict(Action.ARCHIVE, exhausted=True, reason=text, error_class=kind)
        counts = self.is_failure(error)
        return Verdict(Action.RETRY, self.delay_seconds(error, task.retried), counts=counts, error_class=kind)

    def _skips(self, error: BaseException, kind: ErrorClass) -> bool:
        if is_error(error, (SkipRetry, *self.skip_retry)):
            return True
        return self.skip_client_errors and kind is ErrorClass.CLIENT and not any(is_error(error, k) for k in self.by_error)

    def judge(self, error: BaseException, task: Task) -> tuple[Verdict, list[Any]]:
        """The verdict, with the hooks called: on_panic, on_error, on_exhausted. Returns what they returned, to be awaited."""
        verdict = self.decide(error, task)
        last = verdict.action is Action.ARCHIVE
        answers: list[Any] = []
        if is_panic(error, self.panics):
            answers.append(self.on_panic(error, task))
        if last or not self.dialect.error_handler_at_the_end:
            answers.append(self.on_error(error, task))
        if last:
            answers.append(self.on_exhausted(error, task))
        return verdict, answers


def asynq_policy(**given: Any) -> RetryPolicy:
    """The defaults of asynq: 25 retries, its own curve, nothing skipped but SkipRetry. `Consumer.check` tells if they fit."""
    return RetryPolicy(**{"max_retries": ASYNQ_MAX_RETRIES, "backoff": asynq(), "skip_client_errors": False, **given})


@dataclass(frozen=True, slots=True)
class Policies:
    """A policy for each task type, and one for the rest. With a `consumer` all are checked when this is made."""

    default: RetryPolicy = field(default_factory=RetryPolicy)
    by_type: Mapping[str, RetryPolicy] = field(default_factory=dict)
    consumer: Consumer | None = None

    def __post_init__(self) -> None:
        if self.consumer is not None:
            self.consumer.check(self.default, **self.by_type)

    def __getitem__(self, kind: str | None) -> RetryPolicy:
        """The policy for a task type; the default for one that is not known."""
        return self.by_type.get(kind, self.default) if kind is not None else self.default


COURSE_TABLE = {
    "parse_pdf": (3, 30),
    "ocr_image": (5, 10),
    "generate_embedding": (3, 60),
    "send_notification": (10, 5),
}
"""The course's table: retries, and the seconds at which its curve begins."""


def course_policies(consumer: Consumer | None = None, *, seed: int | None = None) -> Policies:
    """The course's policies by task type, with its 3 retries from 30 s for the rest."""
    table = {
        kind: RetryPolicy(max_retries=retries, backoff=course(base, seed=seed))
        for kind, (retries, base) in COURSE_TABLE.items()
    }
    return Policies(RetryPolicy(backoff=course(seed=seed)), table, consumer)


def explain(error: BaseException) -> str:
    """The error and what it was raised from, in one line."""
    return " <- ".join(f"{type(one).__name__}: {one}" for one in chain(error))
