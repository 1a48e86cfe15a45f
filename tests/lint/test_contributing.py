"""Contributors do what CONTRIBUTING says, in a copy of the repository: a rule is one file and `make generate`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest

from .support import ROOT

RULE = '''"""A queue is called like the metasyntactic foo.

## What it does
Reports a consumer of a queue that is called `foo`.

## Why it matters
It shows how a rule is written.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "foo", "dead_letter_queue": "dead" }, { "queue": "dead" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "dead" }, { "queue": "dead" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import CONSUMER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Consumer


def check(consumer: Consumer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the queue's name."""
    if consumer.queue is not None and consumer.queue_name == "foo":
        yield RULE.finding(consumer.queue.place, "the queue is called 'foo'", environment=consumer.environment)


RULE = Rule(
    "CFQ799",
    "queue-called-foo",
    Severity.WARNING,
    limits.PAGE_HOW,
    limits.READ_DOSSIER,
    visit=CONSUMER,
    signs=(signs.CONSUMERS,),
    check=check,
)
'''


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The repository without what belongs to a machine."""
    there = tmp_path_factory.mktemp("copy") / "repository"
    left = shutil.ignore_patterns(".git", ".venv", ".bench", "node_modules", "__pycache__", ".*_cache", ".hypothesis", "dist", "build")
    shutil.copytree(ROOT, there, ignore=left)
    return there


def run(folder, *arguments):
    return subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def generate(folder):
    """What `make generate` runs."""
    target = re.search(r"^generate:.*\n((?:\t.*\n)+)", (folder / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for command in target[1].splitlines():
        done = run(folder, *command.strip().removeprefix("$(BIN)/python ").split())
        assert done.returncode == 0, done.stderr


def test_a_rule_is_one_file_and_make_generate(copy):
    steps = (copy / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "cfq_lint/rules/cfqNNN_what_is_wrong.py" in steps
    (copy / "cfq_lint" / "rules" / "cfq799_queue_called_foo.py").write_text(RULE, encoding="utf-8")
    stale = run(copy, "-m", "cfq_lint.cli.generate", "--check")
    assert (stale.returncode, "index.py" in stale.stdout) == (1, True), stale
    generate(copy)
    assert run(copy, "-m", "cfq_lint.cli.generate", "--check").returncode == 0
    assert "queue-called-foo" in (copy / "README.md").read_text(encoding="utf-8")
    file = copy / "wrangler.jsonc"
    file.write_text('{ "queues": { "consumers": [{ "queue": "foo", "dead_letter_queue": "bar" }, { "queue": "bar" }] } }', encoding="utf-8")
    found = json.loads(run(copy, "-m", "cfq_lint", "check", "--format", "json", file.name).stdout)["findings"]
    assert [(each["code"], each["name"], each["line"]) for each in found] == [("CFQ799", "queue-called-foo", 1)]
    file.unlink()
    command = re.search(r"`\.venv/bin/python (-m pytest tests/lint/test_rule_contract\.py)`", steps)[1]
    done = run(copy, *command.split(), "-q", "-k", "foo or index or listed or codes")
    assert done.returncode == 0, done.stdout
