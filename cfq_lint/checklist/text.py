"""The acceptance list for people at a terminal."""

from __future__ import annotations

from cfq_lint.checklist.model import CODE, FAIL, MECHANISM, NOT_ASKED, OPERATION, PASS, UNKNOWN
from cfq_lint.drawing.colour import Paint
from cfq_lint.drawing.lines import printable, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.checklist.model import Answer, Checklist, Item

WIDTH_MIN = 40
CODE_LINES_MAX = 3
"""So many places in the source are shown for a queue and an item; the rest is counted."""
_STYLES = {PASS: "good", FAIL: "error", UNKNOWN: "warning", NOT_ASKED: "dim"}
_SHOWN = {PASS: "pass", FAIL: "FAIL", UNKNOWN: "unknown", NOT_ASKED: "not asked"}
_HEADS = {
    MECHANISM: "How it works: files and sources show most of it",
    OPERATION: "How it runs: somebody has to say how it is",
}
_VERDICT_WIDTH = 8
_CELLS = {PASS: "ok", FAIL: "FAIL", UNKNOWN: "?", NOT_ASKED: "-"}
_CELL_WIDTH = 5
_NAME_MIN = 12


def render(checklist: Checklist, *, colour: bool = False, width: int = 100) -> str:
    """The sum, a matrix of queues and items, then each item with its queues, what they rest on and what to do.

    All is wrapped to `width` columns.
    """
    paint = Paint(colour=colour)
    width = max(width, WIDTH_MIN)
    lines = [*_summed_up(checklist, paint, width), "", *_matrix(checklist, paint, width)]
    for kind, head in _HEADS.items():
        lines += [paint("bold", line) for line in wrapped(head, width, "")]
        for item in checklist.items:
            if item.kind == kind:
                lines += ["", *_item(item, paint, width)]
        lines.append("")
    lines += [
        line for path in checklist.passed_over for line in wrapped(f"{path} is not what is deployed", width, "passed over: ")
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _matrix(checklist: Checklist, paint: Paint, width: int) -> list[str]:
    """A row for each queue and a column for each item, which is named below; names that are too long are cut off."""
    if not checklist.queues:
        return []
    columns = len(checklist.items)
    cell = _CELL_WIDTH if width >= _NAME_MIN + _CELL_WIDTH * columns else 2
    room = min(width - cell * columns, max(map(len, checklist.queues)) + 2)
    heads = "".join(f"{item.number:>{cell}}" for item in checklist.items)
    lines = [paint("dim", " " * room + heads)]
    for queue, verdicts in checklist.matrix:
        shown = [f"{_CELLS[each] if cell > 2 else _CELLS[each][0]:>{cell}}" for each in verdicts]  # noqa: PLR2004 - a letter
        cells = "".join(paint(_STYLES[each], text) for each, text in zip(verdicts, shown, strict=True))
        name = printable(queue)
        lines.append((name if len(name) < room else name[: room - 2] + "…").ljust(room) + cells)
    titles = ", ".join(f"{item.number} {item.title.lower()}" for item in checklist.items)
    signs = f"{_CELLS[UNKNOWN]} unknown, {_CELLS[NOT_ASKED]} not asked"
    return [*lines, *(paint("dim", line) for line in wrapped(f"{titles}; {signs}", width, "")), ""]


def _item(item: Item, paint: Paint, width: int) -> list[str]:
    verdict = paint(_STYLES[item.verdict], f"{_SHOWN[item.verdict]:<{_VERDICT_WIDTH}}")
    lines = [f"{item.number:>2}  {verdict}{paint('bold', item.title)}"]
    lines += [paint("dim", line) for line in wrapped(item.criterion, width, "    ")]
    for answer in item.answers:
        lines += _answer(answer, paint, width)
    return lines


def _answer(answer: Answer, paint: Paint, width: int) -> list[str]:
    if answer.verdict == NOT_ASKED:
        return [paint("dim", line) for line in wrapped(f"{answer.queue}: not asked, {answer.said}", width, "    ", "      ")]
    shown = paint(_STYLES[answer.verdict], _SHOWN[answer.verdict])
    lines = [f"    {printable(answer.queue)}: {shown}"]
    lines += wrapped(answer.said, width, "      ")
    left_out = [each for each in answer.evidence if each.kind == CODE][CODE_LINES_MAX:]
    for each in answer.evidence:
        if any(each is one for one in left_out):
            continue
        kind = f"      {each.kind:<9} "
        head, *rest = wrapped(f"{each.where}: {each.text}", width, kind)
        lines += [paint("dim", kind) + head[len(kind) :], *rest]
    if left_out:
        lines.append(f"      {CODE:<9} and {len(left_out)} more: --format json shows all")
    for todo in answer.todo:
        head, *rest = wrapped(todo, width, "      > ")
        lines += [f"      {paint('info', '>')} {head[8:]}", *rest]
    return lines


def _summed_up(checklist: Checklist, paint: Paint, width: int) -> list[str]:
    parts = []
    for verdict in (PASS, FAIL, UNKNOWN):
        count = checklist.count(verdict)
        parts.append(paint(_STYLES[verdict], f"{count} {verdict}") if count else f"{count} {verdict}")
    files, queues = len(checklist.files), len(checklist.queues)
    said = f"{queues} queue{'' if queues == 1 else 's'} in {files} file{'' if files == 1 else 's'}"
    lines = [f"{', '.join(parts)} ({said})"]
    if not checklist.queues:
        lines += wrapped("no file names a queue, so nothing is known", width, "")
    return lines
