"""Annotations for GitHub Actions: workflow commands that put findings beside the lines of a pull request.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions. GitHub shows ten errors and ten warnings a step.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.finding import Finding
    from cfq_lint.run.engine import Report

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report) -> str:
    """A line a finding; nothing for a clean run."""
    return "".join(_annotation(finding) for finding in report.findings)


def _annotation(finding: Finding) -> str:
    values = {
        "file": finding.path,
        "line": finding.line,
        "endLine": finding.end_line,
        "title": f"{finding.code} {finding.name}",
    }
    if finding.end_line == finding.line:  # columns across lines are not taken
        values |= {"col": finding.column, "endColumn": finding.end_column}
    options = ",".join(f"{key}={_property(str(value))}" for key, value in values.items())
    return f"::{_COMMANDS[finding.severity]} {options}::{_data(finding.message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
