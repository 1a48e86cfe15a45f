"""From findings to a repaired text, round by round until nothing changes. No input, no output."""

from __future__ import annotations

from cfq_lint.facts.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.model.finding import Edit, Finding, Fix
    from cfq_lint.source.document import Document

ROUNDS_MAX = 10
"""Fixes that wait for each other settle in two or three rounds; what has not settled by now never will."""


@record
class Applied:
    """The text after a round, byte order mark included, and the findings whose fix is in it."""

    text: str
    findings: tuple[Finding, ...]


def apply(document: Document, findings: Iterable[Finding], *, unsafe: bool) -> Applied:
    """Apply the fixes of one file's findings that do not touch each other; the rest wait for the next round.

    A fix is applied with all of its edits or not at all. Bytes outside of the edits stay as they are.
    """
    return edited(document.text, findings, unsafe=unsafe, mark="\ufeff" if document.bom else "")


def edited(text: str, findings: Iterable[Finding], *, unsafe: bool, mark: str = "") -> Applied:
    """The same of a text, behind its byte order mark."""
    edits: list[Edit] = []
    applied = []
    for finding in findings:
        fix = finding.fix
        if fix is None or not fix.edits or (not fix.safe and not unsafe):
            continue
        if not any(_touch(edit, other) for edit in fix.edits for other in edits):
            edits += fix.edits
            applied.append(finding)
    text = mark + text
    for edit in sorted(edits, key=lambda edit: edit.place.start, reverse=True):
        start, end = edit.place.start + len(mark), edit.place.end + len(mark)
        text = text[:start] + edit.text + text[end:]
    return Applied(text, tuple(applied))


def _touch(a: Edit, b: Edit) -> bool:
    """Whether two edits overlap, or insert at the same place, where their order would be anybody's guess."""
    if a.place.start == b.place.start:
        return True
    return a.place.start < b.place.end and b.place.start < a.place.end


def is_applicable(fix: Fix | None, *, unsafe: bool) -> bool:
    """Whether a run with these permissions applies a fix."""
    return fix is not None and bool(fix.edits) and (fix.safe or unsafe)
