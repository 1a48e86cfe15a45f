"""`cfq-lint audit`: offline, by the account and by a snapshot of it, and the files that are read and written."""

from __future__ import annotations

import json
import stat

import pytest

from cfq_lint.cli import app
from cfq_lint.cli.options import AUDIT, CHECK
from cfq_lint.rules.registry import INDEX
from cfq_lint.rules.signs import ACCOUNT as ABOUT_THE_ACCOUNT

from .hostile import ACCOUNT, Server, refusal
from .support import WITH_ACCESS, audit, files

LIVE = [row.code for row in INDEX.values() if ABOUT_THE_ACCOUNT in row.signs]


def test_without_access_the_other_rules_run_and_those_about_the_account_are_counted(offline, capfd):
    code, said, err = audit(out=capfd)
    assert code == 0
    assert "no account was read" in err
    assert f"{len(LIVE)} rule" in err
    assert "CLOUDFLARE_API_TOKEN" in err
    assert "--facts" in err
    if LIVE:
        assert f"{len(LIVE)} rules about the account skipped" in said
    assert json.loads(audit("--format", "json", out=capfd)[1])["summary"]["skipped"] == len(LIVE)
    (offline / "wrangler.jsonc").write_text('{ "queues": { "consumers": [{ "queue": "a", "dead_letter_queue": "a" }] } }')
    code, said, _ = audit(out=capfd)
    assert code == 1
    assert "CFQ302" in said
    assert audit("--fail-on", "error", "--ignore", "CFQ3", out=capfd)[0] == 0


def test_an_account_id_in_the_file_alone_is_no_half_of_an_access(offline, capfd):
    (offline / "wrangler.jsonc").write_text(f'{{ "account_id": "{ACCOUNT}" }}')
    assert audit(out=capfd)[0] == 0


@pytest.mark.usefixtures("offline")
def test_check_counts_skipped_rules_but_speaks_of_them_only_where_they_were_selected(capfd):
    for options, told in (([], False), (["--select", "all"], bool(LIVE)), (["--statistics"], False)):
        app.run(["check", *options])
        assert ("about the account skipped" in capfd.readouterr().out) is told
    app.run(["check", "--format", "json"])
    assert json.loads(capfd.readouterr().out)["summary"]["skipped"] == len(LIVE)


@pytest.mark.parametrize("format", ["text", "concise", "json", "sarif", "github", "gitlab", "junit"])
def test_what_was_written_gives_the_same_report_and_asks_nobody(format, room, shop, monkeypatch, capfd):
    options = ["--format", format, "--plan", "paid"]
    code, said, _ = audit("--base-url", shop.url, "--write-facts", "facts.json", *options, out=capfd)
    assert stat.S_IMODE((room / "facts.json").stat().st_mode) == 0o644
    count = len(shop.seen)
    assert count == 7  # the list, two backlogs, four queries
    monkeypatch.setenv("CLOUDFLARE_API_BASE_URL", shop.url)
    again = audit("--facts", "facts.json", *options, out=capfd)
    assert again[:2] == (code, said)
    for name in WITH_ACCESS:
        monkeypatch.delenv(name)
    assert audit("--facts", "facts.json", *options, out=capfd) == (code, said, "")
    assert len(shop.seen) == count
    assert "about the account skipped" not in said
    assert ACCOUNT not in (room / "facts.json").read_text()


def test_a_snapshot_is_written_whole_or_not_at_all(room, shop, capfd):
    (room / "facts.json").write_text("before")
    with Server(lambda handler, _: handler.json(refusal(15000, "x"), 500)) as broken:
        assert audit("--base-url", broken.url, "--write-facts", "facts.json", out=capfd)[0] == 2
    assert (room / "facts.json").read_text() == "before"
    code, _, err = audit("--base-url", shop.url, "--write-facts", "gone/facts.json", out=capfd)
    assert code == 2
    assert "cannot be written" in err
    assert audit("--base-url", shop.url, "--write-facts", "facts.json", out=capfd)[0] in {0, 1}
    assert json.loads((room / "facts.json").read_text())["queues"].keys() == {"orders", "orders-dlq"}
    assert files(room).keys() == {"facts.json"}


@pytest.mark.usefixtures("room")
def test_a_path_that_is_not_there_is_exit_2_with_the_rest_of_the_report(shop, capfd):
    code, said, err = audit("--base-url", shop.url, "gone.toml", ".", out=capfd)
    assert code == 2
    assert "gone.toml: no such file" in err
    assert "in 1 file" in said


def test_a_folder_without_files_is_said_and_the_access_still_tried(room, shop, capfd):
    (room / "wrangler.jsonc").unlink()
    code, _, err = audit("--base-url", shop.url, out=capfd)
    assert code == 2
    assert "no wrangler files in ." in err
    with Server(lambda handler, _: handler.json(refusal(10000, "Authentication error"), 401)) as server:
        code, _, err = audit("--base-url", server.url, out=capfd)
    assert code == 2
    assert "HTTP 401" in err


def test_broken_files_are_judged_by_their_syntax(room, shop, capfd):
    (room / "wrangler.jsonc").write_text('{ "queues": ')
    code, said, _ = audit("--base-url", shop.url, out=capfd)
    assert code == 1
    assert "CFQ001" in said


def test_what_check_can_do_audit_can_too(room, shop, capfd):
    there = ["--base-url", shop.url]
    assert audit(*there, "--write-baseline", "base.json", out=capfd)[0] == 0
    assert audit(*there, "--baseline", "base.json", out=capfd)[0] == 0
    assert audit(*there, "--baseline", "gone.json", out=capfd)[0] == 2
    assert "CFQ" in audit(*there, "--statistics", "--fail-on", "error", out=capfd)[1]
    assert audit(*there, "--output", "report.json", "--format", "json", out=capfd)[1] == ""
    assert json.loads((room / "report.json").read_text())["summary"]["files"] == 1
    assert audit(*there, "--exclude", "wrangler.jsonc", out=capfd)[0] == 0


def test_the_table_of_audit_has_what_check_has_but_what_changes_files_or_reads_others():
    mine, its = {option.name for option in AUDIT}, {option.name for option in CHECK}
    assert its - mine == {"fix", "unsafe-fixes", "diff", "known-queues", "show-unknown", "stdin-filename"}
    of_the_account = {"token", "account-id", "base-url", "timeout", "write-facts"}
    of_what_was_measured = {"analytics", "no-analytics", "window", "from-account", "explain-numbers"}
    assert mine - its == of_the_account | of_what_was_measured | {"checklist", "estimate", "rate", "size", "failure", "processing", "per-message"}
