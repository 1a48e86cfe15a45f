"""What is said of acknowledging: what is certain is said, whatever form it has, and what is not certain never becomes a mistake."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfq_lint.checklist.handling import BAD, GOOD, UNSURE

from .support import handled, js, kinds, py, read

LOOP = "for (const m of batch.messages) {{ {} }}"
ONE = "async function one(m, env) { await env.KV.put(m.id, m.body); m.ack(); }"
WORK = "async function work(m, env) { await env.KV.put(m.id, m.body); }"

GOOD_ONES = {
    "a connection closed in the end": js(
        "const db = connect(env); try {" + LOOP.format("if (!m.body) { m.ack(); continue; } await db.put(m.body); m.ack();") + "} finally { await db.$disconnect(); }"
    ),
    "a failure noted before the retry": js(
        "await Promise.allSettled(batch.messages.map(async (m) => {"
        " try { await send(m.body); m.ack(); } catch (e) { await env.KV.put(m.id, 'failed'); m.retry(); } }));"
    ),
    "python, a list of tasks": py(
        "tasks = []\nfor m in batch.messages:\n    tasks.append(self.one(m))\nawait asyncio.gather(*tasks)",
        methods="async def one(self, m):\n    await self.env.KV.put(m.id, m.body)\n    m.ack()\n",
    ),
    "python, a group of tasks": py(
        "async with asyncio.TaskGroup() as group:\n    for m in batch.messages:\n        group.create_task(self.one(m))",
        methods="async def one(self, m):\n    await self.env.KV.put(m.id, m.body)\n    m.ack()\n",
    ),
    "python, a task": py("for m in batch.messages:\n    task = asyncio.create_task(self.env.KV.put(m.id, m.body))\n    await task\n    m.ack()"),
    "python, a function in the handler": py(
        "async def one(m):\n    try:\n        await self.env.KV.put(m.id, m.body)\n        m.ack()\n    except Exception:\n        m.retry()\n"
        "await asyncio.gather(*(one(m) for m in batch.messages))"
    ),
    "a list of promises": js("const all = [];" + LOOP.format("all.push(one(m, env));") + "await Promise.all(all);", around=ONE),
    "a promise with a name": js(LOOP.format("const done = work(m, env); console.log(m.id); await done; m.ack();"), around=WORK),
    "ack after an awaited effect": js(LOOP.format("await env.DB.prepare('INSERT').bind(m.body.id).run(); m.ack();")),
    "ack in the try, retry in the catch": js(LOOP.format("try { await send(m.body); m.ack(); } catch (e) { m.retry(); }")),
    "a catch that throws again": js(LOOP.format("try { await send(m.body); m.ack(); } catch (e) { console.error(e); throw e; }")),
    "a catch that gives up on what is permanent": js(
        LOOP.format("try { await send(m.body); m.ack(); } catch (e) { if (e.permanent) m.ack(); else m.retry({ delaySeconds: 9 }); }")
    ),
    "a catch that keeps the message elsewhere": js(
        LOOP.format("try { await send(m.body); } catch (e) { await env.FAILED.put(m.id, String(e)); } m.ack();")
    ),
    "what was seen is passed over": js(LOOP.format("if (await env.KV.get(m.id)) { m.ack(); continue; } await send(m.body); m.ack();")),
    "all at once": js("await Promise.all(batch.messages.map(async (m) => { await send(m.body); m.ack(); }));"),
    "all at once, collected first": js("const all = batch.messages.map(async (m) => { await send(m.body); m.ack(); }); await Promise.all(all);"),
    "a copy of the messages": js("await Promise.all([...batch.messages].map(async (m) => { await send(m.body); m.ack(); }));"),
    "settled together, then one by one": js(
        "const done = await Promise.allSettled(batch.messages.map((m) => send(m.body)));"
        "done.forEach((d, i) => { if (d.status === 'fulfilled') batch.messages[i].ack(); else batch.messages[i].retry(); });"
    ),
    "then() instead of await": js(LOOP.format("ctx.waitUntil(send(m.body).then(() => m.ack(), () => m.retry()));")),
    "then() with the method's name": js(LOOP.format("await send(m.body).then(m.ack).catch(m.retry);")),
    "an attempt at it, several times": js(
        LOOP.format("await again(() => send(m.body)); m.ack();"),
        around="async function again(f) { for (let i = 0; i < 3; i++) { try { return await f(); } catch (e) { if (i === 2) throw e; await sleep(9); } } }",
    ),
    "what is no message is given up": js(
        LOOP.format("let job; try { job = await schema.parseAsync(m.body); } catch { m.ack(); continue; } await work(job); m.ack();")
    ),
    "one write for all, then one by one": js("await env.DB.batch(batch.messages.map((m) => env.DB.prepare('INSERT').bind(m.body)));" + LOOP.format("m.ack();")),
    "a function of the module": js(LOOP.format("await one(m, env);"), around=ONE),
    "a function of the module, by name": js("await Promise.all(batch.messages.map((m) => one(m, env)));", around=ONE),
    "a method": "export default class extends WorkerEntrypoint {\n async queue(batch) { for (const m of batch.messages) await this.one(m); }\n"
    " async one(m) { await this.env.KV.put(m.id, ''); m.ack(); }\n}",
    "a function that takes the batch": js("await all(batch, env);", around="const all = async ({ messages }, env) => { for (const m of messages) { await send(m.body); m.ack(); } };"),
    "a function that is given one for each": js(
        "await each(batch, async (body) => { await send(body, env); });",
        around="async function each(batch, handle) { for (const m of batch.messages) { try { await handle(m.body); m.ack(); } catch { m.retry(); } } }",
    ),
    "an object that holds the message": js(LOOP.format("await one({ m, env });"), around="async function one({ m, env }) { await send(m.body); m.ack(); }"),
    "a context around it": js("await inside(ctx, () => Promise.all(batch.messages.map(async (m) => { await send(m.body); m.ack(); })));"),
    "messages kept beside others": js(
        "const runs = []; for (const m of batch.messages) { runs.push({ m, job: m.body }); }"
        "for (const { m, job } of runs) { try { await work(job); m.ack(); } catch (e) { settle(m, e); } }",
        around="function settle(m, e) { if (e.status === 400) { m.ack(); return; } m.retry(); }",
    ),
    "counted": js("for (let i = 0; i < batch.messages.length; i++) { const m = batch.messages[i]; const ok = await work(m.body); ok ? m.ack() : m.retry(); }"),
    "taken apart": js("for (const { body, ack } of batch.messages) { const stmt = env.DB.prepare('INSERT').bind(body.id); await stmt.run(); ack(); }"),
    "work on the side afterwards": js(LOOP.format("await send(m.body); m.ack();") + "await env.KV.put('last run', 'now');"),
    "logging afterwards": js(LOOP.format("await send(m.body); m.ack(); await logger.info(m.id);")),
    "wrapped": "const worker = withSentry({}, { async queue(batch) { for (const m of batch.messages) { await send(m.body); m.ack(); } } });\nexport default worker;",
    "typed": "const handler: ExportedHandler<Env> = { async queue(batch, env) { for (const m of batch.messages) { await send(m.body as Job); m.ack(); } } };\n"
    "export default handler satisfies ExportedHandler<Env>;",
    "python": py("for m in batch.messages:\n    await self.env.KV.put(m.id, '')\n    m.ack()"),
    "python, else": py("for m in batch.messages:\n    try:\n        await self.go(m.body)\n    except Exception:\n        m.retry(delaySeconds=5)\n    else:\n        m.ack()"),
    "python, a method": py("for m in batch.messages:\n    await self.one(m)", methods="async def one(self, m):\n    await self.env.KV.put(m.id, '')\n    m.ack()"),
    "python, gathered": py("await asyncio.gather(*[self.one(m) for m in batch.messages])", methods="async def one(self, m):\n    await self.env.KV.put(m.id, '')\n    m.ack()"),
    "python, synchronous work": py("for i, m in enumerate(batch.messages):\n    database.execute('INSERT', m.body)\n    m.ack()"),
    "python, only one error is caught": py("for m in batch.messages:\n    try:\n        await self.go(m.body)\n        m.ack()\n    except ValueError:\n        m.ack()"),
    "the first of two": js(LOOP.format("await Promise.race([work(m, env), sleep(9)]); m.ack();"), around=WORK),
    "a failure beside the point": js(
        LOOP.format("await env.DB.prepare('INSERT').bind(m.id).run(); try { await env.CACHE.delete(m.id); } catch (e) { console.warn(e); } m.ack();")
    ),
}
BAD_ONES = {
    "thrown again and swallowed": js(
        LOOP.format("try { try { await send(m.body); } catch (e) { console.error(e); throw e; } } catch { console.warn(m.id); } m.ack();")
    ),
    "python, suppressed": py(
        "for m in batch.messages:\n    with contextlib.suppress(Exception):\n        await self.env.KV.put(m.id, m.body)\n    m.ack()"
    ),
    "python, a group of errors swallowed": py(
        "for m in batch.messages:\n    try:\n        await self.env.KV.put(m.id, m.body)\n    except* Exception:\n        pass\n    m.ack()"
    ),
    "ack first": js(LOOP.format("m.ack(); await send(m.body);")),
    "ackAll first": js("batch.ackAll();" + LOOP.format("await send(m.body);")),
    "ack while collecting": js("const rows = []; for (const m of batch.messages) { rows.push(m.body); m.ack(); } await env.DB.batch(rows);"),
    "nothing at all": js(LOOP.format("await send(m.body);")),
    "nothing at all, together": js("const tasks = batch.messages.map(async (m) => { await work(m.body.id); }); await Promise.all(tasks);"),
    "ackAll last": js(LOOP.format("await send(m.body);") + "batch.ackAll();"),
    "failures are retried, the rest is left to the end": js(LOOP.format("try { await send(m.body); } catch (e) { m.retry(); }")),
    "one catch around everything": js("try {" + LOOP.format("await send(m.body); m.ack();") + "} catch (e) { console.error(e); }"),
    "one way out lacks it": js(LOOP.format("if (m.body.large) { await one(m.body); m.ack(); } else { await two(m.body); }")),
    "a swallowed failure": js(LOOP.format("try { await send(m.body); m.ack(); } catch (e) { console.error(e); }")),
    "ack although it failed": js(LOOP.format("try { await send(m.body); } catch (e) { console.error(e); } m.ack();")),
    "ack in finally": js(LOOP.format("try { await send(m.body); } finally { m.ack(); }")),
    "catch() that says nothing": js(LOOP.format("await send(m.body).catch(() => {}); m.ack();")),
    "forEach does not wait": js("batch.messages.forEach(async (m) => { await send(m.body); m.ack(); });"),
    "waitUntil does not wait": js(LOOP.format("ctx.waitUntil(send(m.body)); m.ack();")),
    "settled together and forgotten": js("await Promise.allSettled(batch.messages.map((m) => send(m.body)));"),
    "a function that drains": js(
        "await drain(batch, async (body) => { await send(body); });",
        around="async function drain(batch, handle) { await Promise.all(batch.messages.map(async (m) => { try { await handle(m.body); } catch {} finally { m.ack(); } })); }",
    ),
    "python, ack first": py("for m in batch.messages:\n    m.ack()\n    await self.env.KV.put(m.id, '')"),
    "python, nothing at all": py("for m in batch.messages:\n    await self.env.KV.put(m.id, '')"),
    "python, swallowed": py("for m in batch.messages:\n    try:\n        await self.go(m.body)\n        m.ack()\n    except Exception as error:\n        print(error)"),
    "python, all and then all": py("await asyncio.gather(*[self.go(m.body) for m in batch.messages])\nbatch.ackAll()"),
    "python, return_exceptions": py("await asyncio.gather(*[self.go(m.body) for m in batch.messages], return_exceptions=True)"),
    "work that nobody waits for": js(LOOP.format("void work(m, env); m.ack();"), around=WORK),
    "work that somebody waits for after the ack": js(
        "const all = [];" + LOOP.format("all.push(work(m, env)); m.ack();") + "await Promise.all(all);", around=WORK
    ),
    "a Promise.all() that nobody waits for": js("Promise.all(batch.messages.map(async (m) => { await send(m.body); m.ack(); }));"),
    "a then() that nobody waits for": js(LOOP.format("env.KV.put(m.id, m.body).then(() => m.ack());")),
    "python, work that nobody waits for": py(
        "for m in batch.messages:\n    self.work(m)\n    m.ack()", methods="async def work(self, m):\n    await self.env.KV.put(m.id, m.body)\n"
    ),
    "work on both sides": js(LOOP.format("await one(m.body); m.ack(); await two(m.body);")),
    "nobody waits for the binding": js(LOOP.format("env.KV.put(m.id, m.body); m.ack();")),
}
UNSURE_ONES = {
    "one write for all": js("await env.DB.batch(batch.messages.map((m) => env.DB.prepare('INSERT').bind(m.body.id)));"),
    "one write for all, collected": js("const rows = []; for (const m of batch.messages) { rows.push(m.body); } await env.DB.batch(rows); batch.ackAll();"),
    "handed to somebody": js("await process(batch, env);"),
    "each handed to somebody": js(LOOP.format("await process(m);")),
    "each handed to somebody, who does not wait": js(LOOP.format("try { await work(m.body); m.ack(); } catch (e) { settle(m, e); }")),
    "by what it is called": js("const handle = HANDLERS[batch.queue]; await handle(batch, env);"),
    "handed its ack": js(LOOP.format("await process(m.body, m.ack);")),
    "within an object": js(LOOP.format("await process({ m, env });")),
    "the way depends on what is not here": js("if (batch.queue.startsWith(env.PREFIX)) { " + LOOP.format("m.ack(); await send(m.body);") + " return; }" + LOOP.format("await send(m.body); m.ack();")),
}
SILENT_ONES = {
    "logs only": js(LOOP.format("console.log(m.body);")),
    "logs and acks": js(LOOP.format("console.log(JSON.stringify(m.body)); m.ack();")),
    "reads only": js(LOOP.format("await env.KV.get(m.id);")),
    "does nothing": js(""),
    "another queue's mistake": js("if (batch.queue === 'other') { " + LOOP.format("m.ack(); await send(m.body);") + " }"),
    "retries everything": js("batch.retryAll();" + LOOP.format("await send(m.body);")),
    "a map() that nobody waits for": js("batch.messages.map(async (m) => { await send(m.body); m.ack(); });"),
}


@pytest.mark.parametrize("text", GOOD_ONES.values(), ids=GOOD_ONES)
def test_what_is_right_is_good_and_nothing_else(text):
    assert kinds(text) == {GOOD}, handled(text)


@pytest.mark.parametrize("text", BAD_ONES.values(), ids=BAD_ONES)
def test_what_is_certainly_wrong_is_bad(text):
    assert BAD in kinds(text), handled(text)
    assert UNSURE not in kinds(text)


@pytest.mark.parametrize("text", UNSURE_ONES.values(), ids=UNSURE_ONES)
def test_what_is_not_certain_is_no_mistake(text):
    found = kinds(text)
    assert UNSURE in found, handled(text)
    assert BAD not in found


@pytest.mark.parametrize("text", SILENT_ONES.values(), ids=SILENT_ONES)
def test_where_nothing_is_done_nothing_is_said(text):
    assert kinds(text) == set(), handled(text)


@pytest.mark.parametrize("body", ["await send(m.body);", "try { await send(m.body); } catch { m.retry(); }"])
def test_a_batch_of_one_is_the_message(body):
    assert kinds(js(LOOP.format(body)), batch_size=1) == {GOOD}
    assert kinds(js(LOOP.format(body))) == {BAD}


SEVERAL = {
    "if": "if (batch.queue === 'orders') { GOOD } else { BAD }",
    "if not": "if (batch.queue !== 'orders') { BAD } else { GOOD }",
    "a constant": "if (batch.queue === ORDERS) { GOOD return; } BAD",
    "switch": "switch (batch.queue) { case 'orders': GOOD break; case 'other': case 'third': BAD break; default: BAD }",
    "switch, first named": "switch (batch.queue) { case 'orders': case 'fourth': { GOOD return; } default: BAD }",
    "begins so": "if (batch.queue.startsWith('ord')) { GOOD } else { BAD }",
    "ends so": "if (!batch.queue.endsWith('ers')) { BAD } else { GOOD }",
    "is in it": "if (batch.queue.includes('der')) { GOOD return; } BAD",
    "one or the other": "if (batch.queue === 'orders' || batch.queue === 'more') { GOOD } else { BAD }",
    "an expression": "if (/^ord/.test(batch.queue)) { GOOD } else { BAD }",
    "an expression, in any case": "if (/^(?:ORD|more)\\w+$/i.test(batch.queue)) { GOOD } else { BAD }",
    "a suffix taken off": "switch (batch.queue.replace(/(?:er)?s$/, '')) { case 'ord': GOOD break; default: BAD }",
    "all of something taken out": "if (batch.queue.replace(/[re]/g, '') === 'ods') { GOOD } else { BAD }",
    "a text taken out": "if (batch.queue.replace('ers', '') === 'ord') { GOOD } else { BAD }",
    "taken out": "const { queue } = batch; if (queue == 'orders') { GOOD } else { BAD }",
    "a choice": "const name = batch.queue; name === 'orders' ? await good(batch) : await bad(batch);",
}


@pytest.mark.parametrize("body", SEVERAL.values(), ids=SEVERAL)
def test_the_queue_s_name_chooses_the_way(body):
    good, bad = LOOP.format("await send(m.body); m.ack();"), LOOP.format("m.ack(); await send(m.body);")
    around = f"const ORDERS = 'orders'; async function good(batch) {{ {good} }} async function bad(batch) {{ {bad} }}"
    text = js(body.replace("GOOD", good).replace("BAD", bad), around=around)
    assert kinds(text, queue="orders") == {GOOD}
    assert kinds(text, queue="other") == {BAD}


DERIVED = {
    "a comparison": "const isDlq = batch.queue === 'orders-dlq'; if (isDlq) {{ {} }} else {{ {} }}",
    "a name without its environment": "switch (batch.queue.replace('-next', '')) {{ case 'mails': {} break; case 'orders': {} break; }}",
    "an expression that may take long": "const name = batch.queue.replace(/(a+)+$/, ''); if (name === 'mails') {{ {} }} else {{ {} }}",
    "an expression that is none here": "if (/^\\p{{Lu}}/v.test(batch.queue)) {{ {} }} else {{ {} }}",
    "a group put back": "const name = batch.queue.replace(/^(\\w+)-x$/, '$1'); if (name === 'mails') {{ {} }} else {{ {} }}",
    "a name in small letters": "const name = batch.queue.toLowerCase(); if (name === 'mails') {{ {} }} else {{ {} }}",
}


@pytest.mark.parametrize("body", DERIVED.values(), ids=DERIVED)
def test_what_is_made_of_the_queue_s_name_makes_no_mistake_certain(body):
    bad, good = LOOP.format("m.ack(); await send(m.body);"), LOOP.format("await send(m.body); m.ack();")
    assert BAD not in kinds(js(body.format(bad, good)))


def test_what_is_made_of_the_queue_s_name_in_python():
    body = """
        is_dlq = batch.queue == "orders-dlq"
        for m in batch.messages:
            if is_dlq:
                m.ack()
                await self.env.KV.put(m.id, m.body)
                continue
            await self.env.KV.put(m.id, m.body)
            m.ack()
    """
    assert kinds(py(body)) == {GOOD}


def test_the_queue_s_name_chooses_the_way_in_python():
    good, bad = "await self.go(m.body); m.ack()", "m.ack(); await self.go(m.body)"
    by_match = f"match batch.queue:\n    case 'orders' | 'more':\n        for m in batch.messages: {good}\n    case _:\n        for m in batch.messages: {bad}"
    by_if = f"if batch.queue in ('orders', 'more'):\n    for m in batch.messages: {good}\nelse:\n    for m in batch.messages: {bad}"
    by_part = f"if batch.queue.startswith(('ord', 'mo')) or 'x' in batch.queue:\n    for m in batch.messages: {good}\nelse:\n    for m in batch.messages: {bad}"
    by_name = f"if not batch.queue == MORE:\n    for m in batch.messages: {bad}\nelse:\n    for m in batch.messages: {good}"
    assert kinds(py(by_name, around="MORE = 'more'"), queue="more") == {GOOD}
    for body in (by_match, by_if, by_part):
        assert kinds(py(body), queue="more") == {GOOD}
        assert kinds(py(body), queue="other") == {BAD}


def test_modules_of_the_worker_s_own_are_followed():
    entry = "import { all } from './all';\nimport lib from 'lib';\nexport default { queue: (batch, env) => all(batch, env) };"
    found = handled(entry, all_ts="import { one } from './one.js';\nexport async function all(batch, env) { for (const m of batch.messages) await one(m, env); }",
                    one_ts="export const one = async (m, env) => { await env.KV.put(m.id, ''); m.ack(); };")
    assert [str(remark.spot) for remark in found.remarks] == ["src/one.ts:1:68"]
    assert kinds(py("await run(batch)", around="from handlers import run"), handlers_py="async def run(batch):\n    for m in batch.messages:\n        m.ack()\n        await send(m.body)\n") == {BAD}


def test_constants_of_other_modules_choose_the_way():
    good, bad = LOOP.format("await send(m.body); m.ack();"), LOOP.format("m.ack(); await send(m.body);")
    for test in ("if (batch.queue === DEAD) { BAD return; } GOOD", "switch (batch.queue) { case DEAD: BAD break; default: GOOD }", "if (batch.queue !== DEAD) { GOOD } else { BAD }"):
        text = js(test.replace("GOOD", good).replace("BAD", bad), around="import { DEAD } from './names';")
        names = "export const DEAD = 'orders-dlq';"
        assert kinds(text, names_ts=names) == {GOOD}
        assert kinds(text, names_ts=names, queue="orders-dlq") == {BAD}
        assert BAD not in kinds(text, names_ts="export const DEAD = process.env.DEAD;")
    body = "if batch.queue == DEAD:\n    for m in batch.messages: m.ack(); await self.go(m.body)\nelse:\n    for m in batch.messages: await self.go(m.body); m.ack()"
    assert kinds(py(body, around="from names import DEAD"), names_py="DEAD = 'orders-dlq'") == {GOOD}


@pytest.mark.parametrize("ending", ["js", "mjs", "jsx", "ts", "mts", "tsx"])
def test_every_ending_is_read(ending):
    text = js(LOOP.format("await send(m.body); m.ack();"), around="const shown = <p>hello</p>;" if ending in {"jsx", "tsx"} else "")
    assert kinds(text, name=f"src/index.{ending}") == {GOOD}


def test_a_place_is_line_and_column_in_code_points():
    text = js("for (const m of batch.messages) { /* \N{PILE OF POO}é */ m.ack(); await send(m.body); }")
    (remark,) = handled(text).remarks
    _, line, column = remark.spot.split(":")
    assert text.splitlines()[int(line) - 1][int(column) - 1 :].startswith("ack()")
    assert "its work comes after it" in remark.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("export default { async fetch() {} };", "no queue handler"),
        ("export default make();", "no queue handler"),
        ("export { default } from './elsewhere';", "no queue handler"),
        ("export default { async queue( };", "does not parse"),
        ("class Default:\n  async def queue(self, batch:\n", "does not parse"),
    ],
)
def test_what_cannot_be_read_is_said(text, said):
    found = handled(text)
    assert said in found.problem
    assert not found.remarks


def test_what_is_not_there_is_said():
    assert read("", "gone.js").problem == ""
    from cfq_lint.worker_code.modules.program import load

    assert load("gone.js", lambda _: None).problem == "gone.js cannot be read"


def test_too_many_ways_are_given_up():
    body = "".join(f"if (env.a{i}) {{ await f{i}(m.body); }} else if (env.b{i}) {{ m.ack(); }} else {{ await g{i}(m.body); }}\n" for i in range(40))
    found = handled(js("for (const m of batch.messages) {" + body + "}"))
    assert "too many ways" in found.problem or found.remarks


def test_recursion_ends():
    around = "async function again(batch) { for (const m of batch.messages) { await again(batch); await send(m.body); m.ack(); } }"
    assert handled(js("await again(batch);", around=around)).remarks is not None


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_nothing_raises_on_any_text(text):
    for name in ("src/entry.py", "src/index.ts", "src/index.js"):
        handled(text, name=name)


PIECES = ["for (const m of batch.messages) {", "}", "m.ack();", "await f(m.body);", "try {", "} catch (e) {", "if (x) {", "} else {", "return;", "throw e;", "batch.ackAll();", "m.retry();", "} finally {", "await Promise.all(batch.messages.map(async (m) => {", "}));"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_nothing_raises_on_any_handler(pieces):
    handled(js("\n".join(pieces)))


def test_what_is_added_to_stands_for_what_was_added():
    body = 'for (const m of batch.messages) { let s = ""; m.ack(); s += m.body.text; await env.KV.put("last", s); }'
    assert kinds(js(body)) == {BAD}
    assert kinds(py('for m in batch.messages:\n    s = ""\n    m.ack()\n    s += m.body\n    await self.env.KV.put("last", s)')) == {BAD}


def test_a_match_with_a_case_for_everything_else_has_no_further_way():
    body = 'for m in batch.messages:\n    await work(m.body)\n    match m.body["kind"]:\n        case "a" | "b":\n            m.ack()\n        case {}:\n            m.retry()'
    assert kinds(py(body.format("_"))) == {GOOD}
    assert kinds(py(body.format('"c"'))) == kinds(py(body.format("_ if late")))


@pytest.mark.parametrize(("declared", "expected"), [('const NAME = "other";', {BAD}), ('let NAME = "orders"; NAME = "other";', None)])
def test_a_name_that_is_set_again_is_no_constant(declared, expected):
    body = "for (const m of batch.messages) { if (batch.queue === NAME) { await work(m.body); m.ack(); } else { m.ack(); await work(m.body); } }"
    found = kinds(js(body, around=declared))
    assert found == expected if expected else found != kinds(js(body, around='const NAME = "orders";'))


def test_operators_of_the_same_name_mean_what_their_language_means():
    body = "for (const m of batch.messages) {{ if ({}) {{ m.ack(); await work(m.body); }} else {{ await work(m.body); m.ack(); }} }}"
    assert kinds(js(body.format('batch.queue.includes("x")'))) == {GOOD}
