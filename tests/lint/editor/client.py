"""An editor for tests: pygls' own client, which talks to `cfq-lint server` as a process."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ANSWER_SECONDS = 30


class Editor:
    """A client with a folder open. `diagnostics` are the last ones by file name, `shown` what the server said to the user."""

    def __init__(self, client, root):
        self.client, self.root = client, root
        self.diagnostics, self.shown, self.versions, self.texts = {}, [], {}, {}
        self._arrived = asyncio.Event()

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params):
            self.diagnostics[params.uri] = params.diagnostics
            if params.version is not None:
                self.versions[params.uri] = params.version
            self._arrived.set()

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        def shown(params):
            self.shown.append(params.message)

    def uri(self, name):
        return (self.root / name).as_uri()

    async def open(self, name, text=None):
        """Open a file, with its text on disk or another one, and wait for what is said of it."""
        text = text if text is not None else (self.root / name).read_bytes().decode()
        item = types.TextDocumentItem(uri=self.uri(name), language_id="jsonc", version=1, text=text)
        self.texts[name] = (1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.told(name, 1)

    async def type(self, name, text):
        """Replace the whole text, as a server that wants it so is told, and wait for what is said of it."""
        version = self.texts[name][0] + 1
        self.texts[name] = (version, text)
        document = types.VersionedTextDocumentIdentifier(version=version, uri=self.uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        return await self.told(name, version)

    async def told(self, name, version):
        """The diagnostics of a version, when they are there."""
        async with asyncio.timeout(ANSWER_SECONDS):
            while self.versions.get(self.uri(name)) != version:
                self._arrived.clear()
                await self._arrived.wait()
        return self.diagnostics[self.uri(name)]

    def codes(self, name):
        return sorted(str(each.code) for each in self.diagnostics.get(self.uri(name), []))

    def at(self, name, needle, *, shift=0, encoding="utf-16"):
        """The parameters of a position: where a piece of a text starts, some characters on."""
        text = self.texts[name][1]
        before = text[: text.index(needle) + shift]
        column = before[before.rfind("\n") + 1 :]
        width = {"utf-16": 2, "utf-8": 1}[encoding]
        units = len(column.encode("utf-16-le" if encoding == "utf-16" else "utf-8")) // width
        return types.TextDocumentIdentifier(self.uri(name)), types.Position(before.count("\n"), units)

    def changed(self, edit):
        """The texts after an edit of the workspace, by file name."""
        names = {self.uri(name): name for name in self.texts} | {
            path.as_uri(): path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file()
        }
        after = {}
        for uri, edits in edit.changes.items():
            name = names[uri]
            text = self.texts[name][1] if name in self.texts else Path(self.root / name).read_bytes().decode()
            after[name] = with_edits(text, edits)
        return after


def with_edits(text, edits):
    """A text with edits in UTF-16 made."""
    lines = text.splitlines(keepends=True)

    def offset(position):
        line = lines[position.line] if position.line < len(lines) else ""
        column = len(line.encode("utf-16-le")[: 2 * position.character].decode("utf-16-le"))
        return sum(map(len, lines[: position.line])) + column

    for edit in sorted(edits, key=lambda each: (each.range.start.line, each.range.start.character), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


@asynccontextmanager
async def editor(root, encodings=None):
    """A client that has a folder open, and afterwards a server that ended when it was told to."""
    client = LanguageClient("tests", "1")
    await client.start_io(sys.executable, "-m", "cfq_lint", "server")
    found = Editor(client, root)
    general = types.GeneralClientCapabilities(position_encodings=encodings)
    async with asyncio.timeout(ANSWER_SECONDS):
        result = await client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(general=general),
                root_uri=root.as_uri(),
                workspace_folders=[types.WorkspaceFolder(root.as_uri(), root.name)],
            )
        )
    found.capabilities = result.capabilities
    client.initialized(types.InitializedParams())
    try:
        yield found
    finally:
        async with asyncio.timeout(ANSWER_SECONDS):
            await client.shutdown_async(None)
        client.exit(None)
        async with asyncio.timeout(ANSWER_SECONDS):
            assert await client._server.wait() == 0
        await client.stop()
