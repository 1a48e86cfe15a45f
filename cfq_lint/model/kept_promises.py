"""What was measured of a queue, held against the settings of its consumer: hours that came late, hours at the limit."""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.measured import lag_seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.account_facts import ConsumerFacts, QueueFacts
    from cfq_lint.model.measured import Hour, QueueMeasured

NEAR_PERCENT = 80
"""From this share of a limit on something is near it; this linter's choice."""
_WORKER = "worker"
_MS_PER_SECOND = 1_000


def pushed(facts: QueueFacts) -> ConsumerFacts | None:
    """The Worker's consumer that a queue has in the account."""
    return next((each for each in facts.consumers or () if each.type == _WORKER), None)


def promised_seconds(facts: QueueFacts, consumer: ConsumerFacts) -> float:
    """The age of a message that is delivered as the last retry, if no delivery waits for more than its batch and its delay."""
    settings = consumer.settings
    wait_ms, retries = settings.get("max_wait_time_ms"), settings.get("max_retries")
    wait = limits.BATCH_TIMEOUT_SECONDS_DEFAULT if wait_ms is None else wait_ms / _MS_PER_SECOND
    most = limits.RETRIES_DEFAULT if retries is None else retries
    return (facts.delivery_delay or 0) + wait + most * (wait + (settings.get("retry_delay") or 0))


def late_hours(known: QueueMeasured, facts: QueueFacts) -> list[Hour]:
    """The hours whose deliveries came later on average than the settings explain."""
    consumer = pushed(facts)
    if consumer is None:
        return []
    promised = promised_seconds(facts, consumer)
    return [hour for hour in known.hours if hour.lag_ms is not None and lag_seconds(hour.lag_ms) > promised]


def concurrency(consumer: ConsumerFacts) -> int:
    """The most invocations at a time."""
    return consumer.settings.get("max_concurrency") or limits.CONCURRENCY_MAX


def taken_at_once(consumer: ConsumerFacts) -> int:
    """The messages that all invocations together take."""
    return concurrency(consumer) * (consumer.settings.get("batch_size") or limits.BATCH_SIZE_DEFAULT)


def full_hours(known: QueueMeasured, facts: QueueFacts) -> list[Hour]:
    """The hours with nearly all invocations in use and a backlog that grew by more messages than they take at once."""
    consumer = pushed(facts)
    if consumer is None:
        return []
    least, full = concurrency(consumer) * NEAR_PERCENT / 100, taken_at_once(consumer)
    return [
        now
        for before, now in zip(known.hours, known.hours[1:], strict=False)
        if now.number == before.number + 1
        and (now.concurrency or 0) >= least
        and (now.backlog_messages or 0) - (before.backlog_messages or 0) > full
    ]
