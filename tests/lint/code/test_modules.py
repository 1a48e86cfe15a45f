"""A Worker is read through all its modules: whatever way they are imported, and whoever's method it is that is called."""

from __future__ import annotations

import pytest

from cfq_lint.checklist.handling import BAD, GOOD, UNSURE, acknowledging
from cfq_lint.model.account_facts import Facts
from cfq_lint.worker_code.modules.program import MODULES_MAX, load

from .support import code_of

HANDLER = "async function queue(batch, env) { for (const m of batch.messages) { await env.KV.put(m.id, ''); m.ack(); } }"
OBJECT = f"const worker = {{ {HANDLER.removeprefix('async function ').replace('queue', 'async queue', 1)} }};"
SENDING = "export async function flush(env) { await env.Q.sendBatch(Array.from({ length: 200 }, (_, i) => ({ body: i }))); }"
PY_SENDING = "async def flush(env):\n    await env.Q.send_batch([{'body': i} for i in range(200)])\n"
CLASSES = """
export class Sound { async one(m) { await this.env.KV.put(m.id, ''); m.ack(); } async all(b) { for (const m of b.messages) await this.one(m); } }
export class Rash { async one(m) { m.ack(); await this.env.KV.put(m.id, ''); } async all(b) { for (const m of b.messages) await this.one(m); } }
export class Heir extends Sound { async one(m) { m.ack(); await this.env.KV.put(m.id, ''); } }
export class Keeper { add(m) { this.items.push(m); } take(m) { this.item = m; } async flush() { for (const m of this.items) m.ack(); } }
export class Holder { constructor(m) { this.m = m; } async run() { await this.env.KV.put(this.m.id, ''); this.m.ack(); } }
export class Static { static async all(b, env) { for (const m of b.messages) { await env.KV.put(m.id, ''); m.ack(); } } }
export class Field { one = async (m) => { await this.env.KV.put(m.id, ''); m.ack(); }; }
export const sound = new Sound();
export const thing = { async one(m) { await this.env.KV.put(m.id, ''); m.ack(); }, rash: async (m) => { m.ack(); await work(m); } };
"""
PY_CLASSES = """
class Sound:
    async def one(self, m):
        await self.env.KV.put(m.id, '')
        m.ack()
class Rash:
    async def one(self, m):
        m.ack()
        await self.env.KV.put(m.id, '')
class Keeper:
    def add(self, m):
        self.items.append(m)
    def take(self, m):
        self.item = m
    async def flush(self):
        for m in self.items:
            m.ack()
"""


def program(entry, **files):
    """The program of `src/index.ts`, or `src/entry.py`; `__` is a slash in names of files, `_` a dot."""
    name = "src/entry.py" if "class Default" in entry else "src/index.ts"
    made = load(name, {name: entry, **{f"src/{key.replace('__', '/').replace('_', '.')}": text for key, text in files.items()}}.get)
    made.read_all()
    return made


def kinds(entry, **files):
    """Which kinds of remarks there are on acknowledging."""
    code = code_of(program(entry, **files))
    return code.consuming[0].handled.problem or {remark.kind for remark in acknowledging(code, Facts())}


def each(body, *, imports="", made=""):
    """A handler that does something with each message."""
    return f"{imports}\nexport default {{ async queue(batch, env) {{ {made} for (const m of batch.messages) {{ {body} }} }} }};"


def py_each(body, *, imports="", made="pass", after="pass", init=""):
    return (
        f"from workers import WorkerEntrypoint\n{imports}\nclass Default(WorkerEntrypoint):\n{init}"
        f"    async def queue(self, batch):\n        {made}\n        for m in batch.messages:\n            {body}\n        {after}\n"
    )


ENTRIES = {
    "the default of another module": ('export { default } from "./worker";', {"worker_ts": f"{OBJECT}\nexport default worker;"}),
    "imported and exported": ('import worker from "./worker";\nexport default worker;', {"worker_ts": f"{OBJECT}\nexport default worker;"}),
    "exported under another name": ('export { worker as default } from "./worker";', {"worker_ts": f"export {OBJECT}"}),
    "a name as default": (f"{OBJECT}\nexport {{ worker as default }};", {}),
    "a class as default": ("class W { async queue(batch) { for (const m of batch.messages) { await this.env.KV.put(m.id); m.ack(); } } }\nexport { W as default };", {}),
    "a barrel": ('import { queue } from "./all";\nexport default { queue };', {"all__index_ts": 'export * from "./none";\nexport * from "./queue";', "all__none_ts": "export const a = 1;", "all__queue_ts": f"export {HANDLER}"}),
    "a barrel of names": ('import { consume } from "./all";\nexport default { queue: consume };', {"all__index_ts": 'export { queue as consume } from "./queue";', "all__queue_ts": f"export {HANDLER}"}),
    "a comment between names": ('import { consume } from "./all";\nexport default { queue: consume };', {"all__index_ts": 'export { /* from */ queue as consume, // here\n /* on */ } from "./queue";', "all__queue_ts": f"export {HANDLER}"}),
    "a comment between imported names": ('import { /* the */ consume, // one\n } from "./all";\nexport default { queue: consume };', {"all_ts": f"{HANDLER}\nexport {{ queue as /* x */ consume /* y */ }};"}),
    "a comment after the star": ('import * /* all */ as handlers from "./queue";\nexport default { queue: handlers.queue };', {"queue_ts": f"export {HANDLER}"}),
    "a default function": ('import consume from "./queue";\nexport default { queue: consume };', {"queue_ts": f"export default {HANDLER}"}),
    "a default function without a name": ('import consume from "./queue";\nexport default { queue: consume };', {"queue_ts": f"export default {HANDLER.replace(' queue', '')}"}),
    "all of a module by one name": ('import * as handlers from "./queue";\nexport default { queue: handlers.queue };', {"queue_ts": f"export {HANDLER}"}),
    "an object's method by name": ('import { worker } from "./worker";\nexport default { queue: worker.queue };', {"worker_ts": f"export {OBJECT}"}),
    "wrapped": ('import worker from "./worker";\nexport default withSentry({}, worker);', {"worker_ts": f"{OBJECT}\nexport default worker;"}),
    "of two the last": (f'import worker from "./worker";\nexport default {{ ...worker, {OBJECT[17:-4]} }} }};', {"worker_ts": "export default { async queue(batch) { for (const m of batch.messages) { m.ack(); await work(m); } } };"}),
    "spread out": ('import worker from "./worker";\nexport default { ...worker, scheduled() {} };', {"worker_ts": f"{OBJECT}\nexport default worker;"}),
    "by an alias": ('import { queue } from "@/queue";\nexport default { queue };', {"queue_ts": f"export {HANDLER}"}),
}  # fmt: skip


@pytest.mark.parametrize("name", ENTRIES)
def test_a_handler_is_found_where_it_stands(name):
    entry, files = ENTRIES[name]
    assert kinds(entry, **files) == {GOOD}


@pytest.mark.parametrize(
    ("entry", "files"),
    [
        ('export { default } from "./gone";', {}),
        ('import { q } from "./a";\nexport default { queue: q };', {"a_ts": 'export { q } from "./b";', "b_ts": 'export { q } from "./a";'}),
        ('import { queue } from "./all";\nexport default { queue };', {"all__index_ts": 'export * from "./a";\nexport * from "./b";', "all__a_ts": f"export {HANDLER}", "all__b_ts": f"export {HANDLER}"}),
    ],
)  # fmt: skip
def test_a_handler_that_is_not_certain_is_none(entry, files):
    assert "queue handler" in kinds(entry, **files)


IMPORTS = {
    "all by one name": ('import * as lib from "./lib";', {"src/lib.ts": SENDING}),
    "a barrel": ('import { flush } from "./lib";', {"src/lib/index.ts": 'export * from "./deep";', "src/lib/deep.ts": SENDING}),
    "a barrel of names": ('import { flush } from "./lib";', {"src/lib/index.ts": 'export { flush } from "./deep";', "src/lib/deep.ts": SENDING}),
    "for its effect": ('import "./lib";', {"src/lib.ts": SENDING}),
    "while running": ('const { flush } = await import("./lib");', {"src/lib.ts": SENDING}),
    "the old way": ('const { flush } = require("./lib");', {"src/lib.js": SENDING.replace("export ", "")}),
    "an alias": ('import { flush } from "~/lib";', {"src/lib.ts": SENDING}),
    "python, a module of a package": ("class Default: pass\nfrom services import lib", {"src/services/__init__.py": "", "src/services/lib.py": PY_SENDING}),
    "python, from within a package": ("class Default: pass\nfrom services import a", {"src/services/__init__.py": "", "src/services/a.py": "import services.lib", "src/services/lib.py": PY_SENDING}),
    "python, everything": ("class Default: pass\nfrom services import *", {"src/services/__init__.py": "from .lib import *", "src/services/lib.py": PY_SENDING}),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPORTS)
def test_what_any_module_sends_is_seen(name):
    entry, files = IMPORTS[name]
    start = "src/entry.py" if "class Default" in entry else "src/index.ts"
    read = load(start, {start: entry, **files}.get)
    read.read_all()
    assert [sent.most for module in read.modules.values() for sent in module.sent] == [200]
    assert not read.unread


def test_what_is_not_there_is_said_as_it_is_imported():
    assert program('import "./gone"; import "@/gone"; import "hono"; import type { T } from "./types";').unread == ("@/gone", "src/gone.ts")
    assert program("class Default: pass\nimport gone\nfrom . import gone").unread == ()


def test_a_file_of_types_alone_is_no_module_that_is_missing():
    assert program('import { Env } from "./types";', types_d_ts="export interface Env { Q: Queue }").unread == ()


def test_modules_beyond_the_most_that_are_read_are_said():
    count = MODULES_MAX + 5
    files = {f"src/m{n}.ts": f'import "./m{n + 1}";' for n in range(count)}
    read = load("src/m0.ts", files.get)
    read.read_all()
    assert len(read.modules) == MODULES_MAX
    assert read.unread == (f"src/m{MODULES_MAX}.ts",)


METHODS = {
    "an instance": (each("await s.one(m);", imports='import { Sound } from "./c";', made="const s = new Sound(env);"), {GOOD}),
    "another class with such a method": (each("await s.one(m);", imports='import { Rash } from "./c";', made="const s = new Rash(env);"), {BAD}),
    "its own methods": ('import { Rash } from "./c"; export default { async queue(batch, env) { await new Rash(env).all(batch); } };', {BAD}),
    "made on the spot": ('import { Sound } from "./c"; export default { async queue(batch, env) { await new Sound(env).all(batch); } };', {GOOD}),
    "an instance of its module": (each("await sound.one(m);", imports='import { sound } from "./c";'), {GOOD}),
    "an object": (each("await thing.one(m);", imports='import { thing } from "./c";'), {GOOD}),
    "an object's function": (each("await thing.rash(m);", imports='import { thing } from "./c";'), {BAD}),
    "static": ('import { Static } from "./c"; export default { async queue(batch, env) { await Static.all(batch, env); } };', {GOOD}),
    "a field that is a function": (each("await f.one(m);", imports='import { Field } from "./c";', made="const f = new Field();"), {GOOD}),
    "by the module's name": (each("await c.thing.one(m);", imports='import * as c from "./c";'), {UNSURE}),
    "a field": (
        'import { Sound } from "./c"; export default class W { s = new Sound(); async queue(batch) { for (const m of batch.messages) await this.s.one(m); } }',
        {GOOD},
    ),
    "a field of the constructor's": (
        ('import { Rash } from "./c"; export default class W { constructor(c, env) { this.s = new Rash(env); }\n'
        "async queue(batch) { for (const m of batch.messages) await this.s.one(m); } }"),
        {BAD},
    ),
    "together": (
        'import { Sound } from "./c"; export default { async queue(batch, env) { const s = new Sound(); await Promise.all(batch.messages.map((m) => s.one(m))); } };',
        {GOOD},
    ),
    "one class or another": (
        each("await s.one(m);", imports='import { Sound, Rash } from "./c";', made="let s = new Sound(env); if (env.X) s = new Rash(env);"),
        {BAD},
    ),
    "inherited": ('import { Heir } from "./c"; export default { async queue(batch, env) { await new Heir(env).all(batch); } };', {BAD}),
    "a parameter of that name": (
        ('import { thing } from "./c"; async function run(thing, batch) { for (const m of batch.messages) await thing.rash(m); }\n'
        "export default { async queue(batch, env) { await run(env.X, batch); } };"),
        {UNSURE},
    ),
    "kept in a list": (each("await work(m.body); k.add(m);", imports='import { Keeper } from "./c";', made="const k = new Keeper();"), {BAD, UNSURE}),
    "kept in a field": (each("await work(m.body); k.take(m);", imports='import { Keeper } from "./c";', made="const k = new Keeper();"), {BAD}),
    "held": (each("await new Holder(m).run();", imports='import { Holder } from "./c";'), {GOOD}),
    "held by a name": (each("const h = new Holder(m); await h.run();", imports='import { Holder } from "./c";'), {GOOD}),
    "held by something of a package": (each("const job = new Job(m); await job.run();", imports='import { Job } from "jobs";'), {UNSURE}),
    "handed to what makes something": (each("await job(m).run();", imports='import { job } from "jobs";'), {UNSURE}),
    "in a map": (each("await env.KV.put(m.id, ''); m.ack();", made="const by = new Map(batch.messages.map((m) => [m.id, m]));"), {GOOD}),
    "python, an instance": (py_each("await s.one(m)", imports="from c import Sound", made="s = Sound()"), {GOOD}),
    "python, another class": (py_each("await s.one(m)", imports="from c import Rash", made="s = Rash()"), {BAD}),
    "python, by the module's name": (py_each("await c.Sound().one(m)", imports="import c"), {UNSURE}),
    "python, a field": (
        py_each("await self.s.one(m)", imports="from c import Rash", init="    def __init__(self, ctx, env):\n        self.s = Rash(env)\n"),
        {BAD},
    ),
    "python, kept": (py_each("await work(m.body); k.add(m)", imports="from c import Keeper", made="k = Keeper()", after="await k.flush()"), {BAD, UNSURE}),
    "python, kept in a field": (py_each("await work(m.body); k.take(m)", imports="from c import Keeper", made="k = Keeper()"), {BAD}),
    "python, held": (py_each("await Job(m).run()", imports="from jobs import Job"), {UNSURE}),
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_followed_where_it_is_certain_whose_they_are(name):
    entry, expected = METHODS[name]
    assert kinds(entry, c_ts=CLASSES, c_py=PY_CLASSES) == expected


REDUCED = {
    "one after another": ("await batch.messages.reduce(async (before, m) => { await before; await work(m.body); m.ack(); }, Promise.resolve());", {GOOD}),
    "with then()": ("await batch.messages.reduce((p, m) => p.then(() => work(m.body)).then(() => m.ack()), Promise.resolve());", {GOOD}),
    "ack first": ("await batch.messages.reduce(async (before, m) => { await before; m.ack(); await work(m.body); }, Promise.resolve());", {BAD}),
    "nobody waits": ("batch.messages.reduce(async (before, m) => { await before; await work(m.body); m.ack(); }, Promise.resolve());", {BAD}),
    "a sum": ("const n = batch.messages.reduce((n, m) => n + m.body.size, 0); for (const m of batch.messages) { await work(m.body, n); m.ack(); }", {GOOD}),
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCED)
def test_a_chain_of_promises_is_a_loop_where_each_waits_for_the_one_before(name):
    body, expected = REDUCED[name]
    assert kinds(f"export default {{ async queue(batch, env) {{ {body} }} }};") == expected


def test_a_place_in_another_file_is_named_with_it():
    files = {"c_ts": "export async function work(body) {\n  await fetch(body);\n}"}
    code = code_of(program(each("await work(m.body); m.ack();", imports='import { work } from "./c";'), **files))
    assert [remark.text for remark in acknowledging(code, Facts())] == ["ack() comes after the work (src/c.ts:2)"]
