"""What a call does, as far as its path and its texts tell: work, reading, parsing, telling, tidying up."""

from __future__ import annotations

import re
from functools import lru_cache

from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.ways.state import PARSE, PERHAPS, READ, TELL, TIDY, WORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.ways.marks import Mark
    from cfq_lint.worker_code.ways.values import Called

_TELLERS = re.compile(
    r"console|log|logger|logging|print|metrics?|analytics|telemetry|sentry|tracer?|span|posthog|datadog|honeycomb|statsd|otel"
    r"|captureException|captureMessage|writeDataPoint|debug|warn|warning|addBreadcrumb|recordException|traceback"
    r"|(?:log|track|trace|record|emit|report)(?:[A-Z_]\w*)?"
    r"(?:Event|Metric|Error|Log|Analytics|Usage|Exception|_event|_metric|_error|_log)s?",
    re.IGNORECASE,
)
_TIDYING = re.compile(
    r"\$?disconnect|a?close|end|quit|dispose|release|unlock|connect|\$?connect\w*|init\w*|open|flush|drain"
    r"|sleep\w*|wait|delay|setTimeout|pause|create\w*(?:Client|Connection|Pool|Logger|Db|Database|Context|Service)"
    r"|sign\w*|importKey|digest|generateKey|deriveKey|deriveBits|drizzle|shutdown|forceFlush|setup\w*|"
    r"authenticate|login|to_js|to_py",
    re.IGNORECASE,
)
_READING = re.compile(
    r"(?:get|find|load|read|fetch|lookup|resolve|select|list|count|query|has|is|exists|check|peek|describe|search|head|match"
    r"|stat)"
    r"(?:[A-Z_0-9]\w*)?|first|all|raw|json|text|array_?[bB]uffer|form_?[dD]ata|blob|bytes|metrics|one|"
    r"to[A-Z]\w*|map|filter|entries|keys|values"
    r"|idFromName|idFromString|getByName|prepare|bind|stub|includes|some|every|startsWith|where|from|limit|"
    r"orderBy|innerJoin|leftJoin|maybeSingle|single"
)
_COMPUTES = re.compile(r"(?:^|_)ai(?:_|$)|embed|model|llm", re.IGNORECASE)
"""Bindings that compute, and change nothing."""
_PARSING = re.compile(
    r"(?:safe|try)?_?(?:parse|decode|validate|assert|deserialize|decompress|decrypt|unpack|unmarshal|verify|ensure|coerce"
    r"|normali[sz]e|loads|model_validate\w*|parse_obj|validate_python|validate_json|cast)(?:[A-Z_]\w*)?",
    re.IGNORECASE,
)
_CHANGES = frozenset(
    {
        *("insert", "insertInto", "insert_into", "update", "updateTable", "upsert", "delete", "deleteFrom", "remove", "values"),
        *(
            "create",
            "createMany",
            "updateMany",
            "deleteMany",
            "save",
            "put",
            "post",
            "patch",
            "send",
            "sendBatch",
            "send_batch",
        ),
        *("publish", "charge", "transfer", "exec", "execute", "executemany", "insert_one", "insertOne", "updateOne", "commit"),
        *(
            "write",
            "append",
            "batch",
            "run",
            "store",
            "enqueue",
            "dispatch",
            "trigger",
            "invoke",
            "transaction",
            "setex",
            "incr",
        ),
        *("delete_many", "insert_many", "send_batch", "put_object", "putObject", "upload", "notify", "onConflictDoNothing"),
    }
)
_STARTED = frozenset(
    {
        "put",
        "run",
        "send",
        "sendBatch",
        "send_batch",
        "fetch",
        "delete",
        "create",
        "createBatch",
        "batch",
        "exec",
        "insert",
        "upsert",
    }
)
_WRITES_SQL = re.compile(
    r"\b(?:insert\s+(?:or\s+\w+\s+)?(?:ignore\s+)?into|update\s+[\w\"'`.\[$]+[^;]*?\bset\b|delete\s+from|replace\s+into"
    r"|merge\s+into|create\s+table)\b",
    re.IGNORECASE,
)
_READS_SQL = re.compile(r"^\s*(?:select|with|pragma|explain)\b", re.IGNORECASE | re.MULTILINE)
_SIDE = re.compile(
    r"log|metric|track|analytic|telemetry|notif|alert|audit|event|history|heartbeat|lock|cache|invalidat|"
    r"cleanup|clean|purge|stat|progress"
    r"|status|broadcast|ping|report|usage|quota|webhook_?log|complete|finish|mark|seen|processed|dedup|temp|tmp|warm",
    re.IGNORECASE,
)

_TABLES = re.compile(r"(?:into|update|from)\s+[\"'`\[]?(\w+)", re.IGNORECASE)


def effect_of(called: Called) -> str:
    """What a call does."""
    return _effect(called.chain, called.text, called.on_env)


@lru_cache(1024)
def _effect(chain: tuple[str, ...], text: str, on_env: bool) -> str:
    name = chain[-1] if chain else "?"
    if _WRITES_SQL.search(text):
        return WORK
    if tells(chain, on_env=on_env):
        return TELL
    if chain in {("fetch",), ("globalThis", "fetch"), ("self", "fetch")}:
        return WORK
    if on_env and name == "run" and _COMPUTES.search(".".join(chain[1:-1])):
        return READ
    if on_env:
        return READ if (_READING.fullmatch(name) and name != "fetch") or _reads(text) else WORK
    if _PARSING.fullmatch(name):
        return PARSE
    if _TIDYING.fullmatch(name):
        return TIDY
    if any(part in _CHANGES for part in chain[1:]) or (len(chain) == 1 and name in _CHANGES):
        return READ if _reads(text) else WORK
    if name == "fetch":
        return WORK
    return READ if _READING.fullmatch(name) else PERHAPS


def _reads(text: str) -> bool:
    """Whether all SQL in a text only reads."""
    return _READS_SQL.search(text) is not None and not _WRITES_SQL.search(text)


def tells(chain: tuple[str, ...], *, on_env: bool) -> bool:
    """Whether a call by that path only tells somebody: a log, a metric."""
    if on_env:
        return chain[-1] == "writeDataPoint"
    return any(_TELLERS.fullmatch(part.removeprefix("new ")) for part in (chain[0], *chain[-2:])) if chain else False


def writes_sql(text: str) -> bool:
    """Whether SQL that changes something stands in a text."""
    return _WRITES_SQL.search(text) is not None


def starts_work(called: Called) -> bool:
    """Whether a call certainly starts work that somebody has to wait for: on a binding, or a request."""
    if called.chain == ("fetch",):
        return True
    return called.on_env and called.effect == WORK and called.name in _STARTED


def is_aside(called: Called) -> bool:
    """Whether a call looks like something beside the work, such as a note of it: by its names and the table it writes."""
    words = [*called.chain[-3:], *called.within[-2:], *_TABLES.findall(called.text)]
    return any(_SIDE.search(word) for word in words if word not in {"env", "run", "bind", "prepare"})


def is_named_aside(mark: Mark) -> bool:
    """The same for a place where work is started: by the names of what is called there."""
    waiting: list[n.Node] = [mark.node]
    for _ in range(4):
        if not waiting:
            return False
        at = waiting.pop(0)
        words = [
            each.id if isinstance(each, n.Name) else each.name
            for each in (at, *at.parts)
            if isinstance(each, n.Name | n.Member)
        ]
        if any(_SIDE.search(word) or _TOLD_ON.match(word) for word in words):
            return True
        waiting += [each for each in at.parts if isinstance(each, n.Invoke | n.Member)]
    return False


_TOLD_ON = re.compile(r"publish|emit|broadcast|push_?[Uu]pdate|send(?:Update|Event|Progress)")
_TOLD = re.compile(
    r"slack|discord|telegram|pagerduty|analytics|telemetry|metric|healthcheck|hc-ping|log|sentry|posthog|alert"
    r"|broadcast|status|notif|progress|webhook_url",
    re.IGNORECASE,
)


def is_told(called: Called) -> bool:
    """Whether a request only tells somebody what happened: by the texts and names that it is given."""
    names = [part for each in called.given[:1] for part in each.chain]
    return _TOLD.search(" ".join([called.text.partition("\n\n")[0][:200], *names])) is not None


def returns_errors(called: Called) -> bool:
    """Whether a client gives its errors back and throws none, as Supabase's does."""
    return any("supabase" in part.lower() for part in called.chain) and "throwOnError" not in called.chain
