"""What `unknown-consumer-key` and `unknown-producer-key` share: the search, the advice and the fix."""

from __future__ import annotations

from cfq_lint.facts.keys import ELSEWHERE, Spelling
from cfq_lint.model.edits import rename_key, replace_value
from cfq_lint.model.finding import Edit, Finding, Fix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.wrangler import Entry, Field
    from cfq_lint.rules.rule import Rule


def unknown_keys(rule: Rule, entry: Entry, role: str) -> Iterator[Finding]:
    """One finding an unknown key. Real settings that live elsewhere, and a misnamed `queue`, are other rules' business."""
    spellings = {field.key: spelling for field, spelling in entry.misspelt()}
    for field in entry.unknown():
        spelling = spellings.get(field.key)
        if field.key in ELSEWHERE or is_misnamed_queue(entry, spelling):
            continue
        message = f"a {role} has no key {field.key!r}; wrangler ignores it"
        fix = None
        if spelling is not None and spelling.key in entry.fields:
            message += f", and {spelling.key!r} is set as well; remove one of them"
        elif spelling is not None:
            value, edits = _converted(field, spelling)
            message += f"; did you mean {spelling.key}{value}?"
            fix = Fix(f"write {spelling.key}{value}", (rename_key(field, spelling.key), *edits), safe=False)
        else:
            message += f"; known are {', '.join(entry.keys)}"
        yield rule.finding(field.key_place, message, environment=entry.environment, fix=fix)


def is_misnamed_queue(entry: Entry, spelling: Spelling | None) -> bool:
    """Whether an unknown key stands where `queue` is missing and means it; `queue-key-misnamed` speaks of it."""
    return spelling is not None and spelling.key == "queue" and "queue" not in entry.fields


def _converted(field: Field, spelling: Spelling) -> tuple[str, tuple[Edit, ...]]:
    """The value in the unit of the right key, for the message, and the edit that writes it where it is another number."""
    number = field.number
    if spelling.factor == 1 or number is None:
        return "", ()
    converted = number * spelling.factor
    written = str(int(converted)) if converted == int(converted) else f"{converted:g}"
    return f" = {written}", (replace_value(field, written),)
