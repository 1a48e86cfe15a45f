"""Structured logs: one line a thing, in JSON or for people; nothing secret in them, nothing that breaks out of its line."""

from __future__ import annotations

import asyncio
import io
import json
import logging

import httpx
import pytest

from emulator.server import Service, create_app
from emulator.server.observe.logs import EVENTS, REQUESTS, EventLog, RequestLog, configure
from emulator.server.observe.watch import Watch
from tests.emulator.server.servers import Server, queue_id


@pytest.fixture
def log():
    """The log as a list of lines, at a level and in a form."""
    root = logging.getLogger("cfq_emulator")
    before = (root.level, root.propagate, list(root.handlers))
    stream = io.StringIO()

    def begin(form="json", level="info"):
        configure(stream, form, level)
        return lambda: [json.loads(line) if form == "json" else line for line in stream.getvalue().splitlines()]

    yield begin
    root.setLevel(before[0])
    root.propagate = before[1]
    root.handlers[:] = before[2]


def fail(_batch):
    message = "first line\nsecond line \x1b[31m"
    raise LookupError(message)


def events(emu):
    Watch(emu.account).tell(EventLog().tell)


def test_what_happens_to_messages_is_said_in_miniflare_s_words(emu, jobs, log):
    lines = log(level="debug")
    events(emu)
    emu.consume("jobs", fail, max_retries=1, dead_letter_queue="dead", max_batch_timeout=0)
    id = jobs.send("secret body").ids[0]
    emu.run_until_idle()
    said = lines()
    texts = [line["message"] for line in said]
    assert "QUEUE jobs 0/1 (0ms)" in texts
    assert f'Retrying message "{id}" on queue "jobs"...' in texts
    assert f'Moving message "{id}" on queue "jobs" to dead letter queue "dead"...' in texts
    settled = next(line for line in said if line["message"].startswith("QUEUE"))
    assert (settled["queue"], settled["acked"], settled["total"], settled["outcome"]) == ("jobs", 0, 1, "exception")
    assert settled["at"] == "2026-01-01T00:00:00.000000Z"
    assert settled["level"] == "info"
    assert "secret body" not in json.dumps(said)


def test_how_long_a_batch_took_is_the_emulator_s_time(emu, jobs, log):
    lines = log()
    events(emu)

    async def slow(_batch):
        await asyncio.sleep(90)

    emu.consume("jobs", slow, max_batch_timeout=0)
    jobs.send(1)
    emu.run_until_idle()
    assert "QUEUE jobs 1/1 (90000ms)" in [line["message"] for line in lines()]


def test_levels(emu, jobs, log):
    lines = log(level="warning")
    events(emu)
    emu.consume("jobs", fail, max_retries=0, max_batch_timeout=0)
    jobs.send(1)
    emu.run_until_idle()
    emu.create_queue("short", message_retention_period=60).send(1)
    emu.advance(60)
    emu.create_queue("other").send(1)
    emu.queue("other").purge()
    found = [(line["level"], line["message"].split(" ")[0]) for line in lines()]
    assert found == [("error", "Dropped"), ("warning", "Expired"), ("warning", "Purged")]


def test_no_line_is_broken_by_what_somebody_chose(emu, jobs, log):
    lines = log("text")
    events(emu)
    emu.consume("jobs", fail, max_retries=0, max_batch_timeout=0)
    jobs.send(1)
    emu.run_until_idle()
    assert all(line.startswith("20") for line in lines())
    assert "\x1b" not in "".join(lines())
    assert "first line\\x0asecond line \\x1b[31m" in "".join(lines())


def ask(app, requests):
    async def run():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app, raise_app_exceptions=False), base_url="http://emulator") as client:
            return [await client.request(method, path, **options) for method, path, options in requests]

    return asyncio.run(run())


def test_requests_are_logged_without_what_is_secret(emu, log):
    lines = log()
    app = RequestLog(create_app(Service(emu, tokens=["sesame"])))
    ask(app, [
        ("GET", "/health", {}),
        ("GET", "/metrics?token=sesame", {"headers": {"authorization": "Bearer sesame", "x-secret": "no"}}),
        ("POST", "/client/v4/accounts/a/queues", {"json": {"queue_name": "jobs"}}),
    ])  # fmt: skip
    said = [line for line in lines() if line["logger"].endswith("requests")]
    assert [(line["method"], line["path"], line["status"]) for line in said] == [
        ("GET", "/metrics", 200), ("POST", "/client/v4/accounts/a/queues", 401),
    ]  # fmt: skip
    assert said[0]["bytes"] > 1_000
    assert said[0]["ms"] >= 0
    assert "sesame" not in json.dumps(said)


def test_a_request_that_breaks_the_server_is_an_error(log):
    lines = log()

    async def broken(_scope, _receive, _send):
        message = "broken"
        raise RuntimeError(message)

    ask(RequestLog(broken), [("GET", "/x", {})])
    assert [(line["level"], line["status"]) for line in lines()] == [("error", 500)]


def test_health_is_logged_when_debugging(emu, log):
    lines = log(level="debug")
    ask(RequestLog(create_app(Service(emu))), [("GET", "/health", {})])
    assert [line["path"] for line in lines() if line["logger"].endswith("requests")] == ["/health"]


def test_exceptions_come_with_their_traceback(log):
    for form in ("json", "text"):
        lines = log(form)
        try:
            fail(None)
        except LookupError:
            REQUESTS.exception("failed")
        text = json.dumps(lines()) if form == "json" else "\n".join(lines())
        assert "Traceback" in text


@pytest.mark.parametrize(("form", "level"), [("xml", "info"), ("json", "loud")])
def test_a_form_or_level_that_is_none_is_refused(log, form, level):
    with pytest.raises(ValueError, match=r"xml|LOUD"):
        log(form, level)


def test_configuring_twice_says_everything_once(log):
    log()
    lines = log()
    EVENTS.info("once")
    assert [line["message"] for line in lines()] == ["once"]


def test_the_server_logs_in_json_when_asked_to(tmp_path):
    with Server("--log", "json", "--token", "sesame", folder=tmp_path) as server:
        with server.client(headers={"authorization": "Bearer sesame"}) as client:
            queue_id(client, "jobs")
        server.stop()
        said = [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]
        assert [line["message"] for line in said] == ["CreateQueue", "request"]
        assert said[1]["path"] == "/client/v4/accounts/a/queues"
        assert "sesame" not in server.log.read_text()


def test_the_server_is_silent_when_asked_to(tmp_path):
    with Server("--log", "off", folder=tmp_path) as server:
        with server.client() as client:
            queue_id(client, "jobs")
        server.stop()
        assert "jobs" not in server.log.read_text()
