"""An estimate as plain values: of each queue its settings, retries, a month and concurrency, and the bill for all.

`reckoning` says how they come about.
"""

from __future__ import annotations

from cfq_lint.facts.pricing import usd
from cfq_lint.facts.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.account_facts import DeclaredLoad

SECONDS_A_DAY = 86_400
DAYS_A_MONTH = 30
MONTH_SECONDS = DAYS_A_MONTH * SECONDS_A_DAY
_API_NAMES = {"max_batch_size": "batch_size", "max_batch_timeout": "max_wait_time_ms"}
_MS_PER_SECOND = 1_000


@record
class Setting:
    """A consumer's setting: its value (None: Cloudflare decides), and where it stands: a place, the account, the default."""

    value: int | None
    source: str


@record
class Retries:
    """What one number of retries means. `deliveries` are those that there are before the message expires.

    `poisoned_reads` are the billed reads of one message that never succeeds, `horizon_seconds` the time from its first delivery
    to its last. `poisoned_operations` and `poisoned_usd` are a month's of the failing share, if all of it never succeeds; None
    where no rate, or no failing share, is declared.
    """

    max_retries: int
    deliveries: int
    poisoned_reads: int
    horizon_seconds: int
    outlasts_retention: bool
    poisoned_operations: float | None = None
    poisoned_usd: float | None = None


@record
class Month:
    """A month of a queue: messages, and operations with those in its dead-letter queue."""

    messages: float
    writes: float
    reads: float
    deletes: float
    dead_letter_operations: float
    dead_letters: float

    @property
    def operations(self) -> float:
        """All of them."""
        return self.writes + self.reads + self.deletes + self.dead_letter_operations

    @property
    def usd(self) -> float:
        """What they are billed where the account's included million is used up."""
        return usd(self.operations)


@record
class Concurrency:
    """How many invocations run at a time: `needed` is invocations a second times the seconds that each takes (Little's law).

    `invocation_seconds` is what one with so many messages takes.
    """

    batch_messages: float
    invocations_per_second: float
    invocation_seconds: float
    needed: float
    limit: int
    limit_source: str
    rate_at_limit: float

    @property
    def is_enough(self) -> bool:
        """Whether the limit is not below what is needed."""
        return self.needed <= self.limit


@record
class QueueEstimate:
    """All of one queue. What is None was not declared, and stands in `missing` with the setting that declares it.

    `consumed` is False where certainly nobody consumes it, `is_pulled` says that somebody pulls from it. `rate_is_every_queues`
    says that the rate was given for all queues alike, and not declared for this one. `measured_in` is the window in which the
    load was measured, "" where it was declared.
    """

    queue: str
    consumed: bool
    is_pulled: bool
    rate_is_every_queues: bool
    settings: dict[str, Setting]
    dead_letter_queue: str | None
    load: DeclaredLoad
    retention_seconds: int
    retention_source: str
    chunks: int
    as_set: Retries
    table: tuple[Retries, ...]
    batch_reads: int
    operations_per_message: float
    month: Month | None
    daily_operations: float | None
    free_messages_a_day: int
    concurrency: Concurrency | None
    batches: tuple[tuple[int, float], ...]
    missing: tuple[str, ...]
    notes: tuple[str, ...]
    measured_in: str = ""


@record
class Estimate:
    """All queues, and the bill of the account for them: the included million is shared."""

    queues: tuple[QueueEstimate, ...]
    plan: str | None
    operations: float | None
    usd: float | None
    daily_operations: float | None
    complete: bool
    files: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
