"""What an editor is told is what a run would tell of the same texts, whatever was typed on the way."""

from __future__ import annotations

import os
import random

import pytest

from cfq_lint import lint_paths, lint_texts
from cfq_lint.editor.workspace import Workspace
from cfq_lint.facts.record import replace
from cfq_lint.rules.registry import BY_KEY, load
from cfq_lint.run import engine
from tests.lint.editor.project import API, FILES, HANDLER, JOBS, LATE, write

PIECES = [
    '"',
    "{",
    "}",
    "\n",
    "\r\n",
    ",",
    "0",
    "orders",
    "😀",
    "\u2028",
    "#",
    "//",
    " ",
    "max_retries",
    "[[",
    "case",
    "await ",
]


def said(report):
    """All that a report says, in plain values."""
    findings = [(f.code, f.path, f.line, f.column, f.end_line, f.end_column, f.message) for f in report.findings]
    return findings, report.files, len(report.suppressed), report.unparsed, report.problems


def settled(workspace):
    """The report when all sources were followed."""
    while workspace.is_behind:
        workspace.go_on(60)
    return workspace.report()


@pytest.fixture
def home(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return write(tmp_path)


def edited(text, chance):
    """A text with a piece put in, taken out or put over another."""
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice([*PIECES, ""]) + text[at + chance.choice([0, 0, 1, 2, 7]) :]


EDITS = int(os.environ.get("CFQ_EDITS", "40"))


@pytest.mark.parametrize("seed", range(3))
def test_after_any_edits_it_is_what_a_run_says(home, seed):
    chance = random.Random(seed)
    workspace, texts = Workspace(["."]), dict(FILES)
    workspace.report()
    for step in range(EDITS):
        name = chance.choice([*texts])
        texts[name] = FILES[name] if chance.random() < 0.2 else edited(texts[name], chance)
        workspace.put(name, texts[name])
        if chance.random() < 0.1:
            workspace.go_on(0.001)
        if chance.random() < 0.3:
            workspace.report()
        if step % 8 == 7:
            write(home, texts)
            assert said(settled(workspace)) == said(lint_paths(["."]))


@pytest.mark.usefixtures("home")
def test_files_that_come_and_go():
    workspace = Workspace(["."])
    settled(workspace)
    # A configuration that wrangler would read in the other's place, unsaved.
    workspace.put("late/wrangler.json", '{ "name": "late" }')
    assert "shadowed-config" in {f.name for f in workspace.report().findings if f.path == "late/wrangler.toml"}
    workspace.drop("late/wrangler.json")
    assert said(settled(workspace)) == said(lint_paths(["."]))
    # A source that goes, and comes back.
    os.rename("jobs/src/index.ts", "jobs/src/other.ts")
    workspace.touched("jobs/src/index.ts")
    assert said(settled(workspace)) == said(lint_paths(["."]))
    os.rename("jobs/src/other.ts", "jobs/src/index.ts")
    workspace.touched("jobs/src/index.ts")
    assert said(settled(workspace)) == said(lint_paths(["."]))


def test_settings_hold_and_what_is_wrong_with_them_is_told(home):
    (home / "cfq-lint.toml").write_text('ignore = ["CFQ829"]\nexclude = ["late"]\n')
    workspace = Workspace(["."])
    assert said(settled(workspace)) == said(lint_paths(["."]))
    (home / "cfq-lint.toml").write_text('ignore = ["no-such-rule"]\n')
    workspace.reload()
    assert "no-such-rule" in str(workspace.problem)


@pytest.mark.usefixtures("home")
def test_a_buffer_closed_without_saving_counts_no_more():
    workspace = Workspace(["."])
    before = said(settled(workspace))
    workspace.put("jobs/wrangler.jsonc", JOBS.replace("orders-dlq", "orders-dql"))
    assert said(settled(workspace)) != before
    workspace.drop("jobs/wrangler.jsonc")
    assert said(settled(workspace)) == before


@pytest.mark.usefixtures("home")
def test_a_rule_that_fails_is_told_and_the_rest_goes_on(monkeypatch):
    def fail(*_):
        raise RuntimeError("boom")

    module = BY_KEY["CFQ203"]
    monkeypatch.setattr(engine, "load", lambda name: replace(load(name), check=fail) if name == module else load(name))
    engine._rules_for.cache_clear()
    try:
        workspace = Workspace(["."])
        workspace.put("jobs/wrangler.jsonc", JOBS.replace('"max_retries": 3', '"max_retries": 300, "max_batch_size": 300'))
        assert {"CFQ000", "CFQ201"} <= {f.code for f in workspace.report().findings if f.path == "jobs/wrangler.jsonc"}
    finally:
        engine._rules_for.cache_clear()


def test_several_texts_are_one_project():
    report = lint_texts(
        {"api/wrangler.jsonc": API, "jobs/wrangler.jsonc": JOBS, "late/wrangler.toml": LATE, "jobs/src/index.ts": HANDLER}
    )
    assert report.files == ("api/wrangler.jsonc", "jobs/wrangler.jsonc", "late/wrangler.toml")
    assert {(f.name, f.path) for f in report.findings if f.name.startswith("dlq")} == {
        ("dlq-no-consumer", "late/wrangler.toml")
    }
    assert "queue-without-consumer" not in {f.name for f in report.findings}
    alone = lint_texts({"api/wrangler.jsonc": API})
    assert "queue-without-consumer" in {f.name for f in alone.findings}
    early = HANDLER.replace("          message.ack();\n", "").replace(
        "          await", "          message.ack();\n          await"
    )
    found = lint_texts({"wrangler.jsonc": JOBS, "src/index.ts": early}).findings
    assert [(f.path, f.line) for f in found if f.code == "CFQ820"] == [("src/index.ts", 6)]
    assert lint_texts({"README.md": "x"}).problems == ("no wrangler files among the texts",)
