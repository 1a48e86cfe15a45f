"""Repair the files of a run: fix and judge again until nothing changes; then write what did not change on disk meanwhile."""

from __future__ import annotations

import os
import tempfile
from collections import Counter

from cfq_lint.facts.errors import FixFailed
from cfq_lint.facts.record import record
from cfq_lint.model.finding import fingerprint
from cfq_lint.run.engine import FileResult, Report, judge
from cfq_lint.run.fixer import ROUNDS_MAX, apply, edited, is_applicable
from cfq_lint.run.lint import complete, finish
from cfq_lint.source.discovery import Surroundings
from cfq_lint.source.document import Document, from_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.finding import Finding
    from cfq_lint.run.plan import Plan

UNUSED_IGNORE = "unused-ignore"


@record
class Change:
    """What a repair makes of one file, and how many findings it settles."""

    path: str
    before: bytes
    after: bytes
    fixed: int


@record
class Repaired:
    """What a repair comes to: the report on what is left, the changes, and the findings that were not there before."""

    report: Report
    changes: tuple[Change, ...]
    brought: tuple[Finding, ...]


def repair(results: list[FileResult], problems: list[str], plan: Plan, *, unsafe: bool) -> Repaired:
    """Fix what can be fixed; nobody has written the changes yet.

    In a file that has ignores to mend these come first, so that no finding is fixed that one of them accepts. Raises FixFailed
    where fixes do not settle within ROUNDS_MAX rounds or break a file's syntax: a fault of the linter.
    """
    by_path = {result.path: result for result in results}
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    fixed: dict[str, int] = {}
    first: Report | None = None
    for _ in range(ROUNDS_MAX):
        report = finish(by_path.values(), problems, plan)
        first = first or report
        waiting: dict[str, list[Finding]] = {}
        for finding in report.findings:
            if is_applicable(finding.fix, unsafe=unsafe):
                waiting.setdefault(finding.path, []).append(finding)
        if not waiting:
            changes = tuple(Change(path, before[path], after[path], fixed[path]) for path in sorted(after))
            return Repaired(report, changes, _brought(first, report))
        for path, found in waiting.items():
            findings = [finding for finding in found if finding.name == UNUSED_IGNORE] or found
            if path not in before:
                before[path] = after[path] = _read(path)
            if path not in by_path:
                _mend_source(path, findings, by_path, plan, after=after, fixed=fixed, unsafe=unsafe)
                continue
            document = from_bytes(path, after[path])
            applied = apply(document, findings, unsafe=unsafe)
            mended = from_bytes(path, applied.text.encode())
            if len(mended.faults) > len(document.faults):
                raise FixFailed(f"{path}: a fix broke the file's syntax; nothing was written")
            after[path] = applied.text.encode()
            fixed[path] = fixed.get(path, 0) + len(applied.findings)
            by_path[path] = _judge(mended, plan, after)
    raise FixFailed(f"fixes did not settle within {ROUNDS_MAX} rounds; nothing was written")


def _brought(first: Report, last: Report) -> tuple[Finding, ...]:
    """The findings of the last report that the first lacks."""
    left = Counter(fingerprint(finding, finding.path) for finding in first.findings)
    brought = []
    for finding in last.findings:
        key = fingerprint(finding, finding.path)
        left[key] -= 1
        if left[key] < 0:
            brought.append(finding)
    return tuple(brought)


def write(change: Change) -> str | None:
    """Write a repaired file in place, whole or not at all; a line that says why where it was left alone.

    A file that is no longer what was linted is left alone. Its mode is kept, and a link keeps pointing at the file.
    """
    path = os.path.realpath(change.path)
    folder = os.path.dirname(path)
    try:
        if _read(path) != change.before:
            return f"{change.path}: it changed on disk meanwhile; nothing was written to it"
        mode = os.stat(path).st_mode
        handle, draft = tempfile.mkstemp(dir=folder, prefix=".cfq-lint-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(change.after)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(draft, mode & 0o7777)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        return f"{change.path}: cannot be written: {error.strerror or error}"
    return None


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise FixFailed(f"{path}: cannot be read again: {error.strerror or error}") from error


def _mend_source(
    path: str,
    findings: list[Finding],
    by_path: dict[str, FileResult],
    plan: Plan,
    *,
    after: dict[str, bytes],
    fixed: dict[str, int],
    unsafe: bool,
) -> None:
    """Fix a module of a Worker, and judge again the configurations whose source it is."""
    applied = edited(after[path].decode("utf-8"), findings, unsafe=unsafe)
    after[path] = applied.text.encode()
    fixed[path] = fixed.get(path, 0) + len(applied.findings)
    for owner, result in [*by_path.items()]:
        if any(source.path == path for source in result.sources):
            by_path[owner] = _judge(from_bytes(owner, after.get(owner) or _read(owner)), plan, after)


def _judge(document: Document, plan: Plan, after: dict[str, bytes]) -> FileResult:
    mended = {os.path.abspath(path): data.decode("utf-8") for path, data in after.items()}
    complete(document, document.path, plan, Surroundings(mended))  # what was computed before the fix
    return judge(document, plan)
