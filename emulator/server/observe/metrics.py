"""`/metrics` for Prometheus: what the state counts, and what was watched.

The counts of messages go on over a restart; retries by attempt, attempts at the end, operations and duplicates begin at 0 with
the process, as Prometheus expects. A queue's depth as a dead-letter queue stands apart, because that is what alarms are set on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from emulator.engine.clock import SECOND_US
from emulator.engine.ledger.steps import Kind
from emulator.engine.ledger.tally import OPERATIONS, Tally
from emulator.engine.metrics import oldest_us
from emulator.server.observe.watch import dead_letter_sources

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator

    from prometheus_client.metrics_core import Metric

    from emulator.core.model import QueueState
    from emulator.server.observe.watch import Watch

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (1, 2, 3, 4, 5, 6, 11, 26, 51, 101)
"""Attempts: Cloudflare allows 100 retries, that is 101."""
_COUNTS = {
    "sent": "Messages stored by producers",
    "received": "Messages that arrived as dead letters",
    "delivered": "Deliveries, repeated ones included",
    "acked": "Messages acknowledged",
    "dead_lettered": "Messages that went to the dead-letter queue",
    "dropped": "Messages dropped after their last attempt, because there was no dead-letter queue",
    "expired": "Messages deleted because they reached the retention of their queue",
    "purged": "Messages purged",
}
_Row = tuple[str, "QueueState"]


def exposition(watch: Watch, public: Callable[[str], str] = str) -> bytes:
    """Everything in Prometheus' text format; `public` tells what a queue is called now."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Watched(watch, public))
    return generate_latest(registry)


class _Watched(Collector):
    """Reads the state when it is scraped; nothing is kept in between."""

    def __init__(self, watch: Watch, public: Callable[[str], str]) -> None:
        self._watch, self._public = watch, public

    def describe(self) -> Iterable[Metric]:
        """Nothing is known before the state has been read."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Every family once."""
        watch = self._watch
        watch.catch_up()
        public = self._public
        cores = list(watch.broker.state.queues.items())
        queues = sorted(((public(name), queue) for name, queue in cores), key=lambda row: row[0])
        tallies = sorted(((public(name), watch.tallies.get(name) or Tally()) for name, _queue in cores), key=lambda row: row[0])
        dead = {public(name) for name in dead_letter_sources(cores)}
        yield GaugeMetricFamily("cfq_queues", "Queues in the account", value=len(queues))
        yield GaugeMetricFamily("cfq_clock_seconds", "The emulator's own time, in seconds since 1970", value=self._now_seconds)
        yield CounterMetricFamily("cfq_journal_events", "Events in the journal", value=watch.broker.sequence)
        yield from self._gauges(queues, dead)
        yield from _counts(queues)
        yield from _tallied(tallies)

    @property
    def _now_seconds(self) -> float:
        return self._watch.broker.clock.now_us() / SECOND_US

    def _gauges(self, queues: list[_Row], dead_letter_queues: set[str]) -> Iterator[Metric]:
        now = self._now_seconds
        depth = _gauge("queue_backlog_messages", "Messages not acknowledged: waiting, delayed, leased or out for delivery")
        size = _gauge("queue_backlog_bytes", "Bytes of the bodies of these messages")
        age = _gauge("queue_oldest_message_age_seconds", "Age of the oldest of these messages; 0 for an empty queue")
        flying = _gauge("queue_in_flight_messages", "Messages in batches that a push consumer has in hand")
        slots = _gauge("queue_concurrency", "Batches that may be out at once, as the autoscaler has it")
        paused = _gauge("queue_paused", "1 while delivery is paused")
        dead = _gauge("dead_letter_queue_messages", "Depth of a queue that is a consumer's dead-letter queue")
        for name, queue in queues:
            sent_us = oldest_us(queue)
            depth.add_metric([name], len(queue.messages))
            size.add_metric([name], queue.backlog_bytes)
            age.add_metric([name], 0.0 if sent_us is None else max(0.0, now - sent_us / SECOND_US))
            flying.add_metric([name], queue.flying_count)
            slots.add_metric([name], queue.slots)
            paused.add_metric([name], int(queue.config.delivery_paused))
            if name in dead_letter_queues:
                dead.add_metric([name], len(queue.messages))
        yield from (depth, size, age, flying, slots, paused, dead)


def _gauge(name: str, text: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"cfq_{name}", text, labels=["queue"])


def _counts(queues: list[_Row]) -> Iterator[Metric]:
    for field, text in _COUNTS.items():
        family = CounterMetricFamily(f"cfq_messages_{field}", text, labels=["queue"])
        for name, queue in queues:
            family.add_metric([name], getattr(queue.counts, field))
        yield family


def _tallied(tallies: list[tuple[str, Tally]]) -> Iterator[Metric]:
    retries = CounterMetricFamily("cfq_retries", "Attempts that failed and are tried again", labels=["queue", "attempt"])
    ended = HistogramMetricFamily(
        "cfq_message_attempts", "Attempts that a message had when it left its queue", labels=["queue", "outcome"]
    )
    operations = CounterMetricFamily(
        "cfq_billable_operations", "Operations that Cloudflare bills", labels=["queue", "operation"]
    )
    duplicates = CounterMetricFamily(
        "cfq_duplicate_deliveries", "Deliveries after an acknowledgement got lost", labels=["queue"]
    )
    hits = CounterMetricFamily("cfq_dedupe_hits", "Deliveries that a consumer recognized as dealt with", labels=["queue"])
    for name, tally in tallies:
        for attempt, count in sorted(tally.retries.items()):
            retries.add_metric([name, str(attempt)], count)
        for outcome, by_attempts in tally.ended.items():
            if outcome is not Kind.PURGED:
                ended.add_metric([name, outcome], _buckets(by_attempts), sum(n * count for n, count in by_attempts.items()))
        for operation in OPERATIONS:
            operations.add_metric([name, operation], tally.operations[operation])
        duplicates.add_metric([name], tally.duplicates)
        hits.add_metric([name], tally.dedupe_hits)
    yield from (retries, ended, operations, duplicates, hits)


def _buckets(by_attempts: Counter[int]) -> list[tuple[str, float]]:
    limits = [*map(float, _BUCKETS), math.inf]
    names = [*(f"{limit}.0" for limit in _BUCKETS), "+Inf"]
    return [
        (name, sum(count for attempts, count in by_attempts.items() if attempts <= limit))
        for name, limit in zip(names, limits, strict=True)
    ]
