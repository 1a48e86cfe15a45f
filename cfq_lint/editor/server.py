"""The language server: what an editor asks, answered from the session. It never ends because of what stands in a file.

https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
"""

from __future__ import annotations

import gc
import os
import re

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from cfq_lint.editor import telling
from cfq_lint.editor.acting import FIX_ALL, actions
from cfq_lint.editor.completing import completions
from cfq_lint.editor.mentions import ASKS, CONSUMES, DEAD_LETTERS, MAKES, PRODUCES, SENDS, configured
from cfq_lint.editor.outline import hints, lenses, symbols
from cfq_lint.editor.positions import Units
from cfq_lint.editor.session import Server, path_of
from cfq_lint.editor.workspace import SETTINGS_FILES, named
from cfq_lint.facts.keys import is_queue_name
from cfq_lint.facts.limits import QUEUE_NAME_LENGTH_MAX
from cfq_lint.source.discovery import is_configuration
from cfq_lint.source.spots import spot_in
from cfq_lint.source.text import Lines

_WATCHED = "**/{wrangler*,cloudflare.config.ts,cfq-lint.toml,pyproject.toml,.gitignore,*.{py,ts,tsx,mts,cts,js,jsx,mjs,cjs}}"
_PASSED_OVER = re.compile(r"[\\/](?:node_modules|\.git|\.venv)[\\/]")
_WORD = re.compile(r"[\w-]+")


def make_server(version: str) -> Server:
    """A server that knows what it can be asked, and is of a version."""
    server = Server(version)
    _life(server)
    _buffers(server)
    _words(server)
    _queues(server)
    _whole_files(server)
    return server


def _life(server: Server) -> None:
    """How an editor comes, and which folders it has."""

    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        ls.units = Units(str(getattr(ls.workspace.position_encoding, "value", ls.workspace.position_encoding) or "utf-16"))
        folders = [each.uri for each in params.workspace_folders or ()] or [params.root_uri or ""]
        ls.start(path for path in map(path_of, filter(None, folders)) if os.path.isdir(path))

    @server.feature(types.INITIALIZED)
    async def initialized(ls: Server, _: types.InitializedParams) -> None:
        if ls.project.folders:
            ls.publish()
        gc.freeze()
        workspace = ls.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(_WATCHED)])
            registration = types.Registration("watched", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            await ls.client_register_capability_async(types.RegistrationParams([registration]))

    @server.feature(types.SHUTDOWN)
    def shut_down(ls: Server, _: None) -> None:
        ls.is_shut_down = True

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders(ls: Server, _: types.DidChangeWorkspaceFoldersParams) -> None:
        ls.start(path_of(uri) for uri in ls.workspace.folders)
        ls.publish()


def _buffers(server: Server) -> None:
    """What happens to files."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        if not ls.project.folders and not ls.versions and document.uri.startswith("file:"):
            os.chdir(_top_of(os.path.dirname(path_of(document.uri))))
        ls.versions[document.uri] = document.version
        ls.opened(document.uri)
        ls.project.put(path_of(document.uri), document.text)
        ls.changed(document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def edited(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        path = path_of(uri)
        text = ls.project.buffers.get(path, "")
        for change in params.content_changes:
            text = _changed(text, change, ls.units)
        ls.versions[uri] = params.text_document.version
        ls.project.put(path, text)
        ls.changed(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        if os.path.basename(path_of(params.text_document.uri)) in SETTINGS_FILES:
            ls.project.reload()
            ls.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        ls.versions.pop(params.text_document.uri, None)
        ls.project.drop(path_of(params.text_document.uri))
        ls.changed(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def on_disk(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
        changes = [(path_of(each.uri), each.type) for each in params.changes]
        changes = [(path, what) for path, what in changes if not _PASSED_OVER.search(path)]
        for path, what in changes:
            is_new = what != types.FileChangeType.Changed
            if os.path.basename(path) in SETTINGS_FILES or (is_new and is_configuration(path)):
                ls.project.reload()
            else:
                ls.project.touched(path)
        if changes:
            ls.changed(ls.uri(changes[0][0]))


def _changed(text: str, change: types.TextDocumentContentChangeEvent, units: Units) -> str:
    """A text after a change: all of it is another, or a part."""
    if not isinstance(change, types.TextDocumentContentChangePartial):
        return change.text
    lines = Lines(text)
    start, end = units.offset(lines, change.range.start), units.offset(lines, change.range.end)
    return text[:start] + change.text + text[end:]


def _top_of(folder: str) -> str:
    """The top of the repository around a folder, or the folder itself."""
    at = folder
    while not os.path.exists(os.path.join(at, ".git")):
        above = os.path.dirname(at)
        if above == at:
            return folder
        at = above
    return at


def _words(server: Server) -> None:
    """What is asked of the word at a place."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        file, offset, all_mentions, mention = ls.at(params.text_document.uri, params.position, whole=False)
        said: list[str] = []
        place = mention.place if mention is not None else None
        judged = ls.project.configuration(file)
        if judged is not None:
            spot = spot_in(judged.document, offset)
            keys = telling.keys_at(spot)
            key = keys.get(spot.member.key) if keys is not None and spot.member is not None else None
            if key is not None and spot.member is not None:
                said.append(telling.of_key(key))
                place = place or judged.document.place(spot.member.start, spot.member.end)
        if mention is not None:
            said.insert(0, telling.of_queue(mention.queue, all_mentions))
        if not said:
            text = ls.lines(file).text
            word = next(
                (
                    each
                    for each in _WORD.finditer(text, max(offset - 80, 0), offset + 80)
                    if each.start() <= offset <= each.end()
                ),
                None,
            )
            page = telling.of_rule(word[0]) if word is not None else None
            said += [page] if page is not None else []
        if not said:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(said))
        return types.Hover(content, ls.range(place) if place is not None else None)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=['"', "'", "=", ":"]))
    def complete(ls: Server, params: types.CompletionParams) -> list[types.CompletionItem]:
        judged = ls.judged(params.text_document.uri)
        if judged is None:
            return []
        offset = ls.offset(judged.document.path, params.position)
        return completions(judged.document, offset, configured(ls.project), ls.units)


def _queues(server: Server) -> None:
    """What is asked of the queue that a place speaks of."""

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(ls: Server, params: types.DefinitionParams) -> list[types.Location]:
        _, _, all_mentions, mention = ls.at(params.text_document.uri, params.position)
        if mention is None:
            return []
        about = [each for each in all_mentions if each.queue == mention.queue and each.place != mention.place]
        first = (CONSUMES, MAKES) if mention.role != CONSUMES else (ASKS, PRODUCES)
        for roles in (first, (PRODUCES, DEAD_LETTERS)):
            found = [each for each in about if each.role in roles]
            if found:
                return [ls.location(each.place) for each in found]
        return []

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(ls: Server, params: types.ReferenceParams) -> list[types.Location]:
        _, _, all_mentions, mention = ls.at(params.text_document.uri, params.position)
        if mention is None:
            return []
        return [ls.location(each.place) for each in all_mentions if each.queue == mention.queue]

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(ls: Server, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        _, _, _, mention = ls.at(params.text_document.uri, params.position)
        if mention is None or mention.role == SENDS:
            return None
        return types.PrepareRenamePlaceholder(ls.range(mention.place), mention.queue)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(ls: Server, params: types.RenameParams) -> types.WorkspaceEdit | None:
        _, _, all_mentions, mention = ls.at(params.text_document.uri, params.position)
        if mention is None or mention.role == SENDS:
            return None
        new = params.new_name
        if not is_queue_name(new):
            raise JsonRpcInvalidParams(
                f"{new!r} is no name for a queue: 1 to {QUEUE_NAME_LENGTH_MAX} of a-z, 0-9 and -, and no - at either end"
            )
        edits: dict[str, list[types.TextEdit]] = {}
        for each in all_mentions:
            if each.queue != mention.queue or each.role == SENDS:
                continue
            place = each.place
            if place.lines.text[place.start : place.end] != mention.queue:
                raise JsonRpcInvalidParams(f"the name is put together at {place.path}:{place.line}: rename it there by hand")
            edits.setdefault(ls.uri(place.path), []).append(types.TextEdit(ls.range(place), new))
        return types.WorkspaceEdit(edits)


def _whole_files(server: Server) -> None:
    """What is asked of a whole file."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]))
    def act(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        file = named(path_of(uri)).replace(os.sep, "/")
        findings = [each for each in ls.project.report().findings if each.path == file]
        lines, shift = ls.lines(file), ls.shift(file)
        start, end = (ls.units.offset(lines, each, shift) for each in (params.range.start, params.range.end))
        marked = [
            (each, ls.diagnostic(each)) for each in findings if each.place.start <= end and start <= max(each.place.end, 0)
        ]
        only = params.context.only
        return [*actions(uri, findings, marked, ls.units, only=only, shift=shift)]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(ls: Server, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        judged = ls.judged(params.text_document.uri)
        return symbols(judged, ls.range) if judged is not None else []

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def lens(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
        judged = ls.judged(params.text_document.uri)
        return lenses(judged, configured(ls.project), ls.range) if judged is not None else []

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def hint(ls: Server, params: types.InlayHintParams) -> list[types.InlayHint]:
        judged = ls.judged(params.text_document.uri)
        if judged is None:
            return []
        first, last = params.range.start.line, params.range.end.line
        return [each for each in hints(judged, ls.range) if first <= each.position.line <= last]
