"""A bundle as a function that evaluates it: so one workerd serves many tests, each with a Worker whose modules are fresh.

The bundle is one ES module, as esbuild writes it. Its imports stay imports, on the first line; what it exports is what the
function returns. Every other line stays where it is, so a source map still fits with lines counted from `FIRST_LINE`.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import tree_sitter_javascript
from tree_sitter import Language, Parser, Query, QueryCursor

from emulator.workers.javascript.errors import SourceRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

KEPT = ".evaluated"
"""How the names of files end that are kept beside a bundle."""
FIRST_LINE = 1
"""How many lines stand before the bundle's own first."""
SHIMS = {
    "node:timers/promises": "./__cfq/timers_promises.js", "timers/promises": "./__cfq/timers_promises.js",
    "node:timers": "./__cfq/timers.js", "timers": "./__cfq/timers.js",
}  # fmt: skip
"""Modules of the runtime that would keep real time, and what stands in for them."""
_LANGUAGE = Language(tree_sitter_javascript.language())
_AWAITS = Query(_LANGUAGE, '[(await_expression) (for_in_statement "await")] @await')
_FUNCTIONS = frozenset({
    "arrow_function", "function_declaration", "function_expression", "generator_function", "generator_function_declaration",
    "method_definition",
})  # fmt: skip


class Evaluated(NamedTuple):
    """The text of a module whose default export evaluates the bundle; the names of the bundle's exports."""

    text: str
    exports: tuple[str, ...]
    awaits: bool


@lru_cache(maxsize=16)
def evaluating(bundle: str) -> Evaluated:
    """Make it. Raises SourceRefused for an export in a form that no bundler writes."""
    source = bundle.encode()
    tree = Parser(_LANGUAGE).parse(source)
    imports, stars, getters = list[str](), list[str](), list[tuple[str, str]]()
    cuts: list[tuple[int, int, str]] = []
    for node in tree.root_node.children:
        if node.type == "import_statement":
            imports.append(_shimmed(_text(node)))
            cuts.append((node.start_byte, node.end_byte, ""))
        elif node.type == "export_statement":
            spoken = list(_exported(node))
            from_module = node.child_by_field_name("source")
            default = node.child_by_field_name("value")
            if from_module is not None:
                alias = f"__cfq_from_{len(stars)}"
                imports.append(f"import * as {alias} from {_shim(_text(from_module))};")
                stars.append(alias)
                getters += [(name, f"{alias}[{json.dumps(local)}]") for local, name in spoken]
                if not spoken:
                    getters.append(("*", alias))
                cuts.append((node.start_byte, node.end_byte, ""))
            elif default is not None:
                getters.append(("default", "__cfq_default"))
                cuts.append((node.start_byte, default.start_byte, "const __cfq_default = "))
            elif spoken:
                getters += [(name, local) for local, name in spoken]
                cuts.append((node.start_byte, node.end_byte, ""))
            else:
                raise SourceRefused(f"the bundle exports in a form that is not understood: {_text(node)[:80]}")
    awaits = any(not _inside_function(each) for each in QueryCursor(_AWAITS).captures(tree.root_node).get("await", []))
    body = _cut(source, cuts)
    names = tuple(dict.fromkeys(name for name, _ in getters if name != "*"))
    returned = ", ".join(
        f"...{local}" if name == "*" else f"get {json.dumps(name)}() {{ return {local}; }}" for name, local in getters
    )
    head = f"{' '.join(imports)} export default {'async ' if awaits else ''}function () {{"
    return Evaluated(f"{head}\n{body}\nreturn {{ {returned} }};\n}}\n", names, awaits)


@lru_cache(maxsize=16)
def evaluated_of(file: Path) -> Evaluated:
    """The same for a bundle in a folder of ours, and kept there: to read a large one takes longer than to start workerd."""
    kept = file.with_name(f"{file.name}.{_made_by()}{KEPT}")
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(kept.read_bytes(), type=Evaluated)
    made = evaluating(file.read_text(encoding="utf-8"))
    with suppress(OSError):
        partial = kept.with_name(f"{os.getpid()}{KEPT}")
        partial.write_bytes(msgspec.json.encode(made))
        partial.replace(kept)
    return made


@cache
def _made_by() -> str:
    """What another release's differs in: the text of this module."""
    return blake2b(Path(__file__).read_bytes(), digest_size=8).hexdigest()


def _exported(node: Node) -> Iterator[tuple[str, str]]:
    """(name inside, name outside) of each export of a clause."""
    for clause in node.children:
        if clause.type == "export_clause":
            for each in clause.named_children:
                if each.type == "export_specifier":
                    name, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
                    assert name is not None, "the grammar has it"
                    yield _text(name), _text(alias if alias is not None else name).strip("\"'")
        elif clause.type == "namespace_export":
            yield "*", _text(clause.named_children[0])


def _inside_function(node: Node | None) -> bool:
    while node is not None:
        if node.type in _FUNCTIONS:
            return True
        node = node.parent
    return False


def _cut(source: bytes, cuts: list[tuple[int, int, str]]) -> str:
    """The source with other text at some places; line breaks stay."""
    parts, at = [], 0
    for start, end, text in cuts:
        parts += [source[at:start], text.encode(), b"\n" * source.count(b"\n", start, end)]
        at = end
    return b"".join([*parts, source[at:]]).decode()


def _shimmed(statement: str) -> str:
    """An import on one line, of our module where there is one."""
    one_line = " ".join(statement.split("\n"))
    return re.sub(r"(['\"])([^'\"]+)\1(?=[^'\"]*$)", lambda found: _shim(found[0]), one_line, count=1)


def _shim(quoted: str) -> str:
    name = quoted[1:-1]
    return json.dumps(SHIMS[name]) if name in SHIMS else quoted


def _text(node: Node) -> str:
    return (node.text or b"").decode()
