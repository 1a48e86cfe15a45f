"""One HTML file for a run, a comparison or a sweep: plots, sentences, and the same numbers as tables. No script, no request."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from emulator.simulate.output.svg import Curve, plot, time_ticks, time_unit
from emulator.simulate.output.sweep_table import MEASURES, about, cells
from emulator.simulate.output.text import changes, check_line, load_line, money, with_measured
from emulator.simulate.units import compact, span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_STYLES = ("a", "b")
_SWEEP_STYLES = ("a", "b", "c", "d", "e", "f")
_ROWS_MAX = 49
_TICKS_MAX, _DOTS_MAX = 11, 30


@lru_cache(maxsize=1)
def _css() -> str:
    return (files("emulator.simulate.output") / "page.css").read_text(encoding="utf-8")


def page(reports: list[dict[str, Any]]) -> str:
    """The page of one run, or of two over each other."""
    first = reports[0]
    parts = [f"<h1>{escape(first['label'] if len(reports) == 1 else 'Two settings under one load')}</h1>"]
    parts.append(f'<p class="soft">{escape(load_line(first))}</p>')
    parts.append(_legend(reports))
    for report in reports:
        parts += [f"<h2>{escape(report['label'])}</h2>"] if len(reports) > 1 else []
        parts.append(f'<ul class="said">{"".join(f"<li>{escape(line)}</li>" for line in report["findings"])}</ul>')
    names = list(dict.fromkeys(queue["name"] for report in reports for queue in report["queues"]))
    for name in names:
        queues = [next((queue for queue in report["queues"] if queue["name"] == name), None) for report in reports]
        parts += [f"<h2>{escape(name)}</h2>", _plots(queues, reports), _totals(queues, reports), *_tables(queues, reports)]
    costs = [
        [report["label"], f"{report['cost']['operations_a_month']:,}", money(report["cost"]["month_usd"])] for report in reports
    ]
    parts += ["<h2>A month</h2>", _table("Cost of a month", ["settings", "operations", "USD"], costs)]
    parts.append(f'<p class="soft">{escape(first["approximation"])}</p>')
    if "check" in first:
        check = first["check"]
        parts.append(f'<p class="soft">{escape(check_line(check))}</p>')
        rows = [[row["queue"], row["total"], *(f"{row[k]:,}" for k in ("exact", "batched"))] for row in check["totals"]]
        heads = ["queue", "total", "emulator", "by count"]
        parts.append(_details("The check, total by total", _table("The check", heads, rows)))
    return _document(first["label"], parts)


def _sweep_plots(rows: list[dict[str, Any]]) -> str:
    """A plot of each measure over the first setting that is swept: a line for each choice of the others, if there are few.

    What is no number, as `auto` and a rate, stands where it comes in the sweep.
    """
    first, *others = rows[0]["settings"]
    values = list(dict.fromkeys(row["settings"][first] for row in rows))
    numbers = all(isinstance(value, int) for value in values)
    chosen = list(dict.fromkeys(tuple(row["settings"][key] for key in others) for row in rows))
    if len(rows) < 2 or len(chosen) > len(_SWEEP_STYLES):  # noqa: PLR2004 - a line has two ends
        return ""
    measures: dict[str, tuple[str, Callable[[float], str]]] = {name: (label, compact) for name, label in MEASURES.items()}
    measures |= {"concurrency_max": ("batches at a time", compact), "backlog_max": ("largest backlog", compact)}
    measures |= {"oldest_seconds_max": ("oldest message", _seconds), "recovered_seconds": ("recovered after", _seconds)}
    measures["month_usd"] = ("USD a month", compact)
    ticks = sorted(values) if numbers else list(range(len(values)))
    ticks = ticks if len(ticks) <= _TICKS_MAX else ticks[:: -(-len(ticks) // _TICKS_MAX)]
    figures = []
    for name, (label, shown) in measures.items():
        curves = []
        for choice, style in zip(chosen, _SWEEP_STYLES, strict=False):
            of = [row for row in rows if tuple(row["settings"][key] for key in others) == choice and row[name] is not None]
            xs = [row["settings"][first] if numbers else values.index(row["settings"][first]) for row in of]
            if of:
                curves.append(Curve(_choice(others, choice), style, xs, [row[name] for row in of]))
        if any(any(curve.ys) for curve in curves):
            title = f"{label} over {first}"
            lines, written = _in_unit(curves) if shown is _seconds else (curves, shown)
            drawn = plot(
                title,
                lines,
                x_text=lambda x: f"{x:g}" if numbers else _value(values[round(x)]),
                y_text=written,
                x_ticks=ticks,
                dots=len(rows) <= _DOTS_MAX * len(chosen),
            )
            figures.append(f"<figure><h2>{escape(title)}</h2>{drawn}</figure>")
    keys = zip(_SWEEP_STYLES, chosen, strict=False)
    legend = "".join(f'<li><span class="key {style}"></span>{escape(_choice(others, choice))}</li>' for style, choice in keys)
    return (f'<ul class="legend">{legend}</ul>' if others else "") + f'<div class="plots">{"".join(figures)}</div>'


def _choice(keys: list[str], values: tuple[Any, ...]) -> str:
    return ", ".join(f"{key} {_value(value)}" for key, value in zip(keys, values, strict=True))


def _value(value: Any) -> str:
    return "auto" if value is None else str(value)


def sweep_page(rows: list[dict[str, Any]], report: dict[str, Any]) -> str:
    """The page of a sweep: a plot of each measure over what is swept, and every run as a table."""
    heads, body = cells(rows)
    parts = [f"<h1>{escape(report['label'])}</h1>", f'<p class="soft">{escape(about(rows, report))}</p>']
    parts.append(_sweep_plots(rows))
    parts.append(_table("Every run", heads, body))
    return _document(report["label"], parts)


def _document(title: str, parts: list[str]) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)} - cfq-emulator simulate</title><style>{_css()}</style></head>\n"
        f"<body><main>{chr(10).join(part for part in parts if part)}</main></body></html>\n"
    )


def _legend(reports: list[dict[str, Any]]) -> str:
    keys = []
    if len(reports) > 1:
        keys += [f'<li><span class="key {_STYLES[k % 2]}"></span>{escape(r["label"])}</li>' for k, r in enumerate(reports)]
    if reports[0]["load"]["outages"]:
        keys.append('<li><span class="key o"></span>outage</li>')
    return f'<ul class="legend">{"".join(keys)}</ul>' if keys else ""


def _seconds(value: float) -> str:
    return span(value * 1e6)


def _in_unit(curves: list[Curve]) -> tuple[list[Curve], Callable[[float], str]]:
    """Curves of seconds in the unit that suits them."""
    each, name = time_unit(max(y for curve in curves for y in curve.ys))
    return [curve._replace(ys=[y / each for y in curve.ys]) for curve in curves], lambda value: f"{value:.3g} {name}"


def _plots(queues: Sequence[dict[str, Any] | None], reports: list[dict[str, Any]]) -> str:
    """Small plots of one queue: each has a curve for each report."""
    kinds: list[tuple[str, Callable[[dict[str, Any]], list[float]], Callable[[float], str]]] = [
        ("Backlog", lambda s: s["backlog_max"], compact),
        ("Age of the oldest message", lambda s: s["oldest_seconds_max"], _seconds),
        ("Deliveries a second", lambda s: changes(s, "delivered"), compact),
        ("Retries a second", lambda s: changes(s, "retried"), compact),
        ("Dead letters so far", lambda s: s["dead_lettered"], compact),
        ("Deleted after the last retry so far", lambda s: s["dropped"], compact),
        ("Expired so far", lambda s: s["expired"], compact),
    ]
    outages = [(o["start_seconds"], o["start_seconds"] + o["duration_seconds"]) for o in reports[0]["load"]["outages"]]
    figures = []
    for title, of, shown in kinds:
        curves = []
        for k, queue in enumerate(queues):
            if queue is not None:
                ys = of(queue["series"])
                name = reports[k]["label"] if len(reports) > 1 else ""
                curves.append(Curve(name, _STYLES[k % 2], queue["series"]["seconds"][-len(ys) :], ys))
        if curves and any(any(curve.ys) for curve in curves):
            end = max(curve.xs[-1] for curve in curves)
            if shown is _seconds:
                curves, shown = _in_unit(curves)  # noqa: PLW2901 - an axis in hours has round hours
            drawn = plot(title, curves, shaded=outages, x_text=_seconds, y_text=shown, x_ticks=time_ticks(end))
            figures.append(f"<figure><h3>{escape(title)}</h3>{drawn}</figure>")
    return f'<div class="plots">{"".join(figures)}</div>'


def _totals(queues: Sequence[dict[str, Any] | None], reports: list[dict[str, Any]]) -> str:
    more, rows = with_measured(list(queues))
    heads = ["what", *more, *(report["label"] if len(reports) > 1 else "total" for report in reports)]
    name = next(queue["name"] for queue in queues if queue is not None)
    return _table(f"Totals of {name}", heads, rows)


def _tables(queues: Sequence[dict[str, Any] | None], reports: list[dict[str, Any]]) -> list[str]:
    """What the plots show, as numbers, folded."""
    found = []
    for queue, report in zip(queues, reports, strict=True):
        if queue is None:
            continue
        series = queue["series"]
        step = -(-len(series["seconds"]) // _ROWS_MAX)
        names = [name for name in series if name != "seconds" and any(series[name])]
        picked = range(0, len(series["seconds"]), step)
        rows = [[_seconds(series["seconds"][k]), *(f"{series[name][k]:,.10g}" for name in names)] for k in picked]
        about = f" ({report['label']})" if len(reports) > 1 else ""
        table = _table(f"{queue['name']} over time{about}", ["after", *(name.replace("_", " ") for name in names)], rows)
        found.append(_details(f"{queue['name']} over time as numbers{about}", table))
        if queue["retries_by_attempt"]:
            tries = [[number, f"{count:,}"] for number, count in queue["retries_by_attempt"].items()]
            found.append(
                _details(
                    f"{queue['name']}: retries by number{about}",
                    _table(f"Retries of {queue['name']}{about}", ["retry", "messages"], tries),
                )
            )
    return found


def _details(title: str, inside: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"


def _table(label: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
