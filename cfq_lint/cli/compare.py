"""`cfq-lint diff OLD NEW`: files, folders or git revisions."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

from cfq_lint.cli.check import CLEAN, FAILED, FOUND, use_colour
from cfq_lint.drawing.colour import Paint
from cfq_lint.facts.errors import Usage
from cfq_lint.report.json import as_object
from cfq_lint.run.changes import DEFAULTED, REMOVED, Comparison, compare
from cfq_lint.source import discovery
from cfq_lint.source.document import Document, from_bytes, read


def diff(old: str, new: str, *, as_json: bool) -> int:
    """Compare two sides and show the differences; the exit code: 1 where something stays behind in the account, else 0."""
    sides = [_documents(old), _documents(new)]
    if all(os.path.isfile(side) for side in (old, new)):
        name = new.replace(os.sep, "/")
        sides = [[_renamed(documents[0], name)] for documents in sides]
    broken = [document for documents in sides for document in documents if not document.whole]
    for document in broken:
        print(f"cfq-lint: {document.path}: does not parse and is passed over; `cfq-lint check` says where", file=sys.stderr)
    comparison = compare(*([document for document in documents if document.whole] for documents in sides))
    sys.stdout.write(_as_json(comparison) if as_json else _as_text(comparison, Paint(colour=use_colour(sys.stdout))))
    return FAILED if broken else FOUND if comparison.findings else CLEAN


def _renamed(document: Document, path: str) -> Document:
    document.path = path
    return document


def _documents(side: str) -> list[Document]:
    """The files of one side: one file, all below a folder, or all of a git revision; paths relative to the folder."""
    if os.path.isfile(side):
        return [read(side)]
    if os.path.isdir(side):
        files, _ = discovery.find([side])
        return [_renamed(read(file), os.path.relpath(file, side).replace(os.sep, "/")) for file in files]
    listed = _git("ls-tree", "-r", "--name-only", "-z", side, side=side)
    names = [name for name in listed.decode("utf-8", "replace").split("\0") if re.search(discovery.FILE_PATTERN, name)]

    def beside(name: str) -> str | None:
        try:
            return _git("show", f"{side}:./{name}", side=side).decode("utf-8", "replace")
        except Usage:  # there is no such file in that revision
            return None

    return [from_bytes(name, _git("show", f"{side}:./{name}", side=side), beside) for name in names]


def _git(*arguments: str, side: str) -> bytes:
    if side.startswith("-"):
        raise Usage(f"{side}: neither a file, a folder nor a git revision")
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, check=False)  # noqa: S603, S607 - git of the user's path
    except OSError as error:
        raise Usage(f"{side}: no such file or folder, and git cannot be run: {error.strerror or error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Usage(f"{side}: neither a file, a folder nor a git revision" + (f" ({said[-1]})" if said else ""))
    return done.stdout


def _as_json(comparison: Comparison) -> str:
    changes = [
        {
            "path": change.path,
            "environment": change.environment,
            "queue": change.queue,
            "what": change.what,
            "how": change.how,
            "before": change.before,
            "after": change.after,
        }
        for change in comparison.changes
    ]
    findings = [as_object(finding) for finding in comparison.findings]
    return json.dumps({"version": 1, "changes": changes, "findings": findings}, indent=2) + "\n"


def _as_text(comparison: Comparison, paint: Paint) -> str:
    lines = []
    for change in comparison.changes:
        style = "error" if change.how == REMOVED else "warning" if change.how == DEFAULTED else "info"
        lines.append(f"{paint(style, change.how[0].upper())} {change.said}")
    lines += [f"{paint('warning', 'warning')} {each.code} {each.name}: {each.message}" for each in comparison.findings]
    return "\n".join(lines or ["a deploy would change nothing for queues"]) + "\n"
