"""The formats for machines, each read back by what reads such files: schemas, XML, and the rules of GitHub and GitLab."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from urllib.parse import unquote

import jsonschema
import pytest

from cfq_lint import lint_paths, lint_text
from cfq_lint.facts.record import replace
from cfq_lint.model.finding import Severity
from cfq_lint.report import github, gitlab, junit, sarif
from cfq_lint.report import json as as_json
from cfq_lint.rules.registry import every_rule
from tests.lint.support import FIXTURES, examples, lint_files

from .sample import clean, crashed, sample

SARIF = jsonschema.Draft4Validator(json.loads((FIXTURES / "sarif" / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8")))


# --- JSON


def test_json_has_the_shape_of_the_contract():
    whole = json.loads(as_json.render(sample()))
    assert list(whole)[:3] == ["version", "summary", "findings"]
    assert whole["version"] == 1
    for finding in whole["findings"]:
        assert {
            "code", "name", "severity", "message", "path", "line", "column", "end_line", "end_column", "url", "environment", "fix", "related",
        } <= finding.keys()  # fmt: skip


def test_json_is_ascii_and_says_what_the_findings_say():
    report = sample()
    text = as_json.render(report)
    assert text.isascii()
    for shown, finding in zip(json.loads(text)["findings"], report.findings, strict=True):
        assert (shown["code"], shown["message"], shown["path"], shown["line"], shown["column"]) == (
            finding.code, finding.message, finding.path, finding.line, finding.column,
        )  # fmt: skip
        assert (shown["fix"] is None) == (finding.fix is None)


# --- SARIF


def sarif_of(report, **options):
    whole = json.loads(sarif.render(report, **options))
    errors = [f"{list(error.absolute_path)}: {error.message}" for error in SARIF.iter_errors(whole)]
    assert not errors
    return whole["runs"][0]


def regions(node):
    """Every region in a SARIF document."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in {"region", "deletedRegion"}:
                yield value
            yield from regions(value)
    elif isinstance(node, list):
        for value in node:
            yield from regions(value)


@pytest.mark.parametrize("make", [sample, clean, crashed])
def test_sarif_is_valid(make):
    sarif_of(make(), root="/project")
    sarif_of(make())


def test_sarif_of_every_bad_example_is_valid():
    for rule in every_rule():
        for shown in examples(rule, "Bad"):
            sarif_of(lint_text(shown.text, shown.name, select=["all"]), root="/project")


def test_lines_and_columns_start_at_1_and_end_after_they_start():
    run = sarif_of(sample(), root="/project")
    found = [*regions(run)]
    assert found
    for region in found:
        assert min(region.values()) >= 1
        assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])
    assert run["columnKind"] == "unicodeCodePoints"


def test_uris_are_relative_with_forward_slashes_and_quoted():
    run = sarif_of(sample(), root="/project")
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}
    assert "apps/a%2Cb%3A%20100%25/wrangler.jsonc" in uris
    assert {unquote(uri) for uri in uris} == {finding.path for finding in sample().findings}
    assert not any(uri.startswith(("/", "file:", "./")) or "\\" in uri for uri in uris)


def moved(report, path):
    place = replace(report.findings[0].place, path=path)
    return replace(report, findings=(replace(report.findings[0], place=place, fix=None, related=()),))


@pytest.mark.parametrize(
    ("path", "uri", "base"),
    [
        ("/project/apps/wrangler.toml", "apps/wrangler.toml", "%SRCROOT%"),
        ("/elsewhere/wrangler.toml", "file:///elsewhere/wrangler.toml", None),
        ("../wrangler.toml", "file:///wrangler.toml", None),
        ("/projects/wrangler.toml", "file:///projects/wrangler.toml", None),
        ("apps/ä b/wrangler.toml", "apps/%C3%A4%20b/wrangler.toml", "%SRCROOT%"),
    ],
)
def test_paths_below_the_root_become_relative_and_others_file_uris(path, uri, base):
    run = sarif_of(moved(sample(), path), root="/project")
    location = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location["uri"] == uri
    assert location.get("uriBaseId") == base


def test_rules_carry_their_help_and_results_point_at_them():
    run = sarif_of(sample(), root="/project")
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({result["ruleId"] for result in run["results"]})
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    for rule in rules:
        assert "## Why it matters" in rule["help"]["text"]
        assert rule["help"]["markdown"]
        assert rule["shortDescription"]["text"]
        assert rule["helpUri"].startswith("https://")


def test_levels_fixes_related_places_suppressions_and_problems_are_there():
    report = sample()
    run = sarif_of(report, root="/project")
    levels = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
    shown = run["results"][: len(report.findings)]
    assert [result["level"] for result in shown] == [levels[finding.severity] for finding in report.findings]
    for result, finding in zip(shown, report.findings, strict=True):
        assert len(result.get("relatedLocations", [])) == len(finding.related)
        if finding.fix is not None and finding.name != "utf8-bom":
            assert [
                each["insertedContent"]["text"] for each in result["fixes"][0]["artifactChanges"][0]["replacements"]
            ] == [edit.text for edit in finding.fix.edits]
    assert [result["suppressions"] for result in run["results"] if "suppressions" in result] == [[{"kind": "inSource"}]]
    [invocation] = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert "apps/gone" in invocation["toolExecutionNotifications"][0]["message"]["text"]


# --- GitHub


ANNOTATION = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)\n")


def test_github_annotations_are_one_command_a_finding():
    report = sample()
    lines = github.render(report).splitlines(keepends=True)
    assert len(lines) >= len(report.findings)
    commands = {"error": "error", "warning": "warning", "info": "notice"}
    for line, finding in zip(lines, report.findings, strict=False):
        command, options, data = ANNOTATION.fullmatch(line).groups()
        values = dict(option.split("=", 1) for option in options.split(","))
        assert command == commands[finding.severity]
        assert unescaped(values["file"]) == finding.path
        assert int(values["line"]) == finding.line
        assert int(values["endLine"]) >= finding.line
        assert unescaped(data) == finding.message
        assert ("col" in values) == (finding.line == finding.end_line)


def unescaped(text):
    for code, character in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, character)
    return text


# --- GitLab


def test_gitlab_issues_have_the_fields_that_gitlab_reads():
    issues = json.loads(gitlab.render(sample()))
    assert len({issue["fingerprint"] for issue in issues}) == len(issues) == len(sample().findings)
    for issue in issues:
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert issue["description"]
        assert issue["check_name"]
        assert not issue["location"]["path"].startswith(("./", "/"))
        assert issue["location"]["lines"]["begin"] >= 1


def test_gitlab_fingerprints_survive_moved_lines():
    text = '{ "legacy_env": 1, "queues": { "consumers": [{ "queue": "a" }] } }'
    before = json.loads(gitlab.render(lint_text(text)))
    after = json.loads(gitlab.render(lint_text("// more\n\n" + text)))
    assert [issue["fingerprint"] for issue in before] == [issue["fingerprint"] for issue in after]
    assert [issue["location"] for issue in before] != [issue["location"] for issue in after]


# --- JUnit


def test_junit_is_xml_with_a_suite_a_file_and_right_counts():
    report = sample()
    root = ET.fromstring(junit.render(report))
    assert root.tag == "testsuites"
    suites = {suite.get("name"): suite for suite in root}
    assert set(report.files) <= set(suites)
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases)
        assert int(suite.get("failures") or 0) == len(suite.findall("testcase/failure"))
        assert int(suite.get("errors") or 0) == len(suite.findall("testcase/error"))
    assert len(suites["apps/clean/wrangler.jsonc"].findall("testcase")) == 1
    assert not suites["apps/clean/wrangler.jsonc"].findall("testcase/failure")


@pytest.mark.parametrize("threshold", Severity)
def test_junit_fails_what_fails_the_run(threshold):
    report = sample()
    root = ET.fromstring(junit.render(report, fail_on=threshold))
    assert len(root.findall("testsuite/testcase/failure")) == sum(f.severity.rank >= threshold.rank for f in report.findings)
    assert len(root.findall("testsuite/testcase/system-out")) == sum(f.severity.rank < threshold.rank for f in report.findings)


def test_junit_and_sarif_stand_texts_that_xml_and_uris_cannot_hold(tmp_path):
    report = lint_files(tmp_path, {"wrangler.jsonc": '{ "queues": { "consumers": [{ "queue": "\\u0001<&\\"\'>\\ud800", "dead_letter_queue": "]]>" }] } }'})
    ET.fromstring(junit.render(report))
    sarif_of(report, root=str(tmp_path))
    gitlab.render(report)
    github.render(report).encode("utf-8", "backslashreplace")


def test_machine_formats_name_files_as_they_were_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lint_files(tmp_path, {"a/wrangler.toml": "legacy_env = 1\n"})
    report = lint_paths(["a"])
    assert json.loads(as_json.render(report))["findings"][0]["path"] == "a/wrangler.toml"
    assert json.loads(gitlab.render(report))[0]["location"]["path"] == "a/wrangler.toml"
