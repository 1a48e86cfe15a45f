"""What a server knows while an editor is connected: the project, how positions are counted, and what was told already."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import time
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from cfq_lint.editor.mentions import Mention, configured, mention_at, mentions
from cfq_lint.editor.positions import Units
from cfq_lint.editor.workspace import SETTINGS_FILES, Workspace, named
from cfq_lint.model.finding import Severity
from cfq_lint.source.discovery import is_configuration
from cfq_lint.source.text import Lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.editor.workspace import Judged
    from cfq_lint.model.finding import Finding
    from cfq_lint.source.text import Place

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
_SAID_AT = re.compile(r"(.+?):(\d+):(\d+): (.*)")
_UNUSED = "unused-ignore"


REST_SECONDS = 0.3
"""How long nothing was typed before work goes on that nobody waits for."""
PAUSE_SECONDS = 0.002
"""Between two slices of it, so that what arrives comes first."""
SLICE_SECONDS = 0.01


class Server(LanguageServer):
    """The server with the project that it speaks of. `published` are the diagnostics that the editor has, by their URI.

    `is_shut_down` says that the editor told it to end; what ends otherwise exits with 1, as the protocol wants it.
    """

    def __init__(self, version: str) -> None:
        # A text is sent whole: what the library takes for ends of lines is not what the protocol does.
        super().__init__("cfq-lint", version, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.project = Workspace(())
        self.units = Units()
        self.versions: dict[str, int] = {}
        self.published: dict[str, list[types.Diagnostic]] = {}
        self.is_shut_down = False
        self._told: dict[str, tuple[list[Finding], list[types.Diagnostic]]] = {}
        self._changed: set[str] = set()
        self._uris: dict[str, str] = {}
        self._is_due = False
        self._goes_on = False
        self._typed = 0.0
        self._is_unswept = False

    # --- what the editor has

    def start(self, folders: Iterable[str]) -> None:
        """Take up the folders of a workspace; the working directory is where a run would be started."""
        paths = [os.path.abspath(path) for path in folders]
        if paths:
            os.chdir(os.path.commonpath(paths))
        buffers = self.project.buffers
        self.project = Workspace(map(named, paths))
        for path, text in buffers.items():
            self.project.put(path, text)

    def uri(self, path: str) -> str:
        """The URI of a file as findings name it; that which the editor uses where it has the file open."""
        absolute = os.path.abspath(path)
        if absolute not in self._uris:
            self._uris[absolute] = from_fs_path(absolute) or ""
        return self._uris[absolute]

    def opened(self, uri: str) -> None:
        """An editor has its own way to write the URI of a file that it opened."""
        self._uris[path_of(uri)] = uri

    def shift(self, path: str) -> int:
        """By how much the first line is longer in the editor: a byte order mark is none of our offsets."""
        return self.units.mark if self.project.buffers.get(os.path.abspath(path), "").startswith("\ufeff") else 0

    def range(self, place: Place) -> types.Range:
        """The range of a place, as the editor counts."""
        return self.units.range(place, self.shift(place.path))

    def location(self, place: Place) -> types.Location:
        """The location of a place."""
        return types.Location(self.uri(place.path), self.range(place))

    def lines(self, path: str) -> Lines:
        """The text at a path as the editor has it, else as it is on disk."""
        judged = self.project.configuration(path)
        if judged is not None:
            return judged.document.lines
        text = self.project.buffers.get(os.path.abspath(path))
        if text is None:
            text = next((module.text for _, module in self.project.modules() if module.path == named(path)), "")
        return Lines(text.removeprefix("\ufeff"))

    def offset(self, path: str, position: types.Position) -> int:
        """The offset of a position in a file."""
        return self.units.offset(self.lines(path), position, self.shift(path))

    # --- diagnostics

    def changed(self, uri: str) -> None:
        """Say soon what is wrong now: when nothing more has arrived, so that a burst of keys is judged once."""
        self._changed.add(uri)
        self._typed = time.monotonic()
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self.publish)

    def publish(self) -> None:
        """Tell the editor all diagnostics that it does not have, and those of what has changed in any case."""
        self._is_due = False
        changed, self._changed = self._changed, set()
        found: dict[str, list[Finding]] = {}
        for finding in self.project.report().findings:
            found.setdefault(finding.path, []).append(finding)
        diagnostics = {}
        for path, findings in found.items():
            told, before = self._told.get(path, ((), []))
            is_same = len(told) == len(findings) and all(map(_is_same, told, findings))
            diagnostics[path] = (findings, before if is_same else [*map(self.diagnostic, findings)])
        self._told = diagnostics
        by_uri = {self.uri(path): each for path, (_, each) in diagnostics.items()}
        for line in str(self.project.problem or "").splitlines():
            path, diagnostic = _of_settings(line)
            by_uri[self.uri(path)] = [*by_uri.get(self.uri(path), []), diagnostic]
        # What was changed comes last: then all is told that came of it.
        for uri in [*({**by_uri, **self.published}.keys() - changed), *changed]:
            now = by_uri.get(uri, [])
            if uri in changed or now != self.published.get(uri, []):
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, now, version=self.versions.get(uri)))
        self.published = by_uri
        if self.project.is_behind:
            self._go_on_soon()
        if not self._is_unswept:
            self._is_unswept = True
            asyncio.get_running_loop().call_later(PAUSE_SECONDS, self._sweep)

    def _sweep(self) -> None:
        """Free what the last key left behind; the automatic collection would do so in the midst of the next one."""
        self._is_unswept = False
        gc.collect()

    def _go_on_soon(self) -> None:
        """Follow more sources when nothing else is to be done, a little at a time."""
        if not self._goes_on:
            self._goes_on = True
            rest = self._typed + REST_SECONDS - time.monotonic()
            asyncio.get_running_loop().call_later(max(rest, PAUSE_SECONDS), self._go_on)

    def _go_on(self) -> None:
        self._goes_on = False
        if time.monotonic() - self._typed >= REST_SECONDS:
            self.project.go_on(SLICE_SECONDS)
            gc.collect(0)
        if self.project.is_behind:
            self._go_on_soon()
        elif not self._is_due:
            self.publish()
            gc.unfreeze()
            gc.collect()
            gc.freeze()  # what is there to stay is not looked through after every key

    def diagnostic(self, finding: Finding) -> types.Diagnostic:
        """A finding as the protocol has it."""
        related = [types.DiagnosticRelatedInformation(self.location(each.place), each.message) for each in finding.related]
        return types.Diagnostic(
            self.range(finding.place),
            finding.message,
            severity=_SEVERITIES[finding.severity],
            code=finding.code,
            code_description=types.CodeDescription(finding.url) if finding.url else None,
            source="cfq-lint",
            tags=[types.DiagnosticTag.Unnecessary] if finding.name == _UNUSED else None,
            related_information=related or None,
            data={"name": finding.name},
        )

    # --- what is asked at a place

    def at(self, uri: str, position: types.Position, *, whole: bool = True) -> tuple[str, int, list[Mention], Mention | None]:
        """The file, the offset, the mentions of queues, and the one that stands there; `whole`: those in all code, too."""
        file = named(path_of(uri)).replace(os.sep, "/")
        offset = self.offset(file, position)
        if whole:
            all_mentions = mentions(self.project)
        elif is_configuration(file):
            all_mentions = configured(self.project)
        else:
            all_mentions = mentions(self.project, file)
        return file, offset, all_mentions, mention_at(all_mentions, file, offset)

    def judged(self, uri: str) -> Judged | None:
        """The configuration at a URI."""
        return self.project.configuration(path_of(uri))


def _is_same(one: Finding, other: Finding) -> bool:
    """Whether two findings are told alike: they are equal, and stand in texts that did not change."""
    if one is other:
        return True
    if one != other or one.place.lines is not other.place.lines:
        return False
    return all(a.place.lines is b.place.lines for a, b in zip(one.related, other.related, strict=True))


def path_of(uri: str) -> str:
    """The absolute path of a URI; of what is no file, the URI itself, which names none."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return os.path.abspath(path) if path else uri


def _of_settings(line: str) -> tuple[str, types.Diagnostic]:
    """What is wrong with the settings, and the file that it is said of."""
    found = _SAID_AT.match(line)
    path, row, column, message = found.groups() if found is not None else (SETTINGS_FILES[0], "1", "1", line)
    at = types.Position(int(row) - 1, int(column) - 1)
    return path, types.Diagnostic(types.Range(at, at), message, severity=types.DiagnosticSeverity.Error, source="cfq-lint")
