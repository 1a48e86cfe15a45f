"""Every number of Cloudflare Queues, compared with the numbers of Cloudflare's pages, written down here a second time."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path

import pytest

from cfq_lint.facts import limits
from cfq_lint.facts.keys import CONSUMER_KEYS, PRODUCER_KEYS, is_queue_name
from cfq_lint.facts.limits import LIMITS, limit

from .support import ROOT, run

BOTH, FREE, PAID = "both", "free", "paid"
PAGES = {
    "queues_per_account": (10_000, "queues", BOTH),
    "message_size": (128_000, "bytes", BOTH),
    "message_metadata_overhead": (100, "bytes", BOTH),
    "max_retries_max": (100, "retries", BOTH),
    "max_retries_default": (3, "retries", BOTH),
    "max_retries_min": (0, "retries", BOTH),
    "batch_size_max": (100, "messages", BOTH),
    "batch_size_default_push": (10, "messages", BOTH),
    "batch_size_min_push": (1, "messages", BOTH),
    "batch_size_default_pull": (5, "messages", BOTH),
    "batch_timeout_max": (60, "s", BOTH),
    "batch_timeout_default": (5, "s", BOTH),
    "batch_timeout_min": (0, "s", BOTH),
    "send_batch_count_max": (100, "messages", BOTH),
    "send_batch_bytes_max": (256_000, "bytes", BOTH),
    "throughput": (5_000, "messages/s", BOTH),
    "retention_max": (1_209_600, "s", PAID),
    "retention_min": (60, "s", PAID),
    "retention_default": (345_600, "s", PAID),
    "retention_free": (86_400, "s", FREE),
    "backlog_bytes": (25_000_000_000, "bytes", BOTH),
    "concurrency_max": (250, "invocations", BOTH),
    "concurrency_min": (1, "invocations", BOTH),
    "consumer_wall": (900, "s", BOTH),
    "consumer_cpu_default": (30_000, "ms", PAID),
    "consumer_cpu_max": (300_000, "ms", PAID),
    "consumer_cpu_free": (10, "ms", FREE),
    "visibility_timeout_max": (43_200_000, "ms", BOTH),
    "visibility_timeout_default": (30_000, "ms", BOTH),
    "delay_max": (86_400, "s", BOTH),
    "delay_min": (0, "s", BOTH),
    "delivery_delay_default": (0, "s", BOTH),
    "dlq_no_consumer_retention": (345_600, "s", BOTH),
    "queue_name_length_max": (63, "characters", BOTH),
    "queue_name_length_min": (1, "characters", BOTH),
    "queue_name_regex": ("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", "pattern", BOTH),
    "jurisdictions": (("eu", "us", "fedramp"), "names", BOTH),
    "active_consumers_per_queue": (1, "consumers", BOTH),
    "free_ops_per_day": (10_000, "operations/day", FREE),
    "paid_ops_included": (1_000_000, "operations/month", PAID),
    "paid_ops_price": (40, "US cents/million", PAID),
    "operation_chunk": (64_000, "bytes", BOTH),
    "notification_batch": (1, "messages", BOTH),
    "notification_retry_delay": (10, "s", BOTH),
    "notification_max_retries": (100, "retries", BOTH),
    "subrequests_free": (50, "requests", FREE),
    "subrequests_paid": (10_000, "requests", PAID),
    "api_rate_limit": (1_200, "requests/5 min", BOTH),
    "analytics_rate_limit": (300, "queries/5 min", BOTH),
    "analytics_rows": (10_000, "rows", BOTH),
    "analytics_window": (2_678_400, "s", BOTH),
}


@pytest.mark.parametrize(("id", "value", "unit", "plan"), [(id, *row) for id, row in PAGES.items()], ids=PAGES)
def test_a_limit_has_the_value_of_its_page(id, value, unit, plan):
    entry = limit(id)
    assert (entry.value, entry.unit, entry.plan) == (value, unit, plan)


def test_no_limit_is_missing_here():
    assert [entry.id for entry in LIMITS if entry.id not in PAGES] == []


def test_ids_are_unique_and_an_unknown_one_is_a_key_error():
    assert len({entry.id for entry in LIMITS}) == len(LIMITS)
    with pytest.raises(KeyError):
        limit("no_such_limit")


@pytest.mark.parametrize("entry", LIMITS, ids=lambda entry: entry.id)
def test_a_limit_names_its_page_and_the_day_it_was_read(entry):
    assert re.match(r"https://(developers\.cloudflare\.com/|github\.com/cloudflare/)", entry.page)
    assert dt.date(2026, 10, 1) <= dt.date.fromisoformat(entry.checked) <= dt.date(2027, 12, 31)
    assert entry.applies_to
    assert entry.unit


def test_the_table_and_the_constants_are_the_same_numbers():
    constants = {value for name, value in vars(limits).items() if name.isupper() and isinstance(value, int | str | tuple)}
    assert all(entry.value in constants for entry in LIMITS)


def test_ranges_of_keys_are_limits():
    ranges = {
        "max_batch_size": (1, 100, 10), "max_batch_timeout": (0, 60, 5), "max_retries": (0, 100, 3), "max_concurrency": (1, 250, None),
        "visibility_timeout_ms": (0, 43_200_000, 30_000), "retry_delay": (0, 86_400, 0), "delivery_delay": (0, 86_400, 0),
    }  # fmt: skip
    keys = CONSUMER_KEYS | PRODUCER_KEYS
    assert {name: (key.minimum, key.maximum, key.default) for name, key in keys.items() if key.minimum is not None} == ranges


@pytest.mark.parametrize(
    "name",
    ["a", "0", "orders", "a-b", "a--b", "a" * 63, "", "-a", "a-", "-", "A", "a_b", "a.b", "a b", "é", "a" * 64, "aé", "٣", "a\n", "\na", "\uff41"],
)
def test_the_pattern_and_the_function_agree_on_names(name):
    pattern = re.compile(limits.QUEUE_NAME_PATTERN.removesuffix("$") + r"\Z", re.ASCII)
    assert is_queue_name(name) == bool(pattern.match(name))


def test_the_command_prints_every_limit_with_page_and_day(tmp_path):
    done = run("limits", cwd=tmp_path)
    text = done.stdout.decode()
    assert done.returncode == 0
    for entry in LIMITS:
        [line] = [line for line in text.splitlines() if line.startswith(entry.id + " ")]
        assert entry.checked in line
        assert entry.page in text


def test_the_command_prints_the_limits_as_json(tmp_path):
    done = run("limits", "--format", "json", cwd=tmp_path)
    whole = json.loads(done.stdout)
    assert whole["version"] == 1
    assert {row["id"]: row["value"] for row in whole["limits"]} == {
        entry.id: list(entry.value) if isinstance(entry.value, tuple) else entry.value for entry in LIMITS
    }
    assert json.loads(Path(ROOT / "schemas" / "limits.json").read_text(encoding="utf-8")) == whole
