"""Whatever a server does: a clear message, exit code 2, nothing but GET, a bounded number of requests, and the token nowhere."""

from __future__ import annotations

import logging

import pytest

from cfq_lint.cli import app

from .hostile import TOKEN, Server, assert_silent
from .misbehaviours import MISBEHAVIOURS
from .support import files

pytestmark = pytest.mark.usefixtures("room")


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


def test_the_logs_that_were_searched_do_hold_what_servers_say(logs, capfd):
    """A search that finds nothing proves something only where there is much to find."""
    with Server(lambda handler, _: handler.json({}, 404, X_Echo=f"before {TOKEN} behind")) as server:
        assert app.run(["audit", "--base-url", server.url]) == 2
    assert "before [token] behind" in logs.text
    assert "receive_response_headers.complete" in logs.text
    assert_silent(logs.text, *capfd.readouterr())


def test_logs_of_others_are_left_alone(logs):
    with Server(MISBEHAVIOURS["404"][0]) as server:
        app.run(["audit", "--base-url", server.url])
    logging.getLogger("httpx").warning("%s is mine", "this")
    assert "this is mine" in logs.text
    assert not logging.getLogger("httpx").filters
