"""What a file cannot say: the plan, and of each queue its retention, jurisdiction and delay, declared by the user or snapshotted."""

from __future__ import annotations

from cfq_lint import limits
from cfq_lint.record import record

FREE = "free"
PAID = "paid"
PLANS = (FREE, PAID)


@record
class QueueFacts:
    """What is known of a queue in the account; None where it is not known. Retention and delay are seconds."""

    jurisdiction: str | None = None
    message_retention_period: int | None = None
    delivery_delay: int | None = None


@record
class Facts:
    """What is known of the account. `plan` None is not known; `known_queues` None means that nobody listed the queues."""

    plan: str | None = None
    queues: dict[str, QueueFacts] = {}  # noqa: RUF012 - a record's defaults are shared and never changed
    known_queues: frozenset[str] | None = None

    def retention_seconds(self, queue: str) -> tuple[int, str]:
        """The retention in force for a queue, and where the number comes from, for messages."""
        if self.plan == FREE:
            return limits.RETENTION_SECONDS_FREE, "fixed on the Free plan"
        declared = self.queues.get(queue, QueueFacts()).message_retention_period
        if declared is not None:
            return declared, "declared for this queue"
        return limits.RETENTION_SECONDS_DEFAULT, "the default"

    def unconsumed_dead_letter_seconds(self, queue: str) -> int:
        """How long a message lives in a dead-letter queue that nobody consumes."""
        return min(self.retention_seconds(queue)[0], limits.DEAD_LETTER_UNCONSUMED_SECONDS)
