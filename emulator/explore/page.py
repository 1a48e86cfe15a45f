"""A page about a schedule that breaks something: the story, who had which message when, the replay, the test."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from emulator.engine.clock import moment
from emulator.engine.error_text import error_text
from emulator.explore.story import span

if TYPE_CHECKING:
    from emulator.explore.story import Told

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 960, 150, 24, 46, 34
_BAR_LEAST = 10
_GAP = 34
"""So far apart stand two moments at which something happened, however long it took."""

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6577; --line: #d5dae2; --paper: #ffffff; --bar: #3b82c4;
  --bad: #c4362b; --panel: #f5f7fa }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf2; --soft: #9aa5b8; --line: #38414f; --paper: #141922;
  --bar: #5aa2e0; --bad: #ff7b6e; --panel: #1c232e } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem }
h1 { font-size: 1.4rem; margin-bottom: .2rem } h2 { font-size: 1.05rem; margin-top: 2rem }
p.sub { color: var(--soft); margin-top: 0 }
ol { padding-left: 1.6rem } li { margin: .2rem 0 } li.fault { color: var(--bad); font-weight: 600 } li.end { font-weight: 600 }
pre { background: var(--panel); padding: .8rem 1rem; overflow-x: auto; font-size: .85rem; border-radius: 6px }
svg { width: 100%; height: auto } svg text { font: 13px system-ui, sans-serif; fill: var(--ink) }
svg .soft { fill: var(--soft); font-size: 11px } svg line { stroke: var(--line) } svg .bar { fill: var(--bar) }
svg .failed { fill: none; stroke: var(--bar); stroke-width: 2; stroke-dasharray: 4 3 } svg .fault { fill: var(--bad) }
svg .count { fill: #fff; font-size: 11px; font-weight: 700 } table { border-collapse: collapse; font-size: .9rem }
td, th { text-align: left; padding: .15rem 1rem .15rem 0 } td + td, th + th { text-align: right }
"""


def page(found: Any) -> str:
    """What was found (Found) as HTML: one file, nothing outside of it."""
    title = error_text(found.error).partition("\n")[0]
    lines = found.story.splitlines()
    marked = {entry.text for entry in found.told.entries if entry.fault}
    items = []
    for number, line in enumerate(lines, 1):
        text = line.partition(". ")[2] or line
        kind = ' class="end"' if number == len(lines) else ' class="fault"' if text in marked else ""
        items.append(f"<li{kind}>{escape(text)}</li>")
    kinds = sorted({**found.covered.points, **found.covered.tried})
    points, tried = found.covered.points, found.covered.tried
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{points.get(name, 0)}</td><td>{tried.get(name, 0):,}</td></tr>" for name in kinds
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head><body>\n'
        f'<h1>{escape(title)}</h1>\n<p class="sub">{escape(found.summary)}</p>\n'
        f"<h2>What happens</h2>\n<ol>{''.join(items)}</ol>\n<h2>Who has which message when</h2>\n{drawing(found.told)}\n"
        f"<h2>Again</h2>\n<pre>replay={escape(repr(found.replay))}</pre>\n<pre>{escape(found.test())}</pre>\n"
        "<h2>What was tried until then</h2>\n<table><tr><th>choice</th><th>in the ordinary course</th><th>tried</th></tr>"
        f"{rows}</table>\n</body></html>\n"
    )


def drawing(told: Told) -> str:
    """An SVG: a row for each message, a bar for each delivery, a mark where chance had a hand in it. Time is not to scale."""
    names = list(told.names)
    moments = sorted(
        {at for flight in told.flights for at in flight[:2] if at is not None}
        | {entry.at_us for entry in told.entries if entry.fault}
    )
    if not names or not moments:
        return ""
    step = min(120.0, (_WIDTH - _LEFT - _RIGHT - _GAP) / max(1, len(moments) - 1))
    places = {at: _LEFT + step * number for number, at in enumerate(moments)}
    height = _TOP + _ROW * len(names) + 10
    parts = [f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="deliveries of each message over time">']
    parts += _axis(moments, places, height)
    for row, id in enumerate(names):
        middle = _TOP + _ROW * row + _ROW / 2
        parts.append(f'<text x="0" y="{middle + 4:.0f}">{escape(told.name(id)[:20])}</text>')
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{middle:.0f}" y2="{middle:.0f}"/>')
        parts += _bars(told, id, places, middle)
        parts += _faults(told, id, places, middle)
    return "".join([*parts, "</svg>"])


def _axis(moments: list[int], places: dict[int, float], height: int) -> list[str]:
    parts, last, written = [], moments[0], -100.0
    for at in moments:
        x = places[at]
        parts.append(f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{_TOP - 8}" y2="{height - 10}" stroke-dasharray="2 4"/>')
        seconds = (at - last) // 1_000_000
        said = f"{moment(at):%H:%M:%S}" if at == moments[0] else f"+{span(seconds).removeprefix('a ')}" if seconds else ""
        if said and x - written > 8 * len(said):
            parts.append(f'<text class="soft" x="{x:.0f}" y="14">{escape(said)}</text>')
            written = x
        last = at
    return parts


def _bars(told: Told, id: str, places: dict[int, float], middle: float) -> list[str]:
    parts, attempt = [], 0
    for left_us, ended_us, ids, outcome in told.flights:
        if id not in ids:
            continue
        attempt += 1
        x = places[left_us]
        width = max(_BAR_LEAST * 2, places.get(ended_us or left_us, x) - x)
        kind = "bar" if outcome == "ok" else "failed"
        said = f"delivery {attempt}: {outcome or 'still out'}"
        parts.append(
            f'<rect class="{kind}" x="{x:.0f}" y="{middle - 9:.0f}" width="{width:.0f}" height="18" rx="4">'
            f"<title>{escape(said)}</title></rect>"
        )
        style = "count" if outcome == "ok" else "soft"
        parts.append(f'<text class="{style}" x="{x + 6:.0f}" y="{middle + 4:.0f}">{attempt}</text>')
    return parts


def _faults(told: Told, id: str, places: dict[int, float], middle: float) -> list[str]:
    parts = []
    for entry in told.entries:
        if entry.fault and id in entry.ids:
            x = places[entry.at_us] + _BAR_LEAST
            parts.append(
                f'<path class="fault" d="M{x - 6:.0f} {middle - 20:.0f} h12 l-6 10 z">'
                f"<title>{escape(entry.text)}</title></path>"
            )
    return parts
