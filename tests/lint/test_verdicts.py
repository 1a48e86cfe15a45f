"""wrangler's own verdicts on 93 small files: what it rejects is an error here, what it warns of a warning or worse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cfq_lint import lint_paths

from .support import FIXTURES, run

VERDICTS = json.loads((FIXTURES / "verdicts" / "verdicts.json").read_text(encoding="utf-8"))
REJECTED = {"error"}
WARNED = {"error", "warning"}


def lint_case(row, room):
    name = Path(row["file"]).name
    shutil.copy(FIXTURES / "verdicts" / row["file"], room / name)
    env = row["args"][1] if row["args"] else None
    return lint_paths([str(room / name)], env=env)


@pytest.mark.parametrize("case", VERDICTS)
def test_what_wrangler_says_of_queues_or_syntax_is_said_here(case, tmp_path):
    row = VERDICTS[case]
    report = lint_case(row, tmp_path)
    assert not report.crashed
    assert not report.problems
    severities = {finding.severity.value for finding in report.findings}
    if not row["ours"] or row["wrangler"] == "accepted":
        return
    assert severities & (WARNED if row["wrangler"] == "warned" else REJECTED), row["says"]


@pytest.mark.parametrize("case", [name for name, row in VERDICTS.items() if row["wrangler"] == "accepted" and name.startswith(("valid", "toml-valid", "jsonc-comments", "json-trailing"))])  # fmt: skip
def test_what_wrangler_and_cloudflare_accept_has_no_error(case, tmp_path):
    assert "error" not in {finding.severity.value for finding in lint_case(VERDICTS[case], tmp_path).findings}


def test_wrangler_s_first_error_has_the_line_that_ours_has(tmp_path):
    """Where wrangler names a place in a file, we name the same line."""
    import re

    compared = 0
    for case, row in VERDICTS.items():
        place = re.search(r"wrangler\.\w+:(\d+):(\d+)", " ".join(row["says"]))
        if row["ours"] and place:
            room = tmp_path / case
            room.mkdir()
            lines = {finding.line for finding in lint_case(row, room).findings}
            compared += 1
            assert int(place.group(1)) in lines | {line + 1 for line in lines}, case
    assert compared or not any("wrangler." in " ".join(row["says"]) and re.search(r":\d+:\d+", " ".join(row["says"])) for row in VERDICTS.values())


@pytest.mark.parametrize("case", ["two-errors", "jsonc-empty", "env-bad-selected", "env-unknown", "valid-full"])
def test_the_command_ends_with_0_or_1_and_a_report(case, tmp_path):
    row = VERDICTS[case]
    name = Path(row["file"]).name
    shutil.copy(FIXTURES / "verdicts" / row["file"], tmp_path / name)
    done = run("check", "--format", "json", *row["args"], name, cwd=tmp_path)
    assert done.returncode in {0, 1}
    json.loads(done.stdout)
