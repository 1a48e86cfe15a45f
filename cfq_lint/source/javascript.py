"""The parser of JavaScript and TypeScript: tree-sitter with its two grammars, loaded when the first source is read."""

from __future__ import annotations

import re
import sys
from functools import cache
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tree_sitter import Node, Parser, Tree

JAVASCRIPT, TYPESCRIPT, TSX = "javascript", "typescript", "tsx"
_TYPE_MAX = 2_000
_TYPE = re.compile(rb"[\w\s.,:;|&?\[\]{}()\"'=-]")
_TAG = re.compile(rb"[\w)\]$]")


def parsed(path: str, source: bytes, before: tuple[bytes, Tree] | None = None) -> Tree | None:
    """A module's syntax tree, by the ending of its path; None where it does not parse.

    `before` is another text with its tree, of which is taken what is the same.
    """
    language = TSX if path.endswith("tsx") else TYPESCRIPT if path.endswith("ts") else JAVASCRIPT
    if before is not None:
        made = _parser(language).parse(source, _edited(*before, source))
        if not made.root_node.has_error:
            return made
    made = _parser(language).parse(source)
    if made.root_node.has_error and language != JAVASCRIPT and b">`" in source:
        made = _parser(language).parse(_without_types_of_tags(source))
    return None if made.root_node.has_error else made


def _edited(old: bytes, tree: Tree, new: bytes) -> Tree:
    """A tree that knows which lines of its text are other ones now."""
    first = _start_of_line(old, _shared(len(min(old, new, key=len)), lambda length: old.startswith(new[:length])))
    longest = min(len(old), len(new)) - first
    last = _shared(longest, lambda length: old.endswith(new[len(new) - length :]))
    last -= len(new[len(new) - last :].partition(b"\n")[0])  # a line that is the same in part is another one
    ends = len(old) - last, len(new) - last
    edited = tree.copy()
    edited.edit(first, *ends, _point(old, first), _point(old, ends[0]), _point(new, ends[1]))
    return edited


def _shared(longest: int, is_shared: Callable[[int], bool]) -> int:
    """The greatest length for which that is true, which then is true of all that are less."""
    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_shared(middle) else (low, middle - 1)
    return low


def _start_of_line(text: bytes, at: int) -> int:
    return text.rfind(b"\n", 0, at) + 1


def _point(text: bytes, at: int) -> tuple[int, int]:
    """The row and the column of a place, in bytes."""
    return text.count(b"\n", 0, at), at - _start_of_line(text, at)


def _without_types_of_tags(source: bytes) -> bytes:
    """The source with blanks for the types in ``sql<Row[]>`…` ``, which the grammar does not know before a template."""
    text = bytearray(source)
    for found in re.finditer(rb">`", source):
        depth, at = 0, found.start()
        while at > 0 and found.start() - at < _TYPE_MAX and (source[at : at + 1] in b"<>" or _TYPE.match(source, at)):
            depth += {b">": 1, b"<": -1}.get(source[at : at + 1], 0) if source[at - 1 : at + 1] != b"=>" else 0
            if depth == 0:
                break
            at -= 1
        if depth == 0 and _TAG.match(source, at - 1):
            blank = re.sub(rb"[^\s]", b" ", source[at : found.start() + 1])
            text[at : found.start() + 1] = blank
    return bytes(text)


def tree(language: str, source: bytes) -> Node:
    """The root of a text's syntax tree, with nodes of errors where it does not parse."""
    return _parser(language).parse(source).root_node


@cache
def _parser(language: str) -> Parser:
    from tree_sitter import Language, Parser  # a run without such sources does not pay for it

    if language == JAVASCRIPT:
        return Parser(Language(_grammar("tree_sitter_javascript").language()))
    typescript = _grammar("tree_sitter_typescript")
    return Parser(Language(typescript.language_tsx() if language == TSX else typescript.language_typescript()))


def _grammar(package: str) -> Any:
    """The compiled part of a grammar alone.

    The module around it imports `importlib.resources` for queries that nobody asks for here, which takes a third of a cold run.
    """
    from importlib import import_module
    from importlib.machinery import PathFinder

    found = PathFinder.find_spec(package) if package not in sys.modules else None
    if found is None or found.submodule_search_locations is None:
        return import_module(f"{package}._binding")
    bare = sys.modules[package] = ModuleType(package)
    bare.__path__ = found.submodule_search_locations
    try:
        return import_module(f"{package}._binding")
    finally:
        del sys.modules[package]  # whoever wants the package itself gets all of it
