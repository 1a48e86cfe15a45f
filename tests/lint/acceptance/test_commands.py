"""`cfq-lint audit --checklist` and `--estimate` as commands: formats, exit codes, and what does not go together."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.lint.support import run

from .support import ACCEPTANCE, CONFIG, SOURCE, write


def audit(*arguments, cwd, **options):
    """Run `cfq-lint audit` in a folder."""
    return run("audit", *arguments, cwd=cwd, **options)


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(ACCEPTANCE, tmp_path / "a")
    return tmp_path / "a"


def test_a_failing_item_is_exit_1_and_an_unknown_one_is_not(folder):
    assert audit("--checklist", cwd=folder / "bad").returncode == 1
    assert audit("--checklist", cwd=folder / "python_worker").returncode == 0
    done = audit("--checklist", "--facts", "account.json", cwd=folder / "good")
    assert done.returncode == 0, done.stderr
    assert b"10 pass, 0 fail, 0 unknown" in done.stdout


def test_a_file_that_does_not_parse_is_exit_2_and_the_rest_is_shown(folder):
    (folder / "python_worker" / "wrangler.staging.jsonc").write_text("{ [", encoding="utf-8")
    done = audit("--checklist", "--format", "json", cwd=folder / "python_worker")
    assert done.returncode == 2
    shown = json.loads(done.stdout)
    assert shown["summary"]["problems"] == 1
    assert "does not parse" in shown["problems"][0]
    assert len(shown["items"]) == 10


def test_the_formats(folder):
    listed = json.loads(audit("--checklist", "--format", "json", cwd=folder / "bad").stdout)
    assert {item["verdict"] for item in listed["items"]} == {"fail"}
    done = audit("--checklist", "--format", "html", "--output", "list.html", cwd=folder / "bad")
    assert done.returncode == 1
    assert not done.stdout
    assert (folder / "bad" / "list.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert b"<!DOCTYPE html>" in audit("--estimate", "--format", "html", cwd=folder / "bad").stdout


def test_the_estimate_takes_quantities(folder):
    done = audit("--estimate", "--rate", "1M/day", "--size", "60KB", "--failure", "0%", "--processing", "200ms", "--format", "json", cwd=folder / "source_example")
    assert done.returncode == 0
    made = json.loads(done.stdout)
    assert made["total"]["usd_a_month"] == 35.60
    assert made["total"]["complete"] is True
    assert made["queues"][0]["concurrency"]["needed"] > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--checklist", "--estimate"], "one at a time"),
        (["--checklist", "--format", "sarif"], "text, json, html"),
        (["--from-account"], "for --estimate"),
        (["--rate", "5/s"], "for --estimate"),
        (["--checklist", "--size", "5KB"], "for --estimate"),
        (["--estimate", "--rate", "fast"], "500/s"),
        (["--estimate", "--failure", "3"], "3%"),
        (["--estimate", "--size", "big"], "2KB"),
        (["--estimate", "--processing", "long"], "200ms"),
        (["--checklist", "missing"], "no such file"),
    ],
)
def test_what_does_not_go_together_is_exit_2(arguments, said, tmp_path):
    write(tmp_path, {"wrangler.jsonc": CONFIG})
    done = audit(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr.decode()


def test_colour_and_no_colour(tmp_path):
    write(tmp_path, {"wrangler.jsonc": CONFIG, "src/index.ts": SOURCE})
    for option in ("--checklist", "--estimate"):
        assert b"\x1b[" not in audit(option, cwd=tmp_path).stdout
        assert b"\x1b[" in audit(option, cwd=tmp_path, env={"FORCE_COLOR": "1"}).stdout
        assert b"\x1b[" not in audit(option, cwd=tmp_path, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout


def test_a_wrong_declaration_is_said_with_its_place(tmp_path):
    write(tmp_path, {"wrangler.jsonc": CONFIG, "cfq-lint.toml": "[queues.orders]\nrate = 5\nfailure_share = 3\n[queues.orders.metrics]\ndlq = true\n"})
    done = audit("--checklist", cwd=tmp_path)
    assert done.returncode == 2
    said = done.stderr.decode()
    assert "cfq-lint.toml:2:1: there is no setting 'queues.orders.rate'" in said
    assert "cfq-lint.toml:3:1: queues.orders.failure_share" in said
    assert "known are dead_letter_depth, duplicates, oldest_message_age, retries" in said


def test_the_token_is_in_no_output(tmp_path):
    token = "s3cr3t-token-of-an-account"
    facts = '{"version": 1, "queues": {}}'
    write(tmp_path, {"wrangler.jsonc": CONFIG.replace("orders", f"orders-{token}"), "src/index.ts": SOURCE, "facts.json": facts})
    for option, form in (("--checklist", "html"), ("--estimate", "text")):
        done = audit(option, "--format", form, "--facts", "facts.json", cwd=tmp_path, env={"CLOUDFLARE_API_TOKEN": token})
        assert done.stdout
        assert token.encode() not in done.stdout + done.stderr
