"""The language server, asked by a client as an editor does."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from lsprotocol import types

from tests.lint.editor.client import ANSWER_SECONDS, editor, with_edits
from tests.lint.editor.project import API, HANDLER, JOBS, LATE, write

EARLY = HANDLER.replace("          message.ack();\n", "").replace(
    "          await", "          message.ack();\n          await"
)


@pytest.fixture
def project(tmp_path):
    return write(tmp_path)


def asked(scenario, root, **options):
    """Run a scenario with an editor that has the folder open."""

    async def run():
        async with editor(root, **options) as each:
            await scenario(each)

    asyncio.run(run())


def test_a_misspelt_dead_letter_queue_is_told_as_it_is_typed_and_unsaved_buffers_count(project):
    async def scenario(ed):
        await ed.open("jobs/wrangler.jsonc")
        assert "CFQ305" not in ed.codes("jobs/wrangler.jsonc")
        await ed.type("jobs/wrangler.jsonc", JOBS.replace('"orders-dlq"', '"orders-dql"'))
        assert "CFQ305" in ed.codes("jobs/wrangler.jsonc")
        # The other buffer, unsaved, now has a queue of that name: it is nobody's slip any more.
        await ed.open("late/wrangler.toml")
        await ed.type("late/wrangler.toml", LATE.replace("orders-dlq", "orders-dql"))
        assert "CFQ305" not in ed.codes("jobs/wrangler.jsonc")

    asked(scenario, project)


def test_a_queue_is_renamed_across_files_and_sources(project):
    async def scenario(ed):
        await ed.open("jobs/wrangler.jsonc")
        document, position = ed.at("jobs/wrangler.jsonc", '"orders",', shift=2)
        able = await ed.client.text_document_prepare_rename_async(types.PrepareRenameParams(document, position))
        assert able.placeholder == "orders"
        edit = await ed.client.text_document_rename_async(types.RenameParams(document, position, "purchases"))
        after = ed.changed(edit)
        assert after["api/wrangler.jsonc"] == API.replace('"queue": "orders"', '"queue": "purchases"')
        assert after["jobs/wrangler.jsonc"] == JOBS.replace('"queue": "orders"', '"queue": "purchases"')
        assert after["jobs/src/index.ts"] == HANDLER.replace('"orders"', '"purchases"')
        assert set(after) == {"api/wrangler.jsonc", "jobs/wrangler.jsonc", "jobs/src/index.ts"}
        with pytest.raises(Exception, match="is no name for a queue"):
            await ed.client.text_document_rename_async(types.RenameParams(document, position, "Not A Name"))

    asked(scenario, project)


def test_what_is_known_of_a_key_and_of_a_queue(project):
    async def scenario(ed):
        await ed.open("jobs/wrangler.jsonc")

        async def hover(needle, shift=2):
            found = await ed.client.text_document_hover_async(
                types.HoverParams(*ed.at("jobs/wrangler.jsonc", needle, shift=shift))
            )
            return found.contents.value if found is not None else None

        assert "an integer from 0 to 100 retries, 3 where it is left out" in await hover('"max_retries"')
        said = await hover('"orders-dlq"')
        assert "consumed by late (late/wrangler.toml)" in said
        assert "takes the dead letters of `orders` in jobs (jobs/wrangler.jsonc)" in said
        assert "orders-dlq → orders-lost" in said
        assert await hover('"name"') is None

    asked(scenario, project)


def test_definition_and_references(project):
    async def scenario(ed):
        await ed.open("api/wrangler.jsonc")
        where = ed.at("api/wrangler.jsonc", '"orders"', shift=2)
        found = await ed.client.text_document_definition_async(types.DefinitionParams(*where))
        assert [(each.uri, each.range.start.line) for each in found] == [(ed.uri("jobs/wrangler.jsonc"), 5)]
        context = types.ReferenceContext(include_declaration=True)
        found = await ed.client.text_document_references_async(
            types.ReferenceParams(text_document=where[0], position=where[1], context=context)
        )
        assert sorted(each.uri.rsplit("/", 2)[-2:] for each in found) == [
            ["api", "wrangler.jsonc"],
            ["jobs", "wrangler.jsonc"],
            ["src", "index.ts"],
            ["src", "index.ts"],
        ]

    asked(scenario, project)


def test_fixes_and_ignores(project):
    broken = JOBS.replace('"max_retries": 3', '"maxRetries": 300')

    async def scenario(ed):
        await ed.open("jobs/wrangler.jsonc", broken)
        document, position = ed.at("jobs/wrangler.jsonc", '"maxRetries"')
        params = types.CodeActionParams(document, types.Range(position, position), types.CodeActionContext([]))
        found = await ed.client.text_document_code_action_async(params)
        fixed = next(each for each in found if each.title.startswith("Write") or "max_retries" in each.title)
        assert '"max_retries": 300' in ed.changed(fixed.edit)["jobs/wrangler.jsonc"]
        ignore = next(each for each in found if each.title.startswith("Ignore"))
        await ed.type("jobs/wrangler.jsonc", ed.changed(ignore.edit)["jobs/wrangler.jsonc"])
        assert "CFQ105" not in ed.codes("jobs/wrangler.jsonc")

    asked(scenario, project)


@pytest.mark.parametrize("encodings", [["utf-16"], ["utf-8", "utf-16"]])
def test_lines_with_emoji_and_crlf_are_counted_as_agreed(project, encodings):
    text = '{ "name": "😀😀", "queues": { "consumers": [{ "queue": "q", "max_retries": 101 }] } }\r\n'

    async def scenario(ed):
        assert ed.capabilities.position_encoding == encodings[0]
        await ed.open("api/wrangler.jsonc", "\r\n")
        for before in ("\r\n", "\ufeff"):
            await ed.type("api/wrangler.jsonc", before + text)
            found = next(each for each in ed.diagnostics[ed.uri("api/wrangler.jsonc")] if each.code == "CFQ203")
            document, expected = ed.at("api/wrangler.jsonc", "101", encoding=encodings[0])
            assert found.range.start == expected
        params = types.CodeActionParams(document, found.range, types.CodeActionContext([found]))
        actions = await ed.client.text_document_code_action_async(params)
        assert [each.edit.changes[document.uri][0].new_text[-2:] for each in actions if "Ignore" in each.title] == ["\r\n"]

    asked(scenario, project, encodings=encodings)


def labels(items):
    return [each.label for each in items]


async def completed(ed, name, text, mark="§"):
    """The items where a mark stands in a text, and the text with the first of a label taken."""
    at = text.index(mark)
    clean = text.replace(mark, "")
    await ed.type(name, clean)
    before = clean[:at]
    position = types.Position(before.count("\n"), len(before[before.rfind("\n") + 1 :]))
    params = types.CompletionParams(types.TextDocumentIdentifier(ed.uri(name)), position)
    items = await ed.client.text_document_completion_async(params)

    def taken(label):
        item = next(each for each in items if each.label == label)
        return with_edits(clean, [item.text_edit])

    return items, taken


def test_what_may_be_written_is_completed(project):
    async def scenario(ed):
        await ed.open("jobs/wrangler.jsonc")
        await ed.open("late/wrangler.toml")
        # A queue's name, within quotes that the editor closed.
        items, taken = await completed(ed, "jobs/wrangler.jsonc", JOBS.replace('"orders-dlq"', '"or§"'))
        assert labels(items) == ["or", "orders", "orders-dlq", "orders-lost"]
        assert taken("orders-dlq") == JOBS
        # A key that the entry lacks, in a file that does not parse at the moment.
        items, taken = await completed(ed, "jobs/wrangler.jsonc", JOBS.replace('"max_retries": 3, "', '"max_§ "'))
        assert "max_batch_size" in labels(items)
        items, taken = await completed(ed, "jobs/wrangler.jsonc", JOBS.replace('"max_retries": 3', '"max_re§": 3'))
        assert "queue" not in labels(items)
        # Values, with their range.
        items, taken = await completed(ed, "jobs/wrangler.jsonc", JOBS.replace('"max_retries": 3', '"max_retries": §'))
        assert labels(items) == ["0", "3", "100"]
        assert "an integer from 0 to 100 retries" in items[0].detail
        # TOML.
        items, taken = await completed(ed, "late/wrangler.toml", LATE.replace("max_retries = 3", "max_§"))
        assert "max_retries" in labels(items)
        assert "max_batch_size" not in labels(items)
        assert "max_retries = 3\n" in taken("max_retries")
        items, taken = await completed(ed, "late/wrangler.toml", LATE.replace('"orders-lost"', "§"))
        assert 'dead_letter_queue = "orders"' in taken("orders")
        # Nothing where no queue is meant.
        items, taken = await completed(ed, "jobs/wrangler.jsonc", JOBS.replace('"main"', '"§main"'))
        assert items == []

    asked(scenario, project)


def test_outline_lenses_and_hints(project):
    async def scenario(ed):
        await ed.open("jobs/wrangler.jsonc")
        document = types.TextDocumentIdentifier(ed.uri("jobs/wrangler.jsonc"))
        [lens] = await ed.client.text_document_code_lens_async(types.CodeLensParams(document))
        assert lens.command.title == "4 attempts over 3 minutes, then orders-dlq, consumed by late (late/wrangler.toml)"
        everything = types.Range(types.Position(0, 0), types.Position(99, 0))
        [hint] = await ed.client.text_document_inlay_hint_async(types.InlayHintParams(document, everything))
        assert hint.label == "max_batch_size 10, max_batch_timeout 5"
        [symbol] = await ed.client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
        assert (symbol.name, [each.name for each in symbol.children]) == ("jobs", ["consumes orders"])

    asked(scenario, project)


def test_all_that_is_safe_is_fixed_at_once(project):
    broken = LATE.replace("max_retries = 3", "max_retries = 3 # cfq-lint: ignore[CFQ203, CFQ201]")

    async def scenario(ed):
        await ed.open("late/wrangler.toml", broken)
        document = types.TextDocumentIdentifier(ed.uri("late/wrangler.toml"))
        everything = types.Range(types.Position(0, 0), types.Position(99, 0))
        context = types.CodeActionContext([], only=["source.fixAll"])
        [action] = await ed.client.text_document_code_action_async(types.CodeActionParams(document, everything, context))
        assert ed.changed(action.edit)["late/wrangler.toml"] == LATE

    asked(scenario, project)


def test_the_worker_s_source_is_linted_as_it_is_typed(project):
    async def scenario(ed):
        await ed.open("jobs/src/index.ts")
        assert ed.codes("jobs/src/index.ts") == []
        await ed.type("jobs/src/index.ts", EARLY)
        assert ed.codes("jobs/src/index.ts") == ["CFQ820"]
        found = await ed.client.text_document_hover_async(types.HoverParams(*ed.at("jobs/src/index.ts", '"orders"', shift=2)))
        assert "consumed by jobs (jobs/wrangler.jsonc)" in found.contents.value
        found = await ed.client.text_document_definition_async(
            types.DefinitionParams(*ed.at("jobs/src/index.ts", '"orders"', shift=2))
        )
        assert [each.uri for each in found] == [ed.uri("jobs/wrangler.jsonc")]

    asked(scenario, project)


def test_what_does_not_parse_and_what_is_large_do_not_end_it(project):
    async def scenario(ed):
        await ed.open("jobs/wrangler.jsonc", '{ "queues": { "consumers": [ { "queue": ')
        assert set(ed.codes("jobs/wrangler.jsonc")) == {"CFQ001"}
        await ed.type("jobs/wrangler.jsonc", JOBS + "// " + "x" * 1_000_000)
        assert "CFQ001" not in ed.codes("jobs/wrangler.jsonc")
        await ed.open("jobs/src/index.ts", "export default { async queue(batch { ")
        await ed.type("jobs/wrangler.jsonc", JOBS)
        assert ed.shown == []

    asked(scenario, project)


def test_an_editor_that_goes_without_a_word_leaves_no_server_behind():
    ended = subprocess.run([sys.executable, "-m", "cfq_lint", "server"], input=b"", capture_output=True, timeout=ANSWER_SECONDS, check=False)
    assert (ended.returncode, ended.stderr) == (1, b"")
