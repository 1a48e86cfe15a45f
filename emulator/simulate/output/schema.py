"""JSON Schema (2020-12) of what `cfq-emulator simulate --format json` prints; published in `schemas/simulation.schema.json`.

Names come from where they are counted, ranges of settings from where they are read. Units stand in the descriptions.
"""

from __future__ import annotations

import json
from typing import Any

from emulator.engine.ledger.tally import Operations
from emulator.simulate.output.report import BATCHED, CONSUMER, EXACT, METHODS, TOTALS, VERSION
from emulator.simulate.output.sweep_table import MEASURES
from emulator.simulate.output.text import LABELS, SEEN
from emulator.simulate.scenario import BATCH, MESSAGE
from emulator.simulate.settings import KEYS, LOADS
from emulator.simulate.tally import FLOWS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_SETTINGS = {
    "max_batch_size": "messages in a batch, at most",
    "max_batch_timeout": "seconds that a message waits for its batch to fill, at most",
    "max_retries": "deliveries of a message after its first, at most",
    "retry_delay": "seconds between a failure and its retry",
    "max_concurrency": "batches at a time, at most; null: Cloudflare decides",
    "delivery_delay": "seconds between sending and the first delivery, at least",
    "message_retention_period": "seconds until a message is deleted",
}


def text() -> str:
    """The schema as it stands in the repository."""
    return json.dumps(schema(), indent=2) + "\n"


def schema() -> dict[str, Any]:
    """One run, runs side by side, or a sweep: whichever a command printed."""
    return {
        "$schema": DIALECT,
        "title": "Report of cfq-emulator simulate --format json",
        "description": "One run; runs side by side (--compare, --compare-set); or a sweep (--sweep). Times are virtual, and "
        "moments are seconds from the start of the run.",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in ("run", "comparison", "sweep")],
        "$defs": {
            "run": _run(),
            "comparison": _object({"version": {"const": VERSION}, "runs": _list({"$ref": "#/$defs/run"}, least=2)}),
            "sweep": _object(
                {
                    "version": {"const": VERSION},
                    "label": _text("the file, and what was changed for every run"),
                    "load": {"$ref": "#/$defs/load", "description": "of the first run, where the load itself is swept"},
                    "sweep": _list(_row(), least=1),
                }
            ),
            "load": _load(),
            "queue": _queue(),
        },
    }


def _run() -> dict[str, Any]:
    cost = {
        "operations": _count("billed operations of the run"),
        "operations_a_day": _count("billed operations, extrapolated to a day"),
        "operations_a_month": _count("billed operations, extrapolated to 30 days"),
        "month_usd": _maybe(_amount("US dollars for them on the Paid plan; null on the Free plan")),
    }
    fields = {
        "version": {"const": VERSION},
        "label": _text("the file, and what was changed"),
        "method": {"enum": list(METHODS)},
        "approximation": _text("what the method is, in a sentence"),
        "load": {"$ref": "#/$defs/load"},
        "findings": _list(_text("a sentence about a queue or the plan")),
        "cost": _object(cost),
        "queues": _list({"$ref": "#/$defs/queue"}, least=1),
    }
    check = {
        "slice_seconds": _amount("seconds of the load that were run twice"),
        "outages": _count("outages within them"),
        "recovered": _count("recoveries from an outage within them, in all queues"),
        "largest_difference": _amount("of a total, as a share of the emulator's"),
        "totals": _list(
            _object(
                {
                    "queue": _text("its name"),
                    "total": {"enum": list(TOTALS)},
                    EXACT: _count("on the emulator"),
                    BATCHED: _count("by count"),
                }
            )
        ),
    }
    made = _object(fields, optional={"check": _object(check)})
    return {**made, "dependentSchemas": {"check": {"properties": {"method": {"const": BATCHED}}}}}


def _load() -> dict[str, Any]:
    outage = {"start_seconds": _amount("seconds"), "duration_seconds": _amount("seconds", more=True)}
    return _object(
        {
            "rate_per_second": _amount("messages a second, sent to every loaded queue", more=True),
            "duration_seconds": _amount("seconds for which is sent", more=True),
            "outages": _list(_object(outage)),
            "failure": {**_SHARE, "description": "share of deliveries that fail outside of outages"},
            "dead_letter_failure": {**_SHARE, "description": "share of deliveries that fail in dead-letter queues"},
            "failure_mode": {"enum": [BATCH, MESSAGE], "description": "what is retried"},
            "processing_seconds": _amount("seconds that a batch takes"),
            "processing_per_message_seconds": _amount("seconds more for each message in it"),
            "size_bytes": _count("bytes of a message"),
            "seed": {"type": "integer", "description": "which deliveries fail hangs on it"},
            "plan": {"enum": ["free", "paid"]},
            "drain": {"type": "boolean", "description": "whether the run went on until nothing was due"},
        }
    )


def _queue() -> dict[str, Any]:
    flows = {flow: _list(_count(LABELS[flow])) for flow in FLOWS}
    series = {
        "seconds": _list(_amount("seconds")),
        "backlog": _list(_count("messages in the queue")),
        "oldest_seconds": _list(_amount("seconds since the oldest of them came")),
        "backlog_max": _list(_count("messages in the queue at the most since the row before, looked at whenever a batch ends")),
        "oldest_seconds_max": _list(_amount("seconds: the highest age of the oldest message since the row before")),
        **{name: {**rows, "description": "so far"} for name, rows in flows.items()},
    }
    outage = {
        "start_seconds": _amount("seconds"),
        "end_seconds": _amount("seconds"),
        "backlog_before": _count("messages in the queue when it began"),
        "recovered_after_seconds": _maybe(_amount("seconds from its end until the backlog was back; null: it was not")),
    }
    measured = {
        "window": _text("how long, and until when"),
        **{name: _count(f"{LABELS[name]}, as the account counted") for name in SEEN},
        "operations": _count("billed operations, as the account counted"),
        "backlog_max": _maybe(_amount("messages in the queue: the highest average of an hour")),
        "failure": {**_SHARE, "description": "share of deliveries that failed outside of outages"},
        "size_bytes": _count("bytes of a message, on average"),
        "processing_seconds": _maybe(_amount("seconds that an invocation of the Worker took, on average")),
    }
    tries = {"type": "object", "patternProperties": {"^[1-9][0-9]*$": _count("messages")}, "additionalProperties": False}
    return _object(
        {
            "name": _text("of the queue"),
            "loaded": {"type": "boolean", "description": "whether the load is sent to it; else it gets dead letters"},
            "consumer": {**_maybe(_object(_consumer())), "description": "null: nobody consumes it"},
            **{name: _setting(name) for name, key in KEYS.items() if key.of_queue},
            "totals": {**_object({name: _count(LABELS[name]) for name in TOTALS}), "description": "of the whole run"},
            "retries_by_attempt": {**tries, "description": "messages by the number of their retry, from 1"},
            "operations": _object({name: _count("billed operations") for name in (*Operations._fields, "total")}),
            "slots_max": {**_count("batches at a time that the autoscaler came to, at most"), "minimum": 1},
            "concurrency_max": _count("batches that were out at a time, at the most: the concurrency that was needed"),
            "backlog_max": _count("messages in the queue, at the most"),
            "backlog_mean": _amount("messages in the queue, on average"),
            "oldest_seconds_max": _amount("seconds: the highest age of the oldest message"),
            "end_seconds": _amount("seconds at which the run ended", more=True),
            "outages": _list(_object(outage)),
            "series": {**_object(series), "description": "the course of the run: columns of one table, all of one length"},
        },
        optional={"measured": {**_object(measured), "description": "what the account measured: with --from-account"}},
    )


def _consumer() -> dict[str, Any]:
    return {name: _setting(name) if name in KEYS else _maybe(_text("a queue; null: none")) for name in CONSUMER}


def _row() -> dict[str, Any]:
    """One run of a sweep."""
    settings = {name: _setting(name) for name in KEYS} | {name: _text("as on the command line") for name in LOADS}
    closed = {"type": "object", "properties": settings, "minProperties": 1, "additionalProperties": False}
    return _object(
        {
            "settings": {**closed, "description": "what is swept, as it is in this run"},
            **{name: _count(f"{LABELS[name]}: in all loaded queues") for name in ("sent", *MEASURES)},
            "concurrency_max": _count("batches of a loaded queue that were out at a time, at the most"),
            "backlog_max": _count("messages in a loaded queue, at the most"),
            "oldest_seconds_max": _amount("seconds: the highest age of the oldest message"),
            "recovered": _text("how long each outage was felt after its end, in words; empty without outages"),
            "recovered_seconds": _maybe(_amount("seconds: the longest of these; null: there is none, or one has no end")),
            "operations_a_month": _count("billed operations, extrapolated to 30 days, of all queues"),
            "month_usd": _maybe(_amount("US dollars for them on the Paid plan; null on the Free plan")),
        }
    )


def _setting(name: str) -> dict[str, Any]:
    key = KEYS[name]
    made = {"type": "integer", "minimum": key.low, "maximum": key.high, "description": _SETTINGS[name]}
    return _maybe(made) if key.auto else made


def _text(said: str) -> dict[str, Any]:
    return {"type": "string", "description": said}


def _count(said: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "description": said}


def _amount(said: str, *, more: bool = False) -> dict[str, Any]:
    """A number that is not below 0; `more`: above."""
    return {"type": "number", "exclusiveMinimum" if more else "minimum": 0, "description": said}


def _maybe(made: dict[str, Any]) -> dict[str, Any]:
    return {**made, "type": [made["type"], "null"]}


def _list(items: dict[str, Any], *, least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items} | ({"minItems": least} if least else {})


def _object(properties: dict[str, Any], *, optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these keys and no others. All of them are required but for those that may be left out."""
    known = {**properties, **(optional or {})}
    return {"type": "object", "required": list(properties), "properties": known, "additionalProperties": False}
