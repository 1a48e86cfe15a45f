"""JUnit XML: a test suite a file, a failure a finding at or above the severity that fails the run."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from cfq_lint.model.finding import Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.finding import Finding
    from cfq_lint.run.engine import Report


def render(report: Report, *, fail_on: Severity = Severity.WARNING) -> str:
    """One document. A file without findings is one passed test, findings below `fail_on` are passed tests with output."""
    by_path: dict[str, list[Finding]] = {path: [] for path in report.files}
    for finding in report.findings:
        by_path.setdefault(finding.path, []).append(finding)
    suites = [_suite(path, findings, fail_on) for path, findings in by_path.items()]
    if report.problems:
        cases = "".join(
            f'<testcase name="read"><error message={_attribute(problem)}/></testcase>' for problem in report.problems
        )
        suites.append(
            f'<testsuite name="cfq-lint" tests="{len(report.problems)}" errors="{len(report.problems)}">{cases}</testsuite>'
        )
    return '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="cfq-lint">\n' + "\n".join(suites) + "\n</testsuites>\n"


def _suite(path: str, findings: list[Finding], fail_on: Severity) -> str:
    cases = (
        "".join(_case(path, finding, fail_on) for finding in findings)
        or f'<testcase name="clean" classname={_attribute(path)}/>'
    )
    failures = sum(finding.severity.rank >= fail_on.rank for finding in findings)
    return f'<testsuite name={_attribute(path)} tests="{len(findings) or 1}" failures="{failures}">{cases}</testsuite>'


def _case(path: str, finding: Finding, fail_on: Severity) -> str:
    name = _attribute(f"{finding.code} {finding.name} {finding.line}:{finding.column}")
    said = f"{path}:{finding.line}:{finding.column}: {finding.severity}: {finding.message}"
    if finding.severity.rank >= fail_on.rank:
        kind, message = _attribute(finding.severity), _attribute(finding.message)
        body = f"<failure type={kind} message={message}>{escape(_legal(said))}</failure>"
    else:
        body = f"<system-out>{escape(_legal(said))}</system-out>"
    return f"<testcase name={name} classname={_attribute(path)}>{body}</testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_legal(text))


def _legal(text: str) -> str:
    """Without the characters that XML cannot hold at all."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
