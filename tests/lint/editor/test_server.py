"""The language server, asked by a client as an editor does."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

from tests.lint.editor.client import editor

API = """{
  "name": "api", // 📮 takes orders
  "main": "src/index.ts",
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] }
}
"""
JOBS = """{
  "name": "jobs",
  "main": "src/index.ts",
  "queues": {
    "consumers": [
      { "queue": "orders", "max_retries": 3, "retry_delay": 60, "dead_letter_queue": "orders-dlq" }
    ]
  }
}
"""
LATE = """name = "late"
main = "src/index.ts"

[[queues.consumers]]
queue = "orders-dlq"
max_batch_size = 10
max_retries = 3
dead_letter_queue = "orders-lost"
"""
HANDLER = """export default {
  async queue(batch, env) {
    switch (batch.queue) {
      case "orders":
        for (const message of batch.messages) message.ack();
        break;
      default:
        batch.retryAll({ delaySeconds: 60 });
    }
  },
};
"""


@pytest.fixture
def project(tmp_path):
    """Three Workers: one sends, one consumes, one reads the dead letters."""
    files = {
        "api/wrangler.jsonc": API,
        "api/src/index.ts": "export default { async fetch(request, env) { await env.ORDERS.send({}); return new Response() } };\n",
        "jobs/wrangler.jsonc": JOBS,
        "jobs/src/index.ts": HANDLER,
        "late/wrangler.toml": LATE,
        "late/src/index.ts": HANDLER.replace('"orders"', '"orders-dlq"'),
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return tmp_path


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
        await ed.open("api/wrangler.jsonc", "\r\n" + text)
        found = next(each for each in ed.diagnostics[ed.uri("api/wrangler.jsonc")] if each.code == "CFQ203")
        _, expected = ed.at("api/wrangler.jsonc", "101", encoding=encodings[0])
        assert found.range.start == expected

    asked(scenario, project, encodings=encodings)
