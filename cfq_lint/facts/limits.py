"""Every number of Cloudflare Queues, once: value, unit, plan, page and the day that it was checked.

Rules, schemas, messages and the emulator take their numbers from here; nothing else in the project spells one out.
1 KB is 1,000 bytes on all of Cloudflare's limits and pricing pages. `LIMITS` is the table behind `cfq-lint limits` and
`schemas/limits.json`; the constants above it are the same values under a name. The module is long because the table is.
"""

from __future__ import annotations

from cfq_lint.facts.record import record

DOCS = "https://developers.cloudflare.com/"
PAGE_LIMITS = DOCS + "queues/platform/limits/"
PAGE_PRICING = DOCS + "queues/platform/pricing/"
PAGE_BATCHING = DOCS + "queues/configuration/batching-retries/"
PAGE_CONCURRENCY = DOCS + "queues/configuration/consumer-concurrency/"
PAGE_CONFIGURE = DOCS + "queues/configuration/configure-queues/"
PAGE_DEAD_LETTERS = DOCS + "queues/configuration/dead-letter-queues/"
PAGE_DATA_LOCATION = DOCS + "queues/configuration/data-location/"
PAGE_JAVASCRIPT_APIS = DOCS + "queues/configuration/javascript-apis/"
PAGE_LOCAL = DOCS + "queues/configuration/local-development/"
PAGE_PAUSE_PURGE = DOCS + "queues/configuration/pause-purge/"
PAGE_PULL = DOCS + "queues/configuration/pull-consumers/"
PAGE_NOTIFICATIONS = DOCS + "queues/configuration/notification-consumers/"
PAGE_COMMANDS = DOCS + "queues/reference/wrangler-commands/"
PAGE_ERRORS = DOCS + "queues/reference/error-codes/"
PAGE_METRICS = DOCS + "queues/observability/metrics/"
PAGE_GUARANTEES = DOCS + "queues/reference/delivery-guarantees/"
PAGE_HOW = DOCS + "queues/reference/how-queues-works/"
PAGE_START = DOCS + "queues/get-started/"
PAGE_WRANGLER = DOCS + "workers/wrangler/configuration/"
PAGE_ENVIRONMENTS = DOCS + "workers/wrangler/environments/"
PAGE_WORKERS_LIMITS = DOCS + "workers/platform/limits/"
PAGE_FLAGS = DOCS + "workers/configuration/compatibility-flags/"
PAGE_PYTHON = DOCS + "workers/languages/python/"
PAGE_ANALYTICS = DOCS + "analytics/graphql-api/limits/"
PAGE_WORKERS_ANALYTICS = DOCS + "analytics/graphql-api/tutorials/querying-workers-metrics/"
PAGE_API_CREATE = DOCS + "api/resources/queues/methods/create/"

READ_LIMITS = "2026-10-27"
"""Day on which the limits, batching, dead-letter and delivery pages were last read."""
READ_PAGES = "2026-10-08"
"""Day on which the command, pause, metrics and API pages were last fetched."""
READ_DOSSIER = "2026-11-30"
"""Day on which the remaining pages and the sources of wrangler were last compared."""

# --- account
QUEUES_PER_ACCOUNT = 10_000
JURISDICTIONS = ("eu", "us", "fedramp")
ACTIVE_CONSUMERS_PER_QUEUE = 1
API_REQUESTS = 1_200
API_WINDOW_SECONDS = 300
ANALYTICS_QUERIES = 300
ANALYTICS_ROWS = 10_000
ANALYTICS_WINDOW_SECONDS = 2_678_400

# --- messages
MESSAGE_SIZE_BYTES = 128_000
MESSAGE_METADATA_BYTES = 100
SEND_BATCH_COUNT_MAX = 100
SEND_BATCH_SIZE_BYTES = 256_000
THROUGHPUT_PER_SECOND = 5_000
BACKLOG_SIZE_BYTES = 25_000_000_000
DELAY_SECONDS_MIN = 0
DELAY_SECONDS_MAX = 86_400
DELIVERY_DELAY_SECONDS_DEFAULT = 0

# --- push consumers
BATCH_SIZE_MIN = 1
BATCH_SIZE_MAX = 100
BATCH_SIZE_DEFAULT = 10
BATCH_TIMEOUT_SECONDS_MIN = 0
BATCH_TIMEOUT_SECONDS_MAX = 60
BATCH_TIMEOUT_SECONDS_DEFAULT = 5
RETRIES_MIN = 0
RETRIES_MAX = 100
RETRIES_DEFAULT = 3
CONCURRENCY_MIN = 1
CONCURRENCY_MAX = 250
CONSUMER_WALL_SECONDS = 900
CONSUMER_CPU_MS_DEFAULT = 30_000
CONSUMER_CPU_MS_MAX = 300_000
CONSUMER_CPU_MS_FREE = 10
SUBREQUESTS_FREE = 50
SUBREQUESTS_PAID = 10_000

# --- pull consumers
PULL_BATCH_SIZE_DEFAULT = 5
VISIBILITY_TIMEOUT_MS_MIN = 0
VISIBILITY_TIMEOUT_MS_MAX = 43_200_000
VISIBILITY_TIMEOUT_MS_DEFAULT = 30_000

# --- notification consumers (beta, fixed)
NOTIFICATION_BATCH_SIZE = 1
NOTIFICATION_RETRY_DELAY_SECONDS = 10
NOTIFICATION_RETRIES = 100

# --- retention
RETENTION_SECONDS_MIN = 60
RETENTION_SECONDS_MAX = 1_209_600
RETENTION_SECONDS_DEFAULT = 345_600
RETENTION_SECONDS_FREE = 86_400
DEAD_LETTER_UNCONSUMED_SECONDS = 345_600

# --- names
QUEUE_NAME_LENGTH_MIN = 1
QUEUE_NAME_LENGTH_MAX = 63
QUEUE_NAME_PATTERN = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"

# --- money
OPERATION_CHUNK_BYTES = 64_000
FREE_OPERATIONS_PER_DAY = 10_000
PAID_OPERATIONS_INCLUDED = 1_000_000
PAID_CENTS_PER_MILLION_OPERATIONS = 40


@record
class Limit:
    """One number of Cloudflare's.

    `id` names it, `value` has the given `unit`, `applies_to` says to what, `plan` is "both", "free" or "paid", `page` is the
    URL that states it, and `checked` the ISO day on which the page was last read. `note` is what a reader must know beside it.
    """

    id: str
    value: int | str | tuple[str, ...]
    unit: str
    applies_to: str
    plan: str
    page: str
    checked: str
    note: str = ""


LIMITS: tuple[Limit, ...] = (
    Limit("queues_per_account", QUEUES_PER_ACCOUNT, "queues", "account", "both", PAGE_LIMITS, READ_LIMITS),
    Limit("message_size", MESSAGE_SIZE_BYTES, "bytes", "one message, metadata included", "both", PAGE_LIMITS, READ_LIMITS),
    Limit(
        "message_metadata_overhead",
        MESSAGE_METADATA_BYTES,
        "bytes",
        "counted into a message's size and billing",
        "both",
        PAGE_LIMITS,
        READ_LIMITS,
        "about 100 bytes",
    ),
    Limit("max_retries_max", RETRIES_MAX, "retries", "consumer", "both", PAGE_LIMITS, READ_LIMITS),
    Limit(
        "max_retries_default",
        RETRIES_DEFAULT,
        "retries",
        "consumer",
        "both",
        PAGE_BATCHING,
        READ_LIMITS,
        "N retries are at most N + 1 deliveries",
    ),
    Limit("max_retries_min", RETRIES_MIN, "retries", "consumer", "both", PAGE_BATCHING, READ_DOSSIER),
    Limit(
        "batch_size_max",
        BATCH_SIZE_MAX,
        "messages",
        "max_batch_size (push) and batch_size (pull)",
        "both",
        PAGE_LIMITS,
        READ_LIMITS,
    ),
    Limit("batch_size_default_push", BATCH_SIZE_DEFAULT, "messages", "push consumer", "both", PAGE_BATCHING, READ_LIMITS),
    Limit("batch_size_min_push", BATCH_SIZE_MIN, "messages", "push consumer", "both", PAGE_BATCHING, READ_LIMITS),
    Limit("batch_size_default_pull", PULL_BATCH_SIZE_DEFAULT, "messages", "pull request", "both", PAGE_PULL, READ_DOSSIER),
    Limit("batch_timeout_max", BATCH_TIMEOUT_SECONDS_MAX, "s", "push consumer", "both", PAGE_LIMITS, READ_LIMITS),
    Limit("batch_timeout_default", BATCH_TIMEOUT_SECONDS_DEFAULT, "s", "push consumer", "both", PAGE_BATCHING, READ_LIMITS),
    Limit(
        "batch_timeout_min",
        BATCH_TIMEOUT_SECONDS_MIN,
        "s",
        "push consumer",
        "both",
        PAGE_BATCHING,
        READ_LIMITS,
        "0 delivers at once",
    ),
    Limit(
        "send_batch_count_max",
        SEND_BATCH_COUNT_MAX,
        "messages",
        "one sendBatch() or REST batch",
        "both",
        PAGE_LIMITS,
        READ_LIMITS,
    ),
    Limit(
        "send_batch_bytes_max",
        SEND_BATCH_SIZE_BYTES,
        "bytes",
        "the bodies of one sendBatch()",
        "both",
        PAGE_LIMITS,
        READ_LIMITS,
    ),
    Limit("throughput", THROUGHPUT_PER_SECOND, "messages/s", "queue", "both", PAGE_LIMITS, READ_LIMITS),
    Limit("retention_max", RETENTION_SECONDS_MAX, "s", "message_retention_period", "paid", PAGE_LIMITS, READ_LIMITS, "14 days"),
    Limit("retention_min", RETENTION_SECONDS_MIN, "s", "message_retention_period", "paid", PAGE_CONFIGURE, READ_DOSSIER),
    Limit("retention_default", RETENTION_SECONDS_DEFAULT, "s", "new queue", "paid", PAGE_CONFIGURE, READ_DOSSIER, "4 days"),
    Limit(
        "retention_free",
        RETENTION_SECONDS_FREE,
        "s",
        "every queue",
        "free",
        PAGE_LIMITS,
        READ_LIMITS,
        "24 hours, cannot be configured",
    ),
    Limit("backlog_bytes", BACKLOG_SIZE_BYTES, "bytes", "queue", "both", PAGE_LIMITS, READ_LIMITS, "25 GB"),
    Limit("concurrency_max", CONCURRENCY_MAX, "invocations", "queue, push only", "both", PAGE_LIMITS, READ_LIMITS),
    Limit("concurrency_min", CONCURRENCY_MIN, "invocations", "max_concurrency", "both", PAGE_CONCURRENCY, READ_DOSSIER),
    Limit(
        "consumer_wall", CONSUMER_WALL_SECONDS, "s", "one queue() invocation", "both", PAGE_LIMITS, READ_LIMITS, "15 minutes"
    ),
    Limit("consumer_cpu_default", CONSUMER_CPU_MS_DEFAULT, "ms", "one queue() invocation", "paid", PAGE_LIMITS, READ_LIMITS),
    Limit("consumer_cpu_max", CONSUMER_CPU_MS_MAX, "ms", "limits.cpu_ms", "paid", PAGE_LIMITS, READ_LIMITS, "5 minutes"),
    Limit(
        "consumer_cpu_free",
        CONSUMER_CPU_MS_FREE,
        "ms",
        "one invocation",
        "free",
        PAGE_WORKERS_LIMITS,
        READ_DOSSIER,
        "the page lists it for HTTP requests and cron triggers; that it holds for queue() is assumed",
    ),
    Limit("visibility_timeout_max", VISIBILITY_TIMEOUT_MS_MAX, "ms", "pull", "both", PAGE_LIMITS, READ_LIMITS, "12 hours"),
    Limit("visibility_timeout_default", VISIBILITY_TIMEOUT_MS_DEFAULT, "ms", "pull", "both", PAGE_PULL, READ_DOSSIER),
    Limit(
        "delay_max",
        DELAY_SECONDS_MAX,
        "s",
        "delaySeconds, delivery_delay, retry_delay",
        "both",
        PAGE_LIMITS,
        READ_LIMITS,
        "24 hours",
    ),
    Limit(
        "delay_min",
        DELAY_SECONDS_MIN,
        "s",
        "delaySeconds, delivery_delay, retry_delay",
        "both",
        PAGE_BATCHING,
        READ_LIMITS,
        "0 is an explicit 'no delay' and beats the defaults",
    ),
    Limit("delivery_delay_default", DELIVERY_DELAY_SECONDS_DEFAULT, "s", "queue", "both", PAGE_CONFIGURE, READ_DOSSIER),
    Limit(
        "dlq_no_consumer_retention",
        DEAD_LETTER_UNCONSUMED_SECONDS,
        "s",
        "dead-letter queue without an active consumer",
        "both",
        PAGE_DEAD_LETTERS,
        READ_LIMITS,
        "4 days; on the Free plan still at most 24 hours",
    ),
    Limit("queue_name_length_max", QUEUE_NAME_LENGTH_MAX, "characters", "queue name", "both", PAGE_START, READ_DOSSIER),
    Limit("queue_name_length_min", QUEUE_NAME_LENGTH_MIN, "characters", "queue name", "both", PAGE_START, READ_DOSSIER),
    Limit(
        "queue_name_regex",
        QUEUE_NAME_PATTERN,
        "pattern",
        "queue name",
        "both",
        "https://github.com/cloudflare/workers-sdk/issues/2522",
        READ_DOSSIER,
        "API code 11003 where it does not match",
    ),
    Limit(
        "jurisdictions",
        JURISDICTIONS,
        "names",
        "queue, set only at creation",
        "both",
        PAGE_DATA_LOCATION,
        READ_PAGES,
        "absent is global",
    ),
    Limit(
        "active_consumers_per_queue",
        ACTIVE_CONSUMERS_PER_QUEUE,
        "consumers",
        "queue",
        "both",
        PAGE_HOW,
        READ_DOSSIER,
        "API code 11004 for a second",
    ),
    Limit("free_ops_per_day", FREE_OPERATIONS_PER_DAY, "operations/day", "account", "free", PAGE_PRICING, READ_DOSSIER),
    Limit("paid_ops_included", PAID_OPERATIONS_INCLUDED, "operations/month", "account", "paid", PAGE_PRICING, READ_DOSSIER),
    Limit(
        "paid_ops_price",
        PAID_CENTS_PER_MILLION_OPERATIONS,
        "US cents/million",
        "operations beyond those included",
        "paid",
        PAGE_PRICING,
        READ_DOSSIER,
    ),
    Limit(
        "operation_chunk",
        OPERATION_CHUNK_BYTES,
        "bytes",
        "one billed operation of a message",
        "both",
        PAGE_PRICING,
        READ_DOSSIER,
    ),
    Limit(
        "notification_batch",
        NOTIFICATION_BATCH_SIZE,
        "messages",
        "notification consumer",
        "both",
        PAGE_NOTIFICATIONS,
        READ_DOSSIER,
        "beta, fixed",
    ),
    Limit(
        "notification_retry_delay",
        NOTIFICATION_RETRY_DELAY_SECONDS,
        "s",
        "notification consumer",
        "both",
        PAGE_NOTIFICATIONS,
        READ_DOSSIER,
        "beta, fixed",
    ),
    Limit(
        "notification_max_retries",
        NOTIFICATION_RETRIES,
        "retries",
        "notification consumer",
        "both",
        PAGE_NOTIFICATIONS,
        READ_DOSSIER,
        "beta, fixed",
    ),
    Limit(
        "subrequests_free",
        SUBREQUESTS_FREE,
        "requests",
        "one consumer invocation; send() counts",
        "free",
        PAGE_WORKERS_LIMITS,
        READ_DOSSIER,
    ),
    Limit(
        "subrequests_paid",
        SUBREQUESTS_PAID,
        "requests",
        "one consumer invocation; send() counts",
        "paid",
        PAGE_WORKERS_LIMITS,
        READ_DOSSIER,
    ),
    Limit(
        "api_rate_limit",
        API_REQUESTS,
        "requests/5 min",
        "Cloudflare's API; pull and ack are exempt",
        "both",
        DOCS + "fundamentals/api/reference/limits/",
        READ_DOSSIER,
    ),
    Limit(
        "analytics_rate_limit",
        ANALYTICS_QUERIES,
        "queries/5 min",
        "Cloudflare's GraphQL API, a user",
        "both",
        PAGE_ANALYTICS,
        READ_DOSSIER,
    ),
    Limit("analytics_rows", ANALYTICS_ROWS, "rows", "one query for metrics of queues", "both", PAGE_METRICS, READ_DOSSIER),
    Limit(
        "analytics_window",
        ANALYTICS_WINDOW_SECONDS,
        "s",
        "one query for a Worker's metrics",
        "both",
        PAGE_WORKERS_ANALYTICS,
        READ_DOSSIER,
        "the page says one month; 31 days are taken",
    ),
)


def limit(id: str) -> Limit:
    """The limit of that id. Raises KeyError for an id that the table does not have."""
    return _BY_ID[id]


_BY_ID = {entry.id: entry for entry in LIMITS}
