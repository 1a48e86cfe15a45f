"""Accounts made by the real wrangler and the real SDK, held by our own server: what is in them is what the audit knows."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from cfq_lint.account.account import IDLE_MAX
from tests.emulator.server.servers import Server
from tests.emulator.server.wrangler_cli import Wrangler

from .hostile import assert_silent

TOKEN = "read-only-token-0123456789"
CONFIG = {
    "name": "shop",
    "compatibility_date": "2026-01-01",
    "queues": {
        "producers": [{"binding": "ORDERS", "queue": "orders"}, {"binding": "MAILS", "queue": "mails"}],
        "consumers": [{"queue": "orders", "max_batch_size": 10, "dead_letter_queue": "orders-dlq"}],
    },
}


def audit(server, folder, *options, token=TOKEN):
    """Run as a process of its own; the exit code, the report, and what was said beside it."""
    environment = {"PATH": "", "CLOUDFLARE_API_BASE_URL": server.base, "CLOUDFLARE_API_TOKEN": token, "CLOUDFLARE_ACCOUNT_ID": "acc"}
    command = [sys.executable, "-m", "cfq_lint", "audit", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert "Traceback" not in done.stderr
    assert_silent(done.stdout, done.stderr, token=token)
    return done.returncode, done.stdout, done.stderr


def methods(server):
    """The methods of all requests since the last call. A line is logged behind its answer: only a server that has ended has all."""
    assert server.stop() == 0
    logged = server.log.read_text()
    server.log.write_text("")
    server.start()
    return [line.partition("method=")[2].split(" ")[0] for line in logged.splitlines() if "method=" in line]


@pytest.fixture
def server(tmp_path):
    """A server whose other token may only look."""
    with Server("--token", "t:write", "--token", f"{TOKEN}:read", folder=tmp_path, db=str(tmp_path / "account.db")) as server:
        yield server


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "wrangler.json").write_text(json.dumps(CONFIG, indent=2))
    return folder


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm installs wrangler")
def test_an_account_made_by_wrangler(server, project, tmp_path):
    with Wrangler(server, tmp_path) as wrangler:
        wrangler.ok("create", "orders", "--delivery-delay-secs", "60", "--message-retention-period-secs", "7200")
        wrangler.ok("create", "mails")
        settings = ["--batch-size", "20", "--batch-timeout", "5", "--message-retries", "7", "--dead-letter-queue", "orders-dlq", "--max-concurrency", "4", "--retry-delay-secs", "9"]
        wrangler.ok("consumer", "add", "orders", "shop", *settings)
        wrangler.ok("consumer", "http", "add", "mails", "--visibility-timeout-secs", "30")
        wrangler.ok("pause-delivery", "mails")
    assert "POST" in methods(server)
    code, report, err = audit(server, project, "--no-analytics", "--write-facts", "facts.json", "--format", "json")
    assert (code in {0, 1}, err) == (True, "")
    assert set(methods(server)) == {"GET"}
    queues = json.loads((project / "facts.json").read_text())["queues"]
    assert queues.keys() == {"orders", "mails", "orders-dlq"}
    assert (queues["orders"]["delivery_delay"], queues["orders"]["message_retention_period"]) == (60, 7_200)
    assert queues["orders"]["consumers"] == [{
        "type": "worker", "script_name": "shop", "dead_letter_queue": "orders-dlq",
        "settings": {"batch_size": 20, "max_retries": 7, "max_wait_time_ms": 5_000, "max_concurrency": 4, "retry_delay": 9},
    }]  # fmt: skip
    assert queues["mails"]["delivery_paused"] is True
    assert queues["mails"]["consumers"][0]["type"] == "http_pull"
    assert queues["mails"]["consumers"][0]["settings"]["visibility_timeout_ms"] == 30_000
    said = {finding["name"] for finding in json.loads(report)["findings"]}
    assert "dlq-no-consumer" in said or any(finding["code"].startswith("CFQ9") for finding in json.loads(report)["findings"])
    server.stop()
    assert audit(server, project, "--facts", "facts.json", "--format", "json") == (code, report, "")


def test_an_account_of_many_queues_made_by_the_sdk(server, project):
    cloudflare = pytest.importorskip("cloudflare")
    with cloudflare.Cloudflare(api_token="t", base_url=server.base, max_retries=0, timeout=30) as client:
        ids = {name: client.queues.create(account_id="acc", queue_name=name).queue_id for name in ("orders", "orders-dlq", *(f"q{n}" for n in range(120)))}
        client.queues.consumers.create(ids["orders"], account_id="acc", type="worker", script_name="shop", dead_letter_queue="orders-dlq", settings={"batch_size": 10})
        client.queues.messages.push(ids["orders-dlq"], account_id="acc", body={"id": 7}, content_type="json")
    assert "POST" in methods(server)
    code, report, err = audit(server, project, "--no-analytics", "--write-facts", "facts.json", "--format", "json")
    assert (code in {0, 1}, err) == (True, "")
    assert methods(server) == ["GET"] * (2 + 2 + IDLE_MAX)
    queues = json.loads((project / "facts.json").read_text())["queues"]
    assert len(queues) == 122
    assert queues["orders"]["consumers"][0]["script_name"] == "shop"
    assert (queues["orders-dlq"]["backlog_count"], queues["orders"]["backlog_count"]) == (1, 0)
    assert queues["orders-dlq"]["oldest_message_timestamp_ms"] > 0
    assert queues["q0"]["backlog_count"] == 0, "nobody uses it: is there anything in it?"
    assert "backlog_count" not in queues["q99"], "the last of more such queues than are asked about"
    assert audit(server, project, "--facts", "facts.json", "--format", "json") == (code, report, "")
    code, report, err = audit(server, project, token="nobody-knows-this-one")
    assert (code, report) == (2, "")
    assert "HTTP 401" in err
    assert "Queues Read" in err
