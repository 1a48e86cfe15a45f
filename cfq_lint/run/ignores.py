"""Inline ignores: comments that accept a finding on purpose, bound to what they stand at.

`// cfq-lint: ignore[rule-name, CFQ301] why` (`#` in TOML) holds for its own line where something stands before it; alone on a
line it holds for what comes next, and if that opens a block, for the whole block. `ignore-file[…]`, before the first key, holds
for the file.
"""

from __future__ import annotations

import re

from cfq_lint.facts.record import record
from cfq_lint.model.edits import cut
from cfq_lint.model.finding import Edit, Finding, Fix, sort_key
from cfq_lint.rules.registry import BY_KEY, INDEX, load
from cfq_lint.rules.rule import CODE, DIFF, FACTS, LIVE, PROJECT
from cfq_lint.source.document import TOML, Document
from cfq_lint.source.node import ARRAY, OBJECT, Node
from cfq_lint.source.text import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.source.text import Place

_UNUSED = BY_KEY["unused-ignore"]
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

    def unused(self, used: set[str], known: Iterable[str]) -> tuple[str, Fix | None] | None:
        """What is to be said of names that suppress nothing, with the fix; None where all are of use.

        `used` are the names that suppress something, or of which the run cannot tell; `known` the names and codes of all rules.
        A name that is none is written right where one rule is meant, and else left to people: nobody knows what it was for. The
        same goes for a comment that cannot hold.
        """
        if self.problem is not None:
            return self.problem, None
        idle = [name for name in self.names if name not in used]
        if not idle:
            return None
        meant = {name: _nearest(name, known) for name in idle if name not in known}
        said = ", ".join(_said(name, meant) for name in idle)
        kept = [meant.get(name) or name for name in self.names if name in used or name in meant]
        fix = None
        if not kept:
            fix = Fix("remove the comment", (self.removal,), safe=True)
        elif kept != [*self.names]:
            right = [f"write {right}" for right in meant.values() if right]
            gone = [name for name in idle if name not in meant]
            titles = right + ([f"remove {', '.join(gone)} from the comment"] if gone else [])
            fix = Fix(", ".join(titles), (Edit(self.names_place, ", ".join(dict.fromkeys(kept))),), safe=True)
        return f"this ignore suppresses nothing: {said}", fix


@record
class Commented:
    """A file with ignores. `is_whole` says that all of it was judged, `has_code` that its Worker's source was read."""

    path: str
    ignores: tuple[Ignore, ...]
    is_whole: bool
    has_code: bool


@record
class Scope:
    """What a run looked at: the modules of its rules, what it knows of the account, and whether it read all that there is.

    `is_whole_project` is for all configurations, `is_whole_file` for all environments of each.
    """

    rules: tuple[str, ...]
    facts: Facts
    is_whole_project: bool
    is_whole_file: bool


def apply_ignores(files: Iterable[Commented], findings: Iterable[Finding], scope: Scope) -> tuple[list[Finding], list[Finding]]:
    """The findings that stay, those about ignores of no use added, and the findings that an ignore accepts."""
    by_path = {file.path: file for file in files}
    used: dict[Ignore, set[str]] = {}
    kept: list[Finding] = []
    suppressed: list[Finding] = []
    for finding in findings:
        file = by_path.get(finding.path)
        covering = [ignore for ignore in file.ignores if ignore.covers(finding)] if file is not None else []
        for ignore in covering:
            used.setdefault(ignore, set()).update({finding.name, finding.code})
        (suppressed if covering else kept).append(finding)
    if scope.is_whole_file and _UNUSED in scope.rules:
        rule = load(_UNUSED)
        for file in by_path.values():
            for ignore in file.ignores if file.is_whole else ():
                unsure = {name for name in ignore.names if name in BY_KEY and not _could_speak(BY_KEY[name], file, scope)}
                said = ignore.unused(used.get(ignore, set()) | unsure, BY_KEY)
                if said is not None:
                    kept.append(rule.finding(ignore.place, said[0], fix=said[1]))
        kept.sort(key=sort_key)
    return kept, suppressed


def _could_speak(module: str, file: Commented, scope: Scope) -> bool:
    """Whether a rule ran and saw all that it needs: only then is an ignore of it idle where the rule was silent."""
    if module not in scope.rules:
        return False
    needs, facts = INDEX[module].needs, scope.facts
    return {
        PROJECT: scope.is_whole_project,
        CODE: file.has_code,
        FACTS: facts.known_queues is not None and bool(facts.queues),
        LIVE: facts.is_account,
        DIFF: False,
    }.get(needs, True)


def _nearest(name: str, known: Iterable[str]) -> str | None:
    """The rule that a misspelt name means: by its letters, whatever stands between the words; None where none is near."""
    from difflib import get_close_matches  # only a typo needs it

    by_letters = {key.lower().replace("-", ""): key for key in known}
    letters = name.lower().replace("-", "").replace("_", "").replace(" ", "")
    near = get_close_matches(letters, by_letters, n=1, cutoff=0.85)
    # Codes are near each other by nature: of those, only what differs in case is meant.
    return by_letters[near[0]] if near and (near[0] == letters or not by_letters[near[0]].startswith("CFQ")) else None


def _said(name: str, meant: dict[str, str | None]) -> str:
    if name not in meant:
        return name
    return f"{name} (no such rule; did you mean {meant[name]}?)" if meant[name] else f"{name} (no such rule)"


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


_QUOTED = r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|"
_SCRIPT = re.compile(_QUOTED + r"`(?:\\.|[^`\\])*`|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<rest>[^'\"`/]+|.)", re.DOTALL)
_PYTHON = re.compile(r'"{3}.*?"{3}|' + r"'{3}.*?'{3}|" + _QUOTED + r"(?P<comment>#[^\n]*)|(?P<rest>[^'\"#]+|.)", re.DOTALL)
_BETWEEN = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_HEAD = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/|[\"']use \w+[\"'];?)*", re.DOTALL)
"""What may stand before the first statement."""


def ignores_in(path: str, text: str) -> tuple[Ignore, ...]:
    """All ignore comments of a Worker's source, in order: alone on a line they hold for what comes next, block and all."""
    source = Text(path, text)
    found = []
    for comment in (_PYTHON if path.endswith(".py") else _SCRIPT).finditer(text):
        match = re.compile(_DIRECTIVE).search(text, *comment.span()) if comment["comment"] is not None else None
        if match is not None:
            found.append(_ignore_in(source, *comment.span(), match))
    return tuple(found)


def _ignore_in(source: Text, start: int, end: int, match: re.Match[str]) -> Ignore:
    text = source.text
    names = tuple(name.strip() for name in (match["names"] or "").split(",") if name.strip())
    names_place = source.place(*match.span("names")) if match["names"] is not None else source.place(end, end)
    place = source.place(start, end)
    whole_file = match["file"] is not None
    problem = None if names else f"this ignore names no rule; write ignore{match['file'] or ''}[rule-name] and why"
    line, first, last = place.line, 0, 0
    if whole_file and _HEAD.fullmatch(text, 0, start) is None:
        problem = "ignore-file must stand before the first statement of the file"
    elif not whole_file and not _is_behind_something(text, start):
        between = _BETWEEN.match(text, end)
        first = between.end() if between is not None else end
        line = source.lines.position(first)[0] if first < len(text) else 0
        last = _end_of_indented(source, first) if source.path.endswith(".py") else _end_of_braces(text, first)
    blanks = start
    while line == place.line and blanks and text[blanks - 1] in " \t":
        blanks -= 1
    return Ignore(place, names, names_place, whole_file, line, first, last, cut(source, blanks, end), problem)


def _end_of_braces(text: str, start: int) -> int:
    """The end of a statement of JavaScript: its line, or the bracket that closes what it opens."""
    depth = 0
    for token in _SCRIPT.finditer(text, start):
        for at, letter in enumerate(token["rest"] or "", token.start()):
            depth += (letter in "([{") - (letter in ")]}")
            if depth < 0 or (depth == 0 and letter in ";\n"):
                return at
    return len(text)


def _end_of_indented(source: Text, start: int) -> int:
    """The end of a statement of Python: its line, and the lines below that stand further in."""
    lines = source.lines
    number, column = lines.position(start)
    while number < len(lines.starts):
        text = lines.line(number + 1)
        if text.strip() and len(text) - len(text.lstrip()) < column:
            return lines.starts[number]
        number += 1
    return len(source.text)
