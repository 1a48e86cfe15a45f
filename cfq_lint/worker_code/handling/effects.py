"""What calls do, as far as names tell: reads, logs, tidying up, and work that is certainly left to run on its own."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.lowering.steps import Call

_READS = frozenset(
    {
        *(
            "get",
            "getWithMetadata",
            "first",
            "all",
            "raw",
            "list",
            "head",
            "has",
            "json",
            "text",
            "arrayBuffer",
            "formData",
            "blob",
        ),
        *(
            "sleep",
            "wait",
            "select",
            "find",
            "findFirst",
            "findOne",
            "findUnique",
            "query",
            "metrics",
            "parse",
            "to_py",
            "bytes",
        ),
        *("digest", "sign", "verify", "importKey", "match", "get_with_metadata", "array_buffer"),
    }
)
_READS_BY_PREFIX = re.compile(
    r"(?:get|find|load|read|fetch|parse|validate|decode|decrypt|verify|check|is|has|list|count|lookup|resolve|select)[A-Z_]"
)
_TELLS = frozenset(
    {
        *(
            "console",
            "logger",
            "logging",
            "print",
            "metrics",
            "analytics",
            "telemetry",
            "sentry",
            "tracer",
            "span",
            "trace",
            "track",
        ),
        *("captureException", "captureMessage", "writeDataPoint", "setTimeout", "debug", "warn", "warning"),
    }
)
_TIDIES = frozenset({"disconnect", "$disconnect", "close", "aclose", "end", "quit", "dispose"})
_WRITES_SQL = re.compile(r"\b(?:insert|update|delete|replace|merge|upsert)\b", re.IGNORECASE)
_PROMISES = frozenset({"put", "run", "send", "sendBatch", "fetch", "delete", "create", "batch", "exec"})
_SYNCHRONOUS = frozenset(
    {"execute", "executemany", "insert", "save", "write", "charge", "post", "insert_one", "upsert", "commit"}
)


def tells_only(call: Call) -> bool:
    """Whether a call logs or measures."""
    return any(part in _TELLS or part.lower().startswith("log") for part in call.chain)


def writes_sql(call: Call) -> bool:
    """Whether SQL that changes something stands in a call."""
    return _WRITES_SQL.search(call.text) is not None


def is_work(call: Call, *, is_python: bool) -> bool:
    """Whether a call may have a side effect, and is done when the next step begins."""
    if tells_only(call) or call.name in _TIDIES or (_reads(call.name) and not writes_sql(call)):
        return False
    return call.awaited or (is_python and call.name in _SYNCHRONOUS and "env" not in call.chain)


def _reads(name: str) -> bool:
    return name in _READS or name in {"validate", "decode", "parseAsync"} or _READS_BY_PREFIX.match(name) is not None


def is_left_alone(call: Call) -> bool:
    """Whether a call starts work on a binding, and nobody waits for it here."""
    return not call.awaited and "env" in call.chain and call.name in _PROMISES
