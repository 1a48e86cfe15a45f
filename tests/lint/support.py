"""What the linter's tests share: examples of rules, repairs step by step, command lines, and texts made from plain values."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from cfq_lint import lint_paths
from cfq_lint.model.account_facts import Facts, QueueFacts
from cfq_lint.model.facts_file import Snapshot, facts_of
from cfq_lint.run.engine import conclude, judge
from cfq_lint.run.fixer import ROUNDS_MAX, apply, is_applicable
from cfq_lint.run.plan import Plan
from cfq_lint.run.selection import able, choose
from cfq_lint.source.document import Document
from cfq_lint.source.node import ARRAY, OBJECT

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
REAL = sorted((FIXTURES / "wrangler").iterdir())


# --- texts and trees


def real_text(file):
    """The text of a real configuration, as it is on disk."""
    return file.read_bytes().decode("utf-8")


def name_for(text, syntax=None):
    """A file name for a text: the syntax given, else told from its first character."""
    syntax = syntax or ("jsonc" if text.lstrip("\ufeff \n\t")[:1] in "{[/" else "toml")
    return f"wrangler.{syntax}"


def document_of(text, path="wrangler.jsonc"):
    """The document of a text, its byte order mark taken off as reading does."""
    bom = text.startswith("\ufeff")
    return Document(path, text[1:] if bom else text, bom=bom)


def walk(root):
    """All nodes, each with the member that holds it, without recursion."""
    todo = [(root, None)] if root is not None else []
    while todo:
        node, member = todo.pop()
        yield node, member
        if node.kind == OBJECT:
            todo += [(member.node, member) for member in node.value]
        elif node.kind == ARRAY:
            todo += [(item, None) for item in node.value]


DATE = "2020-01-01"
"""A string that is written as a date in TOML, where it is none."""


def as_toml(value):
    """A plain value as TOML, nested tables inline; None is left out, since TOML has no null."""
    lines = [f"{_toml_key(key)} = {_toml(item)}" for key, item in value.items() if item is not None]
    return "".join(line + "\n" for line in lines)


def as_toml_tables(value, path=()):
    """A plain value as TOML with `[headers]` and `[[headers]]` wherever they can be used."""
    scalars, tables = [], []
    for key, item in value.items():
        here = (*path, _toml_key(key))
        if isinstance(item, dict):
            tables.append(f"\n[{'.'.join(here)}]\n" + as_toml_tables(item, here))
        elif isinstance(item, list) and item and all(isinstance(each, dict) for each in item):
            tables += [f"\n[[{'.'.join(here)}]]\n" + as_toml_tables(each, here) for each in item]
        elif item is not None:
            scalars.append(f"{_toml_key(key)} = {_toml(item)}\n")
    return "".join(scalars + tables)


def _toml_key(key):
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml_string(key)


def _toml_string(text):
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if value == DATE else _toml_string(value)
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value if item is not None) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml_key(k)} = {_toml(v)}" for k, v in value.items() if v is not None) + "}"
    text = repr(value)
    return text if isinstance(value, int) or text in {"inf", "-inf", "nan"} or "." in text or "e" in text else text + ".0"


# --- rules and their pages


def sections(page):
    """The headings of a rule's page, in order, each with its body."""
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


class Example:
    """A fenced example of a rule's page.

    What stands behind the language says how it is run: `plan=free`, `env=staging`, `known-queues=a,b`, `facts={…}`, or the
    path of a file, and then all files of that section are one project. `account` is the snapshot that stands above it in a
    block marked `json account`, and holds for all examples up to the next.
    """

    def __init__(self, syntax, info, text, account=None):
        self.text = text
        self.name = f"wrangler.{syntax}"
        self.is_named = bool(info) and "=" not in info
        if self.is_named:
            self.name = info
        key, _, value = info.partition("=")
        known = frozenset(value.split(",")) if key == "known-queues" else None
        given = json.loads(value) if key == "facts" else {}
        queues = {name: QueueFacts(**facts) for name, facts in given.get("queues", {}).items()}
        self.facts = Facts(value if key == "plan" else given.get("plan"), queues, known)
        self.environment = value if key == "env" else None
        if account is not None:
            self.facts = account_of(account)
        assert self.is_named or key in {"", "plan", "env", "known-queues", "facts"}, info

    def __repr__(self):
        return f"{self.name}: {self.text}"


def examples(rule, heading):
    """The fenced examples below a heading of a rule's page."""
    body = dict(sections(rule.page)).get(heading, "")
    blocks = re.findall(r"^```(jsonc|toml|json) ?(.*)\n((?s:.*?))^```$", body, flags=re.MULTILINE)
    account, found = None, []
    for syntax, info, text in blocks:
        if syntax == "json":
            assert info == "account", info
            account = text
        else:
            found.append(Example(syntax, info, text, account))
    return found


def account_of(snapshot):
    """The facts of a snapshot, text or plain value, that stands for the account."""
    whole = json.loads(snapshot) if isinstance(snapshot, str) else snapshot
    return facts_of(Snapshot.model_validate(whole), origin="in the account", is_account=True)


def projects(rule, heading):
    """The same, grouped into what is linted together."""
    shown = examples(rule, heading)
    named = [example for example in shown if example.is_named]
    return [[example] for example in shown if not example.is_named] + ([named] if named else [])


def report_on(project, modules=None):
    """The report on examples that are linted together, with the facts that they declare."""
    facts, environment = project[0].facts, project[0].environment
    plan = Plan(able(choose(), facts)[0] if modules is None else modules, facts, environment)
    return conclude([judge(document_of(each.text, each.name), plan) for each in project], plan)


def keys_of(report):
    """What a report says, comparable: rule, severity, place, message."""
    return [(f.code, f.severity.value, f.path, f.line, f.column, f.end_line, f.end_column, f.message) for f in report.findings]


# --- repairs


def spliced(text, edits):
    """The text with edits applied, written the plainest way: pieces in order. Refuses edits that overlap."""
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.place.start, edit.place.end)):
        start, end = max(edit.place.start, 0), max(edit.place.end, 0)
        assert start >= at, "edits of one round overlap"
        pieces += [text[at:start], edit.text]
        at = end
    return "".join([*pieces, text[at:]])


def settled(text, name, judge, *, unsafe=True):
    """The text after repairing it until nothing changes, and how many rounds that took; every round is looked at closely.

    `judge` gives the findings of a text.
    """
    for rounds in range(ROUNDS_MAX + 1):
        findings = [finding for finding in judge(text) if is_applicable(finding.fix, unsafe=unsafe)]
        if not findings:
            return text, rounds
        document = document_of(text, name)
        done = apply(document, findings, unsafe=unsafe)
        assert done.findings, "a round with fixes applies one at least"
        edits = [edit for finding in done.findings for edit in finding.fix.edits]
        mark = "" if not document.bom or any(edit.place.start < 0 for edit in edits) else "\ufeff"
        assert done.text == mark + spliced(document.text, edits), "bytes outside of the edits changed"
        mended = document_of(done.text, name)
        assert len(mended.faults) <= len(document.faults), f"a fix broke the syntax:\n{text}\n--- became\n{done.text}"
        text = done.text
    raise AssertionError(f"not settled after {ROUNDS_MAX} rounds:\n{text}")


def comment_texts(text, name):
    """All comments of a text."""
    document = document_of(text, name)
    return [document.text[start:end].rstrip() for start, end in document.comments()]


# --- files and commands


def lint_files(folder, files, **options):
    """Write files below a folder and lint the folder."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return lint_paths([str(folder)], **options)


def run(*arguments, cwd, stdin=None, env=None):
    """Run `cfq-lint` as a process of its own in an environment that holds nothing but what is given."""
    scrubbed = {"PATH": os.environ.get("PATH", ""), "HOME": str(cwd), "PYTHONWARNINGS": "error", "COLUMNS": "100"}
    scrubbed |= {key: os.environ[key] for key in ("SYSTEMROOT", "TEMP", "TMP") if key in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "cfq_lint", *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=scrubbed | (env or {}),
        timeout=120,
        check=False,
    )


def findings_of(done):
    """The findings of a run with `--format json`."""
    return json.loads(done.stdout)["findings"]
