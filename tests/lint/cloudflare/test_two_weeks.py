"""Two weeks of an account, planted: bursts, an outage, dead letters that nobody reads, one oversized producer. All of it is found.

The journal is a list of operations, one a message; the server answers queries by adding it up, and every figure of the audit is
held against the journal's own sums.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter, defaultdict
from math import ceil

import pytest

from .hostile import ACCOUNT, DATA_SETS, TOKEN, Server, envelope, measured, queue
from .support import audit

OPERATIONS, BACKLOG, CONCURRENCY, INVOCATIONS = DATA_SETS
HOURS, START = 14 * 24, dt.datetime(2025, 12, 18, tzinfo=dt.UTC)
OUTAGE, OVERSIZED_HOUR, DAY = range(100, 106), 200, 24
ORDERS, DEAD = queue("orders")["queue_id"], queue("orders-dlq")["queue_id"]
CONSUMER = {"type": "worker", "script_name": "shop", "dead_letter_queue": "orders-dlq", "settings": {"batch_size": 10, "max_retries": 3, "max_wait_time_ms": 5_000, "max_concurrency": 2}}


def journal():
    """Operations: queue, hour, action, outcome, bytes, lag in ms, retries."""
    for hour in range(HOURS):
        for number in range(200 if hour % DAY == 12 else 20):
            size = 119_900 if hour == OVERSIZED_HOUR and number == 7 else 1_000 + number
            yield ORDERS, hour, "WriteMessage", "", size, 0, 0
            fails = 4 if hour in OUTAGE else number % 10 == 0
            for attempt in range(min(4, fails + 1)):
                yield ORDERS, hour, "ReadMessage", "", size, 3_000 + (600_000 if hour in OUTAGE else 0), attempt
            if fails == 4:
                yield ORDERS, hour, "DeleteMessage", "dlq", size, 0, 3
                yield DEAD, hour, "WriteMessage", "", size, 0, 0
            else:
                yield ORDERS, hour, "DeleteMessage", "success", size, 0, int(fails)


JOURNAL = list(journal())
DEAD_LETTERS = Counter(hour for id, hour, *_ in JOURNAL if id == DEAD)


def waiting(hour):
    """The backlog of an hour: it grows in the outage, and of dead letters it only grows."""
    dead = sum(count for at, count in DEAD_LETTERS.items() if at <= hour)
    return {ORDERS: 100.0 * (hour - OUTAGE[0] + 1) if hour in OUTAGE else 5.0, DEAD: float(dead)}


def at(hour):
    return (START + dt.timedelta(hours=hour)).strftime("%Y-%m-%dT%H:%M:%SZ")


def rows(name, ids, start, end):
    """What Cloudflare would answer."""
    chosen = [hour for hour in range(HOURS) if start <= at(hour) < end]
    if name == BACKLOG:
        return [{"avg": {"messages": each[id], "bytes": each[id] * 1_000}, "dimensions": {"queueId": id, "datetimeHour": at(hour)}} for hour in chosen for each in [waiting(hour)] for id in ids]
    if name == CONCURRENCY:
        return [{"avg": {"concurrency": 2.0 if hour in OUTAGE else 0.5}, "dimensions": {"queueId": ORDERS, "datetimeHour": at(hour)}} for hour in chosen]
    if name == INVOCATIONS:
        return [{"sum": {"requests": 5_000, "errors": 120, "wallTime": 1.0e9, "cpuTimeUs": 1.0e8}, "max": {"wallTime": 2.5e7, "cpuTime": 1.0e6}, "dimensions": {"scriptName": "shop"}}]
    groups = defaultdict(list)
    for id, hour, action, outcome, *rest in JOURNAL:
        if id in ids and hour in range(chosen[0], chosen[-1] + 1):
            groups[id, hour, action, outcome].append(rest)
    return [
        {
            "count": len(each),
            "sum": {"bytes": sum(size for size, *_ in each), "billableOperations": sum(ceil(size / 64_000) for size, *_ in each)},
            "avg": {"lagTime": sum(lag for _, lag, _ in each) / len(each), "retryCount": sum(retries for *_, retries in each) / len(each)},
            "max": {"messageSize": max(size for size, *_ in each)},
            "dimensions": {"queueId": id, "actionType": action, "outcome": outcome, "datetimeHour": at(hour)},
        }
        for (id, hour, action, outcome), each in groups.items()
    ]


def script(handler, request):
    if request.method == "POST":
        asked = json.loads(request.body)
        (name,) = (each for each in DATA_SETS if each in asked["query"])
        given = asked["variables"]
        handler.json(measured(**{name: rows(name, given.get("queueIds"), given["start"], given["end"])}))
    elif request.lists_queues:
        handler.json(envelope([queue("orders", [CONSUMER]), queue("orders-dlq", [{"type": "http_pull"}])], {"total_count": 2, "total_pages": 1}))
    else:
        dead = DEAD in request.path
        handler.json(envelope({"backlog_count": 120 if dead else 5, "backlog_bytes": 9, "oldest_message_timestamp_ms": 0}))


@pytest.fixture(scope="module")
def account():
    with Server(script) as server:
        yield server


def counted(id, action, outcome=None):
    return [row for row in JOURNAL if row[0] == id and row[2] == action and outcome in {None, row[3]}]


def test_every_planted_fact_is_found_and_every_figure_is_the_journals(account, room, capfd):
    options = ["--base-url", account.url, "--account-id", ACCOUNT, "--token", TOKEN, "--window", "14d"]
    code, said, err = audit(*options, "--plan", "free", "--write-facts", "facts.json", "--format", "json", "--explain-numbers", out=capfd)
    assert code == 1
    found = {each["name"]: each["message"] for each in json.loads(said)["findings"]}
    planted = {"message-near-limit", "dead-letters-arriving", "lag-above-settings", "concurrency-at-limit", "dlq-grows-unread", "dlq-not-empty"}
    assert planted <= found.keys()
    assert "119,900 bytes, at 2025-12-26T08:00:00Z" in found["message-near-limit"]
    assert "120 dead-lettered in 14 days to 2026-01-01T00:00:00Z, the last in the hour from 2025-12-22T09:00:00Z" in found["dead-letters-arriving"]
    assert "6 hours of 14 days" in found["lag-above-settings"]
    assert "at its 2 concurrent invocations while the backlog grows (6 hours" in found["concurrency-at-limit"]
    assert "120 written and none delivered" in found["dlq-grows-unread"]
    # The bursts' day has 660 messages: far from the plan.
    assert not {"operations-over-plan", "retries-high", "backlog-outlives-retention"} & found.keys()
    for name, value, unit in (
        ("written", len(counted(ORDERS, "WriteMessage")), "messages"),
        ("delivered", len(counted(ORDERS, "ReadMessage")), "messages"),
        ("succeeded", len(counted(ORDERS, "DeleteMessage", "success")), "messages"),
        ("dead_lettered", len(counted(ORDERS, "DeleteMessage", "dlq")), "messages"),
        ("operations", sum(ceil(row[4] / 64_000) for row in JOURNAL if row[0] == ORDERS), "operations"),
        ("largest_message", max(row[4] for row in JOURNAL), "bytes"),
        ("highest_lag", 603_000, "ms"),
        ("largest_backlog", 600, "messages"),
    ):
        assert f"orders: {name} = {value:,} {unit}: " in err
    assert "orders: late_hours = 6 hours: avg{lagTime} above the settings' " in err
    assert "orders: full_hours = 6 hours: avg{concurrency} from 1.6 on, avg{messages} up by more than " in err
    explained = {each.replace(",", "") for each in re.findall(r"\d[\d,.]*\d|\d", err)}
    for name in planted - {"dlq-not-empty"}:  # every number that was measured stands there; what remains are settings and units
        numbers = re.findall(r"\d[\d,.]*\d|\d", re.sub(r"\d{4}-[\w:-]+|at most .*? with all retries|the 128,000|10 minutes", "", found[name]))
        assert {each.replace(",", "") for each in numbers} <= explained, found[name]
    left = counted(ORDERS, "DeleteMessage")
    held = json.loads((room / "facts.json").read_text())["measured"]["queues"]["orders"]["hours"]
    kept = [(hour["retries"], hour.get("succeeded", 0) + hour.get("dead_lettered", 0)) for hour in held]
    assert sum(retries * count for retries, count in kept) == pytest.approx(sum(row[6] for row in left))
    again = audit("--facts", "facts.json", "--plan", "free", "--format", "json", "--explain-numbers", out=capfd)
    assert again == (code, said, err)


def test_the_list_is_answered_but_for_what_only_people_know(account, room, capfd):
    (room / "wrangler.jsonc").write_text((room / "wrangler.jsonc").read_text().replace('"name": "shop"', '"name": "shop", "main": "index.js"').replace('"queue": "orders",', '"queue": "orders", "max_retries": 3,'))
    (room / "index.js").write_text(
        "export default { async fetch(r, env) { await env.ORDERS.send({ id: crypto.randomUUID() }); return new Response(); },"
        " async queue(batch, env) { for (const m of batch.messages) { await env.DB.prepare('INSERT OR IGNORE INTO t VALUES (?)').bind(m.body.id).run(); m.ack(); } } };"
    )
    options = ["--base-url", account.url, "--plan", "paid", "--checklist", "--format", "json"]
    items = json.loads(audit(*options, out=capfd)[1])["items"]
    unknown = {item["name"] for item in items for answer in item["answers"] if answer["queue"] == "orders" and answer["verdict"] == "unknown"}
    assert unknown == {"dead-letters", "observability"}  # who hears of it, and who watches
