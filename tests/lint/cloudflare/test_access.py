"""With what an account is asked: options, environment and files, what of it cannot be used, and whose word counts."""

from __future__ import annotations

import json

import pytest

from cfq_lint.account.errors import NotReached

from .hostile import ACCOUNT, TOKEN, Server
from .support import CONFIG, SHOP, WITH_ACCESS, audit, files


@pytest.mark.parametrize(
    ("environment", "options", "words"),
    [
        ({"CLOUDFLARE_ACCOUNT_ID": ACCOUNT}, [], ["token is missing", "CLOUDFLARE_API_TOKEN"]),
        ({}, ["--account-id", ACCOUNT], ["token is missing"]),
        ({}, ["--account-id="], ["token is missing"]),
        ({}, ["--base-url", "http://127.0.0.1:1"], ["token is missing"]),
        ({"CLOUDFLARE_API_TOKEN": TOKEN}, [], ["account is missing", "CLOUDFLARE_ACCOUNT_ID"]),
        ({}, ["--token", TOKEN], ["account is missing"]),
        ({"CLOUDFLARE_ACCOUNT_ID": ACCOUNT}, ["--token", ""], ["token is empty"]),
        (WITH_ACCESS, ["--token", "to ken"], ["token is empty, or holds a space"]),
        (WITH_ACCESS, ["--token", f"{TOKEN}\u00e9"], ["holds a space or a character"]),
        ({**WITH_ACCESS, "CLOUDFLARE_ACCOUNT_ID": TOKEN}, [], ["account id is not one"]),
        ({**WITH_ACCESS, "CLOUDFLARE_ACCOUNT_ID": "../zones"}, [], ["account id is not one"]),
        (WITH_ACCESS, ["--base-url", "http://api.example.com/client/v4"], ["http://", "use https://"]),
        (WITH_ACCESS, ["--base-url", "http://127.0.0.1.example.com"], ["use https://"]),
        (WITH_ACCESS, ["--base-url", f"https://user:{TOKEN}@127.0.0.1"], ["not an address like https://api.cloudflare.com/client/v4"]),
        (WITH_ACCESS, ["--base-url", f"https://{TOKEN}@127.0.0.1"], ["not an address"]),
        (WITH_ACCESS, ["--base-url", "ftp://127.0.0.1"], ["not an address"]),
        (WITH_ACCESS, ["--base-url", "api.cloudflare.com"], ["not an address"]),
        (WITH_ACCESS, ["--base-url", "https://[::1"], ["not an address"]),
        (WITH_ACCESS, ["--base-url", "http://127.0.0.1:1/"], ["127.0.0.1:1 cannot be reached", "refused"]),
        (WITH_ACCESS, ["--timeout", "soon"], ["--timeout"]),
        (WITH_ACCESS, ["--timeout", "0"], ["--timeout"]),
        (WITH_ACCESS, ["--timeout", "nan"], ["--timeout"]),
        (WITH_ACCESS, ["--timeout", "1e9"], ["--timeout"]),
        ({}, ["--write-facts", "f.json"], ["--write-facts needs the account"]),
        (WITH_ACCESS, ["--facts", "f.json", "--write-facts", "f.json"], ["--write-facts", "--facts"]),
        (WITH_ACCESS, ["--write-facts", "-"], ["--write-facts takes a file's name"]),
        (WITH_ACCESS, ["--write-baseline", "-"], ["--write-baseline takes a file's name"]),
        (WITH_ACCESS, ["--output", "-"], ["without it the report goes to standard output"]),
        (WITH_ACCESS, ["--facts", "gone.json"], ["gone.json"]),
        (WITH_ACCESS, ["--select", "CFQ999"], ["CFQ999"]),
        (WITH_ACCESS, ["--select", ","], ["--select"]),
        (WITH_ACCESS, ["-"], ["standard input"]),
    ],
)  # fmt: skip
def test_access_that_cannot_be_used_is_exit_2_and_nothing_is_sent(environment, options, words, offline, monkeypatch, capfd):  # noqa: PLR0917
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with Server(SHOP) as server:
        if "--base-url" not in options:
            monkeypatch.setenv("CLOUDFLARE_API_BASE_URL", server.url)
        code, said, err = audit(*options, out=capfd)
        assert not server.seen
    assert (code, said) == (2, "")
    for word in words:
        assert word in err
    assert not files(offline)


@pytest.mark.usefixtures("room")
def test_options_win_over_the_environment(shop, monkeypatch, capfd):
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", "another-token-0123456789")
    monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", "f" * 32)
    monkeypatch.setenv("CLOUDFLARE_API_BASE_URL", "http://127.0.0.1:1")
    code, _, err = audit("--token", TOKEN, "--account-id", ACCOUNT, "--base-url", f"{shop.url}/", out=capfd)
    assert code in {0, 1}
    assert "this is about the account of --account-id; another stands in CLOUDFLARE_ACCOUNT_ID" in err
    paths = (f"/client/v4/accounts/{ACCOUNT}/queues", "/client/v4/graphql")
    assert all(request.path.startswith(paths) for request in shop.seen)
    assert {request.headers["Authorization"] for request in shop.seen} == {f"Bearer {TOKEN}"}
    assert all(request.headers["User-Agent"].startswith("cfq-lint/") for request in shop.seen)


def test_the_account_of_the_file_wins_over_the_environment_as_wrangler_has_it(room, shop, monkeypatch, capfd):
    (room / "wrangler.jsonc").write_text(CONFIG.replace('"name"', f'"account_id": "{ACCOUNT}", "name"'))
    monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", "f" * 32)
    _, _, err = audit("--base-url", shop.url, out=capfd)
    assert "the account of wrangler.jsonc:2; another stands in CLOUDFLARE_ACCOUNT_ID" in err
    assert {request.path.split("/")[4] for request in shop.seen if request.method == "GET"} == {ACCOUNT}
    queries = [json.loads(request.body) for request in shop.seen if request.method == "POST"]
    assert {each["variables"]["accountTag"] for each in queries} == {ACCOUNT}
    monkeypatch.delenv("CLOUDFLARE_ACCOUNT_ID")
    _, _, err = audit("--base-url", shop.url, out=capfd)
    assert not err


@pytest.mark.parametrize(
    ("variable", "config", "host"),
    [
        (None, {}, "api.cloudflare.com"),
        ("", {}, "api.cloudflare.com"),
        ("fedramp_high", {}, "api.fed.cloudflare.com"),
        (None, {"compliance_region": "fedramp_high"}, "api.fed.cloudflare.com"),
        (None, {"env": {"live": {"compliance_region": "fedramp_high", "queues": {}}}}, "api.fed.cloudflare.com"),
        ("fedramp_high", {"compliance_region": "fedramp_high"}, "api.fed.cloudflare.com"),
        ("public", {"compliance_region": "public"}, "api.cloudflare.com"),
    ],
)
def test_an_account_in_a_compliance_region_is_asked_where_wrangler_asks_it(variable, config, host, room, monkeypatch, capfd):  # noqa: PLR0917
    """As `getCloudflareApiBaseUrl` of wrangler 4.164.0 has it."""
    if variable is not None:
        monkeypatch.setenv("CLOUDFLARE_COMPLIANCE_REGION", variable)
    (room / "wrangler.jsonc").write_text(json.dumps({"queues": {}, **config}))
    asked = []

    def read(found, _names, _plan, _window):
        asked.append(found.base_url)
        raise NotReached("nowhere", "this is a test")

    monkeypatch.setattr("cfq_lint.cli.audit.read", read)
    assert audit(out=capfd)[0] == 2
    assert audit("--base-url", "https://127.0.0.1:1", out=capfd)[0] == 2
    assert asked == [f"https://{host}/client/v4", "https://127.0.0.1:1"]


@pytest.mark.parametrize(
    ("variable", "config", "words"),
    [
        ("public", {"compliance_region": "fedramp_high"}, "several compliance regions"),
        (None, {"compliance_region": "public", "env": {"live": {"compliance_region": "fedramp_high"}}}, "one --env"),
        (TOKEN, {}, "in CLOUDFLARE_COMPLIANCE_REGION is none: it is public or fedramp_high"),
        (None, {"compliance_region": "fedramp-high"}, "in wrangler.jsonc:1 is none"),
    ],
)
def test_a_compliance_region_that_is_not_certain_is_exit_2(variable, config, words, room, monkeypatch, capfd):  # noqa: PLR0917
    if variable is not None:
        monkeypatch.setenv("CLOUDFLARE_COMPLIANCE_REGION", variable)
    (room / "wrangler.jsonc").write_text(json.dumps({"queues": {}, **config}))
    code, _, err = audit(out=capfd)
    assert code == 2
    assert words in err


def test_files_of_several_accounts_are_audited_one_after_another(room, shop, monkeypatch, capfd):
    monkeypatch.delenv("CLOUDFLARE_ACCOUNT_ID")
    config = {"account_id": "a" * 32, "queues": {}, "env": {"live": {"account_id": "b" * 32, "queues": {}}}}
    (room / "wrangler.jsonc").write_text(json.dumps(config))
    code, _, err = audit("--base-url", shop.url, out=capfd)
    assert code == 2
    assert "several accounts (wrangler.jsonc:1, wrangler.jsonc:1)" in err
    assert not shop.seen
    assert audit("--base-url", shop.url, "--env", "live", out=capfd)[0] in {0, 1}
    assert {request.path.split("/")[4] for request in shop.seen} == {"b" * 32}
