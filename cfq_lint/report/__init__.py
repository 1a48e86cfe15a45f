"""From a report to text, one module a format; pure functions without input, output or colour of their own."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cfq_lint.run.engine import Report

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit")
COLOURED = frozenset({"text", "concise"})


def renderer(name: str) -> Callable[..., str]:
    """The `render(report, …)` of a format, loaded when it is asked for. Raises KeyError for a format that does not exist."""
    if name not in FORMATS:
        raise KeyError(name)
    from importlib import import_module  # only one format is ever needed

    render: Callable[..., str] = import_module(f"cfq_lint.report.{name}").render
    return render


def summary(report: Report) -> dict[str, int]:
    """The counts that every format can show; what was suppressed or passed over is counted as well."""
    severities = [finding.severity.value for finding in report.findings]
    return {
        "files": len(report.files),
        "errors": severities.count("error"),
        "warnings": severities.count("warning"),
        "infos": severities.count("info"),
        "fixable": sum(finding.fix is not None and finding.fix.safe for finding in report.findings),
        "suppressed": len(report.suppressed),
        "baselined": len(report.baselined),
        "unparsed": len(report.unparsed),
        "problems": len(report.problems),
        "skipped": len(report.skipped),
        "unknown": report.unknown,
        "unfollowed": len(report.unfollowed),
    }
