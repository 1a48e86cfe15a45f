"""The format for people: each finding with the line that it stands in, and what to do about it."""

from __future__ import annotations

from cfq_lint.drawing.colour import Paint
from cfq_lint.model.finding import Severity
from cfq_lint.report import summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.finding import Finding
    from cfq_lint.run.engine import Report

WIDTH_MIN = 40


def render(report: Report, *, colour: bool = False, width: int = 120, tell_skipped: bool = False) -> str:
    """Findings in order, a blank line behind each; then what is only worth knowing, a line each, and a summary.

    Everything but those lines is wrapped to `width` columns.
    `tell_skipped` tells in the summary how many rules need the account and did not run: whoever checks files alone knows.
    """
    paint = Paint(colour=colour)
    width = max(width, WIDTH_MIN)
    blocks = [block(finding, paint, width) for finding in report.findings if finding.severity is not Severity.INFO]
    infos = [line(finding, paint) for finding in report.findings if finding.severity is Severity.INFO]
    blocks += ["\n".join(infos) + "\n"] if infos else []
    return "\n".join([*blocks, summed_up(report, paint, tell_skipped=tell_skipped)]).rstrip("\n") + "\n" * bool(report.files)


def line(finding: Finding, paint: Paint) -> str:
    """A finding in one line."""
    where = f"{finding.path}:{finding.line}:{finding.column}:"
    how = " (--fix)" if finding.fix is not None and finding.fix.safe else ""
    return f"{where} {paint(finding.severity, finding.severity)} {finding.code} {finding.name}: {finding.message}{how}"


def block(finding: Finding, paint: Paint, width: int) -> str:
    """A finding with the line that it stands in and what to do about it, and a line end."""
    from cfq_lint.report._excerpt import excerpt  # a clean run does not need it

    place = finding.place
    line, column = place.lines.position(place.start)
    where = paint("bold", f"{place.path}:{line}:{column}:")
    lines = [f"{where} {paint(finding.severity, finding.severity)} {finding.code} {paint('bold', finding.name)}"]
    lines += _wrapped(finding.message, width)
    lines += excerpt(place, paint, width)
    lines += [f"  {paint('dim', 'see')} {r.place.path}:{r.place.line}:{r.place.column}: {r.message}" for r in finding.related]
    if finding.fix is not None:
        how = "--fix" if finding.fix.safe else "--unsafe-fixes"
        lines.append(f"  {paint('good', 'fix')} {finding.fix.title} ({how})")
    if finding.url:
        lines.append(f"  {paint('dim', finding.url)}")
    return "\n".join(lines) + "\n"


def _wrapped(message: str, width: int) -> list[str]:
    """The message in lines, broken between words alone, so that names and commands can be copied."""
    if len(message) + 2 < width:
        return [f"  {message}"]
    lines = [" "]
    for word in message.split():
        if len(lines[-1]) + len(word) + 1 > width - 2 and lines[-1] != " ":
            lines.append(" ")
        lines[-1] += f" {word}"
    return lines


def summed_up(report: Report, paint: Paint, *, tell_skipped: bool = False) -> str:
    """One line about the whole run; none where nothing could be read, which is said beside the report."""
    if report.problems and not report.files:
        return ""
    counts = summary(report)
    files = _count(counts["files"], "file")
    if report.findings:
        parts = [_count(counts[f"{each}s"], each) for each in ("error", "warning") if counts[f"{each}s"]]
        parts += [f"{counts['infos']} info"] if counts["infos"] else []
        worst = "error" if counts["errors"] else "warning" if counts["warnings"] else "info"
        said = f"{paint(worst, ', '.join(parts))} in {files}"
    else:
        said = f"{paint('good', 'no findings')} in {files}"
    more = []
    if counts["fixable"]:
        more.append(f"{counts['fixable']} fixable with --fix")
    if counts["suppressed"]:
        more.append(f"{counts['suppressed']} suppressed")
    if counts["baselined"]:
        more.append(f"{counts['baselined']} in the baseline")
    if counts["unparsed"]:
        more.append(f"{_count(counts['unparsed'], 'file')} with broken syntax, otherwise unchecked")
    if counts["unfollowed"]:
        places = _count(counts["unfollowed"], "place")
        more.append(f"{places} in the source not followed, and not judged (--show-unknown)")
    if counts["unknown"]:
        more.append(f"{_count(counts['unknown'], 'value')} could not be read, and nothing was said of them")
    if tell_skipped and counts["skipped"]:
        more.append(f"{_count(counts['skipped'], 'rule')} about the account skipped")
    return said + (f" ({'; '.join(more)})" if more else "")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
