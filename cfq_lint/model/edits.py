"""Edits that rules offer: rename a key, replace a value, remove or add a setting, each touching nothing but its own place.

Comments are never removed: where one stands beside a setting that goes, the comment stays.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from cfq_lint.model.finding import Edit
from cfq_lint.source.document import TOML, Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from cfq_lint.model.wrangler import Field
    from cfq_lint.source import Member, Node
    from cfq_lint.source.text import Text

_BLANKS = " \t"


def replace_value(field: Field, text: str) -> Edit:
    """Write another value; `text` is the value as the file's language writes it."""
    return Edit(field.place, text)


def rename_key(field: Field, name: str) -> Edit:
    """Write another key, quoted as the old one was."""
    written = field.document.text[field.member.start : field.member.end]
    quote = written[0] if written[0] in "\"'" else ""
    if not quote and field.document.syntax == TOML and not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        quote = '"'
    return Edit(field.key_place, f"{quote}{name}{quote}")


def quoted(document: Document, text: str) -> str:
    """A plain name as a string of the file's language. For names without quotes, backslashes and control characters."""
    del document  # JSON and TOML write such a name alike
    return f'"{text}"'


def remove(container: Node, field: Field) -> tuple[Edit, ...]:
    """Remove a setting of an object, with its comma or its line."""
    document, member = field.document, field.member
    inside = _comments_within(document, member.start, member.node.end)
    if inside:
        return _hollowed(container, field, inside)
    if document.syntax == TOML and not _is_inline(document, container):
        return (cut(document, member.start, member.node.end),)
    text = document.text
    comma = _comma_behind(document, member.node.end, container.end)
    if comma is not None:
        between = text[member.node.end : comma]
        if between.strip() == "":
            return (cut(document, member.start, comma + 1),)
        return (cut(document, member.start, member.node.end), Edit(document.place(comma, comma + 1), ""))
    before = _comma_before(document, container, member)
    own = cut(document, member.start, member.node.end)
    if before is None:
        return (own,)
    if text[before + 1 : own.place.start].strip() == "" and "\n" not in text[before : member.start]:
        return (Edit(document.place(before, own.place.end), ""),)
    return (Edit(document.place(before, before + 1), ""), own)


def _comments_within(document: Document, start: int, end: int) -> str:
    """The comments of a range that starts and ends with a token, each that needs one with its line end."""
    text = document.text[start:end]
    if "//" not in text and "/*" not in text and "#" not in text:
        return ""
    return "".join(
        comment if comment.startswith("/*") else comment + "\n"
        for comment in (text[first:last].rstrip("\r") for first, last in document.comments_of(text))
    )


def _hollowed(container: Node, field: Field, comments: str) -> tuple[Edit, ...]:
    """Remove a setting and its comma, and leave the comments that stand inside of it."""
    document, member = field.document, field.member
    own = Edit(document.place(member.start, member.node.end), comments)
    comma = None
    if document.syntax != TOML or _is_inline(document, container):
        comma = _comma_behind(document, member.node.end, container.end)
        comma = comma if comma is not None else _comma_before(document, container, member)
    return (own,) if comma is None else (own, Edit(document.place(comma, comma + 1), ""))


def add_after(container: Node, field: Field, key: str, value: str) -> Edit:
    """Add a setting behind another one of the same object, laid out as that one is."""
    document, member = field.document, field.member
    text = document.text
    indent = _indent(text, member.start)
    line_end = _line_end(text)
    if document.syntax == TOML and not _is_inline(document, container):
        end = _end_of_line(text, member.node.end)
        return Edit(document.place(end, end), f"{line_end}{indent or ''}{key} = {value}")
    written = f"{key} = {value}" if document.syntax == TOML else f'"{key}": {value}'
    own_line = indent is not None and document.syntax != TOML
    separator = f",{line_end}{indent}" if own_line else ", "
    return Edit(document.place(member.node.end, member.node.end), separator + written)


def add_last(document: Document, container: Node, key: str, value: Any, path: tuple[str, ...]) -> tuple[Edit, ...]:
    """Add a setting as the last of an object. `value` holds plain objects, lists, strings, numbers and truths.

    `path` are the keys that lead to the setting: TOML has it as tables of their own at the end of the file.
    """
    text = document.text
    line_end = _line_end(text)
    if document.syntax == TOML and not _is_inline(document, container):
        start = "" if text.endswith(("\n", "\r")) or not text else line_end
        tables = line_end.join(_toml_tables(path, value))
        return (Edit(document.place(len(text), len(text)), f"{start}{line_end}{tables}{line_end}"),)
    if not container.value:
        place = document.place(container.start + 1, container.start + 1)
        return (Edit(place, f" {_written(document, key, value)} "),)
    last = container.value[-1]
    indent = _indent(text, last.start)
    comma = _comma_behind(document, last.node.end, container.end)
    end = last.node.end if comma is None else comma + 1
    line = _end_of_line(text, end)
    if indent is None or document.syntax == TOML or line >= container.end or "/*" in text[end:line]:
        behind = "" if comma is None else ","
        return (Edit(document.place(end, end), f"{'' if behind else ','} {_written(document, key, value)}{behind}"),)
    unit = indent.removeprefix(_indent(text, container.end - 1) or "") or "  "
    written = _written(document, key, value, unit).replace("\n", f"{line_end}{indent}")
    if comma is not None:
        return (Edit(document.place(line, line), f"{line_end}{indent}{written},"),)
    if line == end:
        return (Edit(document.place(end, end), f",{line_end}{indent}{written}"),)
    return (Edit(document.place(end, end), ","), Edit(document.place(line, line), f"{line_end}{indent}{written}"))


def _written(document: Document, key: str, value: Any, unit: str | None = None) -> str:
    """A setting as JSON writes it, indented by `unit`, or on one line; in TOML as an inline table has it."""
    if document.syntax == TOML:
        return f"{_toml_key(key)} = {_toml_inline(value)}"
    return f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, indent=unit)}"


def _toml_tables(path: tuple[str, ...], value: dict[str, Any]) -> Iterator[str]:
    for key, listed in value.items():
        for entry in listed:
            yield f"[[{'.'.join(map(_toml_key, (*path, key)))}]]"
            for name, setting in entry.items():
                yield f"{_toml_key(name)} = {_toml_inline(setting)}"


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _toml_inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml_key(key)} = {_toml_inline(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _is_inline(document: Document, container: Node) -> bool:
    return document.text.startswith("{", container.start)


def _indent(text: str, start: int) -> str | None:
    """The white space before `start`, if nothing else stands before it on its line."""
    line = start
    while line > 0 and text[line - 1] in _BLANKS:  # not to the start of the line: all of a file may be one
        line -= 1
    return text[line:start] if line == 0 or text[line - 1] in "\r\n" else None


@lru_cache(maxsize=1)
def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _end_of_line(text: str, position: int) -> int:
    match = re.compile(r"[\r\n]|\Z").search(text, position)
    assert match is not None, "every text has an end"
    return match.start()


def cut(document: Document | Text, start: int, end: int) -> Edit:
    """Remove a range; with its whole line if nothing else stands there, else with the blanks behind it."""
    text = document.text
    indent = _indent(text, start)
    stop = end
    while stop < len(text) and text[stop] in _BLANKS:
        stop += 1
    is_last = stop == len(text) or text[stop] in "\r\n"
    if indent is not None and is_last:
        if text.startswith("\r\n", stop):
            stop += 2
        elif stop < len(text):
            stop += 1
        return Edit(document.place(start - len(indent), stop), "")
    return Edit(document.place(start, end if is_last else stop), "")


def _comma_behind(document: Document, position: int, end: int) -> int | None:
    """The comma that follows a value, comments passed over; None where the container ends before one comes."""
    text = document.text
    pattern = r"(?>(?:\s++|#[^\n]*+)*)" if document.syntax == TOML else r"(?>(?:\s++|//[^\r\n]*+|/\*(?s:.*?)\*/)*)"
    match = re.compile(pattern).match(text, position, end)
    assert match is not None, "it matches the empty string"
    return match.end() if text.startswith(",", match.end()) else None


def _comma_before(document: Document, container: Node, member: Member) -> int | None:
    before = [other for other in container.value if other.node.end <= member.start]
    if not before:
        return None
    return _comma_behind(document, before[-1].node.end, member.start)
