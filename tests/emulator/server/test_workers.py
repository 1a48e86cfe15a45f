"""Workers that a server runs: their queues, time, requests, console, what they fetch, and a reset that begins anew."""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode

import httpx
import pytest

from emulator import Emulator
from emulator.core.refusals import Refused
from emulator.server import Transport
from emulator.server.workers import Workers
from emulator.workers.outgoing import Outgoing, forwarding
from tests.emulator.server.servers import Server

CONFIG = """{
  "name": "shop", "main": "entry.py", "compatibility_date": "2026-06-01", "compatibility_flags": ["python_workers"],
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "orders" }],
    "consumers": [{ "queue": "orders", "max_batch_timeout": 0, "max_retries": 2, "retry_delay": 60, "dead_letter_queue": "dead" }]
  },
  "kv_namespaces": [{ "binding": "SEEN", "id": "seen" }]
}"""
ENTRY = """
import asyncio
from js import console
from workers import Response, WorkerEntrypoint, fetch

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if request.url.endswith("/fail"):
            raise ValueError("no")
        body = await request.text()
        await asyncio.sleep(5)
        await self.env.ORDERS.send({"body": body})
        return Response(body.upper(), status=201, headers={"x-method": request.method})

    async def queue(self, batch, env, ctx):
        for message in batch.messages:
            seen = await self.env.SEEN.get(message.id)
            console.log(f"attempt {message.attempts}, seen {seen}")
            await self.env.SEEN.put(message.id, "yes")
            answer = await fetch("https://pay.example/charge?n=1", method="POST", body=message.body["body"])
            if answer.status != 200:
                message.retry(delaySeconds=60 * message.attempts)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "wrangler.jsonc").write_text(CONFIG)
    (tmp_path / "entry.py").write_text(ENTRY)
    return tmp_path


class Client:
    """The control API of a server in process."""

    def __init__(self, folder, answer):
        file = folder / "wrangler.jsonc"
        emulator = Emulator.from_wrangler(file)
        transport = Transport(emulator, control=True, workers=Workers(emulator, [str(file)], None, answer))
        self.service = transport.service
        self.http = httpx.AsyncClient(transport=transport, base_url="http://emulator/emulator")

    async def get(self, path):
        return self.told(await self.http.get(path))

    async def post(self, path, **body):
        return self.told(await self.http.post(path, json=body))

    def told(self, answer):
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]


def test_a_worker_runs_on_the_server_s_time_and_a_reset_begins_anew(folder):
    async def scenario():
        client = Client(folder, lambda sent: (500 if sent.url.endswith("n=1") else 200, ""))
        order = {"url": "https://shop.example/orders", "method": "POST", "headers": [["x-a", "b"]], "body_base64": b64encode(b"tea").decode()}
        answer = await client.post("/workers/fetch", **order)
        assert (answer["status"], b64decode(answer["body_base64"]), dict(answer["headers"])["x-method"]) == (201, b"TEA", "POST")
        assert (await client.get("/time"))["now"] == "2026-01-01T00:00:05.000000Z"
        await client.post("/time/run-until-idle")
        fates = (await client.get("/fates"))["fates"]
        assert [(each["queue"], each["state"], each["attempts"], each["at"]) for each in fates] == [
            ("orders", "dead-lettered", 3, "2026-01-01T00:03:05+00:00"), ("dead", "waiting", 0, "2026-01-01T00:03:05+00:00"),
        ]  # fmt: skip
        assert [b64decode(each["body"]) for each in fates] == [b'{"body":"tea"}'] * 2
        assert [each["queue"] for each in (await client.get("/fates?queue=dead"))["fates"]] == ["dead"]
        deliveries = (await client.get("/deliveries"))["deliveries"]
        assert [(each["at"][14:19], each["messages"][0]["attempts"], each["outcome"]) for each in deliveries] == [
            ("00:05", 1, "ok"), ("01:05", 2, "ok"), ("03:05", 3, "ok"),
        ]  # fmt: skip
        trace = await client.get(f"/trace?message={fates[0]['id'][:8]}")
        assert trace["lines"][-1]["what"] == "arrived from orders"
        assert fates[0]["id"][:8] in trace["text"]
        (worker,) = (await client.get("/workers"))["workers"]
        assert (worker["name"], worker["consumes"]) == ("shop", ["orders"])
        assert [line["text"] for line in worker["console"]] == ["attempt 1, seen None", "attempt 2, seen yes", "attempt 3, seen yes"]
        assert [(each["method"], each["body"], each["at"][14:19]) for each in worker["fetches"]] == [
            ("POST", "tea", "00:05"), ("POST", "tea", "01:05"), ("POST", "tea", "03:05"),
        ]  # fmt: skip
        await client.post("/reset")
        for path, name in (("/fates", "fates"), ("/deliveries", "deliveries"), ("/trace", "lines")):
            assert (await client.get(path))[name] == []
        await client.post("/workers/fetch", **order)
        await client.post("/time/run-until-idle")
        (worker,) = (await client.get("/workers"))["workers"]
        assert worker["console"][0]["text"] == "attempt 1, seen None", "stores are empty again"
        assert [each["state"] for each in (await client.get("/fates"))["fates"]] == ["dead-lettered", "waiting"]
        client.service.close()

    asyncio.run(scenario())


def test_what_cannot_be_answered_is_said(folder):
    async def scenario():
        client = Client(folder, None)
        for given, code, message in (
            ({"url": "/fail"}, 1101, "ValueError: no"), ({"url": "/", "worker": "other"}, 7003, "there is no Worker 'other' (there are: shop)"),
            ({"url": "/", "body_base64": "?"}, 10207, "body_base64 is no base64"),
        ):  # fmt: skip
            answer = await client.http.post("/workers/fetch", json=given)
            assert (answer.json()["errors"][0]["code"], answer.json()["errors"][0]["message"]) == (code, message)
        client.service.close()
        without = httpx.AsyncClient(transport=Transport(Emulator(), control=True), base_url="http://emulator/emulator")
        answer = await without.post("/workers/fetch", json={"url": "/"})
        assert answer.json()["errors"][0]["message"] == "no Worker runs here: start the server with --worker"
        assert (await without.get("/workers")).json()["result"] == {"workers": []}

    asyncio.run(scenario())


def test_a_worker_of_its_own_process_is_answered_by_the_server_of_a_test(folder, tmp_path):
    (tmp_path / "answers").mkdir()
    bank = Server("--control", folder=tmp_path / "answers")  # whatever it answers is no 200
    server = Server("--worker", "wrangler.jsonc", "--time", "virtual", "--outgoing", bank.url, "--seed", "7", folder=folder)
    try:
        with httpx.Client(base_url=server.url, timeout=30) as client:
            (queue,) = [each for each in client.get("/accounts/a/queues").json()["result"] if each["queue_name"] == "orders"]
            assert queue["producers"] == [{"type": "worker", "script": "shop"}]
            assert queue["consumers"][0]["script"] == "shop"
            client.post(f"/accounts/a/queues/{queue['queue_id']}/messages", json={"body": {"body": "tea"}})
            client.post("/emulator/time/run-until-idle", json={})
            (fate, _) = client.get("/emulator/fates").json()["result"]["fates"]
            assert (fate["state"], fate["attempts"], fate["id"]) == ("dead-lettered", 3, Emulator(seed=7).create_queue("q").send(1).id)
    finally:
        assert server.stop() == 0
        bank.stop()


def test_a_request_is_forwarded_with_its_path_and_for_whom_it_was():
    import http.server
    import threading

    heard = []

    class Bank(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            heard.append((self.path, self.headers["x-forwarded-host"], self.headers["x-forwarded-proto"], self.headers["x-own"]))
            heard.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(402)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"no")

        def log_message(self, *_):
            """Nothing to say."""

    with http.server.HTTPServer(("127.0.0.1", 0), Bank) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        ask = forwarding(f"http://127.0.0.1:{server.server_port}/base/")
        answer = ask(Outgoing("POST", "https://pay.example/charge?n=1", {"x-own": "1", "host": "pay.example"}, b"tea", None))
        thread.join()
    assert (answer.status_code, answer.content) == (402, b"no")
    assert heard == [("/base/charge?n=1", "pay.example", "https", "1"), b"tea"]
    with pytest.raises(ValueError, match="'nothing' is no URL of a server"):
        forwarding("nothing")


def test_a_transport_of_httpx_answers_what_a_worker_fetches(folder):
    seen = []

    def bank(request):
        seen.append((request.method, str(request.url), request.read(), request.headers["host"]))
        return httpx.Response(200 if len(seen) == 2 else 503, json={"n": len(seen)})

    file = folder / "wrangler.jsonc"
    with Emulator.from_wrangler(file) as emu:
        emu.worker(file, fetch=httpx.MockTransport(bank))
        emu.queue("orders").send({"body": "tea"})
        emu.run_until_idle()
        assert [(fate.state, fate.attempts) for fate in emu.fates] == [("acked", 2)]
    assert seen == [("POST", "https://pay.example/charge?n=1", b"tea", "pay.example")] * 2
    with Emulator.from_wrangler(file) as emu, pytest.raises(ValueError, match="no URL of a server"):
        emu.worker(file, fetch="bank")


def test_a_file_that_is_no_worker_s_is_refused(tmp_path):
    (tmp_path / "wrangler.jsonc").write_text('{"name": "x", "queues": {"consumers": [{"queue": "q", "max_retries": 1000}]}}')
    with pytest.raises(Refused, match="max_retries 1000 is out of range"):
        Workers(Emulator(), [str(tmp_path / "wrangler.jsonc")], None)
