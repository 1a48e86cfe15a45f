"""JSON Schemas (2020-12) made from the code: the queues block of a wrangler file, our settings, our report; and the limits."""

from __future__ import annotations

import json

from cfq_lint import limits, pages
from cfq_lint.finding import Severity
from cfq_lint.keys import BOOLEAN, CONSUMER_KEYS, INTEGER, PRODUCER_KEYS, Key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NO_EFFECT = ("visibility_timeout_ms", "delivery_delay", "remote")
_QUEUE_NAMES = ("queue", "dead_letter_queue")
_IDENTIFIER = r"^[A-Za-z_$\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*$"


def wrangler_queues() -> dict[str, Any]:
    """The queues block, or a whole wrangler file that holds some: whichever an editor shows it."""
    name = {"type": "string", "pattern": limits.QUEUE_NAME_PATTERN, "minLength": 1, "maxLength": limits.QUEUE_NAME_LENGTH_MAX}
    with_queues = {"properties": {"queues": {"$ref": "#/$defs/queues"}}}
    return {
        "$schema": DIALECT,
        "title": "Cloudflare Queues in a wrangler file",
        "description": "The queues block as wrangler and Cloudflare's API accept it, or a wrangler file with its environments.",
        "if": {"anyOf": [{"required": [key]} for key in ("queues", "env", "previews", "name", "main", "compatibility_date")]},
        "then": {"$ref": "#/$defs/file"},
        "else": {"$ref": "#/$defs/queues"},
        "$defs": {
            "file": {
                "type": "object",
                "properties": {
                    "queues": {"$ref": "#/$defs/queues"},
                    "env": {"type": "object", "additionalProperties": with_queues},
                    "previews": with_queues,
                },
            },
            "queues": {
                "type": "object",
                "properties": {
                    "producers": {"type": "array", "items": {"$ref": "#/$defs/producer"}},
                    "consumers": {"type": "array", "items": {"$ref": "#/$defs/consumer"}},
                },
                "additionalProperties": False,
            },
            "producer": _entry(PRODUCER_KEYS, ["binding"]),
            "consumer": _entry(CONSUMER_KEYS, ["queue"]),
            "queueName": name,
        },
    }


def _entry(keys: dict[str, Key], required: list[str]) -> dict[str, Any]:
    properties = {key.name: _property(key) for key in keys.values()}
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


def _property(key: Key) -> dict[str, Any]:
    made: dict[str, Any] = {"description": f"{key.summary}. {key.page}"}
    if key.name in _QUEUE_NAMES:
        made["$ref"] = "#/$defs/queueName"
    elif key.type == INTEGER:
        made |= {"type": "integer", "minimum": key.minimum, "maximum": key.maximum}
        made |= {"default": key.default} if key.default is not None else {}
    elif key.type == BOOLEAN:
        made["type"] = "boolean"
    elif key.name == "type":
        made["const"] = "worker"
    else:
        made |= {"type": "string", "pattern": _IDENTIFIER}
    if key.name in _NO_EFFECT:
        made["deprecated"] = True
    return made


def report() -> dict[str, Any]:
    """What `cfq-lint check --format json` prints."""
    place = {
        "path": {"type": "string"},
        "line": {"type": "integer", "minimum": 1},
        "column": {"type": "integer", "minimum": 1, "description": "in code points"},
        "end_line": {"type": "integer", "minimum": 1},
        "end_column": {"type": "integer", "minimum": 1, "description": "exclusive"},
    }
    counts = ("files", "errors", "warnings", "infos", "fixable", "suppressed", "baselined", "unparsed", "problems", "skipped")
    fix = _object({"title": _TEXT, "safe": {"type": "boolean"}, "edits": _list(_object({**place, "text": _TEXT}))})
    finding = {
        "code": {"type": "string", "pattern": "^CFQ[0-9]{3}$"},
        "name": _TEXT,
        "severity": {"enum": [severity.value for severity in Severity]},
        "message": _TEXT,
        **place,
        "url": _TEXT,
        "environment": {"type": ["string", "null"], "description": "null is the top level"},
        "fix": {"anyOf": [fix, {"type": "null"}]},
        "related": _list(_object({**place, "message": _TEXT})),
    }
    return {
        "$schema": DIALECT,
        "title": "Report of cfq-lint check --format json",
        "description": "A field is only ever added within a version.",
        **_object(
            {
                "version": {"const": 1},
                "summary": _object({name: {"type": "integer", "minimum": 0} for name in counts}),
                "findings": _list(_object(finding)),
                "problems": _list(_TEXT),
            }
        ),
    }


_TEXT = {"type": "string"}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def settings() -> dict[str, Any]:
    """`cfq-lint.toml`, or `[tool.cfq-lint]` in pyproject.toml."""
    from cfq_lint.settings import Settings  # loads pydantic

    return {"$schema": DIALECT, **Settings.model_json_schema(by_alias=True)}


def facts() -> dict[str, Any]:
    """A snapshot of the account, for `--facts`."""
    from cfq_lint.snapshot import Snapshot  # loads pydantic

    return {"$schema": DIALECT, **Snapshot.model_json_schema()}


def _text(make: Callable[[], dict[str, Any]]) -> Callable[[], str]:
    return lambda: json.dumps(make(), indent=2) + "\n"


SCHEMAS: dict[str, tuple[str, Callable[[], str]]] = {
    "limits": ("limits.json", pages.limits_as_json),
    "wrangler-queues": ("wrangler-queues.schema.json", _text(wrangler_queues)),
    "settings": ("settings.schema.json", _text(settings)),
    "facts": ("facts.schema.json", _text(facts)),
    "report": ("report.schema.json", _text(report)),
}
"""By name: the file below `schemas/`, and what makes its text."""


def as_text(name: str) -> str:
    """The text of a schema. Raises KeyError for a name that SCHEMAS does not have."""
    return SCHEMAS[name][1]()
