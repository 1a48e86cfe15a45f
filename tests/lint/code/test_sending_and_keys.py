"""What sources send, and what consumers do against duplicates."""

from __future__ import annotations

import pytest

from cfq_lint.checklist.handling import BAD, GOOD, UNSURE, deduplicating

from .support import handled, js, py, read


def sent(text, **files):
    """What the sources send: binding, whether together, fields, those made on the spot, how many at most."""
    program = read(text, **files)
    assert not program.problem
    found = [each for module in program.modules.values() for each in module.sent]
    return [(each.binding, each.is_batch, None if each.keys is None else sorted(each.keys), sorted(each.fresh), each.most) for each in found]


SENT = {
    "a literal": ("await env.Q.send({ id: crypto.randomUUID(), 'a': 1 });", [("Q", False, ["a", "id"], ["id"], 1)]),
    "a name": ("const body = { order_id: order, to }; await env.Q.send(body, { delaySeconds: 5 });", [("Q", False, ["order_id", "to"], [], 1)]),
    "a fresh name": ("const id = uuidv4(); await this.env.Q.send({ id });", [("Q", False, ["id"], ["id"], 1)]),
    "something else": ("await env.Q.send(await request.json());", [("Q", False, None, [], 1)]),
    "a spread": ("await env.Q.send({ ...order, id: nanoid() });", [("Q", False, None, ["id"], 1)]),
    "a spread that may replace it": ("await env.Q.send({ id: nanoid(), ...order });", [("Q", False, None, [], 1)]),
    "a time is no id": ("await env.Q.send({ id: Date.now() });", [("Q", False, ["id"], [], 1)]),
    "a list": ("await env.Q.sendBatch([{ body: { id: 1 } }, { body: { id: 2, b: 1 } }]);", [("Q", True, ["id"], [], 2)]),
    "a list with more": ("await env.Q.sendBatch([{ body: 1 }, ...more]);", [("Q", True, None, [], None)]),
    "mapped": ("await env.Q.sendBatch(all.map((each) => ({ body: { id: ulid(), each } })));", [("Q", True, ["each", "id"], ["id"], None)]),
    "in parts": ("await env.Q.sendBatch(all.slice(i, i + 50).map((each) => ({ body: each })));", [("Q", True, None, [], 50)]),
    "in parts by a constant": ("const PART = 1_00; const part = all.slice(i, i + PART); await env.Q.sendBatch(part);", [("Q", True, None, [], 100)]),
    "in parts of another length": ("await env.Q.sendBatch(all.slice(i, j + 50));", [("Q", True, None, [], None)]),
    "the first": ("await env.Q.sendBatch(all.slice(0, 500));", [("Q", True, None, [], 500)]),
    "filled later": ("const all = []; for (const o of orders) all.push({ body: o }); await env.Q.sendBatch(all);", [("Q", True, None, [], None)]),
    "bound anew": ("let all = [{ body: 1 }]; all = more; await env.Q.sendBatch(all);", [("Q", True, None, [], None)]),
    "a parameter of that name": ("const id = ulid(); const f = async (id) => env.Q.send({ id });", [("Q", False, ["id"], [], 1)]),
    "a parameter of that name elsewhere": ("const id = ulid(); await env.Q.send({ id }); const f = ({ id }) => use(id);", [("Q", False, ["id"], ["id"], 1)]),
    "a name of another function": ("const f = () => { const id = ulid(); }; const g = () => env.Q.send({ id });", [("Q", False, ["id"], [], 1)]),
    "a name of the block around": ("const id = ulid(); { const id = order.id; await env.Q.send({ id }); }", [("Q", False, ["id"], [], 1)]),
    "a name that counts": ("const id = ulid(); for (const id of ids) await env.Q.send({ id });", [("Q", False, ["id"], [], 1)]),
    "one binding or another": ("let out = env.Q; if (order.large) out = env.LARGE; await out.send({ id: 1 });", [("[]", False, ["id"], [], 1)]),
    "completed later": ("const body = { a: 1 }; body.id = ulid(); await env.Q.send(body);", [("Q", False, None, [], 1)]),
    "so many": ("await env.Q.sendBatch(Array.from({ length: 500 }, (_, i) => ({ body: i })));", [("Q", True, None, [], 500)]),
    "so many, each with an id": ("await env.Q.sendBatch(Array.from({ length: 9 }, () => ({ body: { id: ulid() } })));", [("Q", True, ["id"], ["id"], 9)]),
    "so many, by a constant": ("const N = 300; await env.Q.sendBatch([...Array(N).keys()].map((i) => ({ body: i })));", [("Q", True, None, [], 300)]),
    "so many, filled": ("const all = new Array(200).fill({ body: 1 }); await env.Q.sendBatch(all);", [("Q", True, None, [], 200)]),
    "so many, with others": ("await env.Q.sendBatch(all.slice(0, 50).concat(more));", [("Q", True, None, [], None)]),
    "so many times others": ("await env.Q.sendBatch(all.slice(0, 50).flatMap((each) => parts(each)));", [("Q", True, None, [], None)]),
    "a number that only running tells": ("await env.Q.sendBatch(Array.from({ length: n }, (_, i) => ({ body: i })));", [("Q", True, None, [], None)]),
    "an id made of what is sent": ("await env.Q.send({ id: uuidv5(order.id, SPACE) });", [("Q", False, ["id"], [], 1)]),
    "through a name": ("const out = env.Q; await out.send({ id: 1 });", [("Q", False, ["id"], [], 1)]),
    "not a binding": ("send({ id: 1 }); await socket.send('x');", [("socket", False, None, [], 1)]),
}


@pytest.mark.parametrize(("body", "found"), SENT.values(), ids=SENT)
def test_what_javascript_sends(body, found):
    assert sent(js(body)) == found


SENT_BY_PYTHON = {
    "a spread": ('await self.env.Q.send({**order, "id": str(uuid4())})', [("Q", False, None, ["id"], 1)]),
    "a spread that may replace it": ('await self.env.Q.send({"id": str(uuid4()), **order})', [("Q", False, None, [], 1)]),
    "a parameter of that name elsewhere": ('key = str(uuid4())\nawait self.env.Q.send({"id": key})\ndef f(key):\n    return key', [("Q", False, ["id"], ["id"], 1)]),
    "a name of another function": ('def f():\n    key = uuid4()\nasync def g():\n    await env.Q.send({"id": key})', [("Q", False, ["id"], [], 1)]),
    "a name of the function around": ('key = uuid4()\ndef f(key):\n    env.Q.send({"id": key})', [("Q", False, ["id"], [], 1)]),
    "a name in a comprehension": ('key = uuid4()\n[env.Q.send({"id": key}) for key in keys]', [("Q", False, ["id"], [], 1)]),
    "one binding or another": ('out = self.env.Q\nif large:\n    out = self.env.LARGE\nawait out.send({"id": 1})', [("[]", False, ["id"], [], 1)]),
    "a literal": ('await self.env.Q.send({"id": str(uuid4()), "a": 1})', [("Q", False, ["a", "id"], ["id"], 1)]),
    "a name": ('body = {"order_id": order}\nawait self.env.Q.send(body, delaySeconds=5)', [("Q", False, ["order_id"], [], 1)]),
    "through a name": ('out = self.env.Q\nawait out.send({"id": 1})', [("Q", False, ["id"], [], 1)]),
    "to_js": ('await env.Q.send(to_js({"id": 1}, dict_converter=Object.fromEntries))', [("Q", False, ["id"], [], 1)]),
    "something else": ("await self.env.Q.send(await request.json())", [("Q", False, None, [], 1)]),
    "a list": ('await self.env.Q.sendBatch([{"body": {"id": 1}}, {"body": {"id": 2}}])', [("Q", True, ["id"], [], 2)]),
    "in parts": ('await self.env.Q.sendBatch([{"body": each} for each in every[i : i + 50]])', [("Q", True, None, [], 50)]),
    "filled later": ('every = []\nfor o in orders:\n    every.append({"body": o})\nawait self.env.Q.sendBatch(every)', [("Q", True, None, [], None)]),
    "completed later": ('body = {"a": 1}\nbody["id"] = str(uuid4())\nawait self.env.Q.send(body)', [("Q", False, None, [], 1)]),
    "so many": ('await self.env.Q.sendBatch(to_js([{"body": i} for i in range(150)]))', [("Q", True, None, [], 150)]),
    "so many, by a constant": ('N = 150\nevery = [{"body": i} for i in range(10, N)]\nawait self.env.Q.sendBatch(every)', [("Q", True, None, [], 140)]),
    "some of so many": ('await self.env.Q.sendBatch([{"body": i} for i in range(150) if i % 9])', [("Q", True, None, [], None)]),
    "so many times": ('await self.env.Q.sendBatch([{"body": 1}] * 150)', [("Q", True, None, [], 150)]),
    "so many times others": ('await self.env.Q.sendBatch([{"body": i} for i in every[:50] for j in i])', [("Q", True, None, [], None)]),
    "an id made of what is sent": ('await self.env.Q.send({"id": str(uuid5(SPACE, order))})', [("Q", False, ["id"], [], 1)]),
    "the first": ("await self.env.Q.sendBatch(every[:500])", [("Q", True, None, [], 500)]),
}


@pytest.mark.parametrize(("body", "found"), SENT_BY_PYTHON.values(), ids=SENT_BY_PYTHON)
def test_what_python_sends(body, found):
    assert sent(py(body)) == found


LOOP = "for (const m of batch.messages) {{ {} m.ack(); }}"
KEYS = {
    "on conflict": (js(LOOP.format("await env.DB.prepare('INSERT INTO a (id) VALUES (?) ON CONFLICT (id) DO NOTHING').bind(m.body.id).run();")), {GOOD}),
    "or ignore, elsewhere": (js("const s = env.DB.prepare(`INSERT OR IGNORE INTO a (id) VALUES (?)`);" + LOOP.format("await s.bind(m.id).run();")), {GOOD}),
    "by a constant": (js(LOOP.format("await env.DB.prepare(SQL).bind(m.id).run();"), around="const SQL = 'insert into a (id) values (?) on conflict do nothing';"), {GOOD}),
    "by a library": (js(LOOP.format("await db.insert(orders).values({ id: m.body.id }).onConflictDoNothing();")), {GOOD}),
    "by an upsert": (js(LOOP.format("await prisma.order.upsert({ where: { id: m.body.id } });")), {GOOD}),
    "looked up in a table": (
        js(LOOP.format("if (await env.DB.prepare('SELECT 1 FROM seen WHERE id = ?').bind(m.id).first()) { m.ack(); continue; } await f(m.body); await env.DB.prepare('INSERT INTO seen (id) VALUES (?)').bind(m.id).run();")),
        {GOOD},
    ),
    "handed on": (js(LOOP.format("await fetch(URL, { headers: { 'Idempotency-Key': m.body.id } });")), {GOOD}),
    "handed on, as a field": (js(LOOP.format("await stripe.charges.create({ amount: 1 }, { idempotencyKey: m.body.id });")), {GOOD}),
    "looked up first": (js(LOOP.format("if (await env.SEEN.get(m.id)) { m.ack(); continue; } await f(m.body); await env.SEEN.put(m.id, '1');")), {GOOD}),
    "made here and handed on": (js(LOOP.format("const key = crypto.randomUUID(); await fetch(URL, { headers: { 'Idempotency-Key': key }, body: m.body });")), {BAD}),
    "made here and inserted": (js(LOOP.format("await env.DB.prepare('INSERT INTO a (id, y) VALUES (?, ?)').bind(crypto.randomUUID(), m.body.y).run();")), {BAD}),
    "made here, beside a key": (js(LOOP.format("await env.DB.prepare('INSERT INTO a (x, y) VALUES (?, ?)').bind(uuid(), m.body.orderId).run();")), {UNSURE}),
    "made here, and passes over": (js(LOOP.format("await env.DB.prepare('INSERT INTO a (x) VALUES (?) ON CONFLICT DO NOTHING').bind(crypto.randomUUID(), m.body.y).run();")), {UNSURE}),
    "inserted": (js(LOOP.format("await env.DB.prepare('INSERT INTO a (id) VALUES (?)').bind(m.body.id).run();")), {UNSURE}),
    "a trace is no key": (js(LOOP.format("const trace = crypto.randomUUID(); console.log(trace); await f(m.body, trace);")), set()),
    "looked up in what forgets": (js("const done = new Set();" + LOOP.format("if (done.has(m.id)) continue; await f(m.body); done.add(m.id);")), set()),
    "looked up in a field that forgets": (
        "export default class extends WorkerEntrypoint { seen = new Map(); async queue(batch) { " + LOOP.format("if (this.seen.get(m.id)) continue; await f(m.body); this.seen.set(m.id, 1);") + " } }",
        set(),
    ),
    "nothing": (js(LOOP.format("await f(m.body);")), set()),
    "made before and inserted": (js(LOOP.format("const id = crypto.randomUUID(); await env.DB.prepare('INSERT INTO a (id, y) VALUES (?, ?)').bind(id, m.body.y).run();")), {BAD}),
    "made here, beside another column": (js(LOOP.format("await env.DB.prepare('INSERT INTO a (id, order_id) VALUES (?, ?)').bind(uuid(), m.body.order).run();")), {UNSURE}),
    "made here, beside a name": (js(LOOP.format("const { orderId } = m.body; await env.DB.prepare('INSERT INTO a VALUES (?, ?)').bind(uuid(), orderId).run();")), {BAD}),
    "made here, for a note": (js(LOOP.format("await env.DB.prepare('INSERT INTO audit (id, y) VALUES (?, ?)').bind(uuid(), m.body.y).run();")), {UNSURE}),
    "made here, for the batch": (js("await env.DB.prepare('INSERT INTO runs (id, n) VALUES (?, ?)').bind(uuid(), batch.messages.length).run();"), {UNSURE}),
    "made here, for a note beside the row": (
        js(LOOP.format("await env.DB.prepare('INSERT INTO a (x) VALUES (?) ON CONFLICT DO NOTHING').bind(m.body.x).run(); await env.DB.prepare('INSERT INTO audit (id) VALUES (?)').bind(uuid()).run();")),
        {GOOD},
    ),
    "made here, in another header": (js(LOOP.format("await fetch(URL, { headers: { 'Idempotency-Key': m.body.id, 'X-Trace': crypto.randomUUID() } });")), {GOOD}),
    "made here, in the header": (js(LOOP.format("await fetch(URL, { headers: { 'Idempotency-Key': crypto.randomUUID(), 'X-Order': m.body.id } });")), {BAD}),
    "made here, and set": (js(LOOP.format("const h = new Headers(); h.set('Idempotency-Key', nanoid()); await fetch(URL, { headers: h, body: m.body });")), {BAD}),
    "made here, by its own name": (js(LOOP.format("const idempotencyKey = nanoid(); await charge({ amount: m.body.a }, { idempotencyKey });")), {BAD}),
    "made here, and given to a function": (
        js(LOOP.format("await charge(uuid(), m.body);"), around="async function charge(key, body) { await fetch(URL, { headers: { 'Idempotency-Key': key }, body }); }"), {BAD}
    ),
    "given to a function, where another is made here": (
        js(LOOP.format("const key = uuid(); console.log(key); await charge(m.body.id, m.body);"), around="async function charge(key, body) { await fetch(URL, { headers: { 'Idempotency-Key': key }, body }); }"),
        {GOOD},
    ),
    "made of the message": (js(LOOP.format("const key = uuidv5(m.body.id, SPACE); await fetch(URL, { headers: { 'Idempotency-Key': key } });")), {GOOD}),
    "the same for all": (js(LOOP.format("await fetch(URL, { headers: { 'Idempotency-Key': 'orders' }, body: m.body });")), set()),
    "within a transaction": (
        js(LOOP.format("await db.transaction(async (t) => { await t.execute('insert into seen (id) values (?) on conflict do nothing', [m.body.id]); await t.execute('insert into audit (id) values (?)', [uuid()]); });")),
        {GOOD},
    ),
    "python, made before and inserted": (py("for m in batch.messages:\n    key = str(uuid.uuid4())\n    await self.env.DB.prepare('INSERT INTO a (id, y) VALUES (?, ?)').bind(key, m.body['y']).run()"), {BAD}),
    "python, made here and inserted": (py("for m in batch.messages:\n    await self.env.DB.prepare('INSERT INTO a (id, y) VALUES (?, ?)').bind(str(uuid.uuid4()), m.body['y']).run()"), {BAD}),
    "python, made here, beside a key": (py("for m in batch.messages:\n    await self.env.DB.prepare('INSERT INTO a VALUES (?, ?)').bind(str(uuid.uuid4()), m.body['order_id']).run()"), {BAD}),
    "python, made here, in another header": (py("for m in batch.messages:\n    await fetch(URL, headers={'Idempotency-Key': m.body['id'], 'X-Trace': str(uuid4())})"), {GOOD}),
    "python, made of the message": (py("for m in batch.messages:\n    await charge(m.body, idempotency_key=str(uuid5(SPACE, m.body['id'])))"), {GOOD}),
    "python": (py("for m in batch.messages:\n    await self.env.DB.prepare('INSERT OR IGNORE INTO a (id) VALUES (?)').bind(m.body['id']).run()"), {GOOD}),
    "python, made here": (py("for m in batch.messages:\n    await charge(m.body, idempotency_key=str(uuid4()))"), {BAD}),
    "python, handed on": (py("for m in batch.messages:\n    await charge(m.body, idempotency_key=m.body['key'])"), {GOOD}),
}


@pytest.mark.parametrize(("text", "found"), KEYS.values(), ids=KEYS)
def test_what_a_consumer_does_against_duplicates(text, found):
    remarks = deduplicating(handled(text).code)
    assert {remark.kind for remark in remarks} == found, remarks
