"""What the stand-in modules have, and what they say they have not."""

from __future__ import annotations

import pytest

from emulator.workers.python.errors import NotEmulated

LACKING = [
    ("import workers\nworkers.import_from_javascript('x')", "workers.import_from_javascript"),
    ("from js import WebSocketPair\nWebSocketPair.new()", "js.WebSocketPair"),
    ("import js\njs.caches.default", "js.caches"),
    ("from pyodide.ffi import JsDoubleProxy", "pyodide.ffi.JsDoubleProxy"),
    ("from pyodide.http import open_url", "pyodide.http.open_url"),
    ("import pyodide.code", "pyodide.code"),
    ("from pyodide import eval_code", "pyodide.eval_code"),
    ("from asgi import websocket", "asgi.websocket"),
    ("from workers.workflows import Step", "workers.workflows.Step"),
    ("from pyodide_js import loadPackage", "pyodide_js.loadPackage"),
]


@pytest.mark.parametrize(("source", "what"), LACKING)
def test_everything_else_says_that_it_is_not_emulated(write, source, what):
    with pytest.raises(NotEmulated, match=f"^not emulated: {what}"):
        write(source)


def test_it_is_an_import_error_and_a_not_implemented_error():
    assert issubclass(NotEmulated, ImportError)
    assert issubclass(NotEmulated, NotImplementedError)


def test_everything_that_is_promised_can_be_imported(write):
    write("""
        from workers import (WorkerEntrypoint, Response, Request, Headers, fetch, handler, env, wait_until, waitUntil,
                             python_from_rpc, python_to_rpc, asgi)
        from js import console, JSON, Object, Date, fetch as js_fetch
        from pyodide.ffi import to_js, create_proxy, JsProxy
        import asgi as module
        import pyodide.ffi, pyodide.ffi as ffi, workers.asgi
        assert module is asgi is workers.asgi and pyodide.ffi is ffi
        import js, workers
        from workers import *
        from js import *
    """)


def test_to_js_objects_maps_and_arrays(write):
    write("""
        from js import JSON, Object, Array, Map, undefined
        from pyodide.ffi import JsException, JsProxy, create_once_callable, create_proxy, to_js
        value = {"a": [1, {"b": None}], "c": {"d": 2}}
        made = to_js(value, dict_converter=Object.fromEntries)
        assert isinstance(made, JsProxy) and isinstance(made.a, JsProxy)
        assert made.to_py() == value and type(made.to_py()) is dict and type(made.to_py()["a"]) is list
        assert JSON.stringify(made) == '{"a":[1,{}],"c":{"d":2}}'
        literal = to_js(value)
        assert JSON.stringify(literal) == JSON.stringify(made) and literal.to_py() == value and literal["c"]["d"] == literal.c.d == 2
        assert literal.get("c") is literal.c and literal.has("a") and list(Object.keys(literal)) == ["a", "c"]
        assert JSON.stringify(to_js({1: 2, "k": 3})) == '{"k":3}' and JSON.stringify(Map.new([["k", 1]])) == "{}"
        assert list(Object.keys(Map.new([["k", 1]]))) == [] and Map.new().set("k", 1).has("k")
        assert JSON.parse('{"x": [1]}').x.to_py() == [1] and JSON.parse("null") is None
        assert JSON.stringify({"x": 1, "y": "é"}, None, 2) == '{\\n  "x": 1,\\n  "y": "é"\\n}'
        assert JSON.stringify({"a": 1, "b": 2}, ["b"]) == '{"b":2}' and JSON.stringify(undefined) is undefined
        assert list(Object.keys(made)) == ["a", "c"] and Object.entries(made)[1][0] == "c" and len(Object.values(made)) == 2
        assert Object.assign(Object.new(), {"k": 1}, made).k == 1
        plain = Object()
        plain["key"] = 1
        plain.other = 2
        assert JSON.stringify(plain) == '{"key":1,"other":2}'
        assert Map.new([["k", 1]]).get("k") == 1 and Array.new(1, 2).length == 2 and Array.isArray(made.a)
        assert list(made.object_keys()) == ["a", "c"] and made.object_entries()[1][0] == "c" and made.object_values()[1].d == 2
        assert made.as_object_map()["c"] is made.c and made.a.push(3) == 3
        proxy = create_proxy(lambda n: n + 1)
        assert proxy(1) == 2 and isinstance(proxy, JsProxy) and proxy.to_py()(2) == 3
        proxy.destroy()
        once = create_once_callable(lambda n: n + 1)
        assert once(1) == 2 and isinstance(once, JsProxy)
        for again, text in ((lambda: once(1), "OnceProxy can only be called once"), (once.destroy, "OnceProxy has already been destroyed")):
            try:
                again()
                assert False
            except JsException as error:
                assert error.message == text
        assert to_js([(1, 2), "x"], depth=1)[0] == (1, 2) and to_js((1, 2)) == [1, 2]
        assert to_js({1}, default_converter=None) == {1}
        class Thing: pass
        assert to_js(Thing(), default_converter=lambda value, convert, cache: "converted") == "converted"
        try:
            to_js(Thing(), create_pyproxies=False)
        except TypeError:
            pass
        else:
            raise AssertionError
        try:
            JSON.parse("{")
        except Exception as error:
            assert "SyntaxError" in str(error)
    """)


def test_python_to_rpc_and_back(write):
    write("""
        import asyncio, re
        from datetime import datetime, timezone
        from js import Date, Map
        from pyodide.ffi import JsProxy, to_js
        from workers import python_from_rpc, python_to_rpc, Response
        assert python_to_rpc(None) is None and python_to_rpc("x") == "x"
        obj = python_to_rpc({"a": [1, None, {"b": True}]})
        assert isinstance(obj, JsProxy) and isinstance(obj.a, JsProxy)
        back = python_from_rpc(obj)
        assert not isinstance(back, JsProxy) and isinstance(back, dict) and back.a[2].b is True
        at = datetime(2026, 5, 6, 7, 8, 9, 123456, tzinfo=timezone.utc)
        date = python_to_rpc(at)
        assert date.getTime() == 1778051289123
        read = python_from_rpc(date)
        assert isinstance(read, datetime) and read.tzinfo is None and read == datetime(2026, 5, 6, 7, 8, 9, 123000)
        error = python_to_rpc(ValueError("no"))
        assert isinstance(error, JsProxy) and error.message == "no"
        read = python_from_rpc(error)
        assert type(read) is Exception and str(read) == "Error: no"
        called = python_to_rpc(len)
        assert isinstance(called, JsProxy) and called("ab") == 2
        response = Response("x")
        assert python_to_rpc(response) is response.js_object
        class Wrapped:
            js_object = "inner"
        assert python_to_rpc(Wrapped()) == "inner"
        assert python_from_rpc(b"ab") == b"ab" and isinstance(python_from_rpc(b"ab"), memoryview)
        assert python_from_rpc(12.5) == 12.5 and python_from_rpc(Map.new([["k", 1]])) == {"k": 1}
        sleeping = asyncio.sleep(0)
        for value in ((1,), bytearray(b"x"), sleeping, {"deep": [(1,)]}, [bytearray()]):
            try:
                python_to_rpc(value)
            except TypeError as error:
                assert "cannot be sent over RPC." in str(error), error
            else:
                raise AssertionError(value)
        sleeping.close()
    """)


def test_dates_and_python_s_own_clocks_are_virtual(emu, write):
    worker = write("""
        import datetime as dt
        import time
        from datetime import UTC, date, datetime, timedelta
        from js import Date, JSON
        from workers import WorkerEntrypoint
        SEEN = []
        class Default(WorkerEntrypoint):
            async def queue(self, batch):
                sent = batch.messages[0].timestamp
                now = datetime.now(UTC)
                SEEN.append((Date.now(), time.time(), now, (datetime.now() - sent).total_seconds()))
                assert isinstance(now, datetime) and isinstance(now, date) and isinstance(now.date(), date)
                assert type(dt.datetime.utcnow()) is type(now) and date.today() == now.date() == dt.datetime.today().date()
                assert datetime.fromisoformat(now.isoformat()) == now and isinstance(datetime(2026, 1, 1), dt.datetime)
                assert datetime.fromtimestamp(0, UTC).year == 1970 and issubclass(datetime, date)
                assert time.gmtime().tm_year == 2026 and time.strftime("%Y-%m-%d") == "2026-01-01" and time.time_ns() % 1000 == 0
                assert sent.tzinfo is None and sent.getTime() == Date.now() - 90_000 and sent.timestamp() == time.time() - 90
                assert sent.astimezone(UTC) == now - timedelta(seconds=90) and sent.toISOString().endswith("Z")
                assert Date.new().getTime() == Date.now() and Date.new("2026-01-01T00:00:00Z").toISOString() == "2026-01-01T00:00:00.000Z"
                assert Date.new(2026, 0).getTime() == Date.parse("2026-01-01") and JSON.stringify({"d": Date.new(0)}) == '{"d":"1970-01-01T00:00:00.000Z"}'
                class Own(datetime): pass
                assert type(Own(2026, 1, 1)) is Own and not isinstance(now, Own) and isinstance(Own.now(), datetime)
    """)
    emu.queue("jobs").send(1, delay_seconds=90)
    emu.run_until_idle()
    assert not emu.errors
    ((ms, seconds, now, age),) = worker.module.SEEN
    assert (ms, seconds, now, age) == (int(emu.now.timestamp() * 1000), emu.now.timestamp(), emu.now, 90)


def test_pydantic_takes_the_virtual_classes_for_the_real_ones(write):
    write("""
        from __future__ import annotations
        import datetime as dt
        from datetime import date, datetime, timezone
        from pydantic import BaseModel
        class Job(BaseModel):
            id: int
            at: datetime | None = None
            day: date | None = None
            parts: list[Part] = []
        class Part(BaseModel):
            at: dt.datetime
        Job.model_rebuild()
        job = Job.model_validate({"id": "1", "at": "2026-01-01T00:00:00Z", "day": "2026-01-01", "parts": [{"at": datetime.now(timezone.utc)}]})
        assert job.at == job.parts[0].at and job.day == date.today() and Job.model_validate_json(job.model_dump_json()) == job
    """)


def test_console_writes_to_a_logger_and_is_remembered(write, caplog):
    caplog.set_level("DEBUG", "emulator.worker")
    worker = write("""
        from js import console, Object
        from pyodide.ffi import to_js
        console.log("a", 1, {"b": 2}, to_js({"c": 3}, dict_converter=Object.fromEntries))
        console.error("bad")
        console.warn(None)
        console.debug("fine"); console.info("note"); console.trace("way")
        class Broken:
            def __str__(self): raise KeyError("k")
        console.log(Broken(), Object.new({"id": 2**70}))
    """)
    assert worker.console[-1].text == "<Broken: KeyError: 'k'> <JsObject: JsTypeError: TypeError: Do not know how to serialize a BigInt>"
    assert [tuple(line) for line in worker.console][:3] == [("log", "a 1 {'b': 2} {\"c\":3}"), ("error", "bad"), ("warn", "None")]
    assert [(record.levelname, record.getMessage()) for record in caplog.records][1] == ("ERROR", "bad")
    with pytest.raises(AttributeError):
        worker.module.console.shout("x")


def test_a_url_has_its_parts(write):
    write("""
        from js import URL
        url = URL.new("https://user@example.com:8443/a/b?x=1&y=&x=2#top")
        assert (url.pathname, url.search, url.hash, url.port, url.hostname) == ("/a/b", "?x=1&y=&x=2", "#top", "8443", "example.com")
        assert url.searchParams.get("x") == "1" and url.searchParams.getAll("x").to_py() == ["1", "2"]
        assert url.searchParams.get("z") is None and url.searchParams.has("y") and url.toString() == url.href
        assert str(URL.new("/index.html", "https://example.com/a/b?x")) == "https://example.com/index.html"
        try:
            URL.new("/relative")
        except Exception as error:
            assert "Invalid URL" in str(error)
        else:
            raise AssertionError
    """)


SWALLOWED = [
    ("js.WebSocketPair.new()", "js.WebSocketPair"),
    ("js.console.table([1])", "console.table"),
    ("self.env.NEW.use()", "env.NEW, a binding of things_to_come"),
    ("'x' in self.env.IMAGES", "env.IMAGES, a binding of images"),
    ("js.Object.freeze({})", "Object.freeze"),
    ("js.Date.UTC(2026)", "Date.UTC"),
    ("js.JSON.rawJSON('1')", "JSON.rawJSON"),
    ("js.URL.canParse('x')", "URL.canParse"),
    ("js.URL.new('https://a/?b').searchParams.forEach(len)", "URLSearchParams.forEach"),
    ("js.crypto.subtle.encrypt(1, 2, 3)", "Subtle.encrypt"),
    ("js.FormData.new().forEach(len)", "FormData.forEach"),
    ("js.Math.fround(1)", "Math.fround"),
    ("js.Promise.withResolvers()", "Promise.withResolvers"),
    ("js.Date.new().getFullYear()", "Date.getFullYear"),
    ("js.Array.new(1).map(len)", "Array.map"),
    ("js.Request.new('https://a/').signal", "Request.signal"),
    ("js.Headers.new().forEach(len)", "Headers.forEach"),
    ("js.Response.new(None, webSocket=1)", "WebSockets"),
    ("pyodide.ffi.run_sync(asyncio.sleep(1))", "run_sync() of what waits"),
    ("from workers import patch_env", "workers.patch_env"),
    ("import helper", "a Worker's module that is no Python source: helper.so"),
    ("await self.env.KV.get('k', 'stream')", "KV values as streams"),
    ("self.env.KV.deleteBulk(['k'])", "KV.deleteBulk"),
    ("await self.env.DB.dump()", "D1.dump"),
    ("await self.env.BUCKET.put('k', object())", "R2 put() of object"),
    ("self.env.AI.run('m')", "env.AI, a binding of ai"),
    ("await self.env.VECTORS.query([1])", "env.VECTORS, a binding of vectorize"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "what"), SWALLOWED)
def test_what_is_not_emulated_is_told_though_the_worker_swallows_it(emu, write, code, what):
    worker = write(f"""
        import asyncio, js, pyodide.ffi
        from workers import WorkerEntrypoint
        class Default(WorkerEntrypoint):
            async def queue(self, batch, env=None, ctx=None):
                await asyncio.gather(*(self.one(m) for m in batch.messages))
            async def one(self, m):
                await asyncio.sleep(1)
                try:
                    {code}
                except Exception:
                    pass
    """, {"src/helper.so": ""}, kv_namespaces=[{"binding": "KV", "id": "1" * 32}], r2_buckets=[{"binding": "BUCKET", "bucket_name": "b"}],
        ai={"binding": "AI"}, images={"binding": "IMAGES"}, things_to_come=[{"binding": "NEW"}], vectorize=[{"binding": "VECTORS", "index_name": "v"}], d1_databases=[{"binding": "DB", "database_id": "1"}])
    emu.env.KV.put("k", "v")
    for n in range(3):
        emu.env.JOBS.send(n)
    emu.run_until_idle()
    (line,) = worker.console
    assert (line.level, line.text.partition(" (")[0]) == ("warn", f"not emulated: {what}")
    assert emu.report().warnings == [f"<Worker entry.py>: {line.text}"]
    assert line.text in str(emu.report())


def test_who_asks_whether_there_is_a_member_is_told_no(write):
    worker = write("""
        from js import Object, Response
        assert not hasattr(Response.new("x"), "webSocket") and getattr(Object, "freeze", None) is None
    """)
    assert [line.text for line in worker.console] == ["not emulated: Response.webSocket", "not emulated: Object.freeze"]


def test_what_a_test_itself_asks_for_is_raised_and_not_told(write):
    worker = write("", ai={"binding": "AI"})
    with pytest.raises(NotEmulated):
        worker.env.AI.run("k")
    assert worker.console == []


BIG = """
    import js
    from workers import WorkerEntrypoint
    class Default(WorkerEntrypoint):
        async def job(self, n):
            await self.env.JOBS.send({"id": [n]})
        async def batch(self, n):
            await self.env.JOBS.sendBatch([{"body": 1}, {"body": n}])
        def text(self, n):
            return js.JSON.stringify([n])
        async def metadata(self, n):
            await self.env.KV.put("k", "v", metadata={"id": n})
        async def v8(self, n):
            await self.env.JOBS.send({"id": n}, contentType="v8")
"""


@pytest.mark.parametrize("n", [2**53 - 1, -(2**53) + 1, 2**53 + 1, 1234567890123456789, 2**70])
def test_an_int_from_2_53_minus_1_is_a_bigint_and_json_refuses_it(emu, write, run, n):
    worker = write(BIG, queues={"producers": [{"binding": "JOBS", "queue": "jobs"}]}, kv_namespaces=[{"binding": "KV", "id": "1" * 32}])
    for name in ("job", "batch", "metadata"):
        with pytest.raises(TypeError, match=r"^TypeError: Do not know how to serialize a BigInt$"):
            run(worker.call(name, n))
    with pytest.raises(TypeError, match="serialize a BigInt"):
        worker.call("text", n)
    assert emu.queue("jobs").bodies() == []
    run(worker.call("v8", n))
    assert emu.queue("jobs").bodies() == [{"id": n}]


def test_a_smaller_int_is_a_number(emu, write, run):
    worker = write(BIG, queues={"producers": [{"binding": "JOBS", "queue": "jobs"}]})
    for n in (2**53 - 2, -(2**53) + 2, True):
        run(worker.call("job", n))
    assert emu.queue("jobs").bodies() == [{"id": [2**53 - 2]}, {"id": [-(2**53) + 2]}, {"id": [True]}]


def test_an_exception_crosses_as_an_error(emu, write, run):
    worker = write("""
        from workers import WorkerEntrypoint
        SEEN = []
        class Default(WorkerEntrypoint):
            async def job(self):
                await self.env.JOBS.send({"why": [ValueError("x")]}, contentType="json")
                await self.env.JOBS.send(ValueError("y"), contentType="v8")
                await self.env.JOBS.sendBatch([{"body": {"why": KeyError("z")}, "contentType": "v8"}])
            async def queue(self, batch, env=None, ctx=None):
                SEEN.extend(m.body for m in batch.messages)
    """)
    run(worker.call("job"))
    emu.run_until_idle()
    first, second, third = worker.module.SEEN
    assert first == {"why": [{}]}
    assert [(type(e), str(e)) for e in (second, third.why)] == [(Exception, "Error: y"), (Exception, "Error: 'z'")]
