"""A sweep as a table: what was set, and what came of it, summed over the queues to which the load is sent."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.engine.ledger.table import table
from emulator.simulate.output.text import UNRECOVERED, load_line, money, recovery
from emulator.simulate.settings import LOADS
from emulator.simulate.units import compact, span

if TYPE_CHECKING:
    from collections.abc import Iterable

MEASURES = {
    "delivered": "deliveries", "retried": "retries", "dead_lettered": "dead letters", "dropped": "deleted",
    "expired": "expired", "duplicates": "done twice", "waiting": "waiting",
}  # fmt: skip
SHORT = {
    "max_batch_size": "size", "max_batch_timeout": "timeout", "max_retries": "retries", "retry_delay": "delay",
    "max_concurrency": "slots", "delivery_delay": "delayed", "message_retention_period": "kept", "processing": "takes",
    "deliveries": "deliv.", "retries": "retried", "dead letters": "dead", "done twice": "twice", "waiting": "left",
    "recovered": "recov.", "at a time": "busy", "operations/month": "ops/mo", "USD/month": "USD/mo",
}  # fmt: skip
"""Heads for a terminal that has no room for whole words."""
_OPERATIONS, _USD, _BUSY = "operations/month", "USD/month", "at a time"


class Column(NamedTuple):
    """A column in whole words and in few letters (`3.6M`, `12min`): its heads, and a cell for each run."""

    head: str
    short: str
    cells: list[str]
    brief: list[str]


def row(settings: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """One run in short."""
    loaded = [queue for queue in report["queues"] if queue["loaded"]]
    sums = {name: sum(queue["totals"][name] for queue in loaded) for name in ("sent", *MEASURES)}
    recovered = [outage["recovered_after_seconds"] for queue in loaded for outage in queue["outages"]]
    return {
        "settings": settings,
        **sums,
        "concurrency_max": max(queue["concurrency_max"] for queue in loaded),
        "backlog_max": max(queue["backlog_max"] for queue in loaded),
        "oldest_seconds_max": max(queue["oldest_seconds_max"] for queue in loaded),
        "recovered": ", ".join(recovery(queue) for queue in loaded if queue["outages"]),
        "recovered_seconds": None if None in recovered or not recovered else max(recovered),
        "operations_a_month": report["cost"]["operations_a_month"],
        "month_usd": report["cost"]["month_usd"],
    }


def columns(rows: list[dict[str, Any]]) -> list[Column]:
    """What is swept, then what differs or happened in any run, then what it costs."""
    found = []
    for key in rows[0]["settings"]:
        values = ["auto" if each["settings"][key] is None else str(each["settings"][key]) for each in rows]
        found.append(Column(key, SHORT.get(key, key), values, values))
    counted = {"sent": "sent"} if len({each["sent"] for each in rows}) > 1 else {}
    counted |= {name: label for name, label in MEASURES.items() if any(each[name] for each in rows)}
    found += [_counts(label, [each[name] for each in rows]) for name, label in counted.items()]
    found.append(_counts(_BUSY, [each["concurrency_max"] for each in rows]))
    found.append(_counts("backlog", [each["backlog_max"] for each in rows]))
    found.append(_words("oldest", [span(each["oldest_seconds_max"] * 1e6) for each in rows]))
    if any(each["recovered"] for each in rows):
        found.append(_words("recovered", [each["recovered"] for each in rows]))
    found.append(_counts(_OPERATIONS, [each["operations_a_month"] for each in rows]))
    prices = [each["month_usd"] for each in rows]
    if None not in prices:
        found.append(Column(_USD, SHORT[_USD], [money(usd) for usd in prices], [compact(usd) for usd in prices]))
    return found


def _counts(head: str, values: list[int]) -> Column:
    return Column(head, SHORT.get(head, head), [f"{value:,}" for value in values], [compact(value) for value in values])


def _words(head: str, values: list[str]) -> Column:
    brief = [value.replace(UNRECOVERED, "never").replace(" ", "") for value in values]
    return Column(head, SHORT.get(head, head), values, brief)


def cells(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Heads and cells of the columns, in whole words."""
    found = columns(rows)
    return [column.head for column in found], _lines(column.cells for column in found)


def _lines(found: Iterable[list[str]]) -> list[list[str]]:
    return [list(line) for line in zip(*found, strict=True)]


def about(rows: list[dict[str, Any]], report: dict[str, Any]) -> str:
    """The load in sentences, with what of it is another one in each run."""
    said = [load_line(report)]
    swept = [key for key in rows[0]["settings"] if key in LOADS]
    if swept:
        said.append(f"Each run has its own {', '.join(swept)}; here stands the first run's.")
    sent = {each["sent"] for each in rows}
    if len(sent) == 1:
        said.append(f"{sent.pop():,} messages are sent in each run.")
    return " ".join(said)


def text(rows: list[dict[str, Any]], report: dict[str, Any], width: int = 80) -> str:
    """A table where there is room, one in short words where there is less, else a block for each run.

    The concurrency, and operations that have a price, are left out of a table first.
    """
    head = "\n".join(textwrap.wrap(report["label"], width) + textwrap.wrap(about(rows, report), width)) + "\n\n"
    every = columns(rows)
    fewer = [column for column in every if column.head != _BUSY]
    fewest = [column for column in fewer if column.head != _OPERATIONS or every[-1].head != _USD]
    choices = (every, fewer, fewest)
    drawn = [table([column.head for column in some], _lines(column.cells for column in some)) for some in choices]
    drawn += [table([column.short for column in some], _lines(column.brief for column in some)) for some in choices]
    for each in drawn:
        if max(map(len, each.splitlines())) <= width:
            return head + each + "\n"
    return head + _blocks(every, width) + "\n"


def _blocks(found: list[Column], width: int) -> str:
    """One run below the other: a line for each column, more for what is longer than that."""
    heads = max(len(column.head) for column in found) + 2
    blocks = []
    for line in _lines(column.cells for column in found):
        lines = []
        for column, value in zip(found, line, strict=True):
            first, *rest = textwrap.wrap(value, width - heads) or [""]
            lines += [column.head.ljust(heads) + first, *(" " * heads + more for more in rest)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def as_dict(rows: Iterable[dict[str, Any]], report: dict[str, Any]) -> dict[str, Any]:
    """A sweep for machines."""
    return {"version": report["version"], "label": report["label"], "load": report["load"], "sweep": list(rows)}
