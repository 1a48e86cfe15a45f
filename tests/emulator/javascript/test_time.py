"""A JavaScript Worker's time is the account's, and it moves only when nothing runs: everything that may race with it."""

from __future__ import annotations

import asyncio

import pytest

from emulator import Emulator
from emulator.workers.javascript.workerd.process import Process
from tests.emulator.javascript.workers import consumes, write

SETTINGS = {
    "kv_namespaces": [{"binding": "KV", "id": "kv"}],
    "d1_databases": [{"binding": "DB", "database_name": "d", "database_id": "d"}],
    "services": [{"binding": "SELF", "service": "w", "entrypoint": "Inner"}],
    "queues": consumes(max_retries=1),
}
SOURCE = """
import { WorkerEntrypoint } from "cloudflare:workers";
import { setTimeout as later, scheduler as schedule } from "node:timers/promises";
import timers from "node:timers";
const at = () => Date.now() - 1767225600000;
export class Inner extends WorkerEntrypoint {
  async deep(n) { return n ? 1 + await this.env.SELF.deep(n - 1) : (await fetch("https://x.example/deep"), 0); }
  async fetch(request) { return new Response(await request.text()); }
}
const CASES = {
  async timeoutBesideFetch(env) {
    for (let n = 0; n < 5; n++) {
      const answer = await fetch("https://x.example/", { signal: AbortSignal.timeout(5000) });
      await answer.json();
    }
    return at();
  },
  async timerBesideStores(env) {
    const timer = setTimeout(() => console.log("must not fire"), 4000);
    for (let n = 0; n < 8; n++) { await env.KV.put("k" + n, "v"); await env.KV.get("k" + n); }
    await env.DB.exec("CREATE TABLE IF NOT EXISTS t (a)");
    for (let n = 0; n < 4; n++) await env.DB.prepare("INSERT INTO t VALUES (?)").bind(n).run();
    await env.OTHER.send("x");
    clearTimeout(timer);
    return at();
  },
  async promiseChains(env) {
    const timer = later(3000);
    let chain = Promise.resolve(0);
    for (let n = 0; n < 3000; n++) chain = chain.then((sum) => sum + 1);
    await Promise.all([chain, ...Array.from({ length: 6 }, (_, n) => fetch("https://x.example/" + n).then((a) => a.text()))]);
    const before = at();
    await timer;
    return [before, at()];
  },
  async streams(env) {
    const timer = setTimeout(() => console.log("must not fire"), 3000);
    const big = new Uint8Array(3_000_000).fill(120);
    const source = new ReadableStream({ pull(c) { c.enqueue(big.subarray(0, 100_000)); if (++this.n === 20) c.close(); }, n: 0 });
    const back = await fetch("https://x.example/stream", { method: "POST", body: source });
    const size = (await back.arrayBuffer()).byteLength;
    const through = await new Response(new Response(big).body.pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
    const own = await (await env.SELF.fetch("http://self/", { method: "POST", body: big })).text();
    clearTimeout(timer);
    return [at(), size, own.length, through.byteLength < 100_000];
  },
  async nestedServices(env) {
    const timer = setTimeout(() => console.log("must not fire"), 2000);
    const depth = await env.SELF.deep(6);
    clearTimeout(timer);
    return [at(), depth];
  },
  async digest(env) {
    const slow = scheduler.wait(1000);
    for (let n = 0; n < 20; n++) await crypto.subtle.digest("SHA-256", new Uint8Array(50_000));
    const before = at();
    await slow;
    return [before, at()];
  },
  async order(env) {
    const told = [];
    const say = (what) => told.push([what, at()]);
    setTimeout(() => say("second"), 20);
    setTimeout(() => say("first"), 10);
    setTimeout(() => say("third"), 20);
    const every = setInterval(() => say("tick"), 15);
    await timers.promises.setTimeout(16);
    await scheduler.wait(14.9);
    clearInterval(every);
    await schedule.wait(0);
    await new Promise((done) => setTimeout(done));
    return told;
  },
  async aborts(env) {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 700);
    const first = await scheduler.wait(5000, { signal: stop.signal }).catch((error) => [error.name, at()]);
    const second = await fetch("https://x.example/never", { signal: AbortSignal.timeout(800) }).catch((error) => [error.name, at()]);
    const third = await later(5000, 1, { signal: AbortSignal.timeout(1) }).catch((error) => [error.name, error.code, at()]);
    return [first, second, third];
  },
  async clocks(env) {
    const { now } = Date, { setTimeout: bare, clearTimeout: stop } = globalThis;
    const start = performance.now(), date = new Date();
    stop(bare(() => {}, 1));
    await new Promise((done) => bare.call(globalThis, done, 1500));
    await new Promise((done) => globalThis.setTimeout(done, 500));
    return [now() - date, performance.now() - start, date.toISOString(), new Date(0).getTime(), date instanceof Date,
            Date.UTC(2026, 0), typeof Date(), new Date(2026, 0, 1, 12).toISOString(), Date.name, Date.length];
  },
};
export default { async queue(batch, env, ctx) {
  const name = batch.messages[0].body;
  const told = await CASES[name](env);
  ctx.waitUntil((async () => { await env.KV.put("done", name); })());
  console.log(JSON.stringify(told));
} };
"""


async def answer(request):
    if request.url.endswith("/never"):
        await asyncio.sleep(1e7)
    if request.url.endswith("/deep"):
        await asyncio.sleep(0)
    return request.body or {"url": request.url}


@pytest.fixture(scope="module")
def config(tools, tmp_path_factory):  # noqa: ARG001 - it is run
    return write(tmp_path_factory.mktemp("time"), SOURCE, file="src/index.js", compatibility_flags=["nodejs_compat"], **SETTINGS)


TOLD = {
    "timeoutBesideFetch": "0",
    "timerBesideStores": "0",
    "promiseChains": "[0,3000]",
    "streams": "[0,2000000,3000000,true]",
    "nestedServices": "[0,6]",
    "digest": "[0,1000]",
    "order": '[["first",10],["tick",15],["second",20],["third",20],["tick",30]]',
    "aborts": '[["AbortError",700],["TimeoutError",1500],["AbortError","ABORT_ERR",1501]]',
    "clocks": '[2000,2000,"2026-01-01T00:00:00.000Z",0,true,1767225600000,"string","2026-01-01T12:00:00.000Z","Date",7]',
}


@pytest.mark.parametrize("case", TOLD)
def test_time_moves_only_when_nothing_runs(config, case):
    told = []
    for _ in range(3):
        with Emulator() as emu:
            worker = emu.worker(config, fetch=answer)
            emu.queue("jobs").send(case)
            emu.run_until_idle()
            assert [each.error for each in emu.deliveries] == [None]
            told.append([line.text for line in worker.console])
            assert worker.env.KV.namespace.get("done").value.decode() == case
            traffic = next(each for each in emu.timeline.deliveries.runtimes if hasattr(each, "services"))._traffic
            assert traffic.doubts == 0
    assert told == [[TOLD[case]]] * 3


@pytest.mark.parametrize("case", ["timerBesideStores", "streams", "nestedServices"])
def test_a_system_that_does_not_tell_is_asked_by_pings(config, case, monkeypatch):
    monkeypatch.setattr(Process, "idle", None)
    test_time_moves_only_when_nothing_runs(config, case)


@pytest.mark.parametrize(("date", "flags"), [
    ("2025-06-01", []), ("2025-06-01", ["nodejs_compat"]), ("2024-01-01", ["nodejs_compat"]), ("2023-05-18", []), ("2026-06-01", []),
])  # fmt: skip
def test_every_form_of_a_timer_works_at_every_date(emu, tmp_path, tools, date, flags):  # noqa: ARG001
    source = """
    const { setTimeout: bare, setInterval: every, clearInterval: stop } = globalThis;
    class Old { constructor() { this.wait = globalThis.setTimeout; } }
    export default { async queue(batch, env) {
      await new Promise((done) => setTimeout(done, 1000));
      await new Promise((done) => bare(done, "1000"));
      await new Promise((done) => new Old().wait(done, 1000));
      await new Promise((done) => { const id = every(() => { stop(id); done(); }, 1000); });
      const timer = setTimeout(() => {}, 50); timer.unref?.(); clearTimeout(timer);
      await scheduler.wait(1000);
      const error = await fetch("https://never.example/", { signal: AbortSignal.timeout(1000) }).catch((e) => e.name);
      console.log(error, Date.now() - 1767225600000);
    } };"""
    config = write(tmp_path, source, file="src/index.mjs", queues=consumes(), compatibility_date=date, compatibility_flags=flags)
    worker = emu.worker(config, fetch=lambda _: asyncio.sleep(1e6))
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert [(each.outcome, each.error) for each in emu.deliveries] == [("ok", None)]
    assert [line.text for line in worker.console] == ["TimeoutError 6000"]


def test_handlers_that_sleep_beside_each_other_wake_in_order(emu, tmp_path, tools):  # noqa: ARG001
    source = """let n = 0;
    export default { async queue(batch, env) {
      const mine = ++n;
      for (let step = 0; step < 3; step++) {
        await scheduler.wait(1000 - mine);
        await Promise.all([env.OTHER.send([mine, step, "a"]), env.OTHER.send([mine, step, "b"])]);
      }
    } };"""
    config = write(tmp_path, source, file="src/index.mjs", queues=consumes(max_concurrency=5))
    emu.worker(config)
    emu.queue("jobs").send_batch([{"body": n} for n in range(5)])
    emu.run_until_idle()
    assert emu.queue("other").bodies() == [[n, step, x] for step in range(3) for n in range(5, 0, -1) for x in "ab"]


def test_chance_is_seeded(tmp_path, tools):  # noqa: ARG001
    source = """export default { async queue(batch, env) {
      const values = crypto.getRandomValues(new Uint16Array(2));
      await env.OTHER.send([Math.random(), crypto.randomUUID(), ...values]);
    } };"""
    config = write(tmp_path, source, file="src/index.mjs", queues=consumes())

    def drawn(seed):
        with Emulator(seed=seed) as emu:
            emu.worker(config)
            emu.queue("jobs").send(1)
            emu.run_until_idle()
            (body,) = emu.queue("other").bodies()
            return tuple(body)

    assert len({drawn(1), drawn(1), drawn(2), drawn(None), drawn(None)}) == 4
    assert 0 <= drawn(1)[0] < 1
    assert drawn(1)[1][14] == "4"


def test_one_trace_in_many_runs(javascript_workers):
    def run():
        with Emulator(seed=3) as emu:
            worker = emu.worker(javascript_workers / "sentry_drizzle" / "wrangler.jsonc")
            emu.queue("receipts").send_batch([{"body": {"id": n, "total": -1 if n in {2, 5} else n}} for n in range(10)])
            emu.run_until_idle()
            return str(emu.trace()), tuple(worker.console), tuple(str(event) for event in emu.events)

    assert len({run() for _ in range(12)}) == 1
