"""The official `cloudflare` SDK goes through every queues method, with nothing changed but the base URL."""

from __future__ import annotations

import inspect

import pytest

from tests.emulator.server.servers import Forked, Server

cloudflare = pytest.importorskip("cloudflare")


class Walk:
    """One walk through every method. Between any two calls something may happen to the server."""

    def __init__(self, server, between=lambda: None):
        self.server, self.between = server, between
        self.calls = 0
        self.called = set()

    def call(self, method, *args, **options):
        """Call a method of a fresh client."""
        self.between()
        self.calls += 1
        self.called.add(method)
        client = cloudflare.Cloudflare(api_token="t", base_url=self.server.base, max_retries=0, timeout=30)
        with client:
            target = client
            for name in method.split("."):
                target = getattr(target, name)
            result = target(*args, account_id="acc", **options)
            return list(result) if method.endswith(".list") else result

    def refused(self, kind, code, method, *args, **options):
        with pytest.raises(kind) as caught:
            self.call(method, *args, **options)
        assert caught.value.body["errors"][0]["code"] == code

    def run(self):
        q = self.queues()
        self.consumers(q)
        self.messages(q)
        self.subscriptions(q)
        self.the_end(q)

    def queues(self):
        created = self.call("queues.create", queue_name="s1")
        assert created.queue_name == "s1"
        assert created.settings.message_retention_period == 345_600
        self.refused(cloudflare.ConflictError, 11009, "queues.create", queue_name="s1")
        self.refused(cloudflare.BadRequestError, 11003, "queues.create", queue_name="Bad Name!")
        q = created.queue_id
        assert [each.queue_name for each in self.call("queues.list")] == ["s1"]
        assert self.call("queues.get", q).queue_id == q
        self.refused(cloudflare.NotFoundError, 11000, "queues.get", "0" * 32)
        settings = {"delivery_delay": 5, "delivery_paused": True, "message_retention_period": 3600}
        edited = self.call("queues.edit", q, settings=settings)
        assert edited.settings.to_dict() == settings
        assert self.call("queues.edit", q, settings={"delivery_delay": 6}).settings.delivery_paused is True
        updated = self.call("queues.update", q, queue_name="s1b")
        assert updated.queue_name == "s1b"
        assert updated.settings.delivery_delay == 0
        assert updated.settings.message_retention_period == 345_600
        assert self.call("queues.get", q).queue_name == "s1b"
        return q

    def consumers(self, q):
        settings = {"batch_size": 5, "max_retries": 3, "retry_delay": 2, "visibility_timeout_ms": 5000}
        made = self.call("queues.consumers.create", q, type="http_pull", dead_letter_queue="dlq", settings=settings)
        assert made.type == "http_pull"
        assert made.dead_letter_queue == "dlq"
        assert made.settings.visibility_timeout_ms == 5000
        assert {each.queue_name for each in self.call("queues.list")} == {"s1b", "dlq"}
        self.refused(cloudflare.ConflictError, 11004, "queues.consumers.create", q, type="http_pull")
        got = self.call("queues.consumers.get", made.consumer_id, queue_id=q)
        assert got.to_dict() == made.to_dict()
        assert [each.consumer_id for each in self.call("queues.consumers.list", q)] == [made.consumer_id]
        changed = self.call(
            "queues.consumers.update", made.consumer_id, queue_id=q, type="http_pull", settings={"batch_size": 6}
        )
        assert changed.settings.batch_size == 6
        assert changed.consumer_id == made.consumer_id
        self.consumer = made.consumer_id

    def messages(self, q):
        pushed = self.call("queues.messages.push", q, body="hello", content_type="text", delay_seconds=0)
        assert pushed.metadata.metrics.backlog_count == 1
        self.call("queues.messages.push", q, body={"a": 1}, content_type="json")
        rows = [{"body": "x", "content_type": "text"}, {"body": {"b": 2}, "content_type": "json", "delay_seconds": 3600}]
        bulk = self.call("queues.messages.bulk_push", q, messages=rows)
        assert bulk.metadata.metrics.backlog_count == 4
        assert self.call("queues.get_metrics", q).backlog_count == 4
        peeked = self.call("queues.messages.peek", q, batch_size=2)
        assert peeked.messages[0].body == "hello"
        purged = self.call("queues.messages.purge", q, refs=[{"ref": "nope"}])
        assert set(purged.warnings) == {"nope"}
        pulled = self.call("queues.messages.pull", q, batch_size=10, visibility_timeout_ms=600_000)
        assert [m.body for m in pulled.messages] == ["hello", "eyJhIjoxfQ==", "x"]
        leases = [m.lease_id for m in pulled.messages]
        done = self.call(
            "queues.messages.ack", q, acks=[{"lease_id": leases[0]}, {"lease_id": leases[1]}],
            retries=[{"lease_id": leases[2], "delay_seconds": 0}],
        )
        assert (done.ack_count, done.retry_count) == (2, 1)
        again = self.call("queues.messages.pull", q)
        assert [(m.body, m.attempts) for m in again.messages] == [("x", 2)]
        for method in ("extend",):
            if hasattr(cloudflare.resources.queues.messages.MessagesResource, method):
                raise AssertionError("the SDK has learnt to extend leases: test it")

    def subscriptions(self, q):
        made = self.call(
            "queues.subscriptions.create", name="builds", enabled=True, events=["bucket.created"], source={"type": "r2"},
            destination={"type": "queues.queue", "queue_id": q},
        )
        assert made.destination.queue_id == q
        assert [each.id for each in self.call("queues.subscriptions.list")] == [made.id]
        assert self.call("queues.subscriptions.get", made.id).name == "builds"
        assert self.call("queues.subscriptions.update", made.id, enabled=False).enabled is False
        assert self.call("queues.subscriptions.delete", made.id).id == made.id
        assert self.call("queues.subscriptions.list") == []

    def the_end(self, q):
        self.call("queues.purge.start", q, delete_messages_permanently=True)
        assert self.call("queues.purge.status", q).completed == "true"
        assert self.call("queues.get_metrics", q).backlog_count == 0
        self.call("queues.consumers.delete", self.consumer, queue_id=q)
        settings = {"batch_size": 10, "max_wait_time_ms": 5000, "max_concurrency": 4, "max_retries": 3, "retry_delay": 0}
        worker = self.call(
            "queues.consumers.create", q, type="worker", script_name="w", dead_letter_queue="dlq", settings=settings
        )
        assert worker.script_name == "w"
        assert worker.settings.to_dict() == settings
        self.call("queues.delete", q)
        assert [each.queue_name for each in self.call("queues.list")] == ["dlq"]


def test_the_sdk_finds_everything(tmp_path):
    with Server(folder=tmp_path) as server:
        walk = Walk(server)
        walk.run()
    assert walk.called == set(methods(cloudflare.Cloudflare(api_token="t").queues, "queues"))


def methods(resource, name):
    """Every method of a resource and of what hangs from it."""
    for each in dir(type(resource)):
        if not each.startswith(("_", "with_")):
            found = inspect.getattr_static(type(resource), each)
            if inspect.isfunction(found):
                yield f"{name}.{each}"
            else:
                yield from methods(getattr(resource, each), f"{name}.{each}")


@pytest.mark.slow
def test_the_sdk_finds_everything_though_the_server_is_killed_between_every_two_calls(tmp_path):
    with Forked("--token", "t", folder=tmp_path, db="queues.db") as server:
        walk = Walk(server, server.restart)
        walk.run()
        assert walk.calls > 30
