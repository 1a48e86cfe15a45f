"""Whatever a source is, reading it ends: bounded in modules, characters and steps, without a traceback, and what is left out is said."""

from __future__ import annotations

import pytest

from cfq_lint import lint_paths
from cfq_lint.worker_code.modules.program import LENGTH_MAX, MODULES_MAX, load
from cfq_lint.worker_code.modules.values import STEPS_MAX
from tests.lint.code.support import handled

FUNCTION = "export async function f{0}(m, env) {{\n" + "  await env.DB.prepare('UPDATE a SET b = ?').bind(m.id).run();\n" * 8 + "}}\n"
HANDLER = "export default {{ async queue(batch, env) {{ for (const m of batch.messages) {{ {0} m.ack(); }} }} }};\n"


def star(count):
    """Modules that export all of each other."""
    names = [f"src/m{i}.ts" for i in range(count)]
    return dict.fromkeys(names, "".join(f"export * from './m{i}';\n" for i in range(count)))


def steps(entry, files):
    """The program, and how many steps it took to look for a handler."""
    program = load("src/index.ts", {"src/index.ts": entry, **files}.get)
    found = program.handlers()
    return program, len(found), STEPS_MAX - program.left


ENDLESS = {
    "a circle of imports": ("import { a } from './a';\nexport default { queue: a };", {"src/a.ts": "import { b } from './b';\nexport const a = b;", "src/b.ts": "import { a } from './a';\nexport const b = a;"}),
    "a circle with the entry": ("export { default } from './a';", {"src/a.ts": "export { default } from './index';"}),
    "all of each other": ("import { q } from './m0';\nexport default { queue: q };", star(12)),
    "spread twice over": ("".join(f"const a{i} = {{ ...a{i + 1}, ...a{i + 1} }};\n" for i in range(40)) + "export default a0;", {}),
    "wrappers of wrappers": ("const a = (h) => b(b(h));\nconst b = (h) => a(a(h));\nexport default a(b({ fetch() {} }));", {}),
    "a class that inherits itself": ("class A extends B {}\nclass B extends A {}\nexport default A;", {}),
    "itself": ("const a = a;\nexport default a;", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDLESS)
def test_a_circle_ends(name):
    program, found, taken = steps(*ENDLESS[name])
    assert (program.problem, found) == ("", 0)
    assert taken <= STEPS_MAX


def test_a_handler_in_a_circle_is_found_all_the_same():
    files = {"src/a.ts": "import { env } from './index';\nexport async function queue(batch) { await b(batch); }\nimport { b } from './b';", "src/b.ts": "export * from './a';\nexport const b = 1;"}
    _, found, _ = steps("import * as a from './a';\nexport const env = 1;\nexport default { ...a };", files)
    assert found == 1


def test_a_source_of_5_000_lines_is_read_where_the_handler_leads():
    text = "".join(FUNCTION.format(i) for i in range(500)) + HANDLER.format("".join(f"await f{i}(m, env);" for i in range(100)))
    assert text.count("\n") > 5_000
    program = load("src/index.ts", {"src/index.ts": text}.get)
    [(_, function, _)] = program.handlers()
    assert function.at[0] == 5_000


def test_of_400_modules_those_are_read_that_a_name_leads_to():
    files = {f"src/m{i}.ts": FUNCTION.format(i) for i in range(400)}
    entry = "".join(f"import {{ f{i} }} from './m{i}';\n" for i in range(400)) + HANDLER.format("await f7(m, env);")
    program = load("src/index.ts", {"src/index.ts": entry, **files}.get)
    [(module, _, _)] = program.handlers()
    assert program.meaning(module, "f7").module.path == "src/m7.ts"
    assert (len(program.modules), program.unread) == (2, ())
    program.read_all()
    assert len(program.modules) == MODULES_MAX
    assert len(program.unread) > 100


def test_no_more_characters_are_read_than_are_worth_it():
    files = {f"src/m{i}.ts": f"export const a{i} = 1;\n" + "// nothing\n" * 80_000 for i in range(8)}
    program = load("src/index.ts", {"src/index.ts": "".join(f"import './m{i}';\n" for i in range(8)), **files}.get)
    program.read_all()
    assert sum(len(module.text) for module in program.modules.values()) <= LENGTH_MAX
    assert len(program.unread) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("export default { queue(b) { ", "does not parse"),
        ("export default " + "(" * 3_000 + "{}" + ")" * 3_000 + ";", "is nested too deep to be read"),
        ("export default{queue(b){" + "b.ackAll();" * 2_000 + "}}", "is minified, or too long to be read"),
        ("// a\n" * 300_000, "is minified, or too long to be read"),
        ("\0\ud800", "does not parse"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_line(text, said):
    program = load("src/index.ts", {"src/index.ts": text}.get)
    assert (program.problem, program.handlers()) == (f"src/index.ts {said}", [])
    inner = load("src/index.ts", {"src/index.ts": "export { default } from './a';", "src/a.ts": text}.get)
    assert (inner.handlers(), inner.unread) == ([], ("src/a.ts",))


def test_modules_that_were_not_read_are_a_few_lines(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    imports = "".join(f"import {{ f{i} }} from './gone{i}';\n" for i in range(40))
    entry = imports + HANDLER.format("".join(f"await f{i}(m, env); " for i in range(40)))
    (tmp_path / "src" / "index.ts").write_text(entry)
    (tmp_path / "wrangler.json").write_text('{ "main": "src/index.ts", "queues": { "consumers": [{ "queue": "orders" }] } }')
    monkeypatch.chdir(tmp_path)
    unread = [line for line in lint_paths(["."]).unfollowed if "read" in line]
    assert (unread[0], unread[-1], len(unread)) == ("src/gone0.ts was not read", "35 more modules were not read", 6)


def test_a_source_that_breaks_the_analysis_is_counted(tmp_path, monkeypatch):
    def broken(_worker):
        raise KeyError("a fault of ours")

    monkeypatch.setattr("cfq_lint.model.consuming.code_of", broken)
    config = tmp_path / "wrangler.json"
    config.write_text('{"name": "w", "main": "index.ts", "queues": {"consumers": [{"queue": "jobs", "dead_letter_queue": "dead"}]}}')
    (tmp_path / "index.ts").write_text(HANDLER.format(""))
    report = lint_paths([str(config)])
    assert report.unfollowed == (f"{config}: its Worker's source was not judged (KeyError: 'a fault of ours')",)


TELLS = """
const seen = [];
function clean(text) { const parts = String(text).trim().split(/\\s+/); return parts.length > 4 ? parts.slice(0, 4).join(" ") : text; }
function fields(of) {
  const made = {};
  for (const [key, value] of Object.entries(of)) { if (typeof value === "string") { made[key] = clean(value); } else if (value) { made[key] = String(value); } }
  return made;
}
function log(event, about) { try { console.log(JSON.stringify({ event, ...fields(about) })); } catch { WHAT } }
"""


def reading(what, calls):
    """How long a handler with so many notes is read, and what is said of it."""
    notes = "".join(f"if (m.body.kind === 'k{i}') {{ log('done', {{ id: m.id, n: m.body.n{i} }}); }} else {{ log('none', {{ id: m.id }}); }}\n" for i in range(calls))
    body = f"for (const m of batch.messages) {{ await env.KV.put(m.id, m.body.text);\n{notes}m.ack(); }}"
    found = handled(TELLS.replace("WHAT", what) + f"export default {{ async queue(batch, env) {{ {body} }} }};")
    [consuming] = found.code.consuming
    return found, consuming.handled


def test_what_only_tells_is_not_followed_call_by_call():
    (said, few), (_, many) = reading("", 10), reading("", 40)
    assert not said.problem
    assert few.steps < many.steps < 1_500


@pytest.mark.parametrize("does", ["throw new Error('no');", "seen.push(event); env.KV.put('a', 'b');", "about.done = true;", "JSON.parse(event);", "about.retry();"])
def test_what_does_more_than_tell_is_followed(does):
    assert reading(does, 4)[1].steps > 2 * reading("", 4)[1].steps


def test_a_long_helper_does_not_hide_the_handler():
    branches = "".join(f"if (job.n{i} > {i}) {{ await env.DB.prepare('UPDATE a SET n = ?').bind(job.n{i}).run(); }}\n" for i in range(60))
    helper = f"async function work(env, job) {{\nif (await env.KV.get(job.id)) return;\n{branches}}}\n"
    found = handled(helper + HANDLER.format("try { await work(env, m.body); } catch (e) { console.error(e); }"))
    [consuming] = found.code.consuming
    assert not consuming.handled.problem
    assert consuming.handled.steps < 5_000
    assert any(state.failed is not None for state in consuming.handled.ended)
