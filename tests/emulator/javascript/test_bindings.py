"""What a JavaScript Worker finds in `env`, and what is not there says so by name."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import httpx
import pytest

from emulator import Emulator, Response
from emulator.workers.javascript.target import JavaScriptError
from tests.emulator.javascript.workers import consumes, write

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"


@pytest.fixture
def told(emu, tmp_path, tools):  # noqa: ARG001
    """Run the body of a queue handler on a message; what it returned, as JSON, and the Worker."""

    def run(source, body="x", *, options=None, before="", **settings):
        text = f"{before}\nexport default {{ async queue(batch, env, ctx) {{ const message = batch.messages[0];"
        text += f"const told = await (async () => {{ {source} }})(); console.log(JSON.stringify(told)); }} }};"
        config = write(tmp_path, text, file="src/index.js", **{"queues": consumes(), **settings})
        worker = emu.worker(config, **(options or {}))
        emu.queue("jobs").send(body)
        emu.run_until_idle()
        assert [each.error for each in emu.deliveries] == [None]
        return json.loads(worker.console[-1].text), worker

    return run


CATCH = "const caught = async (call) => { try { return await call(); } catch (error) { return String(error); } };"


def test_every_content_type_there_and_back(emu, told):
    source = """
      await env.OTHER.send({ a: [1, "é"] }); await env.OTHER.send("text", { contentType: "text" });
      await env.OTHER.send(new Uint8Array([0, 255, 7]), { contentType: "bytes" });
      await env.OTHER.send(new Map([["k", new Date(5)], [1n, new Set([undefined, -0, NaN])]]), { contentType: "v8" });
      await env.OTHER.sendBatch([{ body: 1, contentType: "json", delaySeconds: 5 }, { body: "2", contentType: "text" }], { delaySeconds: 9 });
      return (await env.OTHER.send(null)).metadata.metrics.backlogCount;"""
    count, _ = told(source)
    assert count == 7
    first, text, raw, mapped, one, two, none = emu.queue("other").messages()
    assert (first.body, text.body, raw.body, one.body, two.body, none.body) == ({"a": [1, "é"]}, "text", b"\x00\xff\x07", 1, "2", None)
    assert mapped.body["k"].timestamp() == 0.005
    assert [(each.ready_at - emu.now).total_seconds() for each in (one, two)] == [5, 9]


def test_v8_bodies_are_the_same_bytes_between_workers(emu, tmp_path, tools):  # noqa: ARG001
    source = """
    const value = () => { const a = { when: new Date(7), big: 2n ** 80n, re: /x/g, bytes: new Uint8Array([1, 2]), e: new RangeError("r"), m: new Map([[{}, NaN]]) }; a.self = a; return a; };
    export default { async fetch(request, env) { await env.JOBS.send(value(), { contentType: "v8" }); return new Response(); },
      async queue(batch, env) { const { body } = batch.messages[0];
        await env.OTHER.send(body, { contentType: "v8" });
        console.log(body.self === body, body.when.getTime(), body.big, body.re.flags, body.bytes, body.e instanceof RangeError, [...body.m.values()][0]); } };"""
    worker = emu.worker(write(tmp_path, source, file="src/index.js", queues=consumes()))
    asyncio.run(worker.fetch("/"))
    (sent,) = [bytes(event.bodies[0]) for event in emu.events if type(event).__name__ == "Sent"]
    emu.run_until_idle()
    again = [bytes(event.bodies[0]) for event in emu.events if type(event).__name__ == "Sent" and event.queue == "other"]
    assert again == [sent]
    assert worker.console[0].text == 'true 7 1208925819614629174706176n g {"0":1,"1":2} true NaN'


def test_bodies_of_python_arrive(emu, told):
    told("return message.body.x", {"x": 1})
    for body, kind in (("t", "text"), (b"\x01\xff", "bytes"), ({"d": None, "n": 2**40, "s": "é\u2028"}, "json"), ({"k": {1, 2}}, "v8")):
        emu.queue("jobs").send(body, content_type=kind)
    emu.run_until_idle()
    assert [each.outcome for each in emu.deliveries] == ["ok"] * 5


@pytest.mark.parametrize(("date", "said"), [
    ("2026-06-01", "Error: message length of 200002 bytes exceeds limit of 128000 (10204)"),
    ("2025-06-01", "Error: Queue send failed: Bad Request"),
])  # fmt: skip
def test_refusals_arrive_as_in_production(told, date, said):
    source = f"{CATCH} return await caught(() => env.OTHER.send('x'.repeat(200_000)));"
    assert told(source, compatibility_date=date)[0] == said


def test_kv(told):
    source = f"""{CATCH}
      await env.KV.put("a", "1", {{ metadata: {{ ü: [1] }}, expirationTtl: 60 }});
      await env.KV.put("b/c?d", new Uint8Array([1, 2, 3])); await env.KV.put("j", JSON.stringify({{ x: 1 }}));
      const list = await env.KV.list({{ prefix: "", limit: 2 }});
      const rest = await env.KV.list({{ cursor: list.cursor }});
      await env.KV.delete("j");
      const found = [await env.KV.getWithMetadata("a"), [...new Uint8Array(await env.KV.get("b/c?d", "arrayBuffer"))], await env.KV.get("j")];
      await scheduler.wait(60_000);
      return [list.keys.map((k) => k.name), list.list_complete, rest.keys.map((k) => k.name), ...found, await env.KV.get("a"),
              await caught(() => env.KV.put("a", "1", {{ expirationTtl: 5 }}))];"""
    found, worker = told(source, kv_namespaces=[{"binding": "KV", "id": "kv"}])
    metadata = {"value": "1", "metadata": {"ü": [1]}, "cacheStatus": None}
    refused = "Error: KV PUT failed: 400 Invalid expiration_ttl of 5. Expiration TTL must be at least 60."
    assert found == [["a", "b/c?d"], False, ["j"], metadata, [1, 2, 3], None, None, refused]
    assert sorted(asyncio.run(_listed(worker))) == ["b/c?d"]


async def _listed(worker):
    return [key["name"] for key in (await worker.env.KV.list())["keys"]]


def test_d1(told):
    source = f"""{CATCH}
      await env.DB.exec("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c BLOB)\\nINSERT INTO t VALUES (1, 'x', NULL)");
      const run = await env.DB.prepare("INSERT INTO t VALUES (?1, ?2, ?3)").bind(2, null, new Uint8Array([9])).run();
      const batch = await env.DB.batch([env.DB.prepare("SELECT count(*) AS n FROM t"), env.DB.prepare("SELECT datetime('now') AS at")]);
      const failed = await caught(() => env.DB.batch([env.DB.prepare("INSERT INTO t VALUES (3, '', NULL)"), env.DB.prepare("INSERT INTO t VALUES (1, '', NULL)")]));
      return [run.success, run.meta.changes, await env.DB.prepare("SELECT * FROM t ORDER BY a").raw(), batch.map((each) => each.results[0]),
              failed, await env.DB.prepare("SELECT max(a) FROM t").first("max(a)"), await caught(() => env.DB.prepare("SELEC").all())];"""
    found, _ = told(source, d1_databases=[{"binding": "DB", "database_name": "d", "database_id": "d"}])
    assert found == [
        True, 1, [[1, "x", None], [2, None, [9]]], [{"n": 2}, {"at": "2026-01-01 00:00:00"}],
        "Error: D1_ERROR: UNIQUE constraint failed: t.a: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_PRIMARYKEY)", 2,
        'Error: D1_ERROR: near "SELEC": syntax error: SQLITE_ERROR',
    ]  # fmt: skip


def test_d1_takes_several_statements_and_lines_as_miniflare_does(told):
    cases = json.loads((FIXTURES / "d1.json").read_text(encoding="utf-8"))
    source = f"""const found = [];
      for (const [how, sql] of {json.dumps([case[:2] for case in cases])}) {{
        try {{
          if (how === "exec") found.push((await env.DB.exec(sql)).count);
          else if (how === "batch") found.push((await env.DB.batch(sql.map((each) => env.DB.prepare(each)))).map((each) => each.results));
          else {{ const {{ results, meta }} = await env.DB.prepare(sql).all(); found.push([results, meta.changes]); }}
        }} catch (error) {{ found.push(String(error)); }}
      }}
      return found;"""
    found, _ = told(source, d1_databases=[{"binding": "DB", "database_name": "d", "database_id": "d"}])
    expected = [re.sub(r" at offset \d+", "", said) if isinstance(said, str) else said for _, _, said in cases]
    assert [(case[:2], said) for case, said in zip(cases, found, strict=True)] == [(case[:2], said) for case, said in zip(cases, expected, strict=True)]


def test_the_cache_keeps_nothing(told):
    source = """
      await caches.default.put("https://a.example/b", new Response("x", { headers: { "Cache-Control": "max-age=60" } }));
      return [await caches.default.match("https://a.example/b"), await (await caches.open("c")).delete("https://a.example/b")].map(String);"""
    found, worker = told(source)
    assert found == ["undefined", "false"]
    assert [line.text for line in worker.console if line.level == "warn"] == ["the cache keeps nothing, as on workers.dev, so https://a.example/b will be a miss"]


def test_a_websocket_to_a_worker_is_an_error_that_says_so(tmp_path, emu, tools):  # noqa: ARG001
    worker = emu.worker(write(tmp_path, "export default { fetch: () => new Response() };", file="src/index.js"))
    with pytest.raises(JavaScriptError, match="WebSockets to a Worker are not emulated"):
        asyncio.run(worker.fetch("/", headers={"Upgrade": "websocket"}))


def test_a_handler_that_is_not_there_is_all_that_an_error_shows(tmp_path, emu, tools):  # noqa: ARG001
    worker = emu.worker(write(tmp_path, "export default { queue() {} };", file="src/index.js"))
    with pytest.raises(JavaScriptError) as caught:
        asyncio.run(worker.fetch("/"))
    assert str(caught.value) == "Error: Handler does not export a fetch() function."


def test_r2(told):
    source = """
      await env.FILES.put("a/b", "hello", { httpMetadata: { contentType: "text/plain" }, customMetadata: { k: "v" } });
      const read = await env.FILES.get("a/b", { range: { offset: 1, length: 3 } });
      const listed = await env.FILES.list({ prefix: "a/" });
      return [await read.text(), read.customMetadata, (await env.FILES.head("a/b")).size, listed.objects.map((each) => each.key), await env.FILES.get("none")];"""
    found, _ = told(source, r2_buckets=[{"binding": "FILES", "bucket_name": "files"}])
    assert found == ["ell", {"k": "v"}, 5, ["a/b"], None]


def test_variables_and_secrets(told, tmp_path):
    (tmp_path / ".dev.vars").write_text('KEY="from\\nfile"\n# no\nexport OTHER_KEY=plain # why\n')
    found, worker = told(
        "return [env.TEXT, env.OBJECT, env.KEY, env.OTHER_KEY, env.GIVEN, env.NUMBER, Object.keys(env).includes('__CFQ')]",
        vars={"TEXT": "t", "OBJECT": {"a": [1]}},
        options={"secrets": {"GIVEN": "g"}, "env": {"NUMBER": 7}},
    )
    assert found == ["t", {"a": [1]}, "from\nfile", "plain", "g", 7, False]
    assert (worker.env.TEXT, worker.env.NUMBER) == ("t", 7)


def test_assets(told, tmp_path):
    (tmp_path / "public" / "docs").mkdir(parents=True)
    for name, text in (("index.html", "<h1>"), ("docs/page.html", "page"), ("app.js", "1"), ("404.html", "gone")):
        (tmp_path / "public" / name).write_text(text)
    source = """
      const get = async (path) => { const a = await env.ASSETS.fetch("https://x.example" + path); return [a.status, a.headers.get("content-type"), await a.text()]; };
      return [await get("/"), await get("/docs/page"), await get("/app.js"), await get("/../wrangler.jsonc"), await get("/none/here")];"""
    found, _ = told(source, assets={"directory": "public", "binding": "ASSETS", "not_found_handling": "404-page"})
    html = "text/html; charset=utf-8"
    assert found[:2] == [[200, html, "<h1>"], [200, html, "page"]]
    assert found[2][::2] == [200, "1"]
    assert found[3:] == [[404, html, "gone"]] * 2


class Model:
    """A stand-in for a binding."""

    def __init__(self):
        self.asked = []

    def run(self, model, given):
        self.asked.append((model, given))
        return {"answer": given["prompt"].upper()}

    async def slow(self, seconds):
        await asyncio.sleep(seconds)
        return "slept"

    def gateway(self, name):
        return Model() if name else self

    def fail(self):
        raise ValueError("out of capacity")

    def fetch(self, request):
        return (418, {"X-Who": "model"}, request.method)


def test_a_test_stands_in_for_what_is_not_emulated(told):
    source = f"""{CATCH}
      const start = Date.now(), answer = await env.AI.fetch("https://ai/", {{ method: "PUT", body: "x" }});
      return [await env.AI.run("llama", {{ prompt: "hi" }}), await env.AI.gateway("g").run("m", {{ prompt: "via" }}), await env.AI.slow(30),
              Date.now() - start, await caught(() => env.AI.fail()), answer.status, await answer.text(), await env.CALL.fetch("http://x/").then((a) => a.json())];"""
    model = Model()
    found, _ = told(source, ai={"binding": "AI"}, options={"env": {"AI": model, "CALL": lambda request: {"url": request.url}}})
    assert found == [
        {"answer": "HI"}, {"answer": "VIA"}, "slept", 30_000, "Error: ValueError: out of capacity", 418, "PUT", {"url": "http://x/"},
    ]  # fmt: skip
    assert model.asked == [("llama", {"prompt": "hi"})]


@pytest.mark.parametrize(("settings", "name"), [
    ({"ai": {"binding": "AI"}}, "AI"), ({"vectorize": [{"binding": "INDEX", "index_name": "i"}]}, "INDEX"),
    ({"hyperdrive": [{"binding": "PG", "id": "1"}]}, "PG"), ({"services": [{"binding": "BACK", "service": "back"}]}, "BACK"),
    ({"durable_objects": {"bindings": [{"name": "OBJ", "class_name": "O", "script_name": "elsewhere"}]}}, "OBJ"),
])  # fmt: skip
def test_what_is_not_emulated_says_so_by_name(emu, told, settings, name):
    found, worker = told(f"{CATCH} return await caught(async () => env.{name}.get('x'));", **settings)
    assert f"env.{name}" in found
    assert "emu.worker(" in found
    assert any(f"env.{name}" in line.text for line in worker.console)
    assert any(f"env.{name}" in text for text in emu.report().warnings)


def test_outgoing_requests_go_to_the_tests_answer(told):
    answers = iter([(201, {"X-A": "b"}, {"n": 1}), httpx.Response(202, text="httpx"), Response("ours", status=203), "text", None])
    source = """
      const answers = [];
      for (let n = 0; n < 5; n++) { const a = await fetch(new Request("https://api.example/p?q=" + n, { method: "POST", body: "b", headers: { "X-H": "é" } })); answers.push([a.status, a.headers.get("x-a"), await a.text()]); }
      return answers;"""
    found, worker = told(source, options={"fetch": lambda _: next(answers)})
    assert found == [[201, "b", '{"n":1}'], [202, None, "httpx"], [203, None, "ours"], [200, None, "text"], [200, None, ""]]
    (first, *_) = worker.fetches
    assert (first.method, first.url, first.body) == ("POST", "https://api.example/p?q=0", b"b")


def test_without_an_answer_a_request_is_refused(emu, told):
    found, worker = told(f"""{CATCH}
      const opened = async () => (await import("node:net")).connect(5432, "db.example");
      const sockets = [import("cloudflare:sockets").then(({{ connect }}) => connect("db.example:5432").opened), opened().then((s) => new Promise((open, failed) => s.on("connect", open).on("error", failed)))];
      return [await caught(() => fetch('https://api.example/')), ...(await Promise.allSettled(sockets)).map((each) => each.status)];""", compatibility_flags=["nodejs_compat"])
    assert found[0].startswith("Error: GET https://api.example/ was refused")
    assert found[1:] == ["rejected", "rejected"]
    assert sum("a TCP socket to db.example:5432 was refused" in line.text for line in worker.console) == 2
    for named in ("api.example", "db.example:5432"):
        assert any(named in text for text in emu.report().warnings)


def test_a_single_file_of_code(tools, tmp_path):  # noqa: ARG001
    (tmp_path / "worker.ts").write_text("export default { async queue(batch: any, env: any) { await env.OUT.send(batch.messages.length); } };")
    with Emulator() as emu:
        emu.create_queue("in")
        emu.create_queue("out")
        emu.consume("in", lambda _: None, max_batch_timeout=0)
        worker = emu.worker(tmp_path / "worker.ts")
        emu.attach(worker, "in")
        emu.queue("in").send(1)
        emu.run_until_idle()
        assert emu.queue("out").bodies() == [1]


@pytest.mark.usefixtures("tools")
def test_a_batch_of_any_size_arrives_whole(emu, tmp_path):
    source = """export default { async queue(batch, env) {
      for (const { body } of batch.messages) await env.OTHER.send([[...body].length, [...new Set(body)].join("")]);
    } };"""
    emu.worker(write(tmp_path, source, file="src/index.js", queues=consumes(max_batch_size=10, max_batch_timeout=5)))
    sent = [letter * (size // len(letter.encode())) for letter in ("a", "é", "你", "\U0001f600") for size in (127_000, 120_001, 119_999)]
    for body in sent:
        emu.queue("jobs").send(body)
    emu.run_until_idle()
    assert [len(each.messages) for each in emu.deliveries] == [10, 2]
    assert emu.queue("other").bodies() == [[len(body), body[0]] for body in sent]


def test_an_invocation_has_so_many_subrequests(tmp_path, tools):  # noqa: ARG001
    source = f"""{CATCH}
    const many = async (env, count, call) => {{ for (let n = 0; n < count; n++) await call(env, n); return "done"; }};
    const CALLS = {{ fetch: (env, n) => fetch(`http://out/${{n}}`), send: (env, n) => env.OTHER.send(n), kv: (env, n) => env.KV.get(String(n)) }};
    export default {{
      async fetch(request, env) {{ const [, what, count] = new URL(request.url).pathname.split("/");
        return new Response(await caught(() => many(env, count, CALLS[what]))); }},
      async queue(batch, env) {{ const [what, count] = batch.messages[0].body;
        console.log(await caught(() => many(env, count, CALLS[what]))); }} }};"""
    told = "Too many subrequests by single Worker invocation."
    with Emulator("free") as emu:
        kv = {"kv_namespaces": [{"binding": "KV", "id": "kv"}]}
        config = write(tmp_path, source, file="src/index.js", queues=consumes(), **kv)
        worker = emu.worker(config, fetch=lambda _: (200, "ok"))
        for what in ("fetch", "send", "kv"):
            for count in (50, 51):
                emu.queue("jobs").send([what, count])
                emu.run_until_idle()
        said = [line.text for line in worker.console if line.level == "log"]
        assert said[::2] == ["done"] * 3
        assert [told in each for each in said[1::2]] == [True] * 3, said
        answers = [asyncio.run(asyncio.run(worker.fetch(f"/fetch/{count}")).text()) for count in (50, 51)]
        assert answers == ["done", f"Error: {told}"]
