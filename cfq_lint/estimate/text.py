"""The estimate for people at a terminal."""

from __future__ import annotations

from cfq_lint.drawing.colour import Paint
from cfq_lint.drawing.lines import printable, wrapped
from cfq_lint.estimate.rows import TABLE_HEADS, rows, table, table_note, total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.estimate.model import Estimate, QueueEstimate

WIDTH_MIN = 40
_NAME_WIDTH = 14
_GAP = "  "


def render(estimate: Estimate, *, colour: bool = False, width: int = 100) -> str:
    """Each queue, and the bill of them all; wrapped to `width` columns."""
    paint = Paint(colour=colour)
    width = max(width, WIDTH_MIN)
    blocks = [_queue(queue, estimate.plan, paint, width) for queue in estimate.queues]
    lines = [line for block in blocks for line in (*block, "")]
    lines += [
        line for path in estimate.passed_over for line in wrapped(f"{path} is not what is deployed", width, "passed over: ")
    ]
    if not blocks:
        return "\n".join([*lines, *wrapped("no file names a queue, so there is nothing to estimate", width, "")]) + "\n"
    head, *rest = wrapped(total(estimate), width, f"{'all queues':<{_NAME_WIDTH + 2}}")
    return "\n".join([*lines, paint("bold", "all queues") + head[len("all queues") :], *rest]) + "\n"


def _queue(queue: QueueEstimate, plan: str | None, paint: Paint, width: int) -> list[str]:
    lines = [paint("bold", printable(queue.queue))]
    for name, said in rows(queue, plan):
        head, *rest = wrapped(said, width, f"  {name:<{_NAME_WIDTH}}")
        lines += [f"  {paint('dim', head[2 : 2 + _NAME_WIDTH])}{head[2 + _NAME_WIDTH :]}", *rest]
    lines += ["", *_table(queue, paint, width)] if queue.table else []
    for note in queue.notes:
        lines += [paint("warning", line) if not index else line for index, line in enumerate(wrapped(note, width, "  ! "))]
    for missing in queue.missing:
        lines += wrapped(f"declare {missing}", width, "  > ")
    return lines


def _table(queue: QueueEstimate, paint: Paint, width: int) -> list[str]:
    shown = [TABLE_HEADS, *table(queue)]
    if queue.as_set.poisoned_operations is None:
        shown = [row[:4] for row in shown]
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]))]
    if sum(widths) + len(_GAP) * len(widths) > width and len(widths) > 4:  # noqa: PLR2004 - the fifth says less than the sixth
        shown = [(*row[:4], row[5]) for row in shown]
        widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]))]
    lines = []
    for number, row in enumerate(shown):
        cells = [f"{cell:>{wide}}" for cell, wide in zip(row, widths, strict=True)]
        line = _GAP + _GAP.join(cells)
        lines.append(paint("dim", line) if not number else paint("bold", line) if "(now)" in row[0] else line)
    return [*lines, *(paint("dim", line) for line in wrapped(table_note(queue), width, "  "))]
