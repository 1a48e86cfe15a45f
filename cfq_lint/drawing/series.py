"""Values over time as inline SVG: an area on one scale from 0, broken where nothing is known."""

from __future__ import annotations

from cfq_lint.drawing.page import escaped
from cfq_lint.facts.quantities import number
from cfq_lint.facts.record import record

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 480, 150, 64, 12, 24
_ROOM_WIDE, _ROOM_HIGH = _WIDTH - _LEFT - 8, _HEIGHT - _TOP - _BOTTOM
_LABELS_MAX = 7


@record
class Series:
    """A line of values, each with its place on the axis, 0 up to `length`; in order. `style` is the class that colours it."""

    title: str
    unit: str
    values: tuple[tuple[int, float], ...]
    length: int
    style: str


def series(drawn: Series, marks: tuple[tuple[int, str], ...]) -> str:
    """A figure. `marks` are places on the axis with their labels; the highest and the last value stand in its text as well."""
    most = max((value for _, value in drawn.values), default=0.0)
    said = f"{drawn.title}. Highest {number(most)} {drawn.unit}, last {number(drawn.values[-1][1]) if drawn.values else 'none'}"
    floor = _TOP + _ROOM_HIGH
    lines = [f'<svg class="chart series" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escaped(said)}">']
    for share in (0.0, 0.5, 1.0):
        y = floor - share * _ROOM_HIGH
        lines.append(f'<line class="grid" x1="{_LEFT}" y1="{y:g}" x2="{_WIDTH - 8}" y2="{y:g}"/>')
        lines.append(f'<text class="label" x="{_LEFT - 6}" y="{y + 4:g}">{escaped(number(most * share))}</text>')
    step = -(-len(marks) // _LABELS_MAX) or 1
    for place, label in marks[::step]:
        lines.append(f'<text class="tick" x="{_x(place, drawn.length):.1f}" y="{_HEIGHT - 6}">{escaped(label)}</text>')
    for part in _unbroken(drawn.values):
        points = [(x, floor - value / (most or 1.0) * _ROOM_HIGH) for place, value in part for x in _edges(place, drawn.length)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        ends = f"{points[0][0]:.1f},{floor} {path} {points[-1][0]:.1f},{floor}"
        lines.append(f'<polygon class="{drawn.style} area" points="{ends}"/>')
        lines.append(f'<polyline class="{drawn.style} stroke" points="{path}"/>')
    caption = f"{drawn.title}, {drawn.unit}"
    return f"<figure><figcaption>{escaped(caption)}</figcaption>{''.join(lines)}</svg></figure>"


def _x(place: float, length: int) -> float:
    return _LEFT + place / length * _ROOM_WIDE


def _edges(place: int, length: int) -> tuple[float, float]:
    """Where a value begins and ends: it holds for its whole step."""
    return _x(place, length), _x(place + 1, length)


def _unbroken(values: tuple[tuple[int, float], ...]) -> list[list[tuple[int, float]]]:
    """The values in parts without a gap."""
    parts: list[list[tuple[int, float]]] = []
    for place, value in values:
        if not parts or parts[-1][-1][0] + 1 != place:
            parts.append([])
        parts[-1].append((place, value))
    return parts
