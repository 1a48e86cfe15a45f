"""SARIF 2.1.0, as GitHub's code scanning takes it: relative URIs, columns from 1 in code points, rules with their pages.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
import os
from urllib.parse import quote

from cfq_lint import __version__
from cfq_lint.rules.registry import BY_KEY, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfq_lint.model.finding import Finding, Fix
    from cfq_lint.run.engine import Report
    from cfq_lint.source.text import Place

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def render(report: Report, *, root: str = "") -> str:
    """One run. Paths below `root`, an absolute folder, become relative to it; others that are absolute become file URIs.

    What inline ignores accept is in it as well, marked as suppressed, so that code scanning shows it as dismissed.
    """
    shown = [*report.findings, *report.suppressed]
    codes = sorted({finding.code for finding in shown})
    rules = {code: index for index, code in enumerate(codes)}
    accepted = set(map(id, report.suppressed))
    run = {
        "tool": {
            "driver": {
                "name": "cfq-lint",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(code) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "the folder in which cfq-lint was run"}}},
        "invocations": [
            {
                "executionSuccessful": not (report.problems or report.crashed),
                "toolExecutionNotifications": [{"level": "error", "message": {"text": problem}} for problem in report.problems],
            }
        ],
        "results": [_result(finding, rules, root, suppressed=id(finding) in accepted) for finding in shown],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    if code not in BY_KEY:
        return {"id": code, "name": "internal-error", "shortDescription": {"text": "A rule failed"}}
    rule = load(BY_KEY[code])
    made: dict[str, Any] = {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.page, "markdown": f"# {rule.name}\n\n{rule.page}"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": [rule.family], "precision": "high"},
    }
    if rule.source:
        made["helpUri"] = rule.source
    return made


def _result(finding: Finding, rules: dict[str, int], root: str, *, suppressed: bool) -> dict[str, Any]:
    made: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rules[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [_location(finding.place, root)],
    }
    if finding.related:
        made["relatedLocations"] = [
            {"id": number, **_location(related.place, root), "message": {"text": related.message}}
            for number, related in enumerate(finding.related, 1)
        ]
    if finding.fix is not None and all(edit.place.start >= 0 for edit in finding.fix.edits):
        made["fixes"] = [_fix(finding.fix, root)]
    if suppressed:
        made["suppressions"] = [{"kind": "inSource"}]
    return made


def _fix(fix: Fix, root: str) -> dict[str, Any]:
    replacements = [{"deletedRegion": _region(edit.place), "insertedContent": {"text": edit.text}} for edit in fix.edits]
    where = _artifact(fix.edits[0].place.path, root)
    return {"description": {"text": fix.title}, "artifactChanges": [{"artifactLocation": where, "replacements": replacements}]}


def _location(place: Place, root: str) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": _artifact(place.path, root), "region": _region(place)}}


def _region(place: Place) -> dict[str, int]:
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }


def _artifact(path: str, root: str) -> dict[str, str]:
    if os.path.isabs(path) or path.startswith("../"):
        absolute = os.path.normpath(os.path.join(root, path)).replace(os.sep, "/")
        base = root.replace(os.sep, "/").rstrip("/") + "/"
        if not root or not absolute.startswith(base):
            return {"uri": "file:///" + _quoted(absolute.lstrip("/"))}
        path = absolute[len(base) :]
    return {"uri": _quoted(path), "uriBaseId": "%SRCROOT%"}


def _quoted(path: str) -> str:
    """A path for a URI. Names of files need not be UTF-8."""
    return quote(path.encode("utf-8", "surrogateescape" if os.sep == "/" else "surrogatepass"))
