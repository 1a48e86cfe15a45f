"""JSON Schemas (2020-12) made from the code: the queues block of a wrangler file, our settings, our reports; and the limits."""

from __future__ import annotations

import json

from cfq_lint.checklist.model import FAIL, KINDS, MECHANISM, OPERATION, PASS, UNKNOWN, VERDICTS
from cfq_lint.facts import limits
from cfq_lint.facts.keys import BOOLEAN, CONSUMER_KEYS, INTEGER, PRODUCER_KEYS, Key
from cfq_lint.model.account_facts import FREE, PAID
from cfq_lint.model.finding import Severity
from cfq_lint.report import pages
from cfq_lint.report.deploy import FAILS, GOES_THROUGH
from cfq_lint.report.deploy import UNKNOWN as UNKNOWN_DEPLOY

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
    counts = (
        "files",
        "errors",
        "warnings",
        "infos",
        "fixable",
        "suppressed",
        "baselined",
        "unparsed",
        "problems",
        "skipped",
        "unknown",
        "unfollowed",
    )
    fix = _object({"title": _TEXT, "safe": {"type": "boolean"}, "edits": _list(_object({**place, "text": _TEXT}))})
    finding = {
        "code": {"type": "string", "pattern": "^CFQ[0-9]{3}$"},
        "name": _TEXT,
        "severity": {"enum": [severity.value for severity in Severity]},
        "message": _TEXT,
        **place,
        "url": _TEXT,
        "environment": {"type": ["string", "null"], "description": "null is the top level"},
        "address": {"type": ["string", "null"], "description": "of the resource, in a Terraform plan"},
        "fix": {"anyOf": [fix, {"type": "null"}]},
        "related": _list(_object({**place, "message": _TEXT})),
    }
    deploy = {
        "verdict": {"enum": [FAILS, GOES_THROUGH, UNKNOWN_DEPLOY]},
        "said": {"type": "string", "description": "the first line of the text"},
        "stopped_by": _list(_object({"code": _TEXT, **place})),
        "changes": {"type": "array", "items": _TEXT, "description": "of the account's queues; empty where it is not known"},
    }
    whole = _object(
        {
            "version": {"const": 1},
            "summary": _object({name: {"type": "integer", "minimum": 0} for name in counts}),
            "findings": _list(_object(finding)),
            "problems": _list(_TEXT),
        }
    )
    whole["properties"]["deploy"] = {**_object(deploy), "description": "of an audit alone"}
    return {
        "$schema": DIALECT,
        "title": "Report of cfq-lint check --format json, and of cfq-lint audit --format json",
        "description": "A field is only ever added within a version.",
        **whole,
    }


def checklist() -> dict[str, Any]:
    """What `cfq-lint audit --checklist --format json` prints."""
    evidence = {"kind": {"enum": list(KINDS)}, "where": _TEXT, "text": _TEXT}
    answer = {
        "queue": {"type": "string", "description": "with its environment in brackets, where it is not the top level"},
        "verdict": {"enum": list(VERDICTS)},
        "said": _TEXT,
        "evidence": _list(_object(evidence)),
        "todo": {"type": "array", "items": _TEXT, "description": "how to find out, or what to mend"},
    }
    item = {
        "number": {"type": "integer", "minimum": 1, "maximum": 10},
        "name": _TEXT,
        "title": _TEXT,
        "criterion": _TEXT,
        "kind": {"enum": [MECHANISM, OPERATION]},
        "verdict": {"enum": [PASS, FAIL, UNKNOWN]},
        "url": _TEXT,
        "answers": _list(_object(answer)),
    }
    counts = (PASS, FAIL, UNKNOWN, "queues", "files", "problems")
    verdicts = {"type": "object", "additionalProperties": {"enum": list(VERDICTS)}}
    return {
        "$schema": DIALECT,
        "title": "Acceptance list of cfq-lint audit --checklist --format json",
        "description": "A field is only ever added within a version.",
        **_object(
            {
                "version": {"const": 1},
                "summary": _object(dict.fromkeys(counts, _COUNT)),
                "matrix": {
                    **_list(_object({"queue": _TEXT, "verdicts": verdicts})),
                    "description": "a row for each queue, with its verdict by the item's name",
                },
                "items": _list(_object(item)),
                "passed_over": _list(_TEXT),
                "problems": _list(_TEXT),
            }
        ),
    }


def estimate() -> dict[str, Any]:
    """What `cfq-lint audit --estimate --format json` prints."""
    retries = {
        **dict.fromkeys(("max_retries", "deliveries", "poisoned_reads", "horizon_seconds"), _COUNT),
        "outlasts_retention": _TRUTH,
        **dict.fromkeys(("poisoned_operations_a_month", "poisoned_usd_a_month"), _MAYBE_AMOUNT),
    }
    months = (
        "messages",
        "operations",
        "writes",
        "reads",
        "deletes",
        "dead_letters",
        "dead_letter_operations",
        "usd_beyond_included",
    )
    concurrency = {
        **dict.fromkeys(("batch_messages", "invocations_per_second", "invocation_seconds", "needed", "rate_at_limit"), _AMOUNT),
        "limit": _COUNT,
        "limit_source": _TEXT,
        "is_enough": _TRUTH,
    }
    loads = ("rate_per_second", "message_size_bytes", "failure_share", "processing_seconds", "processing_message_seconds")
    queue = {
        "queue": _TEXT,
        "consumed": {**_TRUTH, "description": "false where certainly nobody consumes it: then nothing is read or retried"},
        "settings": {
            "type": "object",
            "additionalProperties": _object({"value": {"type": ["integer", "null"]}, "source": _TEXT}),
        },
        "dead_letter_queue": {"type": ["string", "null"]},
        "declared": _object(dict.fromkeys(loads, _MAYBE_AMOUNT)),
        "missing": _list(_TEXT),
        "retention_seconds": _COUNT,
        "retention_source": _TEXT,
        "operations_each_time": _COUNT,
        "as_set": _object(retries),
        "retries": _list(_object(retries)),
        "poisoned_batch_reads": _COUNT,
        "operations_a_message": _AMOUNT,
        "month": {"anyOf": [_object(dict.fromkeys(months, _AMOUNT)), {"type": "null"}]},
        "free_plan": _object({"messages_a_day": _COUNT, "operations_a_day": _MAYBE_AMOUNT}),
        "concurrency": {"anyOf": [_object(concurrency), {"type": "null"}]},
        "invocations_by_batch_size": _list(_object({"max_batch_size": _COUNT, "per_second": _AMOUNT})),
        "notes": _list(_TEXT),
    }
    totals = dict.fromkeys(("operations_a_month", "usd_a_month", "operations_a_day"), _MAYBE_AMOUNT)
    return {
        "$schema": DIALECT,
        "title": "Estimate of cfq-lint audit --estimate --format json",
        "description": "A field is only ever added within a version. null is what nobody declared.",
        **_object(
            {
                "version": {"const": 1},
                "plan": {"enum": [FREE, PAID, None]},
                "total": _object({**totals, "complete": _TRUTH}),
                "queues": _list(_object(queue)),
                "passed_over": _list(_TEXT),
                "problems": _list(_TEXT),
            }
        ),
    }


_TEXT = {"type": "string"}
_TRUTH = {"type": "boolean"}
_COUNT = {"type": "integer", "minimum": 0}
_AMOUNT = {"type": "number", "minimum": 0}
_MAYBE_AMOUNT = {"type": ["number", "null"], "minimum": 0}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def settings() -> dict[str, Any]:
    """`cfq-lint.toml`, or `[tool.cfq-lint]` in pyproject.toml."""
    from cfq_lint.run.settings import Settings  # loads pydantic

    return {"$schema": DIALECT, **Settings.model_json_schema(by_alias=True)}


def facts() -> dict[str, Any]:
    """A snapshot of the account, for `--facts`."""
    from cfq_lint.model.facts_file import Snapshot  # loads pydantic

    return {"$schema": DIALECT, **Snapshot.model_json_schema()}


def _text(make: Callable[[], dict[str, Any]]) -> Callable[[], str]:
    return lambda: json.dumps(make(), indent=2) + "\n"


SCHEMAS: dict[str, tuple[str, Callable[[], str]]] = {
    "limits": ("limits.json", pages.limits_as_json),
    "wrangler-queues": ("wrangler-queues.schema.json", _text(wrangler_queues)),
    "settings": ("settings.schema.json", _text(settings)),
    "facts": ("facts.schema.json", _text(facts)),
    "report": ("report.schema.json", _text(report)),
    "checklist": ("checklist.schema.json", _text(checklist)),
    "estimate": ("estimate.schema.json", _text(estimate)),
}
"""By name: the file below `schemas/`, and what makes its text."""


def as_text(name: str) -> str:
    """The text of a schema. Raises KeyError for a name that SCHEMAS does not have."""
    return SCHEMAS[name][1]()
