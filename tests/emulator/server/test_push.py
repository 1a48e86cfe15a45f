"""Push consumers outside: a URL, a Python handler. A slow, dead or lying endpoint is a failed delivery."""

from __future__ import annotations

import asyncio
import threading
import time

import httpx
import pytest

from emulator import Emulator
from emulator.engine.targets.real_time import RealTime
from emulator.engine.targets.thread import ThreadTarget
from emulator.engine.targets.url import URLTarget
from emulator.server import Transport
from emulator.server.time import RunningTime
from tests.emulator.endpoints import OK, Endpoint
from tests.emulator.server.servers import Server


def deliver(target, *bodies, retries=1, until="run-until-idle"):
    """Send messages to a queue whose consumer is outside, and let time pass; the emulator, for a look."""
    emu = Emulator()
    emu.create_queue("jobs")
    transport = Transport(emu, control=True, targets={"jobs": target})

    async def go():
        async with httpx.AsyncClient(transport=transport, base_url="http://emulator") as client:
            (queue,) = (await client.get("/accounts/a/queues")).json()["result"]
            body = {"type": "worker", "script_name": "w", "dead_letter_queue": "dlq", "settings": {"max_retries": retries}}
            path = f"/accounts/a/queues/{queue['queue_id']}"
            assert (await client.post(f"{path}/consumers", json=body)).status_code == 200
            rows = [{"body": body} for body in bodies]
            assert (await client.post(f"{path}/messages/batch", json={"messages": rows})).status_code == 200
            answer = await client.post(f"/emulator/time/{until}")
            assert answer.status_code == 200, answer.text

    asyncio.run(go())
    emu.timeline.deliveries.close()
    return emu


def states(emu):
    return [(fate.body, fate.queue, fate.state) for fate in emu.fates]


def test_a_batch_is_posted_and_its_result_is_the_runtime_s():
    def answer(batch):
        ids = {message["body"]: message["id"] for message in batch["messages"]}
        if batch["messages"][0]["attempts"] > 1:
            return OK
        return {**OK, "retryMessages": [{"msgId": ids["again"], "delaySeconds": 60}], "explicitAcks": [ids["done"]]}

    with Endpoint(answer) as endpoint:
        emu = deliver(URLTarget(RealTime(), endpoint.url), "done", "again")
    assert [[m["body"] for m in batch["messages"]] for batch in endpoint.batches] == [["done", "again"], ["again"]]
    first = endpoint.batches[0]
    assert first["queue"] == "jobs"
    assert first["metadata"]["metrics"]["backlogCount"] == 0
    assert first["messages"][0].keys() >= {"id", "timestamp", "attempts", "body", "contentType"}
    assert [(d.at.minute, d.at.second) for d in emu.deliveries] == [(0, 5), (1, 10)]
    assert states(emu) == [("done", "jobs", "acked"), ("again", "jobs", "acked")]


LIES = [
    b"", b"500", b"ok", b"[]", b"{}", b'{"outcome": 1}', b'{"outcome": "ok", "explicitAcks": ["f00"]}', b"\xff", b"x" * 2_000_000,
    b'{"outcome": "exception"}',
    b'{"outcome": "ok", "retryMessages": [{"msgId": "f00"}]}',
]  # fmt: skip


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: repr(lie[:40]))
def test_a_lying_endpoint_is_a_failed_delivery(lie):
    with Endpoint(lambda _batch: lie) as endpoint:
        emu = deliver(URLTarget(RealTime(), endpoint.url), 1)
    assert len(endpoint.batches) == 2
    assert states(emu) == [(1, "jobs", "dead-lettered"), (1, "dlq", "waiting")]


def test_a_dead_endpoint_is_a_failed_delivery():
    with Endpoint(lambda _batch: OK) as endpoint:
        url = endpoint.url
    emu = deliver(URLTarget(RealTime(), url), 1)
    assert states(emu) == [(1, "jobs", "dead-lettered"), (1, "dlq", "waiting")]
    assert "ConnectError" in emu.deliveries[0].error


def test_a_slow_endpoint_is_a_failed_delivery():
    over = threading.Event()
    with Endpoint(lambda _batch: over.wait(10) and OK) as endpoint:
        emu = deliver(URLTarget(RealTime(), endpoint.url, timeout_seconds=0.2), 1)
        over.set()
    assert [d.outcome for d in emu.deliveries] == ["exceededWallTime"] * 2
    assert states(emu)[0] == (1, "jobs", "dead-lettered")


def test_python_handlers_run_beside_the_server():
    async def handler(batch, _env, ctx):
        ctx.waitUntil(asyncio.sleep(0))
        for message in batch.messages:
            message.ack() if message.body else message.retry()

    emu = deliver(ThreadTarget(RealTime(), handler), 1, 0)
    assert states(emu) == [(1, "jobs", "acked"), (0, "jobs", "dead-lettered"), (0, "dlq", "waiting")]


class UntellableError(Exception):
    def __str__(self):
        return self.args[5]


def test_a_handler_that_raises_or_never_ends_fails():
    over = threading.Event()

    def raising(_batch):
        raise RuntimeError("no")

    emu = deliver(ThreadTarget(RealTime(), raising), 1)
    assert [d.error for d in emu.deliveries] == ["RuntimeError: no"] * 2

    def failing_twice(_batch):
        raise UntellableError

    emu = deliver(ThreadTarget(RealTime(), failing_twice), 1)
    assert [d.error for d in emu.deliveries] == ["UntellableError: <UntellableError: str() raised IndexError>"] * 2
    emu = deliver(ThreadTarget(RealTime(), lambda _batch: over.wait(10), timeout_seconds=0.1), 1)
    over.set()
    assert [d.outcome for d in emu.deliveries] == ["exceededWallTime"] * 2


HANDLER = """
from pathlib import Path
def queue(batch):
    with Path("seen.txt").open("a") as seen:
        for message in batch.messages:
            seen.write(f"{message.body}:{message.attempts}\\n")
"""


def test_serve_runs_both_kinds_and_finishes_them_when_it_is_asked_to_end(tmp_path):
    (tmp_path / "worker.py").write_text(HANDLER)

    def slowly(_batch):
        time.sleep(0.5)
        return OK

    with Endpoint(slowly) as endpoint:
        options = ["--push", f"posted={endpoint.url}", "--consumer", "handled=worker:queue", "--time", "60x"]
        with Server(*options, folder=tmp_path, db="queues.db") as server, server.client() as client:
            rows = {row["queue_name"]: row for row in client.get("/queues").json()["result"]}
            assert {name: len(row["consumers"]) for name, row in rows.items()} == {"posted": 1, "handled": 1}
            for row in rows.values():
                client.post(f"/queues/{row['queue_id']}/messages", json={"body": "x"})
            until = time.monotonic() + 20
            while time.monotonic() < until and not (endpoint.batches and (tmp_path / "seen.txt").exists()):
                time.sleep(0.02)
            assert server.stop() == 0
            server.start()
            for row in rows.values():
                assert client.get(f"/queues/{row['queue_id']}/metrics").json()["result"]["backlog_count"] == 0
    assert (tmp_path / "seen.txt").read_text() == "x:1\n"
    assert len(endpoint.batches) == 1


def test_an_endpoint_that_fails_is_an_error_of_the_report():
    with Endpoint(lambda _batch: OK) as endpoint:
        url = endpoint.url
    with Emulator() as emu:
        queue = emu.create_queue("jobs")
        emu.consume("jobs", url, max_batch_timeout=0, max_retries=0)
        queue.send(1)
        emu.run_until_idle()
        assert [type(error).__name__ for error in emu.errors] == ["ConnectError"]
        assert "ConnectError" in str(emu.report())


def test_who_gives_up_an_order_leaves_the_clock_to_others():
    over = threading.Event()
    with Endpoint(lambda _batch: over.wait(10) and OK) as endpoint, Emulator() as emu:
        queue = emu.create_queue("jobs")
        emu.consume("jobs", endpoint.url, max_batch_timeout=0)
        queue.send(1)
        time_ = RunningTime(emu.timeline, "virtual")

        async def give_up():
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(time_.run_until_idle(), 0.2)
            over.set()
            await time_.run_until_idle()

        asyncio.run(give_up())
        assert states(emu) == [(1, "jobs", "acked")]


def test_a_server_does_not_gather_errors_for_ever():
    def failing(_batch):
        raise RuntimeError("no")

    emu = Emulator(limits="relaxed")
    queue = emu.create_queue("jobs")
    Transport(emu)
    emu.consume("jobs", failing, max_batch_size=1, max_batch_timeout=0, max_retries=0)
    queue.send_batch([{"body": n} for n in range(300)])
    emu.run_until_idle()
    assert len(emu.errors) == 100
    assert sum(delivery.outcome == "exception" for delivery in emu.deliveries) == 300
