"""What `unknown-consumer-key` and `unknown-producer-key` share: the search, the advice and the fix."""

from __future__ import annotations

from cfq_lint.facts.keys import CONSUMER_KEYS, ELSEWHERE, PRODUCER_KEYS, TOP_LEVEL_KEYS, Spelling
from cfq_lint.model.edits import remove, rename_key, replace_value
from cfq_lint.model.finding import Edit, Finding, Fix
from cfq_lint.source.document import TOML

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
        if field.key in ELSEWHERE or is_misnamed_queue(entry, field, spelling):
            continue
        message = f"a {role} has no key {field.key!r}; wrangler ignores it"
        fix = None
        if is_swallowed(entry, field):
            message = (
                f"{field.key!r} stands below {_header(entry)} and so belongs to that table, where it means nothing;"
                " move it above the first table"
            )
            fix = Fix("move it above the first table", _move_up(entry, field), safe=False)
        elif spelling is not None and spelling.key in entry.fields:
            message += f", and {spelling.key!r} is set as well; remove one of them"
        elif spelling is not None:
            value, edits = _converted(field, spelling)
            message += f"; did you mean {spelling.key}{value}?"
            fix = Fix(f"write {spelling.key}{value}", (rename_key(field, spelling.key), *edits), safe=False)
        elif role == "consumer" and field.key in PRODUCER_KEYS:
            message += f"; {_PLURALS.get(field.key, repr(field.key))} belong to producers"
        elif role == "producer" and field.key in CONSUMER_KEYS:
            message += "; it is a setting of consumers"
        else:
            message += f"; known are {', '.join(entry.keys)}"
        yield rule.finding(field.key_place, message, environment=entry.environment, fix=fix)


_PLURALS = {"binding": "bindings", "delivery_delay": "delays of a queue"}


def is_misnamed_queue(entry: Entry, field: Field, spelling: Spelling | None) -> bool:
    """Whether an unknown key stands where `queue` is missing and means it; `queue-key-misnamed` speaks of it."""
    means_queue = spelling is not None and spelling.key == "queue" and "queue" not in entry.fields
    return means_queue and not is_swallowed(entry, field)


def is_swallowed(entry: Entry, field: Field) -> bool:
    """Whether a key is meant for the top level of a TOML file, and stands below the entry's header instead."""
    document, root = entry.document, entry.document.tree.root
    if field.key not in TOP_LEVEL_KEYS or document.syntax != TOML or not document.text.startswith("[[", entry.node.start):
        return False
    return root is not None and all(member.key != field.key for member in root.value)


def _header(entry: Entry) -> str:
    text = entry.document.text
    return f"`{text[entry.node.start : text.find(']]', entry.node.start) + 2]}`"


def _move_up(entry: Entry, field: Field) -> tuple[Edit, ...]:
    """Take the line away and write it before the first header of the file."""
    document, root = entry.document, entry.document.tree.root
    text = document.text
    starts = [text.rfind("\n", 0, member.start) + 1 for member in (root.value if root is not None else ())]
    first = min(start for start in starts if text[start:].lstrip(" \t").startswith("["))
    line_end = "\r\n" if "\r\n" in text else "\n"
    line = text[field.member.start : field.node.end]
    return (Edit(document.place(first, first), line + line_end), *remove(entry.node, field))


def _converted(field: Field, spelling: Spelling) -> tuple[str, tuple[Edit, ...]]:
    """The value in the unit of the right key, for the message, and the edit that writes it where it is another number."""
    number = field.number
    if spelling.factor == 1 or number is None:
        return "", ()
    converted = number * spelling.factor
    written = str(int(converted)) if converted == int(converted) else f"{converted:g}"
    return f" = {written}", (replace_value(field, written),)
