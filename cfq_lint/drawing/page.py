"""The frame of a page: one file without scripts that asks nobody for anything, in light and dark, on paper and on a phone."""

from __future__ import annotations

import html
import re

from cfq_lint.drawing.lines import printable

_STYLE = """
:root { color-scheme: light dark; --page: #f4f6f9; --card: #fff; --text: #1a1f28; --soft: #545d6c; --line: #d3d8e0;
  --good: #19703a; --bad: #b3261e; --open: #8f5200; --link: #0b5cad; --well: #eef1f5; }
@media (prefers-color-scheme: dark) { :root { --page: #11141a; --card: #1a1f28; --text: #e8ebf1; --soft: #a7b1c1;
  --line: #343d4c; --good: #83dfa1; --bad: #ff9e96; --open: #ffc46b; --link: #86bcff; --well: #242b37; } }
* { box-sizing: border-box; }
html { font: 100%/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere; }
header, main, footer { max-width: 62rem; margin: 0 auto; padding: 1.25rem 1rem 0; }
footer { padding-bottom: 2rem; color: var(--soft); font-size: .875rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.125rem; line-height: 1.3; margin: 0 0 .25rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
p { margin: .25rem 0; } a { color: var(--link); }
code, .where { font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace; font-size: .8125rem; }
.soft { color: var(--soft); }
section, article { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem;
  margin: 0 0 1rem; }
.group { background: none; border: 0; padding: 0; margin: 1.5rem 0 0; } .group > h2 { margin-bottom: .75rem; }
.verdict { display: inline-block; white-space: nowrap; font-weight: 600; font-size: .875rem; border: 1px solid currentColor;
  border-radius: 999px; padding: 0 .625rem; }
.pass { color: var(--good); } .fail { color: var(--bad); } .unknown { color: var(--open); } .not-asked { color: var(--soft); }
.queue { border-top: 1px solid var(--line); margin-top: .75rem; padding-top: .75rem; }
.queue h4, h3.finding { margin: 0 0 .25rem; font-size: .9375rem; display: flex; flex-wrap: wrap;
  gap: .25rem .75rem; align-items: center; }
.head { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; justify-content: space-between; }
ul { margin: .375rem 0; padding-left: 1.25rem; } li { margin: .125rem 0; }
.kind { display: inline-block; min-width: 4.5rem; color: var(--soft); font-size: .8125rem; }
.todo { border-left: 4px solid var(--open); background: var(--well); border-radius: 0 6px 6px 0; padding: .5rem .75rem;
  margin: .5rem 0 0; }
.todo.fail-todo { border-color: var(--bad); }
.scroll { overflow-x: auto; } .scroll:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); font-size: .875rem; padding-bottom: .375rem; }
th, td { text-align: left; padding: .3125rem .75rem .3125rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child > * { border-bottom: 0; } tr > :last-child { padding-right: 0; }
thead th { font-size: .8125rem; color: var(--soft); vertical-align: bottom; }
td.number, th.number { text-align: right; white-space: nowrap; } th[scope=row] { font-weight: 500; overflow-wrap: normal; }
.wide th, .wide td { white-space: nowrap; } h3.title { margin: 0; }
tr.set > * { font-weight: 700; }
dl { display: grid; grid-template-columns: minmax(8rem, 15rem) 1fr; gap: .25rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); } dd { margin: 0; }
figure { margin: .75rem 0; } figcaption { color: var(--soft); font-size: .875rem; }
svg.chart { width: 100%; max-width: 45rem; height: auto; display: block; font-size: 13px; font-variant-numeric: tabular-nums; }
svg.chart text { fill: var(--text); } svg.chart .label { text-anchor: end; } svg.chart .value { fill: var(--soft); }
.chart .one { fill: #3b78c2; } .chart .two { fill: #1f9e89; } .chart .three { fill: #8a6fd1; } .chart .four { fill: #d0663b; }
.chart .set { fill: #3b78c2; } .chart .other { fill: #8f9bb0; } .chart .pass { fill: var(--good); }
.chart .fail { fill: var(--bad); } .chart .unknown { fill: var(--open); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 0 1rem; }
.chart .grid { stroke: var(--line); } svg.chart .tick { fill: var(--soft); text-anchor: middle; }
.chart .area { fill-opacity: .25; } .chart .stroke { fill: none; stroke-width: 1.5; }
.chart .one.stroke { stroke: #3b78c2; } .chart .two.stroke { stroke: #1f9e89; } .chart .three.stroke { stroke: #8a6fd1; }
.chart .four.stroke { stroke: #d0663b; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; font-size: .8125rem;
  color: var(--soft); }
.key { display: inline-block; width: .75rem; height: .75rem; border-radius: 2px; margin-right: .375rem; min-width: 0; }
.key.one { background: #3b78c2; } .key.two { background: #1f9e89; } .key.three { background: #8a6fd1; }
.key.four { background: #d0663b; }
.matrix td, .matrix th { text-align: center; padding: .3125rem .375rem; } .matrix th[scope=row] { text-align: left; }
@media (max-width: 34rem) { th, td { padding-right: .5rem; } section, article { padding: .75rem; }
  .verdict { padding: 0 .5rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
@media print { :root { --page: #fff; --card: #fff; --text: #000; --soft: #444; --line: #bbb; --good: #19703a; --bad: #b3261e;
  --open: #8f5200; --link: #000; --well: #fff; color-scheme: light; }
  section, article, .queue, figure { break-inside: avoid-page; } .group { break-inside: auto; } .scroll { overflow: visible; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def escaped(text: object) -> str:
    """A text as it may stand in a page, in an attribute too."""
    return html.escape(printable(str(text)))


def sentence(text: str) -> str:
    """A text as a sentence in a page; names of settings and functions stay as they are written."""
    begins_with_a_word = text.partition(" ")[0].rstrip(",;:").isalpha()
    return marked(text[:1].upper() + text[1:] if begins_with_a_word else text) + ("" if text.endswith(".") else ".")


def marked(text: str) -> str:
    """A text with what stands in backquotes set as code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped(text))


def page(title: str, lead: str, body: str, foot: str) -> str:
    """A whole page. `title` is a text; the others are HTML."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escaped(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{escaped(title)}</h1>\n{lead}\n</header>\n"
        f"<main>\n{body}\n</main>\n<footer>{foot}</footer>\n</body>\n</html>\n"
    )


def link(url: str, text: str) -> str:
    """A link to a page of Cloudflare's."""
    return f'<a href="{escaped(url)}" rel="noreferrer">{escaped(text)}</a>'
