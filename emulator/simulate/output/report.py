"""The report of a run: plain values for JSON, from which text and page are made. No wall time: same seed, same report.

The shape is in schemas/simulation.schema.json, and a field is only ever added within a version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cfq_lint.facts import limits
from cfq_lint.facts.pricing import chunks, month_usd
from emulator.core.limits import SECOND_US
from emulator.core.model import Consumer
from emulator.engine.ledger.tally import Operations
from emulator.simulate.output.findings import findings
from emulator.simulate.tally import FLOWS

if TYPE_CHECKING:
    from emulator.simulate.scenario import Load, Scenario, Setting, Traffic
    from emulator.simulate.tally import Tally

VERSION = 1
MONTH_DAYS = 30
_DAY_US = 86_400 * SECOND_US

EXACT, BATCHED = "exact", "batched"
METHODS = {
    EXACT: "Every message was sent through the emulator on virtual time.",
    BATCHED: "Messages were taken by count, batch by batch: every decision is the emulator's, and so is every total.",
}
TOTALS = (
    "sent", "refused", "delivered", "batches", "failed_batches", "acked", "retried", "dead_lettered", "dropped", "expired",
    "duplicates", "waiting",
)  # fmt: skip
CONSUMER = tuple(name for name in Consumer._fields if name not in {"type", "visibility_timeout_ms"})
"""What of a consumer's settings is reported: a pull is not simulated."""


def operations(tally: Tally, size_bytes: int) -> Operations:
    """What a queue would be billed for, as `billing` counts it."""
    each = chunks(size_bytes)
    return Operations(tally.sent * each, tally.delivered * each, (tally.acked + tally.dropped + tally.expired) * each)


def report(scenario: Scenario, tallies: list[Tally], method: str) -> dict[str, Any]:
    """Everything about one run."""
    load = scenario.load
    sizes = {queue.name: scenario.size_bytes(queue) for queue in scenario.queues}
    billed = sum(operations(tally, sizes[tally.name]).total for tally in tallies)
    a_day = billed * _DAY_US / load.duration_us
    cost: dict[str, Any] = {
        "operations": billed,
        "operations_a_day": round(a_day),
        "operations_a_month": round(a_day * MONTH_DAYS),
    }
    cost["month_usd"] = round(month_usd(a_day * MONTH_DAYS), 2) if load.plan == "paid" else None
    by_name = {tally.name: tally for tally in tallies}
    said = [line for queue in scenario.queues for line in findings(scenario, queue, by_name)]
    return {
        "version": VERSION,
        "label": scenario.label,
        "method": method,
        "approximation": METHODS[method],
        "load": load_as_dict(load),
        "findings": said + plan_findings(load, a_day, cost),
        "cost": cost,
        "queues": [_queue(scenario, scenario.queue(tally.name), tally) for tally in tallies],
    }


def plan_findings(load: Load, a_day: float, cost: dict[str, Any]) -> list[str]:
    """What the plan says to so many operations."""
    if load.plan == "free" and a_day > limits.FREE_OPERATIONS_PER_DAY:
        said = f"The Free plan includes {limits.FREE_OPERATIONS_PER_DAY:,} operations a day, and this load needs {a_day:,.0f}: "
        return [said + "beyond that Cloudflare refuses (10253), which this run does not count."]
    if cost["month_usd"] is None:
        return [f"This load needs {a_day:,.0f} of the {limits.FREE_OPERATIONS_PER_DAY:,} operations a day of the Free plan."]
    said = f"Extrapolated to {MONTH_DAYS} such days, queues cost {cost['month_usd']:,.2f} USD a month "
    return [said + f"({cost['operations_a_month']:,} operations; Workers are billed besides)."]


def load_as_dict(load: Load) -> dict[str, Any]:
    """The load in seconds."""
    return {
        "rate_per_second": float(load.rate),
        "duration_seconds": load.duration_us / SECOND_US,
        "outages": [
            {"start_seconds": start / SECOND_US, "duration_seconds": (end - start) / SECOND_US} for start, end in load.outages
        ],
        "failure": load.failure,
        "dead_letter_failure": load.dead_letter_failure,
        "failure_mode": load.mode,
        "processing_seconds": load.processing_us / SECOND_US,
        "processing_per_message_seconds": load.processing_message_us / SECOND_US,
        "size_bytes": load.size_bytes,
        "seed": load.seed,
        "plan": load.plan,
        "drain": load.drain,
    }


def measured_as_dict(traffic: Traffic) -> dict[str, Any]:
    """What the account counted of a queue, and what of it the run takes over."""
    processing_us = traffic.processing_us
    return {
        **traffic.seen._asdict(),
        "failure": traffic.failure,
        "size_bytes": traffic.size_bytes,
        "processing_seconds": None if processing_us is None else processing_us / SECOND_US,
    }


def _queue(scenario: Scenario, queue: Setting, tally: Tally) -> dict[str, Any]:
    done = operations(tally, scenario.size_bytes(queue))
    consumer = None if queue.consumer is None else {name: getattr(queue.consumer, name) for name in CONSUMER}
    rows = tally.rows
    return {
        "name": queue.name,
        "loaded": queue.loaded,
        "consumer": consumer,
        "delivery_delay": queue.delivery_delay,
        "message_retention_period": queue.message_retention_period,
        "totals": {name: getattr(tally, name) for name in TOTALS},
        "retries_by_attempt": {str(n - 1): count for n, count in sorted(tally.by_attempt.items()) if n > 1},
        "operations": {**done._asdict(), "total": done.total},
        "slots_max": tally.slots_max,
        "concurrency_max": tally.busy_max,
        "backlog_max": max(row.backlog_peak for row in rows),
        "backlog_mean": round(tally.backlog_seconds * SECOND_US / max(1, tally.end_us), 3),
        "oldest_seconds_max": max(row.oldest_peak_us for row in rows) / SECOND_US,
        "end_seconds": tally.end_us / SECOND_US,
        "outages": [
            {
                "start_seconds": watch.start_us / SECOND_US,
                "end_seconds": watch.end_us / SECOND_US,
                "backlog_before": watch.before,
                "recovered_after_seconds": None
                if watch.recovered_us is None
                else round(max(0, watch.recovered_us - watch.end_us) / SECOND_US, 3),
            }
            for watch in tally.watches
        ],
        **({} if queue.traffic is None else {"measured": measured_as_dict(queue.traffic)}),
        "series": {
            "seconds": [row.at_us / SECOND_US for row in rows],
            "backlog": [row.backlog for row in rows],
            "oldest_seconds": [row.oldest_us / SECOND_US for row in rows],
            "backlog_max": [row.backlog_peak for row in rows],
            "oldest_seconds_max": [row.oldest_peak_us / SECOND_US for row in rows],
            **{flow: [getattr(row, flow) for row in rows] for flow in FLOWS},
        },
    }
