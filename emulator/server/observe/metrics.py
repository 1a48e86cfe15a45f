"""`/metrics` in Prometheus' text format: what the state holds now, and what the ledger has counted.

https://prometheus.io/docs/instrumenting/exposition_formats/. It is written directly, family by family, because ten thousand
queues are a quarter of a million lines. A queue's depth as a dead-letter queue stands apart: alarms are set on that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.engine.clock import SECOND_US
from emulator.engine.dead_letters import dead_letter_sources
from emulator.engine.ledger.steps import ENDS, Kind
from emulator.engine.ledger.tally import OPERATIONS, QueueCounts, Tally
from emulator.engine.metrics import oldest_us

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator

    from emulator.core.model import QueueState
    from emulator.server.observe.watch import Watch

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (1, 2, 3, 4, 5, 6, 11, 26, 51, 101)
"""Attempts: Cloudflare allows 100 retries, that is 101."""


class _Row(NamedTuple):
    """What is written of one queue; `label` is its name for Prometheus, `age` of the oldest message is in seconds."""

    label: str
    queue: QueueState
    tally: Tally
    counts: QueueCounts
    age: float


_GAUGES: dict[str, tuple[str, Callable[[_Row], float]]] = {
    "queue_backlog_messages": (
        "Messages not acknowledged: waiting, delayed, leased or out for delivery", lambda row: row.queue.count
    ),
    "queue_backlog_bytes": ("Bytes of the bodies of these messages", lambda row: row.queue.backlog_bytes),
    "queue_oldest_message_age_seconds": ("Age of the oldest of these messages; 0 for an empty queue", lambda row: row.age),
    "queue_in_flight_messages": ("Messages in batches that a push consumer has in hand", lambda row: row.queue.flying_count),
    "queue_concurrency": ("Batches that may be out at once, as the autoscaler has it", lambda row: row.queue.slots),
    "queue_paused": ("1 while delivery is paused", lambda row: int(row.queue.config.delivery_paused)),
}  # fmt: skip
"""What a queue is like now: the name of the metric, its help and its value."""
_COUNTERS: dict[str, tuple[str, Callable[[_Row], int]]] = {
    "messages_sent": ("Messages stored by producers", lambda row: row.counts.sent),
    "messages_received": ("Messages from another queue, as dead letters or redriven", lambda row: row.counts.received),
    "messages_delivered": ("Deliveries, repeated ones included", lambda row: row.counts.delivered),
    "messages_acked": ("Messages acknowledged", lambda row: row.counts.acked),
    "messages_dead_lettered": ("Messages that went to the dead-letter queue", lambda row: row.counts.dead_lettered),
    "messages_dropped": (
        "Messages dropped after their last attempt, because there was no dead-letter queue", lambda row: row.counts.dropped
    ),
    "messages_expired": (
        "Messages deleted because they reached the retention of their queue", lambda row: row.counts.expired
    ),
    "messages_purged": ("Messages purged", lambda row: row.counts.purged),
    "messages_redriven": ("Messages sent again to another queue", lambda row: row.counts.redriven),
    "duplicate_deliveries": ("Deliveries after an acknowledgement got lost", lambda row: row.tally.duplicates),
    "dedupe_hits": ("Deliveries that a consumer recognized as dealt with", lambda row: row.tally.dedupe_hits),
}  # fmt: skip
"""What the ledger has counted of a queue."""


def exposition(watch: Watch, public: Callable[[str], str] = str) -> bytes:
    """Everything; `public` tells what a queue is called now."""
    return "".join(_lines(watch, public)).encode()


def _lines(watch: Watch, public: Callable[[str], str]) -> Iterator[str]:
    watch.catch_up()
    account, queues = watch.account, list(watch.account.state.queues.items())
    now_us = account.clock.now_us()
    rows = [_row(public(name), queue, watch.ledger.tallies.get(name) or Tally(), now_us) for name, queue in queues]
    rows.sort(key=lambda row: row.label)
    yield from _family("queues", "gauge", "Queues in the account", [("", len(queues))])
    yield from _family("clock_seconds", "gauge", "The emulator's own time, in seconds since 1970", [("", now_us / SECOND_US)])
    yield from _family("journal_events_total", "counter", "Events in the journal", [("", account.sequence)])
    acted = [(f'{{fault="{each.fault}"}}', each.acted) for each in account.fault_counts]
    yield from _family("faults_total", "counter", "How often each fault acted that was switched on", acted)
    for name, (text, gauge) in _GAUGES.items():
        yield from _family(name, "gauge", text, ((f'{{queue="{row.label}"}}', gauge(row)) for row in rows))
    for name, (text, counter) in _COUNTERS.items():
        yield from _family(f"{name}_total", "counter", text, ((f'{{queue="{row.label}"}}', counter(row)) for row in rows))
    dead = {_label(public(name)) for name in dead_letter_sources(queues)}
    yield from _family(
        "dead_letter_queue_messages", "gauge", "Depth of a queue that is a consumer's dead-letter queue",
        ((f'{{queue="{row.label}"}}', row.queue.count) for row in rows if row.label in dead),
    )  # fmt: skip
    yield from _family(
        "retries_total", "counter", "Attempts that failed and are tried again",
        ((f'{{queue="{row.label}",attempt="{n}"}}', count) for row in rows for n, count in sorted(row.tally.retries.items())),
    )  # fmt: skip
    yield from _family(
        "billable_operations_total", "counter", "Operations that Cloudflare bills",
        ((f'{{queue="{row.label}",operation="{each}"}}', row.tally.operations[each]) for row in rows for each in OPERATIONS),
    )  # fmt: skip
    yield from _attempts(rows)


def _row(name: str, queue: QueueState, tally: Tally, now_us: int) -> _Row:
    sent_us = oldest_us(queue)
    age = 0.0 if sent_us is None else max(0.0, (now_us - sent_us) / SECOND_US)
    return _Row(_label(name), queue, tally, tally.counts(name), age)


def _label(name: str) -> str:
    return name.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _family(name: str, kind: str, text: str, samples: Iterable[tuple[str, Any]]) -> Iterator[str]:
    yield f"# HELP cfq_{name} {text}\n# TYPE cfq_{name} {kind}\n"
    for labels, value in samples:
        yield f"cfq_{name}{labels} {value}\n"


def _attempts(rows: Iterable[_Row]) -> Iterator[str]:
    """How many attempts messages had when they left their queue: a histogram."""
    name = "message_attempts"
    yield from _family(name, "histogram", "Attempts that a message had when it left its queue", ())
    for row in rows:
        for kind in (each for each in _HISTOGRAMS if each in row.tally.ended):
            by_attempts, labels = row.tally.ended[kind], f'queue="{row.label}",outcome="{kind}"'
            for limit, count in _buckets(by_attempts):
                yield f'cfq_{name}_bucket{{{labels},le="{limit}"}} {count}\n'
            yield f"cfq_{name}_count{{{labels}}} {by_attempts.total()}\n"
            yield f"cfq_{name}_sum{{{labels}}} {sum(n * count for n, count in by_attempts.items())}\n"


_HISTOGRAMS = sorted(ENDS - {Kind.PURGED, Kind.REDRIVEN})


def _buckets(by_attempts: Counter[int]) -> Iterator[tuple[str, int]]:
    for limit in _BUCKETS:
        yield f"{limit}.0", sum(count for attempts, count in by_attempts.items() if attempts <= limit)
    yield "+Inf", by_attempts.total()
