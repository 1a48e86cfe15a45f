"""What a write is known by: the key of a store, the path of a file, the key of a row."""

from __future__ import annotations

import re
from itertools import pairwise

from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import chain_of, is_fresh, mentions_of, outside_of_functions
from cfq_lint.worker_code.ways.state import WORK
from cfq_lint.worker_code.ways.values import CHANCE, CLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.ways.values import Called, Value

IDEMPOTENCY_KEY = re.compile(r"idempotency[-_]?key", re.IGNORECASE)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NOTES = frozenset(
    {"log", "logs", "logged", "audit", "audits", "metric", "metrics", "trace", "traces", "attempt", "attempts"}
    | {"fail", "failed", "failure", "failures", "error", "errors", "dead", "dlq", "history", "run", "runs"}
    | {"tmp", "temp", "debug", "heartbeat", "heartbeats", "notification", "notifications"}
)
"""What is called so takes down what happened: one for each delivery may be right."""
_LIKE_A_KEY = re.compile(r"(?:^|_)(?:id|key|uuid|slug|hash|path|url|email|name)$|(?:Id|ID|Key|Uuid|Slug|Hash|Path|Url)$")
_ROW = re.compile(
    r"\binsert\s+(?:or\s+\w+\s+)?into\s+[\"'`\[]?(\w+)[\"'`\]]?\s*(?:\(([^)]*)\))?\s*values\s*\(([^)]*)\)",
    re.IGNORECASE | re.DOTALL,
)
_REFUSES = re.compile(
    r"\bon\s+conflict\b|\binsert\s+or\s+(?:ignore|replace)\b|\binsert\s+ignore\b|\bwhere\s+not\s+exists\b|\bon\s+duplicate\b",
    re.IGNORECASE,
)
_REFUSING = frozenset(
    {"onConflictDoNothing", "onConflictDoUpdate", "onConflict", "upsert", "on_conflict_do_nothing", "on_conflict_do_update"}
)
_TOLD_APART = re.compile(r"\bunique\b|constraint|duplicate", re.IGNORECASE)
"""What a source says that knows of rows which are there already."""
_FRESH = frozenset({CHANCE, CLOCK})


def made_here(called: Called) -> str:
    """What kind of key a write makes itself: "key" of a store, "row" of a table; "" where it makes none."""
    if called.effect != WORK:
        return ""
    if called.name == "put" and called.on_env and called.given:
        key = called.given[0]
        return "key" if key.fresh in _FRESH and not _is_note(key.text, *called.chain[1:-1]) else ""
    if called.name == "create" and called.on_env:
        made = called.named.get("id")
        return "id" if made is not None and made.fresh in _FRESH and not made.is_body else ""
    if refuses(called) or _TOLD_APART.search(called.mark.module.text):
        return ""
    if _row_is_new(called):
        return "row"
    return "row" if _record_is_new(called) else ""


def _is_note(*names: str) -> bool:
    """Whether names say that something is taken down that happened."""
    return any(word.lower() in _NOTES for name in names for word in _WORDS.findall(name))


def idempotency_key(called: Called) -> tuple[frozenset[str] | None, bool]:
    """The names in what a call has as idempotency key, None without one, and whether that is made on the spot."""
    values: list[n.Node] = []
    for each in outside_of_functions(called.node):
        match each:
            case n.Pair(name, key, value):
                values += [value] if IDEMPOTENCY_KEY.search(name or ".".join(chain_of(key) if key else ())) else []
            case n.Keyword(name, value):
                values += [value] if IDEMPOTENCY_KEY.search(name) else []
            case n.Invoke(_, given):
                named = [(before.value, after) for before, after in pairwise(given) if isinstance(before, n.Text)]
                values += [after for name, after in named if IDEMPOTENCY_KEY.search(name)]
    if not values:
        return None, False
    names = called.mark.module.names
    is_made_here = any(is_fresh(names.resolved(value)) for value in values)
    return frozenset(name for value in values for name in mentions_of(value)), is_made_here


def refuses(called: Called) -> bool:
    """Whether a write passes over, or replaces, what is there already by its key."""
    return _REFUSES.search(called.text) is not None or not _REFUSING.isdisjoint(called.chain)


def _row_is_new(called: Called) -> bool:
    """Whether an `INSERT` gives its row a key that is made here, and nothing else by which the row could be known again."""
    row = _ROW.search(called.text)
    if row is None or _is_note(row[1]):
        return False
    columns = [each.strip(" \n\t\"'`[]") for each in (row[2] or "").split(",") if each.strip()]
    holes = [each.strip() for each in row[3].split(",")]
    values = called.all_given[1:] if called.all_given and called.all_given[0].text else called.all_given
    values = [each for each in values if each.kind != "list"]
    bound = dict(zip((i for i, hole in enumerate(holes) if hole.startswith(("?", "$", "%", ":"))), values, strict=False))
    if len(bound) < len([hole for hole in holes if hole.startswith(("?", "$", "%", ":"))]):
        return False
    if not columns:
        first = bound.get(0)
        return first is not None and first.fresh == CHANCE
    named = {column: bound.get(i) for i, column in enumerate(columns)}
    keys = {column: value for column, value in named.items() if _LIKE_A_KEY.search(column)}
    first = next(iter(named.values()))
    is_new = (first is not None and first.fresh == CHANCE and columns[0] in keys) or any(
        value is not None and value.fresh == CHANCE and column.lower() in {"id", "uuid", "key"}
        for column, value in keys.items()
    )
    return is_new and not any(value is not None and value.related and not value.fresh for value in keys.values())


def _record_is_new(called: Called) -> bool:
    """The same for a row that is given as an object, to a builder of queries."""
    if _is_note(*called.chain) or not {"insert", "create", "values", "insertInto"} & set(called.chain):
        return False
    fields: dict[str, Value] = {}
    tables = [each for each in called.all_given if each.kind == "opaque"]
    if any(_is_note(*each.chain) for each in tables):
        return False
    for each in called.all_given:
        inner = each.fields if each.kind == "object" else None
        fields |= inner or {}
        data = (inner or {}).get("data")
        fields |= (data.fields or {}) if data is not None and data.kind == "object" else {}
    key = fields.get("id") or fields.get("uuid")
    if key is None or key.fresh != CHANCE:
        return False
    others = [value for name, value in fields.items() if _LIKE_A_KEY.search(name) and value is not key]
    return not any(value.related and not value.fresh for value in others)


def counted_up(called: Called) -> Called | None:
    """The reading that a write counts up from, where both are of one store; None where it is no such write."""
    if called.effect != WORK:
        return None
    for each in called.all_given[1:] if called.name == "put" else called.all_given:
        read = each.call
        if not each.grown or read is None or read is called or not read.on_env:
            continue
        if read.chain[:2] == called.chain[:2] and (called.name == "put" or _table(read.text) == _table(called.text) != ""):
            return read
    return None


def _table(text: str) -> str:
    found = re.search(r"\b(?:from|into|update)\s+[\"'`\[]?(\w+)", text, re.IGNORECASE)
    return found[1].lower() if found is not None else ""
