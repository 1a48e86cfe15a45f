"""Inline ignores: comments that accept a finding on purpose, bound to what they stand at.

`// cfq-lint: ignore[rule-name, CFQ301] why` (`#` in TOML) holds for its own line where something stands before it; alone on a
line it holds for what comes next, and if that opens a block, for the whole block. `ignore-file[…]`, before the first key, holds
for the file.
"""

from __future__ import annotations

import re

from cfq_lint.facts.record import record
from cfq_lint.model.edits import cut
from cfq_lint.model.finding import Edit, Finding, Fix
from cfq_lint.source.document import TOML, Document
from cfq_lint.source.node import ARRAY, OBJECT, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.source.text import Place

_DIRECTIVE = r"cfq-lint:\s*ignore(?P<file>-file)?\b\s*(?:\[(?P<names>[^\]]*)\])?"


@record
class Ignore:
    """One ignore comment.

    `names` are rule names and codes as written; `names_place` is where they stand. It covers the 1-based line `line` and the
    offsets from `start` to `end`, or the whole file. `problem` says why it can cover nothing. `removal` takes the comment away.
    """

    place: Place
    names: tuple[str, ...]
    names_place: Place
    whole_file: bool
    line: int
    start: int
    end: int
    removal: Edit
    problem: str | None = None

    def covers(self, finding: Finding) -> bool:
        """Whether it accepts a finding: named, and where it holds."""
        if finding.name not in self.names and finding.code not in self.names:
            return False
        place = finding.place
        return self.whole_file or place.line == self.line or self.start <= place.start < self.end

    def unused(self, used: set[str], known: set[str]) -> tuple[str, Fix] | None:
        """What is to be said of names that suppressed nothing, with the fix; None where all were of use.

        `used` are the names that suppressed something, `known` all names and codes of rules that ran.
        """
        if self.problem is not None:
            return self.problem, Fix("remove the comment", (self.removal,), safe=True)
        idle = [name for name in self.names if name not in used]
        if not idle:
            return None
        kept = [name for name in self.names if name in used]
        said = ", ".join(name if name in known else f"{name} (no such rule)" for name in idle)
        if kept:
            fix = Fix(f"remove {', '.join(idle)} from the comment", (Edit(self.names_place, ", ".join(kept)),), safe=True)
        else:
            fix = Fix("remove the comment", (self.removal,), safe=True)
        return f"this ignore suppresses nothing: {said}", fix


def ignores_of(document: Document) -> tuple[Ignore, ...]:
    """All ignore comments of a document, in order."""
    found = []
    for start, end in document.comments():
        match = re.compile(_DIRECTIVE).search(document.text, start, end)
        if match is not None:
            found.append(_ignore(document, start, end, match))
    return tuple(found)


def _ignore(document: Document, start: int, end: int, match: re.Match[str]) -> Ignore:
    text = document.text
    names = tuple(name.strip() for name in (match["names"] or "").split(",") if name.strip())
    names_place = document.place(*match.span("names")) if match["names"] is not None else document.place(end, end)
    place = document.place(start, end)
    whole_file = match["file"] is not None
    line, first, last = place.line, 0, 0
    problem = None if names else f"this ignore names no rule; write ignore{match['file'] or ''}[rule-name] and why"
    if whole_file and _first_key(document) < start:
        problem = "ignore-file must stand before the first key of the file"
    elif not whole_file and not _is_behind_something(text, start):
        first = _next_token(document, end)
        line = document.lines.position(first)[0]
        last = _end_of_block(document.tree.root, first)
        if first >= len(text):
            line = 0
    blanks = start
    if _is_behind_something(text, start) and not re.compile(r"[ \t]*[^\s]").match(text, end):
        while text[blanks - 1] in " \t":
            blanks -= 1
    return Ignore(place, names, names_place, whole_file, line, first, last, cut(document, blanks, end), problem)


def _is_behind_something(text: str, start: int) -> bool:
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    return bool(text[line:start].strip())


def _next_token(document: Document, position: int) -> int:
    pattern = r"(?>(?:\s++|#[^\n]*+)*)" if document.syntax == TOML else r"(?>(?:\s++|//[^\r\n]*+|/\*(?s:.*?)\*/)*)"
    match = re.compile(pattern).match(document.text, position)
    assert match is not None, "it matches the empty string"
    return match.end()


def _first_key(document: Document) -> int:
    root = document.tree.root
    if root is None or root.kind != OBJECT or not root.value:
        return len(document.text)
    starts: list[int] = [member.start for member in root.value]
    return min(starts)


def _end_of_block(root: Node | None, start: int) -> int:
    """The end of the smallest value, or key with its value, that starts at an offset; the offset itself where none does."""
    ends: list[int] = []
    waiting = [root] if root is not None else []
    while waiting:
        node = waiting.pop()
        if node.start == start:
            ends.append(node.end)
        if node.kind == OBJECT:
            ends += [member.node.end for member in node.value if member.start == start]
            waiting += [member.node for member in node.value if member.node.kind in {OBJECT, ARRAY}]
        elif node.kind == ARRAY:
            waiting += node.value
    # The root of a TOML file starts at 0, as its first statement may.
    behind: list[int] = [end for end in ends if end > start]
    return min(behind, default=start)
