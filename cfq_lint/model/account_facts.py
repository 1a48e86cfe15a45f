"""What a file cannot say: the plan, and of each queue its settings, its traffic and who watches it, declared or snapshotted."""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.measured import Measured

FREE = "free"
PAID = "paid"
PLANS = (FREE, PAID)


@record
class ConsumerFacts:
    """A consumer in the account. `type` is "worker", "http_pull" or "notification", `script` the Worker that it belongs to.

    `settings` go by the names of Cloudflare's API: `batch_size`, `max_retries`, `max_wait_time_ms`, `max_concurrency` (None is
    automatic), `retry_delay`, `visibility_timeout_ms`.
    """

    type: str
    script: str | None = None
    dead_letter_queue: str | None = None
    settings: dict[str, int | None] = {}  # noqa: RUF012 - a record's defaults are shared and never changed


@record
class QueueFacts:
    """What is known of a queue in the account; None where it is not known.

    `jurisdiction` is "eu", "us", "fedramp" or "global"; retention, delay and age are seconds; `consumers` and `producers` are
    empty where there certainly is none, a producer is the name of a Worker, or of what else sends. `backlog_count` and
    `backlog_bytes` are what waits in it, `oldest_message_age_seconds` is None as well where nothing waits.
    """

    jurisdiction: str | None = None
    message_retention_period: int | None = None
    delivery_delay: int | None = None
    delivery_paused: bool | None = None
    consumers: tuple[ConsumerFacts, ...] | None = None
    producers: tuple[str, ...] | None = None
    backlog_count: int | None = None
    backlog_bytes: int | None = None
    oldest_message_age_seconds: int | None = None


@record
class DeclaredMetrics:
    """Where somebody watches a queue's numbers; "" says that nobody does, None that it was not said."""

    dead_letter_depth: str | None = None
    oldest_message_age: str | None = None
    retries: str | None = None
    duplicates: str | None = None


@record
class DeclaredLoad:
    """What people say of a queue's traffic and of its consumer; None where they say nothing.

    Sizes are bytes of a message's body; the rate is messages sent a second. Each of size, rate and processing is also the
    largest unless the one named `max_` or `peak_` is given. An invocation takes `processing_seconds` whatever is in it, and
    `processing_message_seconds` for each of its messages besides. `failure_share` is the share of deliveries that fail, 0 to 1.
    """

    message_size_bytes: int | None = None
    max_message_size_bytes: int | None = None
    send_batch_messages: int | None = None
    rate_per_second: float | None = None
    peak_rate_per_second: float | None = None
    processing_seconds: float | None = None
    processing_message_seconds: float | None = None
    max_processing_seconds: float | None = None
    failure_share: float | None = None
    idempotency_key: str | None = None
    deduplication: str | None = None
    acknowledgement: str | None = None
    alert: str | None = None
    metrics: DeclaredMetrics = DeclaredMetrics()

    @property
    def largest_message_bytes(self) -> int | None:
        """The largest body that is declared."""
        return self.message_size_bytes if self.max_message_size_bytes is None else self.max_message_size_bytes

    @property
    def highest_rate_per_second(self) -> float | None:
        """The highest rate that is declared."""
        return self.rate_per_second if self.peak_rate_per_second is None else self.peak_rate_per_second

    @property
    def longest_processing_seconds(self) -> float | None:
        """The longest invocation that is declared."""
        return self.processing_seconds if self.max_processing_seconds is None else self.max_processing_seconds


NOTHING_DECLARED = DeclaredLoad()


@record
class Facts:
    """What is known of the account.

    `plan` None is not known; `known_queues` None means that nobody listed the queues. `origin` says in messages where the facts
    about queues come from. `is_account` says that they are the account itself, live or as a snapshot that stands for it: only
    then do the rules about the account speak. `declared` is what people say of the traffic of queues, `measured` what the
    account's analytics say of it; None where nobody asked them.
    """

    plan: str | None = None
    queues: dict[str, QueueFacts] = {}  # noqa: RUF012 - a record's defaults are shared and never changed
    known_queues: frozenset[str] | None = None
    origin: str = "declared"
    is_account: bool = False
    declared: dict[str, DeclaredLoad] = {}  # noqa: RUF012 - as above
    measured: Measured | None = None

    def load(self, queue: str) -> DeclaredLoad:
        """What is declared of a queue's traffic; of another queue, nothing."""
        return self.declared.get(queue, NOTHING_DECLARED)

    def retention_seconds(self, queue: str) -> tuple[int, str]:
        """The retention in force for a queue, and where the number comes from, for messages."""
        if self.plan == FREE:
            return limits.RETENTION_SECONDS_FREE, "fixed on the Free plan"
        known = self.queues.get(queue)
        if known is not None and known.message_retention_period is not None:
            return known.message_retention_period, self.origin
        return limits.RETENTION_SECONDS_DEFAULT, "the default"

    def consumers(self, queue: str) -> tuple[ConsumerFacts, ...] | None:
        """A queue's consumers in the account; None where nothing is known of it.

        A queue that is missing from a complete list of the account's queues does not exist, and so has no consumer.
        """
        if queue in self.queues:
            return self.queues[queue].consumers
        return () if self.lists_consumers else None

    @property
    def lists_consumers(self) -> bool:
        """Whether the facts tell of every queue of the account whether it has a consumer, as a snapshot does."""
        return bool(self.queues) and all(queue.consumers is not None for queue in self.queues.values())

    def has_consumer(self, queue: str) -> bool:
        """Whether a queue certainly has a consumer in the account."""
        return bool(self.consumers(queue))

    @property
    def dead_letter_queues(self) -> frozenset[str]:
        """The queues that are a dead-letter queue of a consumer in the account."""
        consumers = (consumer for queue in self.queues.values() for consumer in queue.consumers or ())
        return frozenset(consumer.dead_letter_queue for consumer in consumers if consumer.dead_letter_queue)

    def attached(self, queue: str, script: str) -> ConsumerFacts | None:
        """The consumer that a Worker has in the account on a queue; None where there is none, or the Worker has no name."""
        if not script:
            return None
        return next((each for each in self.consumers(queue) or () if each.type == "worker" and each.script == script), None)

    def dead_letters(self, queue: str, script: str) -> bool:
        """Whether a Worker's consumer has a dead-letter queue in the account, which a deploy without one may keep."""
        known = self.attached(queue, script) if self.is_account else None
        return known is not None and known.dead_letter_queue is not None

    def unconsumed_dead_letter_seconds(self, queue: str) -> int:
        """How long a message lives in a dead-letter queue that nobody consumes."""
        return min(self.retention_seconds(queue)[0], limits.DEAD_LETTER_UNCONSUMED_SECONDS)
