"""From findings to a repaired text, round by round until nothing changes. No input, no output."""

from __future__ import annotations

from bisect import bisect_left, insort

from cfq_lint.facts.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.model.finding import Finding, Fix
    from cfq_lint.run.engine import Report
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
    applied = chosen(findings, unsafe=unsafe)
    edits = [edit for finding in applied if finding.fix is not None for edit in finding.fix.edits]
    text = mark + text
    for edit in sorted(edits, key=lambda edit: edit.place.start, reverse=True):
        start, end = edit.place.start + len(mark), edit.place.end + len(mark)
        text = text[:start] + edit.text + text[end:]
    return Applied(text, tuple(applied))


def chosen(findings: Iterable[Finding], *, unsafe: bool) -> list[Finding]:
    """The findings of one file whose fixes can be made together: in order, those that touch none before them."""
    taken: list[tuple[int, int]] = []
    found = []
    for finding in findings:
        fix = finding.fix
        if fix is None or not is_applicable(fix, unsafe=unsafe):
            continue
        spans = [(edit.place.start, edit.place.end) for edit in fix.edits]
        if not any(_touches(span, taken) for span in spans):
            for span in spans:
                insort(taken, span)
            found.append(finding)
    return found


def grouped_fixes(report: Report, *, unsafe: bool = False) -> dict[str, dict[str, tuple[Finding, ...]]]:
    """The findings of a report that can be repaired, by file and then by code; a group can be made together.

    Unsafe fixes are left out unless asked for.
    """
    groups: dict[str, dict[str, list[Finding]]] = {}
    for finding in report.findings:
        if is_applicable(finding.fix, unsafe=unsafe):
            groups.setdefault(finding.path, {}).setdefault(finding.code, []).append(finding)
    return {
        path: {code: tuple(chosen(findings, unsafe=unsafe)) for code, findings in codes.items()}
        for path, codes in groups.items()
    }


def _touches(span: tuple[int, int], taken: list[tuple[int, int]]) -> bool:
    """Whether an edit overlaps one of those taken, or inserts at the same place, where their order would be anybody's guess.

    What is taken is in order and does not touch itself, so that the neighbours tell.
    """
    start, end = span
    at = bisect_left(taken, (start,))
    return (at < len(taken) and (taken[at][0] == start or taken[at][0] < end)) or (at > 0 and start < taken[at - 1][1])


def is_applicable(fix: Fix | None, *, unsafe: bool) -> bool:
    """Whether a run with these permissions applies a fix."""
    return fix is not None and bool(fix.edits) and (fix.safe or unsafe)
