"""Quick fixes: of one finding, of all of a kind, of all that is safe, and the comment that accepts a finding."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types

from cfq_lint.run.fixer import chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cfq_lint.editor.positions import Units
    from cfq_lint.model.finding import Edit, Finding

FIX_ALL = "source.fixAll.cfq-lint"
_REASON = "why: "


def actions(
    uri: str,
    findings: list[Finding],
    marked: Iterable[tuple[Finding, types.Diagnostic]],
    units: Units,
    *,
    only: Iterable[str] | None,
    shift: int = 0,
) -> Iterator[types.CodeAction]:
    """The actions of a file. `findings` are all of it, `marked` those at the place that was asked about; `only` kinds count."""

    def edits(several: Iterable[Edit]) -> types.WorkspaceEdit:
        return types.WorkspaceEdit({uri: [types.TextEdit(units.range(each.place, shift), each.text) for each in several]})

    def wants(kind: str) -> bool:
        return only is None or any(kind == each or kind.startswith(f"{each}.") for each in only)

    if wants("quickfix"):
        for finding, diagnostic in marked:
            yield from _of_one(finding, diagnostic, findings, edits)
            yield _ignoring(finding, diagnostic, edits_of=lambda text: types.WorkspaceEdit({uri: [text]}))
    if wants(FIX_ALL):
        safe = chosen(findings, unsafe=False)
        if safe:
            count = f"{len(safe)} finding{'s' if len(safe) > 1 else ''}"
            yield types.CodeAction(
                f"Fix all that is safe ({count})",
                kind=FIX_ALL,
                edit=edits(edit for finding in safe if finding.fix is not None for edit in finding.fix.edits),
            )


def _of_one(
    finding: Finding,
    diagnostic: types.Diagnostic,
    findings: list[Finding],
    edits: Callable[[Iterable[Edit]], types.WorkspaceEdit],
) -> Iterator[types.CodeAction]:
    fix = finding.fix
    if fix is None or not fix.edits:
        return
    title = fix.title[:1].upper() + fix.title[1:]
    yield types.CodeAction(
        title if fix.safe else f"{title} (may change the meaning)",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        is_preferred=fix.safe,
        edit=edits(fix.edits),
    )
    alike = chosen([each for each in findings if each.code == finding.code], unsafe=True)
    if len(alike) > 1:
        is_safe = all(each.fix is not None and each.fix.safe for each in alike)
        yield types.CodeAction(
            f"Fix all {len(alike)} of {finding.name}{'' if is_safe else ' (may change the meaning)'}",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            edit=edits(edit for each in alike if each.fix is not None for edit in each.fix.edits),
        )


def _ignoring(
    finding: Finding, diagnostic: types.Diagnostic, edits_of: Callable[[types.TextEdit], types.WorkspaceEdit]
) -> types.CodeAction:
    """A comment on a line of its own above the finding, with room for the reason."""
    line = max(diagnostic.range.start.line, 0)
    lines = finding.place.lines
    indent, end = re.match(r"\s*", lines.line(line + 1)), "\r\n" if "\r\n" in lines.text else "\n"
    mark = "#" if finding.path.endswith((".toml", ".py")) else "//"
    text = f"{indent[0] if indent is not None else ''}{mark} cfq-lint: ignore[{finding.name}] {_REASON}{end}"
    at = types.Position(line, 0)
    return types.CodeAction(
        f"Ignore {finding.name} here, with a reason",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        edit=edits_of(types.TextEdit(types.Range(at, at), text)),
    )
