"""Whatever a server does: a clear message, exit code 2, nothing but GET, a bounded number of requests, and the token nowhere."""

from __future__ import annotations

import logging
import os

import pytest

from cfq_lint.cli import app
from cfq_lint.cloudflare import api, pace

from .hostile import ACCOUNT, TOKEN, FakeClock, Server, assert_silent
from .misbehaviours import MISBEHAVIOURS

CONFIG = """{
  // %s
  "name": "shop",
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "orders" }],
    "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }]
  }
}
"""


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A folder with a file, an environment that holds nothing, and time that costs none."""
    (tmp_path / "wrangler.jsonc").write_text(CONFIG % "a shop")
    for name in [name for name in os.environ if name.startswith(("CLOUDFLARE_", "CFQ_")) or name.upper().endswith("_PROXY")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", TOKEN)
    monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", ACCOUNT)
    clock = FakeClock()
    for name in ("now", "monotonic", "sleep"):
        monkeypatch.setattr(pace.Clock, name, lambda _self, *given, act=getattr(clock, name): act(*given))
    monkeypatch.setattr(api, "ANSWER_BYTES_MAX", 1_000_000)
    return tmp_path


@pytest.fixture
def logs(caplog):
    """Every record of every logger, written out as a debugging program would."""
    caplog.set_level(logging.DEBUG)
    caplog.handler.setFormatter(logging.Formatter("%(name)s %(message)s"))
    return caplog


def files(room):
    """All that stands below a folder, but what the test put there."""
    return {file.name: file.read_bytes() for file in room.iterdir() if file.name != "wrangler.jsonc"}


@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_a_misbehaving_server_is_exit_2_with_a_clear_message(name, room, capfd, logs):
    script, words, most = MISBEHAVIOURS[name]
    with Server(script) as server:
        timeout = "0.3" if "no whole answer within 0.3 s" in words else "30"
        options = ["--base-url", server.url, "--timeout", timeout, "--write-facts", "facts.json", "--output", "report.txt"]
        assert app.run(["audit", *options]) == 2
    out, err = capfd.readouterr()
    assert not out
    assert not files(room), "nothing was written"
    for word in words:
        assert word in err
    assert "Traceback" not in err
    assert "fault of cfq-lint" not in err
    assert all(line.startswith("cfq-lint: ") for line in err.splitlines())
    assert err.isprintable() or err.replace("\n", "").isprintable()
    assert_silent(out, err, logs.text)
    assert 1 <= len(server.seen) <= most
    assert {request.method for request in server.seen} == {"GET"}
    assert all(request.headers["Authorization"] == f"Bearer {TOKEN}" for request in server.seen)
    assert len(err) < 1_000


def test_the_logs_that_were_searched_do_hold_what_servers_say(room, logs, capfd):
    """A search that finds nothing proves something only where there is much to find."""
    with Server(lambda handler, _: handler.json({}, 404, X_Echo=f"before {TOKEN} behind")) as server:
        assert app.run(["audit", "--base-url", server.url]) == 2
    assert "before [token] behind" in logs.text
    assert "receive_response_headers.complete" in logs.text
    assert_silent(logs.text, *capfd.readouterr())


def test_logs_of_others_are_left_alone(room, logs, capfd):
    with Server(MISBEHAVIOURS["404"][0]) as server:
        app.run(["audit", "--base-url", server.url])
    logging.getLogger("httpx").warning("%s is mine", "this")
    assert "this is mine" in logs.text
    assert not logging.getLogger("httpx").filters
