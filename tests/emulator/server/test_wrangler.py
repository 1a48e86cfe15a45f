"""The real wrangler goes through every `queues` command, with nothing changed but the base URL."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.emulator.server.servers import Forked
from tests.emulator.server.wrangler_cli import Wrangler

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("npm") is None, reason="npm installs wrangler")]


def queues(w):
    """Queues: create, list, info, update."""
    w.ok("create", "q1")
    assert "already taken" in w.refused("create", "q1")
    w.ok("create", "q2", "--delivery-delay-secs", "60", "--message-retention-period-secs", "3600")
    assert "Must be between 0 and 86400" in w.refused("create", "q3", "--delivery-delay-secs", "86401")
    w.ok("create", "q3", "--delivery-delay-secs", "43201")
    assert "Must be between 60" in w.refused("create", "q3b", "--message-retention-period-secs", "59")
    assert "Invalid queue name" in w.refused("create", "Bad Name!")
    listed = w.ok("list")
    assert all(name in listed for name in ("q1", "q2", "q3"))
    assert "q1" not in w.ok("list", "--page", "2")
    assert "q1" in w.ok("info", "q1")
    assert "does not exist" in w.refused("info", "nope")
    w.ok("update", "q1", "--delivery-delay-secs", "5")


def consumers(w):
    """Consumers: a Worker's and an http_pull one, each way of naming the command."""
    w.ok("consumer", "add", "q1", "my-worker")
    settings = ["--batch-timeout", "5", "--message-retries", "3", "--dead-letter-queue", "dlq"]
    settings += ["--max-concurrency", "4", "--retry-delay-secs", "7"]
    assert "consumer_exists" in w.refused("consumer", "add", "q1", "my-worker", "--batch-size", "10", *settings)
    assert "max_batch_size 101" in w.refused("consumer", "add", "q2", "my-worker", "--batch-size", "101", *settings)
    w.ok("consumer", "add", "q2", "my-worker", "--batch-size", "10", *settings)
    assert "my-worker" in w.ok("consumer", "list", "q1")
    assert "my-worker" in w.ok("consumer", "worker", "list", "q1")
    assert "my-worker" in w.ok("info", "q1")
    assert "No worker consumer 'other-worker' exists" in w.refused("consumer", "remove", "q1", "other-worker")
    w.ok("consumer", "remove", "q1", "my-worker")
    w.ok("consumer", "http", "add", "q1")
    w.ok("consumer", "http", "list", "q1")
    assert "messages/pull" in w.ok("info", "q1")
    w.ok("consumer", "http", "remove", "q1")
    settings = ["--batch-size", "10", "--message-retries", "3", "--dead-letter-queue", "dlq"]
    w.ok("consumer", "http", "add", "q1", *settings, "--visibility-timeout-secs", "30", "--retry-delay-secs", "7")
    w.ok("consumer", "http", "remove", "q1")
    assert "No http_pull consumer exists" in w.refused("consumer", "http", "remove", "q1")
    w.ok("consumer", "worker", "add", "q1", "my-worker")
    w.ok("consumer", "worker", "remove", "q1", "my-worker")


def subscriptions(w):
    """Subscriptions to events."""
    made = w.ok("subscription", "create", "q1", "--source", "kv", "--events", "namespace.created", "--name", "spaces")
    listed = w.ok("subscription", "list", "q1", "--json")
    (id,) = set(re.findall(r"[0-9a-f]{32}", made)) & set(re.findall(r'"id": "([0-9a-f]{32})"', listed))
    assert "spaces" in w.ok("subscription", "get", "q1", "--id", id)
    w.ok("subscription", "update", "q1", "--id", id, "--enabled", "false")
    w.ok("subscription", "delete", "q1", "--id", id, "--force")
    assert id not in w.ok("subscription", "list", "q1")


def the_end(w):
    """Pause, resume, purge, delete."""
    w.ok("pause-delivery", "q1")
    w.ok("resume-delivery", "q1")
    assert "--force flag is required" in w.refused("purge", "q1")
    w.ok("purge", "q1", "--force")
    w.ok("delete", "q1")
    assert "does not exist" in w.refused("delete", "q1")


PARTS = (queues, consumers, subscriptions, the_end)


def test_wrangler_finds_everything_though_the_server_is_killed_between_every_two_commands(tmp_path):
    with Forked("--token", "t", folder=tmp_path, db="queues.db") as server, Wrangler(server, tmp_path, server.restart) as wrangler:
        for part in PARTS:
            part(wrangler)
        assert wrangler.calls > 40
        with server.client(headers={"Authorization": "Bearer t"}) as client:
            rows = {row["queue_name"]: row for row in client.get("/queues").json()["result"]}
        assert rows.keys() == {"q2", "q3", "dlq"}
        assert rows["q2"]["consumers"][0]["settings"] == {
            "batch_size": 10, "max_retries": 3, "retry_delay": 7, "max_wait_time_ms": 5000, "max_concurrency": 4,
        }
