"""An audit for people: the verdict first, then errors before warnings, then what is only worth knowing, a line each."""

from __future__ import annotations

from cfq_lint.drawing.colour import Paint
from cfq_lint.drawing.lines import wrapped
from cfq_lint.model.finding import Severity
from cfq_lint.report.deploy import FAILS, GOES_THROUGH, UNKNOWN, subject
from cfq_lint.report.text import WIDTH_MIN, block, line, summed_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.report.deploy import Deploy
    from cfq_lint.run.engine import Report

_STYLES = {FAILS: "error", GOES_THROUGH: "good", UNKNOWN: "warning"}
_UNUSED = "CFQ915"


def render(report: Report, deploy: Deploy, *, colour: bool = False, width: int = 120) -> str:
    """The verdict is the first line, however long; what follows is wrapped to `width` columns, but for the infos."""
    paint = Paint(colour=colour)
    width = max(width, WIDTH_MIN)
    lines = [paint(_STYLES[deploy.verdict], deploy.said)]
    if deploy.verdict == FAILS and deploy.changes:
        lines += wrapped(f"repaired, it would change {'; '.join(deploy.changes)}", width, "  ")
    lines.append("")
    grave = [each for each in report.findings if each.severity is not Severity.INFO]
    lines += [block(each, paint, width) for each in sorted(grave, key=lambda each: -each.severity.rank)]
    infos = [each for each in report.findings if each.severity is Severity.INFO]
    unused = [subject(each) for each in infos if each.code == _UNUSED]
    said = [line(each, paint) for each in infos if each.code != _UNUSED or len(unused) == 1]
    if len(unused) > 1:
        where = f"{len(unused)} queues of the account have neither producer nor consumer"
        said.append(f"account: {paint('info', 'info')} {_UNUSED} queue-unused: {where}: {', '.join(unused)}")
    lines += [*said, ""] if said else []
    return "\n".join([*lines, summed_up(report, paint, tell_skipped=True)]) + "\n"
