"""What a queues block may hold: each key with type, range, default and page, and the other spellings that people use.

The names of the REST API, of the command line and of JavaScript are taken from Cloudflare's API reference, from `wrangler
queues` and from the Workers bindings. The schema of the block and the rules about ranges, types and unknown keys all read this
one table, which makes the module long.
"""

from __future__ import annotations

from functools import cache

from cfq_lint.facts import limits
from cfq_lint.facts.record import record

STRING = "string"
INTEGER = "integer"
BOOLEAN = "boolean"


@record
class Key:
    """One key of a producer or consumer. `minimum` and `maximum` are inclusive and in `unit`; `default` is Cloudflare's own."""

    name: str
    type: str
    summary: str
    page: str
    unit: str = ""
    minimum: int | None = None
    maximum: int | None = None
    default: int | None = None

    def holds(self, number: int) -> bool:
        """Whether an integer lies within the range; any does where the key has none."""
        return self.minimum is None or self.maximum is None or self.minimum <= number <= self.maximum

    @property
    def allowed(self) -> str:
        """The range in words, e.g. `an integer from 0 to 60 seconds`."""
        unit = f" {self.unit}" if self.unit else ""
        return f"an integer from {self.minimum} to {self.maximum}{unit}"


CONSUMER_KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("queue", STRING, "name of the queue to consume", limits.PAGE_CONFIGURE),
        Key("type", STRING, 'only "worker" may stand in a file', limits.PAGE_PULL),
        Key(
            "max_batch_size",
            INTEGER,
            "most messages in one batch",
            limits.PAGE_BATCHING,
            "messages",
            limits.BATCH_SIZE_MIN,
            limits.BATCH_SIZE_MAX,
            limits.BATCH_SIZE_DEFAULT,
        ),
        Key(
            "max_batch_timeout",
            INTEGER,
            "longest wait for a batch to fill",
            limits.PAGE_BATCHING,
            "seconds",
            limits.BATCH_TIMEOUT_SECONDS_MIN,
            limits.BATCH_TIMEOUT_SECONDS_MAX,
            limits.BATCH_TIMEOUT_SECONDS_DEFAULT,
        ),
        Key(
            "max_retries",
            INTEGER,
            "retries after the first delivery",
            limits.PAGE_BATCHING,
            "retries",
            limits.RETRIES_MIN,
            limits.RETRIES_MAX,
            limits.RETRIES_DEFAULT,
        ),
        Key("dead_letter_queue", STRING, "queue that takes what all retries failed", limits.PAGE_DEAD_LETTERS),
        Key(
            "max_concurrency",
            INTEGER,
            "most invocations at a time; unset scales by itself",
            limits.PAGE_CONCURRENCY,
            "invocations",
            limits.CONCURRENCY_MIN,
            limits.CONCURRENCY_MAX,
        ),
        Key(
            "visibility_timeout_ms",
            INTEGER,
            "lease of a pull consumer; has no effect in a file",
            limits.PAGE_PULL,
            "milliseconds",
            limits.VISIBILITY_TIMEOUT_MS_MIN,
            limits.VISIBILITY_TIMEOUT_MS_MAX,
            limits.VISIBILITY_TIMEOUT_MS_DEFAULT,
        ),
        Key(
            "retry_delay",
            INTEGER,
            "wait before a retry",
            limits.PAGE_BATCHING,
            "seconds",
            limits.DELAY_SECONDS_MIN,
            limits.DELAY_SECONDS_MAX,
            limits.DELAY_SECONDS_MIN,
        ),
    )
}

PRODUCER_KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("binding", STRING, "name of the binding in the Worker's env", limits.PAGE_CONFIGURE),
        Key("queue", STRING, "name of the queue to send to", limits.PAGE_CONFIGURE),
        Key(
            "delivery_delay",
            INTEGER,
            "has no effect in a file; a setting of the queue",
            limits.PAGE_BATCHING,
            "seconds",
            limits.DELAY_SECONDS_MIN,
            limits.DELAY_SECONDS_MAX,
            limits.DELIVERY_DELAY_SECONDS_DEFAULT,
        ),
        Key("remote", BOOLEAN, "has no effect for queues", limits.PAGE_LOCAL),
    )
}

DECLARED_KEYS: dict[str, Key] = {
    "queue": CONSUMER_KEYS["queue"],
    "delivery_delay": PRODUCER_KEYS["delivery_delay"],
    "message_retention_period": Key(
        "message_retention_period", INTEGER, "how long a message is kept", limits.PAGE_LIMITS, "seconds"
    ),
}
"""The keys of a queue that a Terraform plan makes."""

QUEUES_KEYS = ("producers", "consumers")


def keys_of(listed: str) -> dict[str, Key]:
    """The keys of an entry by their names: of "consumers" or of "producers". Raises KeyError for another list."""
    return {"consumers": CONSUMER_KEYS, "producers": PRODUCER_KEYS}[listed]


def is_queue_name(name: str) -> bool:
    """Whether Cloudflare accepts a name for a queue (API code 11003 where it does not)."""
    if not 1 <= len(name) <= limits.QUEUE_NAME_LENGTH_MAX or name[0] == "-" or name[-1] == "-":
        return False
    return not name.strip(_NAME_CHARACTERS)  # nothing is left where every character is allowed


_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"


def is_placeholder(name: str) -> bool:
    """Whether a name is what a template asks its reader to replace: `<name>`, `${NAME}`, `YOUR_QUEUE`, `replace-me`, braces."""
    for opening, closing in (("<", ">"), ("{", "}")):
        start = name.find(opening)
        if start >= 0 and name.find(closing, start) >= 0:
            return True
    plain = name.lower().replace("_", "-")
    return plain.startswith(_PLACEHOLDERS)


_PLACEHOLDERS = ("your-", "replace-me", "replace-with-", "change-me", "changeme")

ELSEWHERE: dict[str, str] = {
    "jurisdiction": "wrangler queues create {queue} --jurisdiction eu",
    "message_retention_period": "wrangler queues update {queue} --message-retention-period-secs {value}",
    "message_retention_period_secs": "wrangler queues update {queue} --message-retention-period-secs {value}",
    "retention": "wrangler queues update {queue} --message-retention-period-secs {value}",
    "retention_period": "wrangler queues update {queue} --message-retention-period-secs {value}",
    "delivery_paused": "wrangler queues pause-delivery {queue}",
    "notification": "wrangler queues consumer notification add {queue}",
    "notifications": "wrangler queues consumer notification add {queue}",
}
"""Real settings of a queue that no wrangler file can hold, with the command that sets them."""


@record
class Spelling:
    """The key that a wrong one means. `factor` turns the value written into the value meant: meant = written * factor."""

    key: str
    factor: float = 1


_MILLISECONDS = 0.001
_SECONDS = 1000

# Compared after `normal`: lower case, without separators. What differs from a key in nothing else needs no row.
_CONSUMER_SPELLINGS: dict[str, Spelling] = {
    "batchsize": Spelling("max_batch_size"),
    "maxbatch": Spelling("max_batch_size"),
    "maxmessages": Spelling("max_batch_size"),
    "batchtimeout": Spelling("max_batch_timeout"),
    "maxbatchtimeoutms": Spelling("max_batch_timeout", _MILLISECONDS),
    "batchtimeoutms": Spelling("max_batch_timeout", _MILLISECONDS),
    "maxwaittimems": Spelling("max_batch_timeout", _MILLISECONDS),
    "maxwaittime": Spelling("max_batch_timeout"),
    "maxwaittimesecs": Spelling("max_batch_timeout"),
    "maxbatchwait": Spelling("max_batch_timeout"),
    "retries": Spelling("max_retries"),
    "messageretries": Spelling("max_retries"),
    "maxretry": Spelling("max_retries"),
    "maxattempts": Spelling("max_retries"),
    "dlq": Spelling("dead_letter_queue"),
    "deadletter": Spelling("dead_letter_queue"),
    "deadletters": Spelling("dead_letter_queue"),
    "deadletterqueuename": Spelling("dead_letter_queue"),
    "concurrency": Spelling("max_concurrency"),
    "maxconcurrent": Spelling("max_concurrency"),
    "retrydelaysecs": Spelling("retry_delay"),
    "retrydelayseconds": Spelling("retry_delay"),
    "retrydelayms": Spelling("retry_delay", _MILLISECONDS),
    "delayseconds": Spelling("retry_delay"),
    "visibilitytimeout": Spelling("visibility_timeout_ms", _SECONDS),
    "visibilitytimeoutsecs": Spelling("visibility_timeout_ms", _SECONDS),
    "visibilitytimeoutseconds": Spelling("visibility_timeout_ms", _SECONDS),
    "queuename": Spelling("queue"),
    "name": Spelling("queue"),
    "queues": Spelling("queue"),
}
_PRODUCER_SPELLINGS: dict[str, Spelling] = {
    "deliverydelaysecs": Spelling("delivery_delay"),
    "deliverydelayseconds": Spelling("delivery_delay"),
    "deliverydelayms": Spelling("delivery_delay", _MILLISECONDS),
    "delay": Spelling("delivery_delay"),
    "delayseconds": Spelling("delivery_delay"),
    "bindingname": Spelling("binding"),
    "bind": Spelling("binding"),
    "queuename": Spelling("queue"),
    "name": Spelling("queue"),
    "queues": Spelling("queue"),
}
_QUEUES_SPELLINGS: dict[str, Spelling] = {"consumer": Spelling("consumers"), "producer": Spelling("producers")}


def meant(wrong: str, keys: dict[str, Key] | tuple[str, ...]) -> Spelling | None:
    """The key that an unknown one most likely means among `keys`; None where nothing is near."""
    if keys is CONSUMER_KEYS:
        table = _CONSUMER_SPELLINGS
    elif keys is PRODUCER_KEYS:
        table = _PRODUCER_SPELLINGS
    else:
        table = _QUEUES_SPELLINGS
    plain = normal(wrong)
    known = table.get(plain)
    if known is not None:
        return known
    most = 1 if len(plain) < _SHORT else _SLIPS
    spelt = [(normal(key), key) for key in keys]
    near = [(slips(plain, name), key) for name, key in spelt if abs(len(name) - len(plain)) <= most]
    count, key = min(near, key=lambda each: each[0], default=(most + 1, ""))
    return Spelling(key) if count <= most else None


_SHORT = 7


def is_generated(main: str) -> bool:
    """Whether `main` is an entry that a framework writes and that has no queue handler.

    OpenNext (opennextjs-cloudflare#589) and SvelteKit (sveltejs/kit#10496); Nitro, and Nuxt with it, hands queues on through a
    hook of its own (nitrojs/nitro#2192).
    """
    return ".open-next/" in main or ".svelte-kit/" in main


@cache
def may_mean_queues(key: str) -> bool:
    """Whether a key of the top level may be a slip for `queues`, or for one of its lists."""
    plain = normal(key)
    return "queue" in plain or plain in {"producers", "consumers"} or (plain[:1] == "q" and slips(plain, "queues") <= _SLIPS)


_SLIPS = 2

TOP_LEVEL_KEYS = frozenset({
    "account_id", "alias", "base_dir", "compatibility_date", "compatibility_flags", "compliance_region", "data_blobs",
    "define", "find_additional_modules", "first_party_worker", "jsx_factory", "jsx_fragment", "keep_names", "keep_vars",
    "legacy_env", "logpush", "main", "minify", "name", "no_bundle", "node_compat", "pages_build_output_dir",
    "preserve_file_names", "preview_urls", "route", "routes", "send_metrics", "tsconfig", "upload_source_maps",
    "usage_model", "workers_dev", "zone_id",
})  # fmt: skip
"""Keys of the top level that one writes as `key = value`; of config-schema.json in wrangler 4.164.0, and of older ones."""


def normal(key: str) -> str:
    """A key without case and separators: `maxBatchSize`, `max-batch-size` and `max_batch_size` are one."""
    return "".join(character for character in key.lower() if character not in "_- .")


def slips(a: str, b: str) -> int:
    """How many slips of the hand lie between two words: a letter added, lost or changed, or two neighbours swapped."""
    if a == b:
        return 0
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        before, last, row = row, before, [i]
        for j, right in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
