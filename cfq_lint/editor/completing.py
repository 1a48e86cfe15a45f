"""What may be written at a place: keys that an entry lacks, queues of the project, values in their range."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types

from cfq_lint.editor.telling import keys_at, of_key, range_of
from cfq_lint.facts.keys import INTEGER, QUEUES_KEYS, STRING, keys_of
from cfq_lint.source.document import TOML, TYPESCRIPT
from cfq_lint.source.node import OBJECT
from cfq_lint.source.spots import spot_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cfq_lint.editor.mentions import Mention
    from cfq_lint.editor.positions import Units
    from cfq_lint.facts.keys import Key
    from cfq_lint.source.document import Document
    from cfq_lint.source.spots import Spot

_VALUE = re.compile(r"""["']?(?P<key>[\w-]+)["']?\s*[:=]\s*(?P<written>"[^"]*|'[^']*|[\w.+-]*)$""")
"""The start of a value on its line: behind its key."""
_KEY = re.compile(r"""(?:^|[{,]|\]\s*)\s*(?P<written>["']?[\w-]*)$""")
"""The start of a key: the first thing on a line, or behind a bracket or a comma."""
_LIST = re.compile(r"\b(consumers|producers)\b")
_NAMES = ("queue", "dead_letter_queue")


def completions(document: Document, offset: int, all_mentions: Iterable[Mention], units: Units) -> list[types.CompletionItem]:
    """The items for an offset; none where nothing of queues is meant."""
    if document.syntax == TYPESCRIPT:
        return []  # the types of `@cloudflare/config` complete there
    line_start = document.text.rfind("\n", 0, offset) + 1
    before = document.text[line_start:offset]
    spot = spot_in(document, offset)
    keys = keys_at(spot) or _keys_of_broken(document, offset)
    value, key = _VALUE.search(before), _KEY.search(before)
    if value is not None:
        if keys is None or value["key"] not in keys:
            return []
        items = [*_values(keys[value["key"]], all_mentions, quoted=value["written"][:1])]
        return _placed(items, document, offset, value["written"], units)
    if key is None:
        return []
    if keys is not None:
        written = _written_keys(document, offset, spot)
        items = [*_keys(document, (each for each in keys.values() if each.name not in written), key["written"][:1])]
    elif spot.path[-1:] == ("queues",) and not spot.on_key:
        items = [_item(name, f"what this Worker {'sends to' if name == 'producers' else 'consumes'}") for name in QUEUES_KEYS]
    else:
        return []
    return _placed(items, document, offset, key["written"], units)


def _values(key: Key, all_mentions: Iterable[Mention], *, quoted: str) -> Iterator[types.CompletionItem]:
    closing = quoted if quoted in {'"', "'"} else '"'
    if key.name in _NAMES:
        for name in sorted({each.queue for each in all_mentions}):
            yield types.CompletionItem(name, kind=types.CompletionItemKind.Reference, insert_text=f"{closing}{name}")
    elif key.name == "type":
        yield types.CompletionItem("worker", kind=types.CompletionItemKind.Value, insert_text=f"{closing}worker")
    elif key.type == INTEGER and key.minimum is not None:
        said = {key.default: "default", key.minimum: "least", key.maximum: "most"}
        for number, what in sorted((number, what) for number, what in said.items() if number is not None):
            yield types.CompletionItem(
                str(number),
                kind=types.CompletionItemKind.Value,
                detail=f"{what}: {range_of(key)}",
                sort_text=f"{number:012}",
            )


def _keys(document: Document, keys: Iterable[Key], quote: str) -> Iterator[types.CompletionItem]:
    for key in keys:
        value = str(key.default) if key.default is not None else '""' if key.type == STRING else ""
        if document.syntax == TOML:
            text = f"{key.name} = {value}"
        else:
            mark = quote if quote in {'"', "'"} else '"'
            text = f"{mark}{key.name}{mark}: {value}"
        yield types.CompletionItem(
            key.name,
            kind=types.CompletionItemKind.Property,
            detail=key.summary,
            documentation=types.MarkupContent(types.MarkupKind.Markdown, of_key(key)),
            insert_text=text,
        )


def _item(name: str, detail: str) -> types.CompletionItem:
    return types.CompletionItem(name, kind=types.CompletionItemKind.Property, detail=detail, insert_text=f'"{name}": []')


def _placed(
    items: Iterable[types.CompletionItem], document: Document, offset: int, written: str, units: Units
) -> list[types.CompletionItem]:
    """The items as edits that replace what is written already, and a quote that an editor closed by itself behind it."""
    end = offset
    quote = written[:1] if written[:1] in {'"', "'"} else ""
    rest = document.text[offset : document.text.find("\n", offset) if "\n" in document.text[offset:] else len(document.text)]
    word = re.match(r"[\w-]*", rest)
    if quote and word is not None and rest[word.end() : word.end() + 1] == quote:
        end = offset + word.end() + 1
    span = document.place(offset - len(written), end)
    placed = []
    for item in items:
        text = item.insert_text or item.label
        if text[:1] in {'"', "'"} and not text.endswith(("]", "}", text[0])) and ":" not in text:
            text += text[0]
        item.text_edit = types.TextEdit(units.range(span), text)
        item.filter_text = f"{quote}{item.label}"
        item.insert_text = None
        placed.append(item)
    return placed


def _keys_of_broken(document: Document, offset: int) -> dict[str, Key] | None:
    """The keys of the entry that a file which does not parse most likely has there: by the list that was opened last."""
    if document.whole:
        return None
    found = [each[1] for each in _LIST.finditer(document.text, 0, offset)]
    return keys_of(found[-1]) if found else None


def _written_keys(document: Document, offset: int, spot: Spot) -> set[str]:
    """The keys that the entry around a spot has, but for the one that is being written there."""
    node = document.tree.root
    for step in spot.path[:-1] if spot.on_key or (spot.node is not None and spot.node.kind != OBJECT) else spot.path:
        if node is None or not isinstance(node.value, list):
            break
        node = (
            node.value[step] if isinstance(step, int) else next(each.node for each in reversed(node.value) if each.key == step)
        )
    members = node.value if node is not None and node.kind == OBJECT else []
    return {member.key for member in members if not member.start <= offset <= member.end}
