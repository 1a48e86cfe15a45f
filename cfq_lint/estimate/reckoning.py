"""What the settings of a queue mean in time and in money: how long retries go on, what is read, and what a month costs.

Deliveries fail independently of each other, each with the declared share; a month has 30 days. Operations are counted as the
pricing page does: a write, each read and a delete for every started 64 KB of a message. A dead letter is one more write, and
is read and deleted once in its queue where somebody consumes it, else deleted. What cannot happen is not billed: sends beyond
what a queue takes, retries after a message has expired, reads of a queue that certainly nobody consumes. Delays that the
consumer's code gives to retry() are not known here.
"""

from __future__ import annotations

import math

from cfq_lint.estimate.measured import measured_load, with_window
from cfq_lint.estimate.model import (
    DAYS_A_MONTH,
    MONTH_SECONDS,
    Concurrency,
    Estimate,
    Month,
    QueueEstimate,
    Retries,
    Setting,
)
from cfq_lint.facts import limits
from cfq_lint.facts.pricing import chunks, month_usd, usd
from cfq_lint.facts.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.model.account_facts import DeclaredLoad
    from cfq_lint.model.measured import Measured
    from cfq_lint.model.project import Project, Subject

_API_NAMES = {"max_batch_size": "batch_size", "max_batch_timeout": "max_wait_time_ms"}
_MS_PER_SECOND = 1_000


def estimate(project: Project, given: DeclaredLoad | None = None, measured: Measured | None = None) -> Estimate:
    """The estimate of a project. `given` are declarations for every queue, which win over all else.

    What was measured, where it is given, wins over the declarations of the settings.
    """
    subjects = [each for each in project.subjects if not each.only_dead_letters]
    for_all = given is not None and given.rate_per_second is not None
    queues = tuple(_measured_or_declared(subject, project, given, measured, for_all=for_all) for subject in subjects)
    by_name = {subject.queue: each for subject, each in zip(subjects, queues, strict=True)}
    months = [each.month for each in by_name.values() if each.month is not None]
    operations = sum(month.operations for month in months) if months else None
    return Estimate(
        queues,
        project.facts.plan,
        operations,
        month_usd(operations) if operations is not None else None,
        operations / DAYS_A_MONTH if operations is not None else None,
        len(months) == len(by_name),
        project.files,
        project.passed_over,
    )


def _measured_or_declared(
    subject: Subject, project: Project, given: DeclaredLoad | None, measured: Measured | None, *, for_all: bool
) -> QueueEstimate:
    if measured is None:
        return _queue(subject, project, _merged(subject.load, given), for_all=for_all)
    load = _merged(_merged(subject.load, measured_load(subject, measured)), given)
    return with_window(_queue(subject, project, load, for_all=for_all), subject, measured)


def _merged(load: DeclaredLoad, given: DeclaredLoad | None) -> DeclaredLoad:
    if given is None:
        return load
    names = ("message_size_bytes", "rate_per_second", "processing_seconds", "processing_message_seconds", "failure_share")
    return replace(load, **{name: value for name in names if (value := getattr(given, name)) is not None})


def _queue(subject: Subject, project: Project, load: DeclaredLoad, *, for_all: bool) -> QueueEstimate:
    settings = _settings(subject, project)
    dead = _dead_letter_queue(subject)
    retention, source = project.facts.retention_seconds(subject.queue)
    counted = chunks(load.message_size_bytes or 0)
    retries = settings["max_retries"].value or 0
    delay = settings["retry_delay"].value or 0
    consumed = subject.consumer is not None or subject.account_consumers != ()
    pulled = subject.consumer is None and any(each.type == "http_pull" for each in subject.account_consumers or ())
    dead_operations = 0 if dead is None else 3 if _is_consumed(project, dead) else 2
    fates = {
        number: _Fate.of(number, delay, retention, dead_operations) if consumed else _Fate(0, 0, 0)
        for number in _compared(retries)
    }
    fate, rate = fates[retries], _taken(load)
    failing = load.failure_share or 0.0
    per_message = fate.operations(failing) * counted
    month = None if rate is None else _month(rate, failing, fate, counted)
    poisoned = (rate or 0.0) * MONTH_SECONDS * failing * counted
    known = {
        number: _retries(number, each, number * delay, retention, counted, poisoned * each.operations(1.0))
        for number, each in fates.items()
    }
    invoked = rate if consumed and not pulled and rate else None
    deliveries = None if invoked is None else invoked * reads(fate.retries, failing)
    return QueueEstimate(
        queue=subject.described,
        consumed=consumed,
        is_pulled=pulled,
        rate_is_every_queues=for_all,
        settings=settings,
        dead_letter_queue=dead,
        load=load,
        retention_seconds=retention,
        retention_source=source,
        chunks=counted,
        as_set=known[retries],
        table=tuple(known.values()) if consumed else (),
        batch_reads=known[retries].poisoned_reads * (settings["max_batch_size"].value or 1),
        operations_per_message=per_message,
        month=month,
        daily_operations=month.operations / DAYS_A_MONTH if month is not None else None,
        free_messages_a_day=int(limits.FREE_OPERATIONS_PER_DAY / per_message),
        concurrency=_concurrency(settings, load, deliveries, reads(fate.retries, failing)),
        batches=_batches(settings, deliveries),
        missing=tuple(_missing(load, consumed=consumed and not pulled)),
        notes=(
            *_refused(load, settings["max_batch_size"].value or 1),
            *_notes(subject, project, known[retries], dead, consumed=consumed),
        ),
    )


@record
class _Fate:
    """What becomes of a message: its retries at most, the operations of a dead letter, and whether anybody reads it."""

    retries: int
    dead_operations: int
    read: int = 1

    @classmethod
    def of(cls, retries: int, delay: int, retention: int, dead_operations: int) -> _Fate:
        """With so many retries: those for which a message has expired do not happen, and then it is no dead letter."""
        possible = retries if not delay else min(retries, (retention - 1) // delay)
        return cls(possible, dead_operations if possible == retries else 0)

    def operations(self, failing: float) -> float:
        """Operations of a message on average, for each of its chunks. A dead letter is not deleted from its first queue."""
        dead = failing ** (self.retries + 1)
        deletes = 1 - dead if self.dead_operations else 1
        return 1 + self.reads(failing) + deletes + dead * self.dead_operations

    def reads(self, failing: float) -> float:
        """How often a message is delivered on average."""
        return self.read * reads(self.retries, failing)


def _taken(load: DeclaredLoad) -> float | None:
    """Messages a second that a queue takes of those that are sent; None where nobody said how many are."""
    if load.rate_per_second is None:
        return None
    if (load.message_size_bytes or 0) + limits.MESSAGE_METADATA_BYTES > limits.MESSAGE_SIZE_BYTES:
        return 0.0
    return min(load.rate_per_second, float(limits.THROUGHPUT_PER_SECOND))


def _compared(retries: int) -> list[int]:
    """The default, what is set, and the most."""
    return sorted({limits.RETRIES_DEFAULT, retries, limits.RETRIES_MAX})


def _settings(subject: Subject, project: Project) -> dict[str, Setting]:
    defaults: dict[str, int | None] = {
        "max_retries": limits.RETRIES_DEFAULT,
        "retry_delay": limits.DELAY_SECONDS_MIN,
        "max_batch_size": limits.BATCH_SIZE_DEFAULT,
        "max_batch_timeout": limits.BATCH_TIMEOUT_SECONDS_DEFAULT,
        "max_concurrency": None,
    }
    found = {}
    for name, default in defaults.items():
        found[name] = Setting(default, "the default")
        field = subject.consumer.field(name) if subject.consumer is not None else None
        if field is not None and field.integer is not None:
            found[name] = Setting(field.integer, f"{field.place.path}:{field.place.line}:{field.place.column}")
        elif subject.consumer is None and subject.account_consumers:
            value = subject.account_consumers[0].settings.get(_API_NAMES.get(name, name))
            if value is not None:
                value = value // _MS_PER_SECOND if name == "max_batch_timeout" else value
                found[name] = Setting(value, project.facts.origin)
    return found


def _dead_letter_queue(subject: Subject) -> str | None:
    if subject.consumer is not None:
        dead = subject.consumer.dead_letter_queue
        return dead.text if dead is not None and dead.text != subject.queue else None
    return subject.account_consumers[0].dead_letter_queue if subject.account_consumers else None


def _is_consumed(project: Project, queue: str) -> bool:
    return bool(project.consumed.get(queue)) or project.facts.has_consumer(queue)


def reads(retries: int, failing: float) -> float:
    """How often a message is delivered on average, where each delivery fails independently with that share."""
    return retries + 1.0 if failing >= 1 else (1 - failing ** (retries + 1)) / (1 - failing)


def _month(rate: float, failing: float, fate: _Fate, counted: int) -> Month:
    messages = rate * MONTH_SECONDS
    dead = messages * failing ** (fate.retries + 1) if fate.dead_operations else 0.0
    return Month(
        messages,
        messages * counted,
        messages * counted * fate.reads(failing),
        (messages - dead) * counted,
        dead * counted * fate.dead_operations,
        dead,
    )


def _retries(number: int, fate: _Fate, horizon: int, retention: int, counted: int, poisoned: float) -> Retries:  # noqa: PLR0917
    outlasts = horizon > 0 and horizon >= retention
    deliveries = (fate.retries + 1) * fate.read
    if not poisoned:
        return Retries(number, deliveries, deliveries * counted, horizon, outlasts)
    return Retries(number, deliveries, deliveries * counted, horizon, outlasts, poisoned, usd(poisoned))


def _batch_messages(size: int, settings: dict[str, Setting], rate: float) -> float:
    """How many messages are in a batch on average: as many as come while it waits, at least one and at most its size."""
    return min(float(size), max(1.0, rate * (settings["max_batch_timeout"].value or 0)))


def invocation_seconds(load: DeclaredLoad, messages: float) -> float | None:
    """How long an invocation with so many messages takes; None where nobody said."""
    if load.processing_seconds is None and load.processing_message_seconds is None:
        return None
    return (load.processing_seconds or 0.0) + (load.processing_message_seconds or 0.0) * messages


def _concurrency(settings: dict[str, Setting], load: DeclaredLoad, deliveries: float | None, each: float) -> Concurrency | None:
    """For so many deliveries a second, of which every message has `each` on average."""
    size = settings["max_batch_size"].value or limits.BATCH_SIZE_MIN
    if deliveries is None:
        return None
    batch = _batch_messages(size, settings, deliveries)
    took, full = invocation_seconds(load, batch), invocation_seconds(load, size)
    if took is None or full is None:
        return None
    set_to = settings["max_concurrency"]
    limit = limits.CONCURRENCY_MAX if set_to.value is None else min(set_to.value, limits.CONCURRENCY_MAX)
    source = "Cloudflare's limit" if set_to.value is None else set_to.source
    at_limit = min(limit * size / full / each if full else math.inf, float(limits.THROUGHPUT_PER_SECOND))
    return Concurrency(batch, deliveries / batch, took, deliveries / batch * took, limit, source, at_limit)


def _batches(settings: dict[str, Setting], deliveries: float | None) -> tuple[tuple[int, float], ...]:
    """Invocations a second for the smallest batch, that which is set, the default and the largest."""
    if deliveries is None:
        return ()
    set_to = settings["max_batch_size"].value or limits.BATCH_SIZE_DEFAULT
    sizes = sorted({limits.BATCH_SIZE_MIN, limits.BATCH_SIZE_DEFAULT, set_to, limits.BATCH_SIZE_MAX})
    return tuple((size, deliveries / _batch_messages(size, settings, deliveries)) for size in sizes)


def _missing(load: DeclaredLoad, *, consumed: bool) -> Iterable[str]:
    if load.rate_per_second is None:
        yield "rate_per_second: without it there is no month, no cost and no concurrency"
    if load.message_size_bytes is None:
        yield f"message_size_bytes: each message is counted as at most {limits.OPERATION_CHUNK_BYTES:,} bytes, one operation"
    if not consumed:
        return
    if load.failure_share is None:
        yield "failure_share: no delivery is counted as failing"
    if load.processing_seconds is None and load.processing_message_seconds is None:
        yield "processing_seconds, or processing_message_seconds for each message: without them there is no concurrency"


def _refused(load: DeclaredLoad, batch: int) -> Iterable[str]:
    """What Cloudflare does not take: whoever reads on to the bill should know."""
    size, rate, time = load.message_size_bytes or 0, load.rate_per_second or 0.0, invocation_seconds(load, batch) or 0.0
    if size + limits.MESSAGE_METADATA_BYTES > limits.MESSAGE_SIZE_BYTES:
        most, more = f"{limits.MESSAGE_SIZE_BYTES:,}", limits.MESSAGE_METADATA_BYTES
        yield f"a message has at most {most} bytes, with about {more} of metadata: send() refuses a larger one, unbilled"
    if rate > limits.THROUGHPUT_PER_SECOND:
        most = f"{limits.THROUGHPUT_PER_SECOND:,}"
        said = f"a queue takes {most} messages a second; above, send() and sendBatch() throw Too Many Requests"
        yield f"{said}: what it takes is counted"
    if time > limits.CONSUMER_WALL_SECONDS:
        minutes = limits.CONSUMER_WALL_SECONDS // 60
        yield f"an invocation is ended after {minutes} minutes, and what it did not acknowledge comes again"


def _notes(subject: Subject, project: Project, as_set: Retries, dead: str | None, *, consumed: bool) -> Iterable[str]:
    if not consumed:
        yield "nobody consumes it: its messages are written, and deleted when they expire; nothing is read or retried"
        return
    if as_set.max_retries and not as_set.horizon_seconds:
        yield "no retry_delay: retries follow at once, so that they are used up within moments of a failure that lasts"
    if as_set.outlasts_retention:
        yield "the retries take longer than a message is kept: it expires first, and is not dead-lettered"
    if dead is None:
        yield "no dead-letter queue: what fails all retries is deleted"
    elif not _is_consumed(project, dead):
        yield f"nobody is known to consume {dead}: its messages are counted as deleted unread"
    if subject.consumer is None and subject.account_consumers is None:
        yield "its consumer is not known; the defaults are counted"
