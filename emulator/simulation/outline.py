"""A sweep as a table: what was set, and what came of it, summed over the queues to which the load is sent."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from emulator.history import table
from emulator.simulation.text import load_line, money, recovery
from emulator.simulation.units import compact, span

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
    "recovered": "recov.", "USD/month": "USD/mo",
}  # fmt: skip
"""Heads for a terminal that has no room for whole words."""


def row(settings: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """One run in short."""
    loaded = [queue for queue in report["queues"] if queue["loaded"]]
    sums = {name: sum(queue["totals"][name] for queue in loaded) for name in ("sent", *MEASURES)}
    recovered = [outage["recovered_after_seconds"] for queue in loaded for outage in queue["outages"]]
    return {
        "settings": settings,
        **sums,
        "backlog_max": max(queue["backlog_max"] for queue in loaded),
        "oldest_seconds_max": max(queue["oldest_seconds_max"] for queue in loaded),
        "recovered": ", ".join(recovery(queue) for queue in loaded if queue["outages"]),
        "recovered_seconds": None if None in recovered or not recovered else max(recovered),
        "operations_a_month": report["cost"]["operations_a_month"],
        "month_usd": report["cost"]["month_usd"],
    }


def cells(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Heads and cells of the columns in which anything happened."""
    keys = list(rows[0]["settings"])
    measures = [name for name in MEASURES if any(each[name] for each in rows)]
    heads = [*keys, *(MEASURES[name] for name in measures), "backlog", "oldest"]
    outages = any(each["recovered"] for each in rows)
    heads += ["recovered"] if outages else []
    heads.append("USD/month")
    body = []
    for each in rows:
        line = ["auto" if each["settings"][key] is None else str(each["settings"][key]) for key in keys]
        line += [f"{each[name]:,}" for name in measures]
        line += [f"{each['backlog_max']:,}", span(each["oldest_seconds_max"] * 1e6)]
        line += [each["recovered"]] if outages else []
        body.append([*line, money(each["month_usd"])])
    return heads, body


def text(rows: list[dict[str, Any]], report: dict[str, Any], width: int = 80) -> str:
    """A table where there is room, one in short words where there is less, else a block for each run."""
    heads, body = cells(rows)
    head = "\n".join(textwrap.wrap(report["label"], width) + textwrap.wrap(load_line(report["load"]), width)) + "\n\n"
    drawn = table(heads, body)
    if _fits(drawn, width):
        return head + drawn + "\n"
    brief = table([SHORT.get(name, name) for name in heads], brief_cells(rows))
    if _fits(brief, width):
        return head + brief + "\n"
    blocks = ["\n".join(f"{name:<16} {value}" for name, value in zip(heads, line, strict=True)) for line in body]
    return head + "\n\n".join(blocks) + "\n"


def brief_cells(rows: list[dict[str, Any]]) -> list[list[str]]:
    """The cells in few letters: `3.6M`, `12min`."""
    heads, body = cells(rows)
    measures = [name for name in MEASURES if any(each[name] for each in rows)]
    keys = len(rows[0]["settings"])
    found = []
    for each, line in zip(rows, body, strict=True):
        short = [*line[:keys], *(compact(each[name]) for name in measures), compact(each["backlog_max"])]
        short.append(line[len(short)].replace(" ", ""))
        if "recovered" in heads:
            short.append("never" if line[-2].startswith("not") else line[-2].replace(" ", ""))
        found.append([*short, "-" if each["month_usd"] is None else f"{each['month_usd']:,.0f}"])
    return found


def _fits(drawn: str, width: int) -> bool:
    return max(map(len, drawn.splitlines())) <= width


def as_dict(rows: Iterable[dict[str, Any]], report: dict[str, Any]) -> dict[str, Any]:
    """A sweep for machines."""
    return {"version": report["version"], "label": report["label"], "load": report["load"], "sweep": list(rows)}
