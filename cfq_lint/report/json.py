"""JSON, versioned: the shape is in schemas/report.schema.json, and a field is only ever added within a version."""

from __future__ import annotations

import json

from cfq_lint.report import summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfq_lint.model.finding import Finding
    from cfq_lint.report.deploy import Deploy
    from cfq_lint.run.engine import Report
    from cfq_lint.source.text import Place

VERSION = 1


def render(report: Report, deploy: Deploy | None = None) -> str:
    """The whole report as one JSON object, ASCII only, with a line end; `deploy` is the verdict of an audit."""
    findings = [as_object(finding) for finding in report.findings]
    whole = {"version": VERSION, "summary": summary(report), "findings": findings, "problems": list(report.problems)}
    if deploy is not None:
        stopped_by = [{"code": each.code, **_place(each.place)} for each in deploy.stopped_by]
        whole["deploy"] = {
            "verdict": deploy.verdict,
            "said": deploy.said,
            "stopped_by": stopped_by,
            "changes": list(deploy.changes),
        }
    return json.dumps(whole, indent=2) + "\n"


def as_object(finding: Finding) -> dict[str, Any]:
    """A finding as the contract has it."""
    fix = finding.fix
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        **_place(finding.place),
        "url": finding.url,
        "environment": finding.environment,
        "address": finding.place.address or None,
        "fix": None
        if fix is None
        else {
            "title": fix.title,
            "safe": fix.safe,
            "edits": [{**_place(edit.place), "text": edit.text} for edit in fix.edits],
        },
        "related": [{**_place(related.place), "message": related.message} for related in finding.related],
    }


def _place(place: Place) -> dict[str, Any]:
    return {
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }
