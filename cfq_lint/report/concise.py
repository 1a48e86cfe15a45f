"""One line a finding, for grep and problem matchers."""

from __future__ import annotations

from cfq_lint.drawing.colour import Paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.run.engine import Report


def render(report: Report, *, colour: bool = False, width: int = 0, tell_skipped: bool = False) -> str:
    """`path:line:column: severity CODE name: message`, a line each; nothing for a clean run, whatever the width."""
    del width, tell_skipped
    paint = Paint(colour=colour)
    return "".join(
        f"{paint('bold', f'{f.path}:{f.line}:{f.column}:')} {paint(f.severity, f.severity)} {f.code} {f.name}: {f.message}\n"
        for f in report.findings
    )
