"""An audit as a page of its own: the verdict, and each queue with what was found and charts of what was measured."""

from __future__ import annotations

from cfq_lint import __version__
from cfq_lint.drawing.page import escaped, link, page, sentence
from cfq_lint.drawing.series import Series, series
from cfq_lint.facts.quantities import number
from cfq_lint.model.finding import Severity
from cfq_lint.model.measured import DAY_HOURS, figures, lag_seconds
from cfq_lint.report import summary
from cfq_lint.report.deploy import FAILS, GOES_THROUGH, UNKNOWN, subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.model.finding import Finding
    from cfq_lint.model.measured import Figure, Hour, Measured
    from cfq_lint.report.deploy import Deploy
    from cfq_lint.run.engine import Report

_VERDICTS = {FAILS: ("fail", "✗"), GOES_THROUGH: ("pass", "✓"), UNKNOWN: ("unknown", "?")}
_SEVERITIES = {Severity.ERROR: "fail", Severity.WARNING: "unknown", Severity.INFO: "not-asked"}
_SHOWN = ("largest_message", "highest_lag", "retries", "dead_lettered", "failed", "backlog", "operations")


def render(report: Report, deploy: Deploy, measured: Measured | None) -> str:
    """One file: findings of a queue beside its charts, then all other findings."""
    kind, sign = _VERDICTS[deploy.verdict]
    counts = summary(report)
    lead = f'<p><span class="verdict {kind}"><span aria-hidden="true">{sign}</span> {escaped(deploy.verdict)}</span></p>'
    lead += f"<p><strong>{sentence(deploy.said)}</strong></p>"
    lead += f'<p class="soft">{counts["errors"]} errors, {counts["warnings"]} warnings, {counts["infos"]} infos. '
    lead += f"{_window(measured)}</p>"
    queues = list(measured.queues) if measured is not None else []
    findings = sorted(report.findings, key=lambda each: -each.severity.rank)
    body = ""
    if measured is not None:
        of_queues = [(name, [each for each in findings if _is_about(each, name)]) for name in queues]
        body = "".join(_queue(number, name, found, measured) for number, (name, found) in enumerate(of_queues, 1))
    rest = [each for each in findings if not any(_is_about(each, name) for name in queues)]
    if rest or not queues:
        head = "Other findings" if queues else "Findings"
        body += f'<section aria-labelledby="rest">\n<h2 id="rest">{head}</h2>\n{_findings(rest)}\n</section>\n'
    return page("Audit of the queues", lead, body, f"cfq-lint {escaped(__version__)}")


def _is_about(finding: Finding, queue: str) -> bool:
    return finding.code.startswith("CFQ9") and subject(finding) == queue


def _window(measured: Measured | None) -> str:
    if measured is None:
        return "What the account measured was not read."
    missing = "".join(f" Not measured: {escaped(name)}, {escaped(why)}." for name, why in measured.missing.items())
    return f"Measured in {escaped(measured.window)}, by the hour (UTC); Cloudflare samples.{missing}"


def _findings(findings: Iterable[Finding]) -> str:
    return "\n".join(_finding(each) for each in findings) or "<p>Nothing was found.</p>"


def _finding(finding: Finding) -> str:
    where = finding.path if finding.path == "account" else f"{finding.path}:{finding.line}:{finding.column}"
    badge = f'<span class="verdict {_SEVERITIES[finding.severity]}">{escaped(finding.severity)}</span>'
    return (
        f'<div class="queue"><h3 class="finding">{badge}'
        f" <span>{escaped(finding.code)} {escaped(finding.name)}</span></h3>"
        f'<p>{sentence(finding.message)}</p><p class="soft"><span class="where">{escaped(where)}</span>'
        f" {link(finding.url, 'Source')}</p></div>"
    )


def _queue(position: int, name: str, findings: list[Finding], measured: Measured) -> str:
    known = figures(measured, name)
    told = "".join(_row(known[each]) for each in _SHOWN if each in known)
    charts = "".join(_charts(name, measured)) or "<p>Nothing was measured of it.</p>"
    return (
        f'<section aria-labelledby="queue-{position}">\n<h2 id="queue-{position}">{escaped(name)}</h2>\n'
        f'<dl>{told}</dl>\n<div class="charts">{charts}</div>\n{_findings(findings)}\n</section>\n'
    )


def _row(figure: Figure) -> str:
    title = figure.name.replace("_", " ")
    return f"<dt>{escaped(title)}</dt><dd>{escaped(number(figure.value))} {escaped(figure.unit)}</dd>"


def _charts(name: str, measured: Measured) -> Iterable[str]:
    hours = measured.queues[name].hours
    days = range(-measured.start.hour % DAY_HOURS, measured.hours, DAY_HOURS)
    marks = tuple((hour, measured.at(hour)[5:10]) for hour in days)
    for title, unit, field, style in (
        ("Backlog", "messages", "backlog_messages", "one"),
        ("Lag", "seconds from writing to delivery", "lag_ms", "four"),
        ("Retries", "for each message that left", "retries", "three"),
        ("Operations", "an hour", "operations", "two"),
    ):
        values = tuple(_values(hours, field))
        if values:
            yield series(Series(title, unit, values, measured.hours, style), marks)


def _values(hours: tuple[Hour, ...], field: str) -> Iterable[tuple[int, float]]:
    for hour in hours:
        value = getattr(hour, field)
        if value is not None:
            yield hour.number, lag_seconds(value) if field == "lag_ms" else float(value)
