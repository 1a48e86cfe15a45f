"""settle: makes a queue handler of a function that does one task.

Each message by itself: the effect first, then `ack()`; a failure is judged by the policy of its type; what is given up goes to
the dead-letter queue on purpose and is never acknowledged away. A neighbour's failure touches no other message.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import DeadlineExceeded, SkipRetry
from .policy import Action, Policies, RetryPolicy, Verdict, explain
from .sql import settled
from .task import Task, field_of
from .tasks import REVOKED

if TYPE_CHECKING:
    from collections.abc import Callable


class Unreadable(SkipRetry):
    """The body cannot be read, so it cannot be sent anywhere else: only the queue itself can move it."""


TALLY_SECONDS = 1_209_600
BUSY_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `settle` works with; see there."""

    policies: Policies
    dead_letter: Any = None
    tally: Any = None
    table: Any = None
    clock: Callable[[], float] = time.time
    type_of: Callable[[Any], str | None]


def type_in_body(body: Any) -> str | None:
    """A task's type: the body's `type`."""
    kind = field_of(body, "type")
    return None if kind is None else str(kind)


def settle(
    policies: Policies | RetryPolicy | None = None,
    *,
    dead_letter: Any = None,
    tally: Any = None,
    table: Any = None,
    clock: Callable[[], float] = time.time,
    type_of: Callable[[Any], str | None] = type_in_body,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate `process(task)`, `process(task, env)` or `process(task, env, ctx)`, sync or async, or such a method of a Worker.

    `dead_letter` is the producer binding of the dead-letter queue; with it, what is given up is sent there unchanged and then
    acknowledged. Without it, the message is exhausted: retried without delay until the queue itself dead-letters it,
    unprocessed if there is a `tally` to remember it by (else each of those attempts works, fails and calls the hooks again).
    `tally` is a KV-like store that counts what `is_failure` denies and remembers what was given up; the former needs it
    (ValueError). `table` is a TaskTable that follows each task by the `taskId` (`task_id`, `key`, `id`) of its body. Each of
    the three may be a name in env, or a function of env. A sync `process` cannot be cut off: its timeout is not kept. An error
    of a hook or a store retries its message, and is raised when the whole batch is settled.
    """
    known = Policies(policies) if isinstance(policies, RetryPolicy) else policies or Policies()
    if tally is None and any(not one.counts_everything for one in (known.default, *known.by_type.values())):
        raise ValueError("is_failure needs a tally: the queue counts every attempt, and somebody must know which do not count")
    settings = Settings(policies=known, dead_letter=dead_letter, tally=tally, table=table, clock=clock, type_of=type_of)

    def decorate(process: Callable[..., Any]) -> Callable[..., Any]:
        async def handle(*given: Any) -> None:
            place = 1 if len(given) > 1 and _is_batch(given[1]) and not _is_batch(given[0]) else 0
            batch, env = given[place], _env_of(given, place)
            call = _taking(process, given[:place], given[place + 1 :])
            troubles: list[Exception] = []
            for message in batch.messages:
                try:
                    await _settle_one(settings, call, message, str(batch.queue), env)
                except Exception as error:  # noqa: BLE001 - a hook or a store that fails is no reason to leave the others undone
                    message.retry(delaySeconds=BUSY_SECONDS)
                    troubles.append(error)
            if troubles:
                raise ExceptionGroup("settling failed: these messages are retried", troubles)

        functools.update_wrapper(handle, process)
        del handle.__wrapped__  # type: ignore[attr-defined]  # else its signature would be that of process
        return handle

    return decorate


def _is_batch(thing: Any) -> bool:
    """Whether it is a batch: its `queue` is a name, while a Worker's is a method."""
    return hasattr(thing, "messages") and not callable(getattr(thing, "queue", None))


def _env_of(given: tuple[Any, ...], place: int) -> Any:
    """The env: the second argument, else the Worker's own."""
    second = given[place + 1] if len(given) > place + 1 else None
    return second if second is not None or place == 0 else getattr(given[0], "env", None)


def _taking(process: Callable[..., Any], owner: tuple[Any, ...], rest: tuple[Any, ...]) -> Callable[[Task], Any]:
    """process(owner?, task, …) with as many further arguments as it takes."""
    parameters = inspect.signature(process).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return lambda task: process(*owner, task, *rest)
    places = sum(p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD} for p in parameters)
    further = rest[: max(0, places - len(owner) - 1)]
    return lambda task: process(*owner, task, *further)


def _named(given: Any, env: Any) -> Any:
    """The thing itself, what env has under that name, or what a function makes of env."""
    if isinstance(given, str):
        return getattr(env, given)
    return given(env) if inspect.isfunction(given) else given


async def _settle_one(settings: Settings, call: Callable[[Task], Any], message: Any, queue: str, env: Any) -> None:
    """Process one message and say what becomes of it."""
    known = await _recall(settings, message, env)
    task, policy, unread = _task_of(settings, message, queue, known, env)
    if unread is None and (known[1] or _is_beyond(settings, policy, task)):
        message.retry()  # on to the dead-letter queue, without working on it again
        return
    error: Exception | None = unread
    if error is None:
        try:
            await _attempt(policy, call, task, settings.clock())
        except Exception as raised:  # noqa: BLE001 - whatever was raised is judged
            error = raised
    if error is not None:
        await _judge(settings, policy, task, error)
        return
    table, key = _named(settings.table, env), _key_of(task)
    if table is not None and key is not None:
        await table.complete(key)
    message.ack()


def _task_of(
    settings: Settings, message: Any, queue: str, known: tuple[int, str], env: Any
) -> tuple[Task, RetryPolicy, Exception | None]:
    """The task, its policy, and the error where its body cannot be read."""
    body, kind, unread = None, None, None
    try:
        body = message.body
        kind = settings.type_of(body)
    except Exception as error:  # noqa: BLE001 - a body that cannot be read is this message's failure
        unread = Unreadable("the body cannot be read")
        unread.__cause__ = error
    policy = settings.policies[kind]
    attempt, sent_at = int(message.attempts), _seconds(message.timestamp)
    task = Task(
        id=str(message.id), queue=queue, type=kind, payload=body, attempt=attempt, retried=max(0, attempt - 1 - known[0]),
        max_retries=policy.max_retries, sent_at=sent_at,
        deadline_at=sent_at + policy.deadline_seconds if policy.deadline_seconds else None, message=message, env=env,
    )  # fmt: skip
    return task, policy, unread


def _is_beyond(settings: Settings, policy: RetryPolicy, task: Task) -> bool:
    """Whether an earlier attempt must have given it up: there were more than the policy makes."""
    over = task.retried > policy.max_retries and not (policy.dialect.unlimited_non_failures and not policy.counts_everything)
    return over and settings.dead_letter is None


async def _attempt(policy: RetryPolicy, call: Callable[[Task], Any], task: Task, now: float) -> None:
    """One attempt within its time. Raises TimeoutError, or DeadlineExceeded when the task's own time is over."""
    age = now - task.sent_at
    budget = policy.budget_seconds(age)
    late = DeadlineExceeded(f"the task's deadline of {policy.deadline_seconds} s is over")
    if budget is not None and budget <= 0:
        raise late
    result = call(task)
    if not inspect.isawaitable(result):
        return
    try:
        async with asyncio.timeout(budget) as limit:
            await result
    except TimeoutError as error:
        if limit.expired() and policy.deadline_seconds and budget == policy.deadline_seconds - age:
            raise late from error
        raise


async def _judge(settings: Settings, policy: RetryPolicy, task: Task, error: Exception) -> None:
    """Ask the policy, call its hooks, and act on the verdict."""
    verdict, answers = policy.judge(error, task)
    for answer in answers:
        await settled(answer)
    message, table, key = task.message, _named(settings.table, task.env), _key_of(task)
    if verdict.action is Action.RETRY:
        if not verdict.counts:
            await _remember(settings, task, more=1)
        if table is not None and key is not None:
            await table.count_retry(key, task.retried + verdict.counts, explain(error))
        message.retry(delaySeconds=verdict.delay_seconds)
        return
    if table is not None and key is not None:
        revoked = verdict.action is Action.REVOKE
        await table.fail(key, verdict.reason or explain(error), **({"status": REVOKED} if revoked else {}))
    if verdict.action is Action.REVOKE:
        message.ack()
        return
    await _bury(settings, verdict, task, None if isinstance(error, Unreadable) else _named(settings.dead_letter, task.env))


async def _bury(settings: Settings, verdict: Verdict, task: Task, binding: Any) -> None:
    """To the dead-letter queue: by its binding, else by exhausting. Where the binding fails, the message stays in its queue."""
    message = task.message
    if binding is None:
        await _remember(settings, task, given_up=verdict.reason or "given up")
        message.retry()
        return
    try:
        await settled(binding.send(task.payload))
    except Exception:  # noqa: BLE001 - not buried is not lost
        message.retry(delaySeconds=BUSY_SECONDS)
        return
    message.ack()


async def _recall(settings: Settings, message: Any, env: Any) -> tuple[int, str]:
    """How many retries did not count, and why the message was given up (empty: it was not)."""
    tally = _named(settings.tally, env)
    if tally is None:
        return 0, ""
    count, _, reason = str(await settled(tally.get(f"tally:{message.id}")) or "0:").partition(":")
    return int(count), reason


async def _remember(settings: Settings, task: Task, *, more: int = 0, given_up: str = "") -> None:
    tally = _named(settings.tally, task.env)
    if tally is not None:
        count, reason = await _recall(settings, task.message, task.env)
        text = f"{count + more}:{given_up or reason}"
        await settled(tally.put(f"tally:{task.message.id}", text, expirationTtl=TALLY_SECONDS))


def _key_of(task: Task) -> str | None:
    """The key under which the table has the task; None for a body without one."""
    for name in ("taskId", "task_id", "key", "id"):
        value = field_of(task.payload, name)
        if value is not None and value != "":
            return str(value)
    return None


def _seconds(timestamp: Any) -> float:
    """A message's timestamp (datetime) in seconds since 1970; a number as it is."""
    return float(timestamp.timestamp()) if hasattr(timestamp, "timestamp") else float(timestamp or 0)
