"""Does a consumer refuse what it has seen, and by a key that came with the message? Said of the calls that it makes."""

from __future__ import annotations

import re

from cfq_lint.worker_code.handling.acknowledging import BAD, GOOD, UNSURE, Remark
from cfq_lint.worker_code.lowering.steps import IDEMPOTENCY_KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.worker_code.handling.state import Seen

_REFUSES = re.compile(
    r"\bon\s+conflict\b|\binsert\s+or\s+(?:ignore|replace)\b|\binsert\s+ignore\b|\bwhere\s+not\s+exists\b", re.IGNORECASE
)
_INSERTS = re.compile(r"\binsert\s+into\b", re.IGNORECASE)
_SQL = re.compile(r"\b(?:insert|select|update|delete)\b", re.IGNORECASE)
_ROW = re.compile(r"\binsert\s+(?:or\s+\w+\s+)?into\s+[\"'`\[]?(\w+)[\"'`\]]?\s*(?:\(([^)]*)\))?", re.IGNORECASE)
_NOTES = re.compile(r"log|audit|event|history|metric|trace|attempt|fail|error|dead", re.IGNORECASE)
"""A table of that name takes down what happened; a row for each delivery may be right in it."""
_LIKE_A_KEY = re.compile(r"(?:^|_)(?:id|key)$|(?:Id|ID|Key)$")
_LOOKS = frozenset({"get", "has", "head", "first", "getWithMetadata"})
_KEEPS = frozenset({"put", "set", "add"})
_REFUSING_CALLS = frozenset(
    {
        "onConflictDoNothing",
        "onConflictDoUpdate",
        "onConflict",
        "upsert",
        "on_conflict_do_nothing",
        "on_conflict_do_update",
        "setnx",
    }
)
_TABLE_READ = re.compile(r"\bselect\b[^;]*?\bfrom\s+[\"'`\[]?(\w+)[^;]*?\bwhere\b", re.IGNORECASE | re.DOTALL)
_TABLE_WRITTEN = re.compile(r"\binsert\s+into\s+[\"'`\[]?(\w+)", re.IGNORECASE)
_HAS_A_KEY = re.compile(r"^(?!randomUUID)[\"'`]?\w*(?:[iI]d|ID|[kK]ey)[\"'`]?=?$", re.MULTILINE)
"""A field of that name is in the call, and may be what is unique."""
_BINDS = frozenset({"bind", "run", "execute", "first", "all", "query"})
"""Where a statement gets its values, perhaps at another line than its text."""


def deduplicating(seen: Iterable[Seen]) -> tuple[Remark, ...]:
    """What the calls say: GOOD refuses what was seen, BAD makes its key only now, UNSURE depends on what is not here."""
    seen = tuple(seen)
    calls = [each for each in seen if each.is_related or each.is_fresh]
    is_bound_late = any(each.is_fresh and each.call.name in _BINDS and not _SQL.search(each.call.text) for each in calls)
    remarks: list[Remark] = []
    for each in seen:
        call = each.call
        if call.key is not None or IDEMPOTENCY_KEY.search(call.text):
            if each.key:
                remarks.append(Remark(BAD, call.spot, "the idempotency key is made here: each delivery gets another one"))
            elif each.key is False or (call.key is None and each.is_related and not each.is_fresh):
                remarks.append(Remark(GOOD, call.spot, "an idempotency key is passed on downstream"))
        elif _is_refusing(each) and not each.is_fresh and not is_bound_late:
            remarks.append(Remark(GOOD, call.spot, "the insert passes over what is there already"))
    remarks += _kept_in_a_table(seen)
    looked = [each.call for each in calls if each.call.name in _LOOKS and each.is_related and not each.call.in_memory]
    for each in calls:
        before = [call for call in looked if call.chain[:-1] == each.call.chain[:-1] and len(call.chain) > 1]
        if each.call.name in _KEEPS and before and each.is_related:
            where = before[0].spot.seen_from(each.call.spot)
            said = f"what was seen is kept in {'.'.join(each.call.chain[:-1])} and looked up at {where}"
            remarks.append(Remark(GOOD, each.call.spot, said))
    if not remarks:
        for each in calls:
            if _INSERTS.search(each.call.text) and each.is_fresh and _is_the_key(each):
                remarks.append(Remark(BAD, each.call.spot, "the row's key is made here: each delivery inserts another row"))
            elif _INSERTS.search(each.call.text):
                said = "a row is inserted; whether one of its columns is unique stands in the database's schema"
                remarks.append(Remark(UNSURE, each.call.spot, said))
    return tuple(dict.fromkeys(remarks))


def _is_refusing(seen: Seen) -> bool:
    return _REFUSES.search(seen.call.text) is not None or not _REFUSING_CALLS.isdisjoint(seen.call.chain)


def _is_the_key(seen: Seen) -> bool:
    """Whether an id that is made on the spot is all by which the row of an insert could be known again."""
    row = _ROW.search(seen.call.text)
    columns = [each.strip(" \n\"'`[]") for each in (row[2] or "").split(",")] if row is not None else []
    if row is None or _NOTES.search(row[1]) or sum(_LIKE_A_KEY.search(each) is not None for each in columns) > 1:
        return False
    return (
        seen.is_of_one and not _HAS_A_KEY.search(seen.call.text) and not any(_LIKE_A_KEY.search(name) for name in seen.others)
    )


def _kept_in_a_table(seen: tuple[Seen, ...]) -> list[Remark]:
    """A table that is asked about the message first and written to afterwards."""
    asked: dict[str, Seen] = {}
    found = []
    for each in seen:
        if each.is_related:
            asked |= {table.lower(): each for table in _TABLE_READ.findall(each.call.text)}
            for table in _TABLE_WRITTEN.findall(each.call.text):
                if table.lower() in asked and not each.is_fresh:
                    where = asked[table.lower()].call.spot.seen_from(each.call.spot)
                    said = f"what was seen is kept in the table {table} and looked up at {where}"
                    found.append(Remark(GOOD, each.call.spot, said))
    return found
