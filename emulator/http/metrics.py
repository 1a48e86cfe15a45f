"""`/metrics` for Prometheus: what the state counts, and what was watched.

The counts of messages go on over a restart; retries by attempt, attempts at the end, operations and duplicates begin at 0 with
the process, as Prometheus expects. A queue's depth as a dead-letter queue stands apart, because that is what alarms are set on.
The text is written here, not by prometheus_client, which takes seconds for the 10,000 queues that an account may have.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from emulator.clock import SECOND_US
from emulator.http.tally import OPERATIONS, Tally
from emulator.http.watch import dead_letter_sources
from emulator.metrics import oldest_us

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator

    from emulator.core.model import QueueState
    from emulator.http.watch import Watch

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
"""A queue and the label that names it."""


def exposition(watch: Watch, public: Callable[[str], str] = str) -> bytes:
    """Everything in Prometheus' text format; `public` tells what a queue is called now."""
    watch.catch_up()
    now = watch.broker.clock.now_us() / SECOND_US
    named = sorted((public(core), core, queue) for core, queue in list(watch.broker.state.queues.items()))
    queues = [(f'queue="{name}"', queue) for name, _core, queue in named]
    tallies = [(f'queue="{name}"', watch.tallies.get(core) or Tally()) for name, core, _queue in named]
    dead = set(dead_letter_sources((core, queue) for _name, core, queue in named))
    lines = [
        *_family("queues", "gauge", "Queues in the account", [("", len(queues))]),
        *_family("clock_seconds", "gauge", "The emulator's own time, in seconds since 1970", [("", now)]),
        *_family("journal_events_total", "counter", "Events in the journal", [("", watch.broker.sequence)]),
        *_gauges(queues, [(f'queue="{name}"', queue) for name, core, queue in named if core in dead], now),
        *_counts(queues),
        *_tallied(tallies),
    ]
    return ("\n".join(lines) + "\n").encode()


def _family(name: str, kind: str, text: str, samples: Iterable[tuple[str, float]]) -> list[str]:
    """What a family is, and its samples. Labels hold no character that would have to be escaped: a queue's name has none."""
    of = f"cfq_{name}"
    shown = [f"{of}{{{at}}} {value}" if at else f"{of} {value}" for at, value in samples]
    return [f"# HELP {of} {text}", f"# TYPE {of} {kind}", *shown]


def _gauges(queues: list[_Row], dead: list[_Row], now: float) -> Iterator[str]:
    text = "Messages not acknowledged: waiting, delayed, leased or out for delivery"
    yield from _family("queue_backlog_messages", "gauge", text, [(at, len(queue.messages)) for at, queue in queues])
    text = "Bytes of the bodies of these messages"
    yield from _family("queue_backlog_bytes", "gauge", text, [(at, queue.backlog_bytes) for at, queue in queues])
    text = "Age of the oldest of these messages; 0 for an empty queue"
    yield from _family("queue_oldest_message_age_seconds", "gauge", text, [(at, _age(queue, now)) for at, queue in queues])
    text = "Messages in batches that a push consumer has in hand"
    yield from _family("queue_in_flight_messages", "gauge", text, [(at, queue.flying_count) for at, queue in queues])
    text = "Batches that may be out at once, as the autoscaler has it"
    yield from _family("queue_concurrency", "gauge", text, [(at, queue.slots) for at, queue in queues])
    text = "1 while delivery is paused"
    yield from _family("queue_paused", "gauge", text, [(at, int(queue.config.delivery_paused)) for at, queue in queues])
    text = "Depth of a queue that is a consumer's dead-letter queue"
    yield from _family("dead_letter_queue_messages", "gauge", text, [(at, len(queue.messages)) for at, queue in dead])


def _age(queue: QueueState, now: float) -> float:
    sent_us = oldest_us(queue)
    return 0.0 if sent_us is None else max(0.0, now - sent_us / SECOND_US)


def _counts(queues: list[_Row]) -> Iterator[str]:
    for field, text in _COUNTS.items():
        yield from _family(f"messages_{field}_total", "counter", text, [(at, getattr(q.counts, field)) for at, q in queues])


def _tallied(tallies: list[tuple[str, Tally]]) -> Iterator[str]:
    retries = [
        (f'attempt="{attempt}",{at}', count) for at, tally in tallies for attempt, count in sorted(tally.retries.items())
    ]
    yield from _family("retries_total", "counter", "Attempts that failed and are tried again", retries)
    ends = [(f'outcome="{end}",{at}', by) for at, tally in tallies for end, by in tally.ended.items() if by]
    of, text = "cfq_message_attempts", "Attempts that a message had when it left its queue"
    yield from (f"# HELP {of} {text}", f"# TYPE {of} histogram")
    for at, by_attempts in ends:
        yield from (f'{of}_bucket{{le="{limit}",{at}}} {count}' for limit, count in _buckets(by_attempts))
        yield f"{of}_count{{{at}}} {sum(by_attempts.values())}"
        yield f"{of}_sum{{{at}}} {sum(attempts * count for attempts, count in by_attempts.items())}"
    billed = [(f'operation="{each}",{at}', tally.operations[each]) for at, tally in tallies for each in OPERATIONS]
    yield from _family("billable_operations_total", "counter", "Operations that Cloudflare bills", billed)
    text = "Deliveries after an acknowledgement got lost"
    yield from _family("duplicate_deliveries_total", "counter", text, [(at, tally.duplicates) for at, tally in tallies])
    text = "Deliveries that a consumer recognized as dealt with"
    yield from _family("dedupe_hits_total", "counter", text, [(at, tally.dedupe_hits) for at, tally in tallies])


def _buckets(by_attempts: Counter[int]) -> list[tuple[str, int]]:
    limits = [(f"{limit}.0", limit) for limit in _BUCKETS] + [("+Inf", math.inf)]
    return [(name, sum(count for attempts, count in by_attempts.items() if attempts <= limit)) for name, limit in limits]
