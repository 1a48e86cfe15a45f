"""The report for a terminal: totals, small plots and sentences, in as many columns as there are."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from cfq_lint.facts import limits
from emulator.engine.ledger.table import table
from emulator.simulate.output.findings import percent
from emulator.simulate.units import compact, rate_text, span

if TYPE_CHECKING:
    from collections.abc import Callable

_BARS = "▁▂▃▄▅▆▇█"
_PLOT_MAX, _TWO_COLUMNS, _RETRIES_MAX = 72, 76, 12
BOLD, RED, DIM, CYAN = "1", "31", "2", "36"
LABELS = {
    "sent": "sent", "refused": "refused (429)", "delivered": "deliveries", "batches": "batches",
    "failed_batches": "batches that threw", "acked": "acknowledged", "retried": "retried",
    "dead_lettered": "dead-lettered", "dropped": "deleted after retries",
    "expired": "expired", "duplicates": "done twice", "waiting": "waiting at the end",
}  # fmt: skip
SEEN = ("sent", "delivered", "acked", "dead_lettered", "dropped")
"""What the account counts, too."""
UNRECOVERED = "not within the run"
LOSSES = {"dead_lettered", "dropped", "expired", "refused"}


def painter(colour: bool) -> Callable[[str, str], str]:
    """How to write a text in a colour; as it is without."""
    return (lambda text, code: f"\x1b[{code}m{text}\x1b[0m") if colour else (lambda text, _code: text)


def text(report: dict[str, Any], *, width: int = 80, colour: bool = False) -> str:
    """The whole report."""
    paint = painter(colour)
    lines = [*(paint(line, BOLD) for line in _wrap(report["label"], width)), *_wrap(load_line(report), width), ""]
    for line in report["findings"]:
        first, *rest = _wrap(f"* {line}", width, "  ")
        name, colon, after = first.partition(": ")
        lines += [paint(name, BOLD) + colon + after if colon else first, *rest]
    for queue in report["queues"]:
        lines += ["", paint(queue["name"], BOLD), *_wrap(settings_line(queue), width), *_totals(queue, width, paint)]
        lines += _measured(queue, width)
        lines += _plots(queue, width, paint)
        lines += _retries(queue, width)
    lines += ["", *_wrap(f"Method: {report['method']}. {report['approximation']}", width)]
    if "check" in report:
        lines += _wrap(check_line(report["check"]), width)
    return "\n".join(lines) + "\n"


def load_line(report: dict[str, Any]) -> str:
    """The load in one sentence."""
    load = report["load"]
    windows = [queue["measured"]["window"] for queue in report["queues"] if "measured" in queue]
    parts = [f"{rate_text(load['rate_per_second'])} for {span(load['duration_seconds'] * 1e6)}"]
    if windows:
        sent = sum(queue["totals"]["sent"] for queue in report["queues"] if queue["loaded"])
        parts = [f"what the account measured in {windows[0]}, hour by hour: {sent:,} messages"]
    parts += [f"{span(o['duration_seconds'] * 1e6)} outage at {span(o['start_seconds'] * 1e6)}" for o in load["outages"]]
    parts.append(f"{percent(load['failure']) if load['failure'] else 0} of deliveries fail")
    each = load["processing_per_message_seconds"]
    more = f" and {span(each * 1e6)} a message" if each else ""
    parts.append(f"a batch takes {span(load['processing_seconds'] * 1e6)}{more}")
    failing = "the handler throws, the batch is retried" if load["failure_mode"] == "batch" else "only the message is retried"
    parts.append(f"on a failure {failing}")
    parts.append(f"{load['size_bytes']:,} bytes a message, {load['plan']} plan, seed {load['seed']}")
    return "; ".join(parts) + "."


def settings_line(queue: dict[str, Any]) -> str:
    """The settings of a queue in one line."""
    consumer = queue["consumer"]
    if consumer is None:
        return "no consumer"
    shown = [f"{name} {'auto' if value is None else value}" for name, value in consumer.items() if name != "dead_letter_queue"]
    return ", ".join([*shown, f"dead letters to {consumer['dead_letter_queue'] or 'nowhere'}"])


def check_line(check: dict[str, Any]) -> str:
    """What the check of the slice came to."""
    count = check["outages"]
    inside = f" with {count} outage{'s' if count > 1 else ''}, shortened like every delay" if count else ""
    said = f"Checked on {span(check['slice_seconds'] * 1e6)} of this load{inside}, on the emulator: "
    if not check["largest_difference"]:
        return f"{said}every total is the same."
    return f"{said}the largest difference of a total is {percent(check['largest_difference'])}."


def _wrap(line: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


def _totals(queue: dict[str, Any], width: int, paint: Callable[[str, str], str]) -> list[str]:
    cells = []
    facts = [(LABELS[name], f"{value:,}", name in LOSSES) for name, value in queue["totals"].items() if value or name == "sent"]
    facts.append(("operations", f"{queue['operations']['total']:,}", False))
    if queue["consumer"] is not None:
        facts.append(("batches at a time", at_a_time(queue), False))
    facts.append(("largest backlog", f"{queue['backlog_max']:,}", False))
    facts.append(("oldest message", span(queue["oldest_seconds_max"] * 1e6), False))
    for outage in queue["outages"]:
        took = outage["recovered_after_seconds"]
        facts.append(("recovered after", "not within the run" if took is None else span(took * 1e6), took is None))
    for label, value, bad in facts:
        cell = f"{label:<21} {value:>13}"
        cells.append(paint(cell, RED) if bad else cell)
    columns = 2 if width >= _TWO_COLUMNS else 1
    rows = -(-len(cells) // columns)
    return ["  " + "    ".join(cells[row::rows]) for row in range(rows)]


def _measured(queue: dict[str, Any], width: int) -> list[str]:
    """What the account measured, to be held against the run."""
    known = queue.get("measured")
    if known is None:
        return []
    parts = [f"{LABELS[name]} {known[name]:,}" for name in SEEN if known[name] or name == "sent"]
    parts.append(f"operations {known['operations']:,}")
    if known["backlog_max"] is not None:
        parts.append(f"largest backlog of an hour {known['backlog_max']:,.0f}")
    said = f"measured: {', '.join(parts)}; {percent(known['failure'])} of deliveries failed outside of outages"
    took = known["processing_seconds"]
    said += f"; {known['size_bytes']:,} bytes a message" + ("" if took is None else f", {span(took * 1e6)} an invocation")
    return ["  " + line for line in _wrap(said, width - 2, "  ")]


def at_a_time(queue: dict[str, Any]) -> str:
    """The concurrency that was needed, of that which there may be."""
    return f"{queue['concurrency_max']} of {queue['consumer']['max_concurrency'] or limits.CONCURRENCY_MAX}"


def sparkline(values: list[float], width: int) -> str:
    """A row of bars, each the largest of its share of the values."""
    width = min(width, len(values))
    top = max(values, default=0)
    if not top:
        return _BARS[0] * width
    found = []
    for k in range(width):
        part = values[k * len(values) // width : max(k * len(values) // width + 1, (k + 1) * len(values) // width)]
        found.append(_BARS[min(len(_BARS) - 1, round(max(part) / top * (len(_BARS) - 1)))])
    return "".join(found)


def changes(series: dict[str, list[float]], name: str) -> list[float]:
    """How fast a count grew, a second, from row to row."""
    moments, counts = series["seconds"], series[name]
    return [
        (counts[k + 1] - counts[k]) / (moments[k + 1] - moments[k]) if moments[k + 1] > moments[k] else 0.0
        for k in range(len(moments) - 1)
    ]


def _plots(queue: dict[str, Any], width: int, paint: Callable[[str, str], str]) -> list[str]:
    series = queue["series"]
    room = min(_PLOT_MAX, width - 30)
    kinds = [("backlog", series["backlog_max"], compact), ("oldest", series["oldest_seconds_max"], lambda v: span(v * 1e6))]
    kinds += [("deliveries/s", changes(series, "delivered"), compact), ("retries/s", changes(series, "retried"), compact)]
    lost = [
        sum(values) for values in zip(*(changes(series, name) for name in ("dead_lettered", "dropped", "expired")), strict=True)
    ]
    kinds.append(("lost/s", lost, compact))
    return [
        f"  {label:<13}{paint(sparkline(values, room), RED if label == 'lost/s' else CYAN)} up to {shown(max(values))}"
        for label, values, shown in kinds
        if any(values)
    ]


def _retries(queue: dict[str, Any], width: int) -> list[str]:
    counts = queue["retries_by_attempt"]
    if not counts:
        return []
    shown = [f"{n}: {compact(count)}" for n, count in counts.items()]
    if len(shown) > _RETRIES_MAX:
        shown = [*shown[:6], "…", *shown[-3:]]
    return ["  " + line for line in _wrap("retries by number: " + ", ".join(shown), width - 2, "  ")]


def beside(reports: list[dict[str, Any]], *, width: int = 80, colour: bool = False) -> str:
    """Two or more reports with the same load, side by side; before them what the account measured, where that is the load."""
    paint = painter(colour)
    lines = [*_wrap(load_line(reports[0]), width), ""]
    names = list(dict.fromkeys(queue["name"] for report in reports for queue in report["queues"]))
    heads = [f"[{chr(65 + k)}]" for k in range(len(reports))]
    lines += [line for head, report in zip(heads, reports, strict=True) for line in _wrap(f"{head} {report['label']}", width)]
    for name in names:
        queues = [next((q for q in report["queues"] if q["name"] == name), None) for report in reports]
        more, rows = with_measured(queues)
        lines += ["", paint(name, BOLD), table(("", *more, *heads), rows)]
    costs = [[f"{r['cost']['operations_a_month']:,}", money(r["cost"]["month_usd"])] for r in reports]
    lines += [
        "",
        paint("a month", BOLD),
        table(("", *heads), [("operations", *(c[0] for c in costs)), ("USD", *(c[1] for c in costs))]),
    ]
    for head, report in zip(heads, reports, strict=True):
        lines += ["", *(line for said in report["findings"] for line in _wrap(f"{head} {said}", width, "    "))]
    return "\n".join(lines) + "\n"


def money(usd: float | None) -> str:
    """A month's price; the Free plan has none."""
    return "-" if usd is None else f"{usd:,.2f}"


def comparison(queues: list[dict[str, Any] | None]) -> list[tuple[str, list[str]]]:
    """One queue in several reports: settings that differ, then every total that somebody has."""
    rows: list[tuple[str, list[str]]] = []
    own = ("message_retention_period", "delivery_delay")
    settings = [{} if queue is None else {**(queue["consumer"] or {}), **{k: queue[k] for k in own}} for queue in queues]
    for name in dict.fromkeys(key for each in settings for key in each):
        values = [each.get(name, "-") for each in settings]
        if len(set(map(str, values))) > 1:
            rows.append((name, ["auto" if value is None else str(value) for value in values]))
    for name, label in LABELS.items():
        values = [None if queue is None else queue["totals"][name] for queue in queues]
        if any(values):
            rows.append((label, ["-" if value is None else f"{value:,}" for value in values]))
    if any(queue is not None and queue["consumer"] for queue in queues):
        rows.append(
            ("batches at a time", ["-" if queue is None or not queue["consumer"] else at_a_time(queue) for queue in queues])
        )
    rows.append(("largest backlog", ["-" if queue is None else f"{queue['backlog_max']:,}" for queue in queues]))
    rows.append(("oldest message", ["-" if queue is None else span(queue["oldest_seconds_max"] * 1e6) for queue in queues]))
    rows.append(("recovered after", ["-" if queue is None else recovery(queue) for queue in queues]))
    return rows if any(queue is not None and queue["outages"] for queue in queues) else rows[:-1]


def with_measured(queues: list[dict[str, Any] | None]) -> tuple[list[str], list[list[str]]]:
    """The rows of `comparison`, first what the account measured where that is the load; and that column's head."""
    rows = [[label, *cells] for label, cells in comparison(queues)]
    known = next((queue["measured"] for queue in queues if queue is not None and "measured" in queue), None)
    if known is None:
        return [], rows
    first = {LABELS[name]: f"{known[name]:,}" for name in SEEN}
    if known["backlog_max"] is not None:
        first["largest backlog"] = f"{known['backlog_max']:,.0f} (an hour)"
    return ["measured"], [[row[0], first.get(row[0], ""), *row[1:]] for row in rows]


def recovery(queue: dict[str, Any]) -> str:
    """How long each outage was felt."""
    took = [outage["recovered_after_seconds"] for outage in queue["outages"]]
    return ", ".join(UNRECOVERED if each is None else span(each * 1e6) for each in took) or "-"
