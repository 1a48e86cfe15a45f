"""GitLab's code quality report, a subset of Code Climate's.

https://docs.gitlab.com/ci/testing/code_quality/
"""

from __future__ import annotations

import hashlib
import json

from cfq_lint.model.finding import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.run.engine import Report

_SEVERITIES = {"error": "critical", "warning": "minor", "info": "info"}


def render(report: Report) -> str:
    """One JSON array; a fingerprint survives that lines above a finding come and go."""
    seen: dict[str, int] = {}
    issues = []
    for finding in report.findings:
        base = fingerprint(finding, finding.path)
        seen[base] = seen.get(base, 0) + 1
        digest = hashlib.sha256(f"{base}\0{seen[base]}".encode("utf-8", "backslashreplace")).hexdigest()
        issues.append(
            {
                "description": finding.message,
                "check_name": finding.name,
                "fingerprint": digest,
                "severity": _SEVERITIES[finding.severity],
                "location": {"path": finding.path, "lines": {"begin": finding.line, "end": finding.end_line}},
            }
        )
    return json.dumps(issues, indent=2) + "\n"
