"""The first line of an audit: whether the deploy fails, or goes through and what it changes; and one finding a dead-letter queue."""

from __future__ import annotations

import json

import pytest

from .support import audit

SHOP = {
    "name": "shop",
    "queues": {
        "producers": [{"binding": "ORDERS", "queue": "orders"}],
        "consumers": [{"queue": "orders", "max_retries": 5, "dead_letter_queue": "orders-dlq"}],
    },
}
MINE = {"type": "worker", "script_name": "shop", "dead_letter_queue": "orders-dlq", "settings": {"max_retries": 5}}
DLQ = {"consumers": [{"type": "http_pull"}], "producers": []}


def queues(**changed):
    """An account that is as the file wants it, but for what changes."""
    given = {"orders": {"consumers": [MINE], "producers": ["shop"]}, "orders-dlq": DLQ}
    return {name.replace("_", "-"): value for name, value in {**given, **changed}.items() if value is not None}


def first_line(room, out, config, account, *options):
    (room / "wrangler.jsonc").write_text(json.dumps(config))
    (room / "facts.json").write_text(json.dumps({"version": 1, "taken_at": "2026-01-05T00:00:00Z", "queues": account}))
    code, said, _ = audit("--facts", "facts.json", *options, out=out)
    return code, said.splitlines()[0], said


@pytest.mark.parametrize(
    ("account", "line"),
    [
        (queues(), "the deploy would go through, and changes nothing of the account's queues"),
        (
            queues(orders={"consumers": [{**MINE, "settings": {"max_retries": 3}}]}),
            "the deploy would go through, and changes 'orders' (max_retries 3 → 5)",
        ),
        (
            queues(orders={"consumers": [{**MINE, "dead_letter_queue": None}]}),
            "the deploy would go through, and changes 'orders' (dead_letter_queue none → orders-dlq)",
        ),
        (
            queues(orders={"consumers": [{**MINE, "settings": {"max_retries": 5, "max_concurrency": 4}}]}),
            "the deploy would go through, and changes 'orders' (max_concurrency 4 → automatic)",
        ),
        (queues(orders={"consumers": []}), "the deploy would go through, and changes 'orders' (gets a consumer, 'shop')"),
        (
            {name: value for name, value in queues().items() if name != "orders-dlq"},
            "the deploy would go through, and changes dead-letter queue 'orders-dlq' (created)",
        ),
        (
            {name: value for name, value in queues().items() if name != "orders"},
            "the deploy would go through, and changes queue 'orders' (created)",
        ),
        (
            queues(orders={"consumers": [{"type": "worker", "script_name": "till"}]}),
            "the deploy fails: in the account the Worker 'till' consumes 'orders', and a queue has one consumer (wrangler.jsonc:1, CFQ907)",
        ),
    ],
)
def test_the_first_line_is_the_verdict(account, line, offline, capfd):
    assert first_line(offline, capfd, SHOP, account)[1] == line


@pytest.mark.parametrize(
    ("consumer", "fails"),
    [
        ({"queue": "orders", "max_retries": 1000, "dead_letter_queue": "orders-dlq"}, True),
        ({"queue": "orders", "max_retries": "5", "dead_letter_queue": "orders-dlq"}, True),
        ({"queue": "orders", "max_retries": 0}, False),
        ({"queue": "orders", "max_retries": 5, "dead_letter_queue": "orders"}, False),
        ({"queue": "orders", "max_retries": 5, "message_retention_period": 60, "dead_letter_queue": "orders-dlq"}, False),
    ],
)
def test_an_error_that_only_loses_messages_does_not_stop_a_deploy(consumer, fails, offline, capfd):
    config = {**SHOP, "queues": {**SHOP["queues"], "consumers": [consumer]}}
    code, line, _ = first_line(offline, capfd, config, queues())
    assert code == 1
    assert line.startswith("the deploy fails: " if fails else "the deploy would go through, ")


@pytest.mark.parametrize(
    ("queues_block", "fails"),
    [
        ({"producers": [{"binding": "ORDERS", "name": "orders"}]}, False),
        ({"consumers": [{"name": "orders", "dead_letter_queue": "orders-dlq"}]}, True),
    ],
)
def test_a_producer_whose_queue_is_misnamed_is_deployed_and_a_consumer_is_not(queues_block, fails, offline, capfd):
    code, line, said = first_line(offline, capfd, {"name": "shop", "queues": queues_block}, queues())
    assert code == 1
    assert "error CFQ107" in said
    assert line.startswith("the deploy fails: the queue's name stands under 'name'") is fails


def test_without_an_account_only_what_the_files_say_is_known(offline, capfd):
    (offline / "wrangler.jsonc").write_text(json.dumps(SHOP))
    said = audit(out=capfd)[1].splitlines()[0]
    assert said == "whether the deploy goes through is not known: no account was read; no error in the files stops it"
    (offline / "wrangler.jsonc").write_text('{"queues": []}')
    assert audit(out=capfd)[1].startswith("the deploy fails: ")
    (offline / "wrangler.jsonc").write_text(json.dumps(SHOP))
    said = audit("gone", ".", out=capfd)[1].splitlines()[0]
    assert said == "whether the deploy goes through is not known: not all files could be read"


def test_one_finding_says_all_of_a_dead_letter_queue_and_errors_come_first(offline, capfd):
    old = 1_767_225_600_000 - 86_400_000  # five days before the snapshot
    waiting = {"consumers": [], "producers": [], "backlog_count": 31, "oldest_message_timestamp_ms": old}
    config = json.loads(json.dumps(SHOP))
    config["queues"]["consumers"].append({"queue": "mail", "max_retries": 1000, "dead_letter_queue": "orders-dlq"})
    account = queues(orders_dlq=waiting, mail={"consumers": []})
    account |= {name: {"consumers": [], "producers": [], "backlog_count": 0} for name in ("a-old", "b-old", "c-old")}
    _, _, said = first_line(offline, capfd, config, account)
    assert "(31 waiting, the oldest 5 days old)" in " ".join(said.split())
    assert [code for code in ("CFQ904", "CFQ911", "CFQ913") if code in said] == ["CFQ904"]
    assert said.index("error CFQ203") < said.index("warning CFQ904")
    assert said.count("CFQ915") == 1
    assert "account: info CFQ915 queue-unused: 3 queues of the account have neither producer nor consumer: a-old, b-old, c-old" in said
    # whoever accepts the first hears of the second
    _, _, said = first_line(offline, capfd, config, account, "--ignore", "CFQ904")
    assert [code for code in ("CFQ904", "CFQ911", "CFQ913") if code in said] == ["CFQ911"]


def test_machines_read_the_verdict_too(offline, capfd):
    _, _, said = first_line(offline, capfd, SHOP, queues(orders={"consumers": []}), "--format", "json")
    assert json.loads(said)["deploy"] == {
        "verdict": "goes through",
        "said": "the deploy would go through, and changes 'orders' (gets a consumer, 'shop')",
        "stopped_by": [],
        "changes": ["'orders' (gets a consumer, 'shop')"],
    }
