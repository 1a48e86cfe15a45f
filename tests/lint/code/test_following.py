"""The queue handler is found, and what it calls, however a Worker is put together."""

from __future__ import annotations

import pytest

from cfq_lint.worker_code.following.handling import handled
from cfq_lint.worker_code.modules.program import load
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import chain_of, walk

HERE = "/* here */ "
HANDLES = f"async queue(batch, env) {{ {HERE}await env.KV.put('a', 'b'); }}"
FUNCTION = f"async function consume(batch, env) {{ {HERE}await env.KV.put('a', 'b'); }}"
OTHER = "async queue(batch) { await other(); }"
JS = {
    "an object": (f"export default {{ {HANDLES} }};", {}),
    "an arrow": (f"export default {{ queue: async (batch, env) => {{ {HERE}await env.KV.put('a', 'b'); }} }};", {}),
    "a type asserted": (f"export default <ExportedHandler<Env>>{{ {HANDLES} }};", {}),
    "satisfies": (f"const worker = {{ {HANDLES} }} satisfies ExportedHandler<Env>;\nexport default worker;", {}),
    "another name as default": (f"const worker = {{ {HANDLES} }};\nexport {{ worker as default }};", {}),
    "exported from elsewhere": ('export { worker as default } from "./w";', {"src/w.ts": f"export const worker = {{ {HANDLES} }};"}),
    "exported twice over": ('export { default } from "./w";', {"src/w.ts": 'export { a as default } from "./a";', "src/a.ts": f"export const a = {{ {HANDLES} }};"}),
    "module.exports": (f"module.exports = {{ {HANDLES} }};", {}),
    "exports.default": (f"exports.default = {{ {HANDLES} }};", {}),
    "required": ('const { consume } = require("./c");\nmodule.exports = { queue: consume };', {"src/c.js": f"{FUNCTION}\nmodule.exports = {{ consume }};"}),
    "required whole": ('const c = require("./c");\nmodule.exports = { queue: c.consume };', {"src/c.js": f"exports.consume = {FUNCTION};"}),
    "import require": ('import c = require("./c");\nexport default { queue: c.consume };', {"src/c.ts": f"export {FUNCTION}"}),
    "spread": (f"const consumer = {{ {HANDLES} }};\nexport default {{ fetch: app.fetch, ...consumer }};", {}),
    "spread from elsewhere": ('import * as consumer from "./c";\nexport default { ...consumer };', {"src/c.ts": f"export {FUNCTION.replace('consume', 'queue')}"}),
    "of two the last": (f"const a = {{ {OTHER} }};\nexport default {{ ...a, {HANDLES} }};", {}),
    "assigned": (f"const app = new Hono();\nexport default Object.assign(app, {{ {HANDLES} }});", {}),
    "set later": (f"const worker = {{ fetch }};\nworker.queue = {FUNCTION};\nexport default worker;", {}),
    "sentry": (f'import * as Sentry from "@sentry/cloudflare";\nexport default Sentry.withSentry((env) => ({{ dsn: env.DSN }}), {{ {HANDLES} }} satisfies ExportedHandler<Env>);', {}),
    "opentelemetry": (f'import {{ instrument }} from "@microlabs/otel-cf-workers";\nconst handler = {{ {HANDLES} }};\nexport default instrument(handler, config);', {}),
    "wrapped twice": (f"export default withA(withB({{}}, {{ {HANDLES} }}));", {}),
    "the function wrapped": (f"export default {{ queue: withLogging('jobs', async (batch, env) => {{ {HERE}await env.KV.put('a', 'b'); }}) }};", {}),
    "bound": (f"class W {{ {HANDLES.replace('queue', 'consume')} }}\nconst w = new W();\nexport default {{ queue: w.consume.bind(w) }};", {}),
    "a class": (f"export default class extends WorkerEntrypoint<Env> {{ {HANDLES} }}", {}),
    "a class by name": (f"class W implements ExportedHandler {{ {HANDLES} }}\nexport default new W();", {}),
    "a field": (f"export default class {{ queue = async (batch, env) => {{ {HERE}await env.KV.put('a', 'b'); }}; }}", {}),
    "inherited": ('import { Base } from "./base";\nexport default class Jobs extends Base<Env> { async fetch() {} }', {"src/base.ts": f"export abstract class Base<T> extends WorkerEntrypoint<T> {{ {HANDLES} }}"}),
    "inherited twice": (f"class A {{ {HANDLES} }}\nclass B extends A {{}}\nexport default class extends B {{}}", {}),
    "a factory": (f"function make() {{ return {{ {HANDLES} }}; }}\nexport default make();", {}),
    "a factory as arrow": (f"const make = (name) => ({{ {HANDLES} }});\nexport default make('a');", {}),
    "a factory of the function": (f"const make = (name) => async (batch, env) => {{ {HERE}await env.KV.put('a', 'b'); }};\nexport default {{ queue: make('a') }};", {}),
    "a factory elsewhere": ('import make from "./make";\nexport default make({ name: "a" });', {"src/make.ts": f"export default (options) => {{ const worker = {{ {HANDLES} }}; return worker; }};"}),
    "a wrapper of its own": (f"const wrap = (h) => ({{ ...h, fetch() {{}} }});\nexport default wrap({{ {HANDLES} }});", {}),
    "nitro": (f"export default defineNitroPlugin((nitro) => {{ nitro.hooks.hook('cloudflare:queue', async ({{ batch, env }}) => {{ {HERE}await env.KV.put('a', 'b'); }}); }});", {}),
}  # fmt: skip
PY = {
    "a class": ("class Default(WorkerEntrypoint):\n    async def queue(self, batch):\n        pass  # here\n", {}),
    "on_queue in it": ("class Default(WorkerEntrypoint):\n    async def on_queue(self, batch):\n        pass  # here\n", {}),
    "a function": ("async def on_queue(batch, env):\n    pass  # here\n", {}),
    "a class that hands it on": ("class Default(WorkerEntrypoint):\n    async def queue(self, batch):\n        await on_queue(batch, self.env)  # here\nasync def on_queue(batch, env):\n    pass\n", {}),
    "an imported function": ("from jobs import on_queue\n", {"src/jobs.py": "async def on_queue(batch, env):\n    pass  # here\n"}),
    "an imported class": ("from app.worker import Default\n", {"src/app/__init__.py": "", "src/app/worker.py": "class Default(WorkerEntrypoint):\n    async def queue(self, batch):\n        pass  # here\n"}),
    "inherited": ("from base import Consumer\nclass Default(Consumer):\n    pass\n", {"src/base.py": "class Consumer(WorkerEntrypoint):\n    async def queue(self, batch):\n        pass  # here\n"}),
    "a mixin of a package": ("from app import mixins\nclass Default(mixins.Consumes, WorkerEntrypoint):\n    pass\n", {"src/app/__init__.py": "", "src/app/mixins.py": "class Consumes:\n    async def queue(self, batch):\n        pass  # here\n"}),
    "a field": ("from jobs import consume\nclass Default(WorkerEntrypoint):\n    queue = consume\n", {"src/jobs.py": "async def consume(self, batch):\n    pass  # here\n"}),
    "relative": ("from .jobs import on_queue\n", {"src/jobs.py": "from .deep.more import consume as on_queue\n", "src/deep/__init__.py": "", "src/deep/more.py": "async def consume(batch):\n    pass  # here\n"}),
}  # fmt: skip


def handler(entry, files):
    """Where the one queue handler stands, by its file and line."""
    name = "src/entry.py" if entry in {text for text, _ in PY.values()} else "src/index.ts"
    name = "src/index.js" if "module.exports" in entry else name
    program = load(name, {name: entry, **files}.get)
    [(module, function, _)] = program.handlers()
    return module.text.splitlines()[function.at[0] : function.at[0] + 2]


@pytest.mark.parametrize("name", JS)
def test_a_handler_of_javascript_is_found(name):
    assert HERE.strip() in handler(*JS[name])[0]


@pytest.mark.parametrize("name", PY)
def test_a_handler_of_python_is_found(name):
    assert "# here" in handler(*PY[name])[1]


def reached(program):
    """The paths of the calls that the ways through the handler lead to."""
    return [each.chain for each in handled(program, "orders").called]


def entry(body, before=""):
    return f"{before}\nexport default {{ async queue(batch, env) {{ {body} }} }};"


WORK = "export async function work(m) { await fetch(m.body.url); }"
CALLED = {
    "a function": (entry("await work(batch);", 'import { work } from "./work";'), {"src/work.ts": WORK}),
    "tsconfig's paths": (entry("await work(batch);", 'import { work } from "$lib/work";'), {"lib/work.ts": WORK, "tsconfig.json": '{ /* all */ "compilerOptions": { "paths": { "$lib/*": ["./lib/*"], }, } }'}),
    "tsconfig's baseUrl": (entry("await work(batch);", 'import { work } from "jobs/work";'), {"src/jobs/work.ts": WORK, "tsconfig.json": '{ "compilerOptions": { "baseUrl": "src" } }'}),
    "tsconfig that extends": (entry("await work(batch);", 'import { work } from "#jobs";'), {"src/work.ts": WORK, "tsconfig.json": '{ "extends": "./config/base" }', "config/base.json": '{ "compilerOptions": { "paths": { "#jobs": ["../src/work.ts"] } } }'}),
    "tsconfig that refers": (entry("await work(batch);", 'import { work } from "@jobs/work";'), {"src/work.ts": WORK, "tsconfig.json": '{ "files": [], "references": [{ "path": "./tsconfig.app.json" }] }', "tsconfig.app.json": '{ "compilerOptions": { "paths": { "@jobs/*": ["./src/*"] } } }'}),
    "a package's imports": (entry("await work(batch);", 'import { work } from "#work";'), {"src/work.ts": WORK, "package.json": '{ "imports": { "#work": { "default": "./src/work.ts" } } }'}),
    "npm's workspaces": (entry("await work(batch);", 'import { work } from "@acme/jobs";'), {"package.json": '{ "workspaces": ["packages/*"] }', "packages/jobs/package.json": '{ "name": "@acme/jobs", "main": "dist/index.js" }', "packages/jobs/src/index.ts": WORK}),
    "pnpm's workspace": (entry("await work(batch);", 'import { work } from "@acme/jobs/work";'), {"pnpm-workspace.yaml": "packages:\n  # all\n  - 'packages/**'\n", "packages/a/jobs/package.json": '{ "name": "@acme/jobs", "exports": { "./*": "./lib/*.js" } }', "packages/a/jobs/src/work.ts": WORK}),
    "a constructor's argument": (entry("const jobs = new Jobs(new Worker()); await jobs.run(batch);", "class Worker { async work(m) { await fetch(m); } }\nclass Jobs { constructor(private worker: Worker) {} async run(b) { await this.worker.work(b); } }"), {}),
    "a constructor's argument, inherited": (entry("const jobs = new Jobs('a', new Worker()); await jobs.run(batch);", "class Worker { async work(m) { await fetch(m); } }\nclass Base { constructor(worker) { this.w = worker; } async run(b) { await this.w.work(b); } }\nclass Jobs extends Base { constructor(name, worker) { super(worker); } }"), {}),
    "what a subclass does": (entry("await new Jobs().run(batch);", "class Base { async run(b) { await this.work(b); } async work() {} }\nclass Jobs extends Base { async work(b) { await deep(b); } }\nasync function deep(b) { await fetch(b); }"), {}),
    "super": (entry("await new Jobs().run(batch);", "class Base { async run(b) { await work(b); } }\nclass Jobs extends Base { async run(b) { await super.run(b); } }\nasync function work(b) { await fetch(b); }"), {}),
    "what a factory closes over": ("const make = ({ work }) => ({ async queue(batch) { await work(batch); } });\nasync function work(b) { await fetch(b); }\nexport default make({ work });", {}),
    "what a wrapper closes over": ("const wrap = (h) => ({ ...h, queue: async (b, e) => { await h.queue(b, e); } });\nasync function work(b) { await fetch(b); }\nexport default wrap({ async queue(batch) { await work(batch); } });", {}),
    "a table by the queue": (entry("await handlers[batch.queue](batch);", "const handlers = { orders: work };\nasync function work(b) { await fetch(b); }"), {}),
    "a table elsewhere": (entry("const handle = handlers[batch.queue]; if (!handle) throw new Error(); await handle(batch);", 'import { handlers } from "./handlers";'), {"src/handlers.ts": 'import { work } from "./work";\nexport const handlers: Record<string, Handler> = { [QUEUES.ORDERS]: work, ...more };\nconst QUEUES = { ORDERS: "orders" } as const;\nconst more = {};', "src/work.ts": WORK}),
    "a map by the queue": (entry("await handlers.get(batch.queue)?.run(batch);", "const handlers = new Map([['orders', { run: work }]]);\nasync function work(b) { await fetch(b); }"), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLED)
def test_what_a_handler_calls_is_found(name):
    text, files = CALLED[name]
    folders = {path.rsplit("/", 1)[0] for path in files if "/" in path}
    folders |= {path.rsplit("/", 1)[0] for path in folders if "/" in path}
    listed = lambda at: tuple({f"{each.removeprefix(f'{at}/').split('/')[0]}/" for each in folders if each.startswith(f"{at}/")})  # noqa: E731
    program = load("src/index.ts", {"src/index.ts": text, **files}.get, listed)
    assert ("fetch",) in reached(program)


COMMENTED = """
import a, { type B, b as c, d } from "./m"; import * as ns from "./n"; import x = require("./x");
export { e as f, g } from "./o"; export * from "./p"; export * as q from "./q"; export { c as default };
const { h, i: { j = 1 }, ...k } = ns; const [l, , m = 2] = a; let o = (d as any)!; (o) = 3; o ??= 4; o.p["q"] = y;
enum E { A = "a", B }
export class C<T> extends ns.Base<T> implements I { private readonly s: string; static t = 1; u = async (v) => { await v; }; constructor(private w: W, x: X) { super(w); this.y = x; } get z() { return 1; } async *gen() { yield* this.u; } static { o = 1; } @dec() dd() {} }
export async function fn({ batch, env }: P, ...rest) { for (const m of batch.messages) { try { await sql<R>(m); handlers[m.body.type]?.(m); } catch { m.retry({ delaySeconds: 2 ** m.attempts }); } finally { done(); } } switch (batch.queue) { case "a": case "b": return; default: throw new Error("x"); } }
label: while (true) { if (a) break label; else continue; }
do { x++; } while (x < 3);
const obj = { a, "b": 1, [c]: 2, d() {}, async e() {}, get f() { return 1; }, ...g };
"""


def test_a_comment_changes_nothing_wherever_it_stands():
    """Comments stand between any two tokens at once; some of them once ended reading in a traceback."""
    from cfq_lint.source.javascript import tree
    from cfq_lint.worker_code.modules.module import read

    starts, waiting = [], [tree("typescript", COMMENTED.encode())]
    while waiting:
        node = waiting.pop()
        inside = node.children if node.type != "string" else []
        waiting += inside
        starts += [] if inside else [node.start_byte]
    commented = COMMENTED
    for at in sorted(set(starts), reverse=True):
        commented = f"{commented[:at]}/* {{ a as b }} */{commented[at:]}"
    plain, other = read("a.ts", COMMENTED), read("a.ts", commented)
    assert len(commented) > 3 * len(COMMENTED)
    assert (other.source.imports, other.exports, other.source.stars) == (plain.source.imports, plain.exports, plain.source.stars)
    assert other.declared.keys() == plain.declared.keys()
    lists = [[chain_of(call) for call in walk(module.once("fn")) if isinstance(call, n.Invoke)] for module in (plain, other)]
    assert lists[1] == lists[0]


TAGGED = {
    "a list": "const rows = await sql<Row[]>`select ${m.id}`;",
    "an object": "const rows = await db.query<{ id: string; f: (x: A) => B<C[]> }>`select ${m.id}`;",
    "beside text that looks like one": "const page = html`<b>${x}</b>` + `<p>`; const rows = await sql<Row[]>`select`;",
}


@pytest.mark.parametrize("name", TAGGED)
def test_a_template_with_a_tag_may_have_types(name):
    program = load("src/index.ts", {"src/index.ts": entry(TAGGED[name])}.get)
    assert any(each.chain[-1] in {"sql", "query"} and each.is_awaited for each in handled(program, "orders").called)
