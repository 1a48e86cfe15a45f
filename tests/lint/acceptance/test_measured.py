"""What the account measured answers items of the list, contradicts what is declared, and is what an estimate rests on."""

from __future__ import annotations

import json

import pytest

from cfq_lint.cli import app

CONFIG = '{ "name": "shop", "main": "index.js", "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }], "consumers": [{ "queue": "orders", "max_retries": 1, "dead_letter_queue": "orders-dlq" }] } }'
SOURCE = "export default { async fetch(_, env) { await env.ORDERS.send({ id: crypto.randomUUID() }); return new Response(); }, async queue(batch, env) { for (const m of batch.messages) { m.ack(); } } };\n"
HOURS = [
    {"hour": 3, "written": 100, "delivered": 100, "succeeded": 80, "operations": 280, "bytes_written": 200_000, "largest_bytes": 2_000, "lag_ms": 5_000.0},
    {"hour": 9, "written": 300, "delivered": 400, "succeeded": 320, "operations": 1_100, "bytes_written": 600_000, "largest_bytes": 118_000, "lag_ms": 9_000.0},
]  # fmt: skip


def snapshot(hours=HOURS, wall=31_000_000.0):
    worker = {"requests": 200, "errors": 1, "wall_us": 100_000_000.0, "wall_us_max": wall}
    consumer = {"type": "worker", "script_name": "shop", "dead_letter_queue": "orders-dlq"}
    return {
        "taken_at": "2026-01-05T00:10:00Z",
        "queues": {"orders": {"consumers": [consumer], "producers": ["shop"]}, "orders-dlq": {"consumers": [{"type": "http_pull"}], "producers": []}},
        "measured": {
            "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
            "queues": {"orders": {"id": "a" * 32, "hours": hours}, "orders-dlq": {"id": "b" * 32, "hours": [{"hour": 9, "written": 5, "operations": 5}]}},
            "workers": {"shop": worker},
        },
    }  # fmt: skip


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name in ("CLOUDFLARE_API_TOKEN", "CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "wrangler.jsonc").write_text(CONFIG)
    (tmp_path / "index.js").write_text(SOURCE)
    (tmp_path / "facts.json").write_text(json.dumps(snapshot()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audit(capfd, *options):
    code = app.run(["audit", "--facts", "facts.json", "--plan", "paid", *options])
    return code, *capfd.readouterr()


def items(capfd):
    said = json.loads(audit(capfd, "--checklist", "--format", "json")[1])
    return {item["name"]: next(each for each in item["answers"] if each["queue"] == "orders") for item in said["items"]}


def declare(project, text):
    (project / "cfq-lint.toml").write_text(f"[queues.orders]\n{text}\n")


def test_what_was_measured_answers_with_value_window_and_query(project, capfd):  # noqa: ARG001
    found = items(capfd)
    assert {name: found[name]["verdict"] for name in ("message-size", "send-batch", "processing-time", "throughput", "observability")} == {
        "message-size": "pass", "send-batch": "pass", "processing-time": "pass", "throughput": "pass", "observability": "unknown",
    }  # fmt: skip
    (evidence,) = found["message-size"]["evidence"]
    assert evidence["where"] == "queueMessageOperationsAdaptiveGroups, 1 day to 2026-01-05T00:00:00Z"
    assert evidence["text"] == "the highest max{messageSize} of WriteMessage, at 2026-01-04T09:00:00Z is 118,000 bytes"
    assert "31 <= 900 s" in found["processing-time"]["said"]
    assert "0.083 <= 5,000 messages a second in the busiest hour seen, even if all of it came in one second" in found["throughput"]["said"]
    assert any("avg{lagTime}" in each["text"] for each in found["observability"]["evidence"])


def test_what_is_declared_and_contradicted_is_told(project, capfd):
    declare(project, "message_size_bytes = 2_000\npeak_rate_per_second = 0.05\nprocessing_seconds = 3")
    found = items(capfd)
    assert "declared 2,000 bytes; the largest seen in 1 day to 2026-01-05T00:00:00Z is 118,000 bytes" in found["message-size"]["said"]
    assert "declared 0.05 messages/s; the busiest hour in 1 day to 2026-01-05T00:00:00Z is 0.083 messages/s" in found["throughput"]["said"]
    assert "declared 3 s; the longest invocation of its Worker in 1 day to 2026-01-05T00:00:00Z is 31 s" in found["processing-time"]["said"]
    assert {kind["kind"] for kind in found["message-size"]["evidence"]} == {"declared", "account"}


def test_what_is_declared_and_not_contradicted_stays(project, capfd):
    declare(project, "message_size_bytes = 120_000\npeak_rate_per_second = 40\nprocessing_seconds = 60")
    assert not any("; declared" in answer["said"] for answer in items(capfd).values())


def test_an_invocation_that_took_too_long_may_have_been_another(project, capfd):
    (project / "facts.json").write_text(json.dumps(snapshot(wall=901_000_000.0)))
    assert items(capfd)["processing-time"]["verdict"] == "unknown"


def test_an_estimate_from_the_account(project, capfd):
    declare(project, "message_size_bytes = 9\nrate_per_second = 9")
    said = json.loads(audit(capfd, "--estimate", "--from-account", "--format", "json")[1])
    (queue,) = said["queues"]
    assert queue["declared"]["rate_per_second"] == pytest.approx(400 / 86_400)
    assert queue["declared"]["message_size_bytes"] == 2_000
    assert queue["declared"]["failure_share"] == pytest.approx(0.2)
    assert queue["declared"]["processing_seconds"] == pytest.approx(0.5)
    (note,) = [each for each in queue["notes"] if each.startswith("measured")]
    # One retry, a fifth of the deliveries fail: 400 writes, 480 reads, 384 deletes, 16 dead letters of 3 operations.
    assert "400 messages written, 500 delivered, 0 dead-lettered, 1,385 operations, 5 of them in orders-dlq" in note
    assert "make 1,312 operations" in note
    assert json.loads(audit(capfd, "--estimate", "--from-account", "--rate", "2/s", "--format", "json")[1])["queues"][0]["declared"]["rate_per_second"] == 2


@pytest.mark.parametrize(("options", "words"), [(["--from-account"], "is for --estimate"), (["--analytics", "--no-analytics"], "exclude each other"), (["--window", "3d"], "the snapshot has a window of its own (1 day to 2026-01-05T00:00:00Z)")])
def test_options_that_do_not_go_together(options, words, project, capfd):  # noqa: ARG001
    code, said, err = audit(capfd, *options)
    assert (code, said) == (2, "")
    assert words in err


def test_without_measurements_numbers_cannot_be_explained_nor_taken(project, capfd):
    (project / "facts.json").write_text(json.dumps({**snapshot(), "measured": None}))
    for options in (["--explain-numbers"], ["--estimate", "--from-account"]):
        code, said, err = audit(capfd, *options)
        assert (code, said) == (2, "")
        assert "what the account measured" in err


def test_each_number_is_followed_to_its_query(project, capfd):  # noqa: ARG001
    _, _, err = audit(capfd, "--explain-numbers")
    assert "orders: largest_message = 118,000 bytes: the highest max{messageSize} of WriteMessage, at 2026-01-04T09:00:00Z [operations]" in err
    assert "orders: written = 400 messages: count of WriteMessage, all hours together [operations]" in err
    assert "shop: wall_us_max = 31,000,000 us: max{wallTime} [invocations]" in err
    assert f'"start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z", "queueIds": ["{"a" * 32}", "{"b" * 32}"]' in err
    assert err.count("query ") == 4
