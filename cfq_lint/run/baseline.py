"""A baseline: the findings that a project had when it began to lint, accepted until somebody touches them.

The file counts findings by file, rule and message, never by line, so it survives moved lines. Paths are relative to its folder.
"""

from __future__ import annotations

import json
import os

from cfq_lint.facts.errors import WrongBaseline
from cfq_lint.facts.record import replace
from cfq_lint.model.finding import Finding, fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.run.engine import Report

VERSION = 1


def as_text(report: Report, file: str) -> str:
    """The text of a baseline at `file` that accepts every finding of a report."""
    counts: dict[str, dict[str, dict[str, int]]] = {}
    for finding in report.findings:
        path, code, said = _parts(finding, file)
        messages = counts.setdefault(path, {}).setdefault(f"{code} {finding.name}", {})
        messages[said] = messages.get(said, 0) + 1
    return json.dumps({"version": VERSION, "accepted": counts}, indent=2, sort_keys=True) + "\n"


def accept(report: Report, file: str) -> Report:
    """The report without what the baseline accepts: of equal findings as many as it counts. Raises WrongBaseline."""
    left = _read(file)
    kept, accepted = [], []
    for finding in report.findings:
        key = _parts(finding, file)
        if left.get(key, 0) > 0:
            left[key] -= 1
            accepted.append(finding)
        else:
            kept.append(finding)
    return replace(report, findings=tuple(kept), baselined=tuple(accepted))


def _parts(finding: Finding, file: str) -> tuple[str, str, str]:
    path = os.path.relpath(finding.path, os.path.dirname(os.path.abspath(file))).replace(os.sep, "/")
    where, code, said = fingerprint(finding, path).split("\0")
    return where, code, said


def _read(file: str) -> dict[tuple[str, str, str], int]:
    try:
        with open(file, encoding="utf-8") as opened:
            whole = json.load(opened)
        if whole["version"] != VERSION:
            raise WrongBaseline(f"{file}: version {whole['version']!r} of a baseline is not known; write it anew")
        return {
            (path, rule.split(" ", 1)[0], said): int(count)
            for path, rules in whole["accepted"].items()
            for rule, messages in rules.items()
            for said, count in messages.items()
        }
    except OSError as error:
        raise WrongBaseline(f"{file}: cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WrongBaseline(f"{file}: not a baseline of cfq-lint; write it anew with --write-baseline") from error
