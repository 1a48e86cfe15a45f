"""Mistakes that people made, and real configurations: what the linter says of each is data below fixtures/."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from cfq_lint import lint_paths
from cfq_lint.model.finding import Severity

from .support import FIXTURES, REAL, findings_of, lint_files, real_text, run

CASES = FIXTURES / "cases"
EXPECTED = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))
SHAPES = json.loads((FIXTURES / "wrangler.expected.json").read_text(encoding="utf-8"))
COMMAND = ["C001", "C007", "C024", "C026", "C037", "C043", "C049", "C053"]
"""Cases that are checked through the command as well."""


def set_up(case, room):
    """Copy a case's files into a folder under the names that wrangler knows; the paths to lint."""
    inputs = EXPECTED[case]["inputs"]
    if (CASES / case).is_dir():
        shutil.copytree(CASES / case, room, dirs_exist_ok=True)
        for odd in list(room.rglob("dot-wrangler")):
            odd.rename(odd.with_name(".wrangler"))
        names = [each.split("/", 1)[1].replace("dot-wrangler", ".wrangler") for each in inputs]
        return [name for name in names if re.search(r"wrangler\.(jsonc?|toml)$", name)]
    name = inputs[0].removeprefix(f"{case}.")
    shutil.copy(CASES / inputs[0], room / name)
    return [name]


def objections(want, findings):
    """What is wrong with the findings of a case; each is (name, severity, path, line, column, end_line, end_column, message)."""
    said, left = [], list(findings)
    for wanted in want["expected"]:
        hit = next((found for found in left if fits(wanted, found)), None)
        if hit is not None:
            left.remove(hit)
        elif wanted["severity"] != "info" or "line" in wanted:
            said.append(f"missing {wanted['severity']} {wanted['name']} at {wanted.get('line')}:{wanted.get('column')}")
    forbidden = {*want.get("forbidden", [])}
    return said + [
        f"unexpected {found}"
        for found in left
        if found[0] in forbidden or (found[1] != "info" and found[0] != "consumer-without-dlq")
    ]


def fits(wanted, found):
    name, severity, path, line, column, end_line, end_column, _ = found
    if (name, severity) != (wanted["name"], wanted["severity"]):
        return False
    if "line" not in wanted:
        return True
    if line != wanted["line"] or not path.endswith(wanted["path"]):
        return False
    token = re.search(r"start of `(.*?)`\)", wanted.get("note", ""))
    width = max(1, len(token.group(1)) if token else 1)
    end = end_column if end_line == line else 10**6
    return wanted["column"] <= column < wanted["column"] + width or column <= wanted["column"] < end


AUTOMATIC = [case for case, spec in EXPECTED.items() if not spec.get("manual")]


@pytest.mark.parametrize("case", AUTOMATIC)
def test_a_case_is_judged_as_expected(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = set_up(case, tmp_path)
    report = lint_paths(paths)
    assert not report.problems
    found = [(f.name, f.severity.value, f.path, f.line, f.column, f.end_line, f.end_column, f.message) for f in report.findings]
    assert not objections(EXPECTED[case], found)


@pytest.mark.parametrize("case", COMMAND)
def test_the_command_judges_a_case_alike(case, tmp_path):
    paths = set_up(case, tmp_path)
    done = run("check", "--format", "json", *EXPECTED[case].get("args", []), *paths, cwd=tmp_path)
    keys = ("name", "severity", "path", "line", "column", "end_line", "end_column", "message")
    found = [tuple(finding[key] for key in keys) for finding in findings_of(done)]
    assert not objections(EXPECTED[case], found)
    assert done.returncode == any(row[1] in {"error", "warning"} for row in found)
    assert not done.stderr


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("C001", ["wrangler queues consumer http add ingest", "does not switch"]),
        ("C002", ["wrangler queues update", "--delivery-delay-secs 120"]),
        ("C005", ["svc-a-outbox"]),
        ("C008", ["env.dev", "11004"]),
        ("C011", ["retention"]),
        ("C014", ["0 to 60"]),
        ("C016", ["1 to 100", "not an integer", "a string"]),
        ("C019", ["max_batch_size", "max_batch_timeout = 5"]),
        ("C034", ["order-dlq"]),
        ("C035", ["11001"]),
        ("C040", ["pause-delivery"]),
        ("C041", ["360000", "345600"]),
        ("C043", ["wrangler.jsonc"]),
        ("C044", ["dist/wrangler.json"]),
    ],
)
def test_messages_name_what_helps(case, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = " ".join(finding.message for finding in lint_paths(set_up(case, tmp_path)).findings)
    for word in words:
        assert word in said.replace(",", "") or word in said


def test_c007_points_back_at_the_first_consumer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = lint_paths(set_up("C007", tmp_path), select=["duplicate-consumer"])
    [finding] = report.findings
    [related] = finding.related
    assert related.place.line < finding.line


def test_c048_a_fix_leaves_all_other_bytes_alone_and_exits_0(tmp_path):
    [name] = set_up("C048", tmp_path)
    before = (tmp_path / name).read_bytes()
    assert run("check", name, cwd=tmp_path).returncode == 1
    fixed = run("check", "--fix", name, cwd=tmp_path)
    assert fixed.returncode == 0, fixed.stdout
    after = (tmp_path / name).read_bytes()
    assert after == before.replace(b"visibility_timeout_ms = 30000\n", b"")
    assert run("check", name, cwd=tmp_path).returncode == 0
    assert run("check", "missing.toml", cwd=tmp_path).returncode == 2


def test_c049_sarif_names_the_file_from_the_folder_of_the_run(tmp_path):
    paths = set_up("C049", tmp_path)
    done = run("check", "--format", "sarif", *paths, cwd=tmp_path)
    [result] = json.loads(done.stdout)["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "apps/api/wrangler.jsonc"
    assert location["region"]["startLine"] == 5
    assert location["region"]["startColumn"] == 66


def test_c054_one_clean_file_needs_no_network_no_home_and_no_variables(tmp_path):
    [name] = set_up("C054", tmp_path)
    (tmp_path / "sitecustomize.py").write_text(
        "import socket\n\ndef refuse(*_, **__):\n    raise OSError('no network')\n\nsocket.socket = refuse\n", encoding="utf-8"
    )
    done = run("check", name, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path), "HOME": "/nonexistent"})
    assert done.returncode == 0, done.stderr
    assert b"no findings" in done.stdout or b"info" in done.stdout


# --- real configurations


@pytest.mark.parametrize("file", REAL, ids=[file.name for file in REAL])
def test_a_real_configuration_has_the_findings_that_are_known(file, tmp_path):
    """Alone in its folder, and under the name that wrangler looks for."""
    report = lint_files(tmp_path, {f"wrangler{file.suffix}": file.read_bytes()})
    have = Counter((f.severity.value, f.name) for f in report.findings if f.severity is not Severity.INFO)
    assert have == Counter({(severity, name): count for severity, name, count in SHAPES[file.name]})


def test_the_clean_shapes_have_nothing_above_info():
    clean = [name for name, rows in SHAPES.items() if not rows]
    assert len(clean) >= 20
    assert {file.name for file in REAL} == set(SHAPES)


def test_all_real_configurations_together_are_one_report(golden):
    """A crater run: the whole report as a golden file, so that a noisy rule shows in its diff."""
    from cfq_lint import lint_text
    from cfq_lint.report.concise import render

    parts = [render(lint_text(real_text(file), file.name)) for file in REAL]
    golden("crater.txt", "".join(parts))


def test_real_configurations_are_read_in_the_folder_they_stand_in():
    report = lint_paths([str(FIXTURES / "wrangler")])
    assert len(report.files) == len(REAL)
    assert [Path(path).name for path in report.files] == [file.name for file in REAL]
    assert not report.unparsed
