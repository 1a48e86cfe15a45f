"""Where `main` is what a build writes, the source behind it is found; where it is not, that is said."""

from __future__ import annotations

import base64
import json

import pytest

from cfq_lint.model.sources import program_of
from cfq_lint.model.wrangler import Worker
from cfq_lint.run.lint import open_documents
from cfq_lint.run.plan import Request, find_settings, plan_of
from cfq_lint.source.discovery import Surroundings
from cfq_lint.worker_code.following.handling import handled

HANDLER = "export default { async queue(batch) { for (const m of batch.messages) m.ack(); } };\n"
ANOTHER = "export const queue = 'orders';\nexport default { async fetch() {} };\n"
BUNDLE = "var __defProp = Object.defineProperty;\nvar src_default = { async queue(batch) {} };\nexport { src_default as default };\n"
MAP = json.dumps({"version": 3, "sources": ["../node_modules/hono/index.js", "../lib/consume.ts", "../lib/entry.ts"], "mappings": ""})
BY = {
    "a source that is not built yet": ("dist/index.js", {"src/index.ts": HANDLER}, "src/index.ts"),
    "a build beside its source": ("build/worker.js", {"build/worker.js": BUNDLE, "src/worker.ts": HANDLER}, "src/worker.ts"),
    "its map": ("dist/index.js", {"dist/index.js": f"{BUNDLE}//# sourceMappingURL=index.js.map\n", "dist/index.js.map": MAP, "lib/entry.ts": HANDLER, "lib/consume.ts": "export const queue = 1;"}, "lib/entry.ts"),
    "the build's command": ("out/w.js", {"wrangler.jsonc": {"build": {"command": "esbuild ./app/consumer.ts --bundle --outfile=out/w.js"}}, "app/consumer.ts": HANDLER, "src/index.ts": ANOTHER}, "app/consumer.ts"),
    "a script": ("out/w.js", {"package.json": '{ "scripts": { "build": "esbuild jobs/main.ts --bundle" } }', "jobs/main.ts": HANDLER}, "jobs/main.ts"),
    "astro": ("dist/_worker.js/index.js", {"astro.config.mjs": "export default defineConfig({ adapter: cloudflare({ workerEntryPoint: { path: 'app/worker.ts', namedExports: [] } }) });", "app/worker.ts": HANDLER}, "app/worker.ts"),
    "nitro": (".output/server/index.mjs", {"server/plugins/jobs.ts": "export default defineNitroPlugin((nitro) => { nitro.hooks.hook('cloudflare:queue', async ({ batch }) => { batch.ackAll(); }); });", "server/plugins/a.ts": ANOTHER}, "server/plugins/jobs.ts"),
    "a framework's own entry": ("@tanstack/react-start/server-entry", {"src/server.ts": HANDLER}, "src/server.ts"),
    "the setting": ("dist/index.js", {"cfq-lint.toml": 'source = "odd/place.ts"\n', "odd/place.ts": HANDLER, "src/index.ts": ANOTHER}, "odd/place.ts"),
}  # fmt: skip


def program(folder, main, files, monkeypatch):
    """The program of a project in a folder."""
    config = {"name": "w", "main": main, "queues": {"consumers": [{"queue": "orders"}]}, **files.pop("wrangler.jsonc", {})}
    for path, text in {**files, "wrangler.jsonc": json.dumps(config)}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    monkeypatch.chdir(folder)
    plan = plan_of(Request(paths=(".",), settings=find_settings(["."])))
    [document] = open_documents("wrangler.jsonc", plan, Surroundings())
    return program_of(Worker(document, None).environments[0], document.files)


@pytest.mark.parametrize("name", BY)
def test_the_source_behind_a_build_is_found_by(name, tmp_path, monkeypatch):
    main, files, expected = BY[name]
    found = program(tmp_path, main, dict(files), monkeypatch)
    assert (found.problem, found.entry) == ("", expected)
    assert len(found.handlers()) == 1


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "dist/index.js cannot be read"),
        ({"dist/index.js": BUNDLE, "src/index.ts": ANOTHER}, "dist/index.js is what a build wrote, and its source was not found"),
        ({"dist/index.js": f"export default{{queue(b){{{'b.ackAll();' * 1_000}}}}}"}, "dist/index.js is what a build wrote, and its source was not found"),
        ({"dist/index.js": f"{BUNDLE}//# sourceMappingURL=data:application/json;base64,{base64.b64encode(b'[]').decode()}"}, "dist/index.js is what a build wrote, and its source was not found"),
        ({"dist/index.js": BUNDLE, "dist/index.js.map": "[" * 100_000}, "dist/index.js is what a build wrote, and its source was not found"),
    ],
)  # fmt: skip
def test_what_is_not_found_is_said(files, said, tmp_path, monkeypatch):
    found = program(tmp_path, "dist/index.js", files, monkeypatch)
    assert found.problem == said
    assert "name its source in the setting `source`" in found.remedy


def test_what_somebody_wrote_is_no_build_for_its_folder(tmp_path, monkeypatch):
    found = program(tmp_path, "build/index.js", {"build/index.js": HANDLER, "src/index.ts": ANOTHER}, monkeypatch)
    assert found.entry == "build/index.js"


def test_a_source_of_another_folder_is_not_this_worker_s(tmp_path, monkeypatch):
    (tmp_path / "cfq-lint.toml").write_text('source = "b/src/index.ts"\n')
    found = program(tmp_path / "a", "src/index.ts", {"src/index.ts": HANDLER}, monkeypatch)
    assert found.entry == "src/index.ts"


def test_an_environment_s_variables_name_its_queues(tmp_path, monkeypatch):
    entry = "export default { async queue(batch, env) { if (batch.queue === env.ORDERS) { for (const m of batch.messages) m.ack(); } } };"
    found = program(tmp_path, "src/index.ts", {"src/index.ts": entry, "wrangler.jsonc": {"vars": {"ORDERS": "orders"}}}, monkeypatch)
    assert [bool(handled(found, queue).settled) for queue in ("orders", "mail")] == [True, False]
