"""Plots as inline SVG: lines over time, outages shaded, drawn here so that the page needs no script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WIDTH, _HEIGHT = 720, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 12, 30
_TICKS = 4


class Curve(NamedTuple):
    """A line: its name, the class that colours it, and its points."""

    name: str
    style: str
    xs: Sequence[float]
    ys: Sequence[float]


def nice(top: float) -> float:
    """A round number that is not smaller."""
    if top <= 0:
        return 1.0
    power = 10.0 ** len(str(int(top))) / 10 if top >= 1 else 10.0 ** -(len(f"{1 / top:.0f}"))
    return next(power * factor for factor in (1, 1.5, 2, 3, 4, 5, 6, 8, 10, 20) if power * factor >= top)


def plot(
    title: str,
    curves: list[Curve],
    *,
    shaded: Sequence[tuple[float, float]] = (),
    x_text: Callable[[float], str],
    y_text: Callable[[float], str],
    x_ticks: Sequence[float],
    dots: bool = False,
) -> str:
    """One plot, with a title and a description for those who do not see it."""
    xs = [x for curve in curves for x in curve.xs]
    low, high = min(xs), max(xs)
    high = high if high > low else low + 1
    top = nice(max((y for curve in curves for y in curve.ys), default=0))

    def at(x: float, y: float) -> tuple[float, float]:
        across = _LEFT + (x - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)
        return round(across, 1), round(_HEIGHT - _BOTTOM - y / top * (_HEIGHT - _TOP - _BOTTOM), 1)

    said = "; ".join(f"{curve.name or title} up to {y_text(max(curve.ys, default=0))}" for curve in curves)
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}: {escape(said)}">']
    parts.append(f"<title>{escape(title)}: {escape(said)}</title>")
    for start, end in shaded:
        (left, _), (right, _) = at(start, 0), at(end, 0)
        height = _HEIGHT - _TOP - _BOTTOM
        parts.append(f'<rect class="outage" x="{left}" y="{_TOP}" width="{max(1.5, right - left):.1f}" height="{height}"/>')
    for k in range(_TICKS + 1):
        _, y = at(low, top * k / _TICKS)
        parts.append(f'<path class="grid" d="M{_LEFT} {y}H{_WIDTH - _RIGHT}"/>')
        parts.append(f'<text class="y" x="{_LEFT - 7}" y="{y + 4}">{escape(y_text(top * k / _TICKS))}</text>')
    for x in x_ticks:
        across, base = at(x, 0)
        parts.append(f'<text class="x" x="{across}" y="{base + 19}">{escape(x_text(x))}</text>')
    for curve in curves:
        points = [at(x, y) for x, y in zip(curve.xs, curve.ys, strict=False)]
        parts.append(f'<polyline class="line {curve.style}" points="{" ".join(f"{x},{y}" for x, y in points)}"/>')
        if dots:
            parts += [f'<circle class="dot {curve.style}" cx="{x}" cy="{y}" r="3.5"/>' for x, y in points]
    return "".join([*parts, "</svg>"])


def time_unit(seconds: float) -> tuple[float, str]:
    """The unit in which spans up to so many seconds are read best."""
    return next(
        (each for each in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")) if seconds >= 2 * each[0]), (0.001, "ms")
    )


def time_ticks(seconds: float, count: int = 6) -> list[float]:
    """Round moments from 0 to the end."""
    for step in (1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 14_400, 21_600, 43_200, 86_400):
        if seconds / step <= count:
            return [float(k * step) for k in range(int(seconds // step) + 1)]
    step = 86_400 * (int(seconds // (86_400 * count)) + 1)
    return [float(k * step) for k in range(int(seconds // step) + 1)]
