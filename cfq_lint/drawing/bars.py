"""Bars as inline SVG: numbers that are compared, drawn here so that a page needs no script."""

from __future__ import annotations

from cfq_lint.drawing.page import escaped
from cfq_lint.facts.record import record

_WIDTH, _ROW, _BAR, _LABELS, _VALUES = 720, 26, 16, 190, 220
_LABEL_MAX = 28
_SEEN_MIN = 0.2
"""Narrower parts are not drawn; the text says them."""


@record
class Bar:
    """One row: its label, the value in words, and its parts, each a number and the class that colours it."""

    label: str
    shown: str
    parts: tuple[tuple[float, str], ...]

    @property
    def total(self) -> float:
        """All parts together."""
        return sum(number for number, _ in self.parts)


def bars(title: str, rows: tuple[Bar, ...]) -> str:
    """A figure: a row for each, all on one scale from 0, the value beside it. The numbers stand in its text as well."""
    most = max((row.total for row in rows), default=0.0) or 1.0
    room = _WIDTH - _LABELS - _VALUES
    said = "; ".join(f"{row.label}: {row.shown}" for row in rows)
    height = _ROW * len(rows)
    drawn = [f'<svg class="chart" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escaped(f"{title}. {said}")}">']
    for number, row in enumerate(rows):
        top = number * _ROW
        middle = top + _ROW / 2 + 4.5
        label = row.label if len(row.label) <= _LABEL_MAX else row.label[: _LABEL_MAX - 1] + "…"
        drawn.append(f'<text class="label" x="{_LABELS - 8}" y="{middle}">{escaped(label)}</text>')
        left = float(_LABELS)
        for value, style in row.parts:
            wide = value / most * room
            if wide >= _SEEN_MIN:
                drawn.append(
                    f'<rect class="{style}" x="{left:.1f}" y="{top + (_ROW - _BAR) / 2:g}" width="{max(wide, 1):.1f}"'
                    f' height="{_BAR}"/>'
                )
            left += wide
        drawn.append(f'<text class="value" x="{left + 8:.1f}" y="{middle}">{escaped(row.shown)}</text>')
    return f"<figure><figcaption>{escaped(title)}</figcaption>{''.join(drawn)}</svg></figure>"


def legend(entries: tuple[tuple[str, str], ...]) -> str:
    """What the colours mean: a class and a text each."""
    keys = "".join(f'<li><span class="key {style}"></span>{escaped(text)}</li>' for style, text in entries)
    return f'<ul class="legend">{keys}</ul>'
