"""A repair as a unified diff, ready for `patch` and `git apply`."""

from __future__ import annotations

import difflib

from cfq_lint.drawing.colour import Paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.run.repair import Change

_STYLES = {"+": "good", "-": "error", "@": "info"}


def unified(change: Change, *, colour: bool) -> str:
    """The diff of one file."""
    paint = Paint(colour=colour)
    before = change.before.decode("utf-8", "replace").splitlines(keepends=True)
    after = change.after.decode("utf-8", "replace").splitlines(keepends=True)
    lines = []
    for line in difflib.unified_diff(before, after, f"a/{change.path}", f"b/{change.path}"):
        body = line.rstrip("\r\n")
        end = line[len(body) :]
        style = "bold" if line.startswith(("---", "+++")) else _STYLES.get(line[0])
        lines.append((paint(style, body) if style else body) + (end or "\n\\ No newline at end of file\n"))
    return "".join(lines)
