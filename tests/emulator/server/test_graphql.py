"""Cloudflare's GraphQL of queues, from the journal: two weeks of traffic, every figure as it is counted from the events themselves."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from math import ceil

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfq_lint.cli import app as lint
from cfq_lint.model.measured import QUERIES, data_set
from cfq_lint.model.measured import document as asked_by_the_audit
from emulator import Emulator
from emulator.core.limits import RELAXED
from emulator.server import Transport
from tests.emulator.server.browsers import Site

URL = "http://emulator/client/v4/graphql"
ACCOUNT = "0123456789abcdef0123456789abcdef"
START, DAYS = datetime(2026, 1, 5, tzinfo=UTC), 14
HOUR = timedelta(hours=1)
LARGE = "x" * 119_000


def two_weeks():
    """Bursts at noon, an outage of six hours whose dead letters nobody reads, and one oversized message."""
    emu = Emulator(start=START, limits=RELAXED)
    emu.create_queue("orders", message_retention_period=1_209_600)
    emu.create_queue("orders-dlq", message_retention_period=1_209_600)

    def handle(batch):
        if START + timedelta(days=4) <= emu.now < START + timedelta(days=4, hours=6):
            raise RuntimeError("the upstream is down")
        for message in batch.messages:
            if message.body["n"] % 10 == 0 and message.attempts == 1:
                message.retry(delaySeconds=30)

    emu.consume("orders", handle, max_retries=2, retry_delay=60, dead_letter_queue="orders-dlq", max_batch_size=10, max_concurrency=2)
    for hour in range(DAYS * 24):
        many = 60 if hour % 24 == 12 else 4
        emu.queue("orders").send_batch([{"body": {"n": n, "filler": LARGE if hour == 200 and n == 3 else ""}} for n in range(many)])
        emu.advance_to(START + HOUR * (hour + 1))
    return emu


@pytest.fixture(scope="module")
def emu():
    with two_weeks() as made:
        yield made


@pytest.fixture(scope="module")
def client(emu):
    with httpx.Client(transport=Transport(emu, account_id=ACCOUNT)) as made:
        yield made


def ids(client):
    found = client.get(f"http://emulator/client/v4/accounts/{ACCOUNT}/queues").json()["result"]
    return {each["queue_name"]: each["queue_id"] for each in found}


def asked(client, query, **variables):
    return client.post(URL, json={"query": query, "variables": variables}).json()


def rows(client, name, start=START, end=START + timedelta(days=DAYS)):
    """What the audit's own query gives."""
    shown = {"start": start.strftime("%Y-%m-%dT%H:%M:%SZ"), "end": end.strftime("%Y-%m-%dT%H:%M:%SZ")}
    answer = asked(client, asked_by_the_audit(name), accountTag=ACCOUNT, **shown, queueIds=[*ids(client).values()], scripts=["shop"])
    assert answer["errors"] is None, answer
    (account,) = answer["data"]["viewer"]["accounts"]
    return account[data_set(name)]


def test_operations_are_what_the_deliveries_and_fates_say(client, emu):
    names = {id: name for name, id in ids(client).items()}
    counted = defaultdict(int)
    for each in emu.deliveries:
        counted[each.queue, "ReadMessage", ""] += len(each.messages)
    for fate in emu.fates:
        counted[fate.queue, "WriteMessage", ""] += 1
        if fate.state != "waiting":
            outcome = {"acked": "success", "dead-lettered": "dlq", "expired": "fail"}[fate.state]
            counted[fate.queue, "DeleteMessage", outcome] += 1
    found = defaultdict(int)
    for row in rows(client, "operations"):
        own = row["dimensions"]
        found[names[own["queueId"]], own["actionType"], own["outcome"]] += row["count"]
    assert found == counted
    assert found["orders-dlq", "WriteMessage", ""] > 0
    bodies = [len(json.dumps(fate.body, separators=(",", ":"))) for fate in emu.fates if fate.queue == "orders"]
    written = [row for row in rows(client, "operations") if row["dimensions"]["actionType"] == "WriteMessage" and names[row["dimensions"]["queueId"]] == "orders"]
    assert sum(row["sum"]["bytes"] for row in written) == sum(bodies)
    assert sum(row["sum"]["billableOperations"] for row in written) == sum(ceil(size / 64_000) for size in bodies)
    assert max(row["max"]["messageSize"] for row in written) == max(bodies) > 119_000


def test_lag_and_retries_are_averages_of_what_was_delivered(client, emu):
    orders = ids(client)["orders"]
    reads = [row for row in rows(client, "operations") if row["dimensions"]["queueId"] == orders and row["dimensions"]["actionType"] == "ReadMessage"]
    count = sum(row["count"] for row in reads)
    retries = [attempts - 1 for each in emu.deliveries if each.queue == "orders" for _, _, attempts in each.messages]
    assert sum(row["avg"]["retryCount"] * row["count"] for row in reads) == pytest.approx(sum(retries))
    assert count == len(retries)
    sent = {fate.id: None for fate in emu.fates}
    for line in emu.trace():
        if line.what == "sent":
            sent[line.id] = line.at
    lags = [(each.at - sent[id]).total_seconds() * 1_000 for each in emu.deliveries if each.queue == "orders" for id, _, _ in each.messages]
    assert sum(row["avg"]["lagTime"] * row["count"] for row in reads) == pytest.approx(sum(lags))


def test_backlog_and_concurrency_are_weighed_by_time(client, emu):
    dead = ids(client)["orders-dlq"]
    backlog = {row["dimensions"]["datetimeHour"]: row["avg"]["messages"] for row in rows(client, "backlog") if row["dimensions"]["queueId"] == dead}
    # All came in the outage, and none of them has expired half a day later.
    later = (START + timedelta(days=4, hours=12)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert backlog[later] == pytest.approx(sum(fate.queue == "orders-dlq" for fate in emu.fates))
    assert (START + timedelta(days=3)).strftime("%Y-%m-%dT%H:%M:%SZ") not in backlog
    busy = rows(client, "concurrency")
    assert all(0 <= row["avg"]["concurrency"] <= 2 for row in busy)


def test_a_day_is_the_sum_of_its_hours_and_filters_part_the_whole(client):
    query = """query($id: string!, $account: string!) { viewer { accounts(filter: {accountTag: $account}) {
      all: queueMessageOperationsAdaptiveGroups(limit: 10000, filter: {queueId: $id}) { count sum { bytes } }
      days: queueMessageOperationsAdaptiveGroups(limit: 10000, filter: {queueId: $id}, orderBy: [date_DESC]) { count dimensions { date } }
      hours: queueMessageOperationsAdaptiveGroups(limit: 10000, filter: {queueId: $id, datetimeHour_geq: "2026-01-07"}) { count dimensions { datetimeHour } }
      before: queueMessageOperationsAdaptiveGroups(limit: 10000, filter: {queueId: $id, datetimeHour_lt: "2026-01-07"}) { count }
      two: queueMessageOperationsAdaptiveGroups(limit: 2, filter: {queueId: $id}, orderBy: [count_DESC]) { count dimensions { datetimeHour actionType } }
    } } }"""
    (found,) = asked(client, query, id=ids(client)["orders"], account=ACCOUNT)["data"]["viewer"]["accounts"]
    ((whole, days, hours, before),) = [(found["all"][0]["count"], found["days"], found["hours"], found["before"][0]["count"])]
    assert sum(each["count"] for each in days) == whole == sum(each["count"] for each in hours) + before
    assert [each["dimensions"]["date"] for each in days] == sorted((each["dimensions"]["date"] for each in days), reverse=True)
    assert len(found["two"]) == 2
    assert found["two"][0]["count"] >= found["two"][1]["count"]


@settings(max_examples=25, deadline=None)
@given(cut=st.integers(0, DAYS * 24), name=st.sampled_from(["operations", "backlog"]))
def test_two_windows_are_one(client, cut, name):
    middle = START + HOUR * cut

    def total(found):
        return sum(row.get("count", 0) or row["avg"]["messages"] for row in found)

    parts = total(rows(client, name, end=middle)) + total(rows(client, name, start=middle))
    assert parts == pytest.approx(total(rows(client, name)))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("{ viewer {", "Syntax Error"),
        ("{ zones { id } }", "unknown field zones of query"),
        ('{ viewer { accounts(filter: {accountTag: "other"}) { queueBacklogAdaptiveGroups(limit: 1) { avg { messages } } } } }', "not authorized for that account"),
        ("{ viewer { accounts(filter: {accountTag: $t}) { httpRequestsAdaptiveGroups(limit: 1) { count } } } }", "unknown field httpRequestsAdaptiveGroups of account"),
        ("{ viewer { accounts(filter: {accountTag: $t}) { queueBacklogAdaptiveGroups(limit: 0) { avg { messages } } } } }", "limit must be positive number"),
        ("{ viewer { accounts(filter: {accountTag: $t}) { queueBacklogAdaptiveGroups(limit: 1) { avg { colour } } } } }", "unknown field avg.colour"),
        ("{ viewer { accounts(filter: {accountTag: $t}) { queueBacklogAdaptiveGroups(limit: 1, filter: {colour: 1}) { avg { messages } } } } }", "unknown filter colour"),
        ('{ viewer { accounts(filter: {accountTag: $t}) { queueBacklogAdaptiveGroups(limit: 1, filter: {datetime_geq: "soon"}) { avg { messages } } } } }', "datetime_geq is no time"),
        ("mutation { viewer { accounts { id } } }", "one query is expected"),
    ],
)  # fmt: skip
def test_what_is_no_query_is_told_with_status_200(client, query, said):
    answer = client.post(URL, json={"query": query, "variables": {"t": ACCOUNT}})
    assert answer.status_code == 200
    assert answer.json()["data"] is None
    assert said in answer.json()["errors"][0]["message"]


def test_the_audit_reads_a_local_account(emu, tmp_path, monkeypatch, capfd):
    config = {
        "name": "shop",
        "queues": {
            "producers": [{"binding": "ORDERS", "queue": "orders"}],
            "consumers": [{"queue": "orders", "max_retries": 2, "retry_delay": 60, "max_batch_size": 10, "max_concurrency": 2, "dead_letter_queue": "orders-dlq"}],
        },
    }
    (tmp_path / "wrangler.json").write_text(json.dumps(config))
    monkeypatch.chdir(tmp_path)
    with Site(two_weeks(), account_id=ACCOUNT, control=True) as site:
        options = ["--base-url", f"{site.url}/client/v4", "--account-id", ACCOUNT, "--token", "local", "--window", "14d", "--plan", "paid"]
        code = lint.run(["audit", *options, "--format", "json", "--explain-numbers", "--write-facts", "facts.json"])
    said, told = capfd.readouterr()
    assert code in {0, 1}, told
    names = {each["name"] for each in json.loads(said)["findings"]}
    assert {"message-near-limit", "dead-letters-arriving", "dlq-grows-unread"} <= names, (names, told)
    assert "14 days to 2026-01-19T00:00:00Z" in told
    assert f"orders: written = {sum(fate.queue == 'orders' for fate in emu.fates):,} messages" in told
    held = json.loads((tmp_path / "facts.json").read_text())["measured"]
    assert set(held["queues"]) == {"orders", "orders-dlq"}
    assert QUERIES == ("operations", "backlog", "concurrency", "invocations")
