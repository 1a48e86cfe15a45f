"""Rules about what the account measured: at their thresholds, and of what they stay silent."""

from __future__ import annotations

import json

import pytest

from tests.lint.support import account_of

from .test_account_rules import by, queues, report, shop

FILE = shop({"queue": "orders", "dead_letter_queue": "orders-dlq"})
DAY = 24


def account(*hours, days=7, queue="orders", plan="paid", missing=(), dlq=None, **settings):
    """An account in which a queue was measured: fields of its hours, each with its number."""
    made = queues(orders={"consumers": [by(dead="orders-dlq", **settings)], "backlog_count": settings.pop("waiting", 0)}, orders_dlq=dlq or {"consumers": [{"type": "http_pull"}]})
    made["queues"]["orders"]["consumers"][0]["settings"] = settings
    end, start = "2026-01-05T00:00:00Z", f"2025-12-{36 - days:02}T00:00:00Z" if days > 4 else f"2026-01-{5 - days:02}T00:00:00Z"
    rows = [{"hour": number, **fields} for number, fields in hours]
    return {**made, "plan": plan, "measured": {"start": start, "end": end, "missing": dict.fromkeys(missing, "no"), "queues": {queue: {"id": "1", "hours": rows}}}}


def found(held, *names):
    """Names and messages of findings about what was measured."""
    findings = report(FILE, held).findings
    return {f.name: f for f in findings if f.code >= "CFQ916" and f.code.startswith("CFQ9") and (not names or f.name in names)}


@pytest.mark.parametrize(
    ("name", "silent", "speaks"),
    [
        ("message-near-limit", account((3, {"written": 1, "largest_bytes": 102_399})), account((3, {"written": 1, "largest_bytes": 102_400}))),
        ("retries-high", account((3, {"succeeded": 10, "retries": 0.99})), account((3, {"succeeded": 10, "retries": 1.0}))),
        ("retries-high", account((3, {"succeeded": 100, "retries": 0.1}), (167, {"succeeded": 100, "retries": 0.19})), account((3, {"succeeded": 100, "retries": 0.1}), (167, {"succeeded": 100, "retries": 0.2}))),
        ("retries-high", account((3, {"succeeded": 100, "retries": 0.0}), (167, {"succeeded": 100, "retries": 0.03})), account((3, {"succeeded": 100, "retries": 0.0}), (167, {"succeeded": 100, "retries": 0.04}))),
        ("dead-letters-arriving", account((3, {"succeeded": 10})), account((3, {"failed": 1}))),
        ("lag-above-settings", account((3, {"delivered": 1, "lag_ms": 137_000.0}), retry_delay=43, max_wait_time_ms=2_000, max_retries=3), account((3, {"delivered": 1, "lag_ms": 137_001.0}), retry_delay=43, max_wait_time_ms=2_000, max_retries=3)),
        ("concurrency-at-limit", account((3, {"backlog_messages": 0.0}), (4, {"backlog_messages": 40.0, "concurrency": 2.0}), max_concurrency=2, batch_size=20), account((3, {"backlog_messages": 0.0}), (4, {"backlog_messages": 41.0, "concurrency": 1.6}), max_concurrency=2, batch_size=20)),
        ("concurrency-at-limit", account((3, {"backlog_messages": 0.0}), (4, {"backlog_messages": 41.0, "concurrency": 1.5}), max_concurrency=2, batch_size=20), account((3, {"backlog_messages": 0.0}), (4, {"backlog_messages": 41.0, "concurrency": 1.6}), max_concurrency=2, batch_size=20)),
        ("operations-over-plan", account((3, {"operations": 7_999}), plan="free"), account((3, {"operations": 8_000}), plan="free")),
        ("operations-over-plan", account((23, {"operations": 5_000}), (24, {"operations": 5_000}), plan="free"), account((22, {"operations": 5_000}), (23, {"operations": 5_000}), plan="free")),
        ("operations-over-plan", account((3, {"operations": 80_000}), plan="paid"), account((3, {"operations": 80_000}), plan="free")),
        ("backlog-outlives-retention", account((167, {"succeeded": 24}), waiting=96), account((167, {"succeeded": 24}), waiting=97)),
        ("backlog-outlives-retention", account((143, {"succeeded": 9}), missing=["operations"], waiting=9), account((143, {"succeeded": 9}), waiting=9)),
        ("dlq-grows-unread", account((3, {"written": 2, "delivered": 1}), queue="orders-dlq"), account((3, {"written": 2}), queue="orders-dlq")),
    ],
)  # fmt: skip
def test_a_rule_speaks_from_its_threshold_on(name, silent, speaks):
    assert name not in found(silent)
    assert name in found(speaks)


def test_operations_above_the_plan_are_an_error():
    assert found(account((3, {"operations": 10_000}), plan="free"))["operations-over-plan"].severity.value == "warning"
    assert found(account((3, {"operations": 10_001}), plan="free"))["operations-over-plan"].severity.value == "error"


def test_without_measurements_nothing_is_said_of_them():
    assert not found({**account(), "measured": None})


def test_what_changes_stands_in_brackets_so_that_a_baseline_knows_it_again():
    one = found(account((3, {"written": 1, "largest_bytes": 110_000})))["message-near-limit"].message
    other = found(account((9, {"written": 1, "largest_bytes": 120_000}), days=4))["message-near-limit"].message
    assert one != other
    assert one.partition("(")[0] == other.partition("(")[0]
    assert one.rpartition(")")[2] == other.rpartition(")")[2]


@pytest.mark.parametrize(
    "wrong",
    [
        {"hours": [{"hour": 168}]}, {"hours": [{"hour": 2}, {"hour": 2}]}, {"hours": [{"hour": 3}, {"hour": 2}]},
        {"hours": [{"hour": 1, "lag_ms": -1.0}]}, {"hours": [{"hour": 1, "written": 1.5}]}, {"hours": [{"hour": 1, "wrong": 1}]}, {"id": ""},
    ],
)  # fmt: skip
def test_a_snapshot_that_measured_what_cannot_be_is_refused(wrong):
    held = account()
    held["measured"]["queues"]["orders"] |= wrong
    with pytest.raises(ValueError, match="measured"):
        account_of(json.loads(json.dumps(held)))


