"""The Global API Key with its e-mail, as wrangler takes them; the account's own clock; and snapshots of several accounts."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from cfq_lint.account import pace

from .hostile import ACCOUNT, EMAIL, KEY, TOKEN, Server, assert_silent, envelope
from .support import SHOP, WITH_ACCESS, audit


def test_key_and_email_are_sent_in_their_own_headers_and_come_before_the_token(room, shop, monkeypatch, capfd):
    monkeypatch.setenv("CLOUDFLARE_API_KEY", KEY)
    monkeypatch.setenv("CLOUDFLARE_EMAIL", EMAIL)
    code, said, err = audit("--base-url", shop.url, "--write-facts", "facts.json", out=capfd)
    assert code in {0, 1}
    for request in shop.seen:
        assert (request.headers["X-Auth-Key"], request.headers["X-Auth-Email"]) == (KEY, EMAIL)
        assert request.headers["Authorization"] is None
    assert_silent(said, err, (room / "facts.json").read_text(), token=KEY)
    shop.seen.clear()
    audit("--base-url", shop.url, "--token", TOKEN, out=capfd)
    assert {request.headers["Authorization"] for request in shop.seen} == {f"Bearer {TOKEN}"}
    assert shop.seen[0].headers["X-Auth-Key"] is None


@pytest.mark.usefixtures("room")
def test_a_key_that_an_answer_holds_is_shown_to_nobody(monkeypatch, capfd):
    monkeypatch.delenv("CLOUDFLARE_API_TOKEN")
    monkeypatch.setenv("CLOUDFLARE_API_KEY", KEY)
    monkeypatch.setenv("CLOUDFLARE_EMAIL", EMAIL)
    body = {"success": False, "errors": [{"code": 9103, "message": f"Unknown X-Auth-Key {KEY}"}], "result": None}
    with Server(lambda handler, _: handler.json(body, 403)) as server:
        code, said, err = audit("--base-url", server.url, out=capfd)
    assert code == 2
    assert "Unknown X-Auth-Key [token]" in err
    assert "Global API Key" in err
    assert_silent(said, err, token=KEY)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"CLOUDFLARE_API_KEY": KEY}, "CLOUDFLARE_API_KEY is set without CLOUDFLARE_EMAIL"),
        ({"CLOUDFLARE_EMAIL": EMAIL}, "CLOUDFLARE_EMAIL is set without CLOUDFLARE_API_KEY"),
        ({"CLOUDFLARE_API_KEY": f"{KEY} x", "CLOUDFLARE_EMAIL": EMAIL}, "the API key is empty, or holds a space"),
        ({"CLOUDFLARE_API_KEY": KEY, "CLOUDFLARE_EMAIL": "a\nb"}, "e-mail of the API key holds a space"),
    ],
)
@pytest.mark.usefixtures("offline")
def test_half_a_key_is_a_mistake(environment, said, monkeypatch, capfd):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    code, _, err = audit(out=capfd)
    assert code == 2
    assert said in err
    assert_silent(err, token=KEY)


def test_ages_count_to_the_moment_of_the_account_and_not_of_this_machine(room, monkeypatch, capfd):
    """The machine's clock is a year fast; the account says that the message is five days old."""
    monkeypatch.setattr(pace.Clock, "now", lambda _: dt.datetime(2027, 1, 1, tzinfo=dt.UTC))
    sent = 1_767_225_600_000 - 5 * 86_400_000

    def script(handler, request):
        if request.lists_queues or request.method == "POST":
            SHOP(handler, request)
        else:
            handler.json(envelope({"backlog_count": 1, "backlog_bytes": 9, "oldest_message_timestamp_ms": sent}))

    with Server(script) as server:
        _, said, _ = audit("--base-url", server.url, "--write-facts", "facts.json", "--select", "CFQ904", out=capfd)
        assert json.loads((room / "facts.json").read_text())["taken_at"] == "2026-01-01T00:00:00Z"
    assert "(1 waiting, the oldest 5 days old)" in " ".join(said.split())


@pytest.mark.parametrize("options", [["--facts", "a.json"], []])
@pytest.mark.parametrize("how", ["two files", "two environments"])
def test_one_snapshot_is_of_one_account(how, options, offline, monkeypatch, capfd):
    for name, value in WITH_ACCESS.items():
        monkeypatch.setenv(name, value)
    (offline / "a.json").write_text('{"version": 1, "queues": {}}')
    other = "f" * 32
    one = {"name": "a", "account_id": ACCOUNT, "queues": {"producers": [{"binding": "Q", "queue": "q"}]}}
    if how == "two files":
        (offline / "b").mkdir()
        (offline / "b" / "wrangler.json").write_text(json.dumps({**one, "name": "b", "account_id": other}))
    else:
        one["env"] = {"staging": {"account_id": other}}
    (offline / "wrangler.jsonc").write_text(json.dumps(one))
    code, said, err = audit(*options, out=capfd)
    assert (code, said) == (2, "")
    assert "the files name several accounts (" in err
    if options:
        assert audit(*options, "--account-id", ACCOUNT, out=capfd)[0] == 1


@pytest.mark.usefixtures("offline")
def test_two_snapshots_are_refused(capfd):
    code, _, err = audit("--facts", "a.json", "--facts", "b.json", out=capfd)
    assert code == 2
    assert "--facts takes one snapshot" in err
