"""Requests in, responses out, and the Worker's own fetch."""

from __future__ import annotations

import asyncio

import httpx
import pytest

import emulator
from emulator.workers.python.javascript.http_values import Headers, Request, Response

ECHO = """
    import asyncio
    from workers import Response, WorkerEntrypoint, fetch, Request
    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            if "slow" in request.url:
                await asyncio.sleep(3600)
            if "out" in request.url:
                answer = await fetch("https://api.example.com/x", method="POST", headers={"A": "b"}, body="hello")
                return Response(await answer.text(), status=answer.status, headers={"ct": answer.headers["content-type"] or ""})
            if "raw" in request.url:
                return "text"
            if "boom" in request.url:
                raise KeyError("boom")
            if "never" in request.url:
                await asyncio.get_running_loop().create_future()
            await self.env.JOBS.send("x")
            return Response.json({"method": request.method, "ua": request.headers.get("User-Agent"), "text": await request.text()})
"""


def test_fetch_takes_a_url_with_options_or_a_request(write, run):
    worker = write(ECHO)
    answer = run(worker.fetch("https://example.com/", method="PUT", headers={"user-agent": "t"}, body="b"))
    assert run(answer.json()) == {"method": "PUT", "ua": "t", "text": "b"}
    answer = run(worker.fetch(Request("https://example.com/", method="POST", body=b"c")))
    assert answer.ok
    assert answer.headers["Content-Type"] == "application/json"
    assert run(answer.json()) == {"method": "POST", "ua": None, "text": "c"}
    assert run(run(worker.fetch("https://example.com/", {"method": "PATCH"})).json())["method"] == "PATCH"
    foreign = httpx.Request("POST", "https://example.com/", headers={"user-agent": "h"}, content="d")
    assert run(run(worker.fetch(foreign)).json()) == {"method": "POST", "ua": "h", "text": "d"}
    assert run(run(worker.fetch(Request("https://example.com/"), method="PUT")).json())["method"] == "PUT"


def test_fetch_takes_a_path(write, run):
    worker = write("""
        from workers import Response, WorkerEntrypoint
        class Default(WorkerEntrypoint):
            def fetch(self, request):
                return Response(request.url)
    """)
    assert run(run(worker.fetch("/a?b=1")).text()) == "http://localhost/a?b=1"


def test_fetch_runs_on_virtual_time_and_what_is_due_happens(emu, write, run):
    worker = write(ECHO)
    emu.queue("jobs").send("y")
    run(worker.fetch("https://example.com/slow"))
    assert (emu.now.hour, [d.at.hour for d in emu.deliveries[:4]]) == (1, [0] * 4)  # there is no queue handler: four failures


def test_fetch_works_in_any_loop_and_many_at_once(write):
    worker = write(ECHO)

    async def main():
        return await asyncio.gather(*(worker.fetch(f"https://example.com/{n}") for n in range(3)), worker.fetch("https://example.com/slow"))

    assert [answer.status for answer in asyncio.run(main())] == [200] * 4
    assert asyncio.run(worker.fetch("https://example.com/")).status == 200


def test_a_fetch_that_fails_raises_in_the_test(write, run):
    worker = write(ECHO)
    with pytest.raises(KeyError, match="boom"):
        run(worker.fetch("https://example.com/boom"))
    with pytest.raises(TypeError, match="a fetch handler gives a Response, not str"):
        run(worker.fetch("https://example.com/raw"))
    with pytest.raises(RuntimeError, match="nothing will ever bring"):
        run(worker.fetch("https://example.com/never"))
    nothing = write("x = 1\n", queues={})
    with pytest.raises(RuntimeError, match=r"does not export a fetch\(\) function"):
        run(nothing.fetch("https://example.com/"))


def test_outgoing_fetch_is_refused_without_a_responder(write, run):
    worker = write(ECHO)
    with pytest.raises(OSError, match=r"fetch refused: POST https://api\.example\.com/x"):
        run(worker.fetch("https://example.com/out"))
    (sent,) = worker.fetches
    assert isinstance(sent, emulator.Outgoing)
    assert (sent.method, sent.url, sent.headers["A"], sent.body) == ("POST", "https://api.example.com/x", "b", b"hello")
    assert sent.at.isoformat() == "2026-01-01T00:00:00+00:00"
    assert run(sent.text()) == "hello"


async def answer_later(request):
    await asyncio.sleep(5)
    return Response(f"{request.method} {await request.text()}", status=201)


@pytest.mark.parametrize(
    ("responder", "status", "text"),
    [
        (answer_later, 201, "POST hello"), (lambda _: "plain", 200, "plain"), (lambda _: b"bytes", 200, "bytes"),
        (lambda _: {"a": 1}, 200, '{"a":1}'), (lambda _: None, 200, ""), (lambda r: Response(r.headers["A"]), 200, "b"),
        (lambda r: (202, r.body), 202, "hello"), (lambda _: (418, {"content-type": "x/y"}, [1]), 418, "[1]"),
        (lambda _: (204, None), 204, ""), (lambda _: (1, 2, 3, 4), 200, "[1,2,3,4]"), (lambda _: [None], 200, "[null]"),
        (lambda _: httpx.Response(503, headers={"x": "y"}, text="down"), 503, "down"), (lambda r: r.method, 200, "POST"),
        (lambda _: emulator.Response("é", status=201, headers={"a": "b"}), 201, "é"), (lambda _: 5, 200, "5"),
    ],
)  # fmt: skip
def test_a_responder_answers(write, run, responder, status, text):
    worker = write(ECHO, options={"fetch": responder})
    answer = run(worker.fetch("https://example.com/out"))
    assert (answer.status, run(answer.text())) == (status, text)


def test_a_responder_may_be_set_later_and_may_raise(write, run):
    worker = write(ECHO)
    worker.responder = lambda _: 1 / 0
    with pytest.raises(ZeroDivisionError):
        run(worker.fetch("https://example.com/out"))


def test_a_thread_may_bring_the_answer(write, run):
    worker = write("""
        import asyncio, threading, time as _
        from workers import Response, WorkerEntrypoint
        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                loop, ready = asyncio.get_running_loop(), asyncio.Event()
                threading.Timer(0.02, lambda: loop.call_soon_threadsafe(ready.set)).start()
                await ready.wait()
                return Response(await asyncio.to_thread(lambda: "from a thread"))
    """)
    assert run(run(worker.fetch("https://example.com/")).text()) == "from a thread"


def test_responses_of_every_make(run):
    assert run(Response.json([1], status=201, headers={"x": "y"}).text()) == "[1]"
    assert Response.json({"a": 1}).headers["content-type"] == "application/json"
    assert (Response("x").status, Response("x").ok, Response(None, 404).ok) == (200, True, False)
    assert Response.redirect("https://example.com/", 307).headers["location"] == "https://example.com/"
    made = Response.new("body", {"status": 418, "statusText": "teapot", "headers": {"a": "b"}})
    assert (made.status, made.statusText, made.headers.get("A")) == (418, "teapot", "b")
    assert run(Response(b"\x00").bytes()) == b"\x00"
    assert run(Response(memoryview(b"m")).buffer()).to_bytes() == b"m"
    assert run(made.replace_body("new").text()) == "new"
    assert run(made.clone().text()) == run(made.text()) == "body"
    assert made.body_used
    with pytest.raises(OSError, match="418 Client Error: teapot"):
        made.raise_for_status()
    assert Response("x").raise_for_status() is None
    assert run(Response.json([{"a": 1}]).json()).to_py() == [{"a": 1}]
    with pytest.raises(OSError, match="already used"):
        run(made.text())
    for wrong, error in ((lambda: Response({"a": 1}), TypeError), (lambda: Response("x", 99), ValueError), (lambda: Response("x", 204), TypeError)):
        with pytest.raises(error):
            wrong()
    with pytest.raises(NotImplementedError, match="not emulated: WebSockets"):
        Response(None, 101, web_socket=object())
    with pytest.raises(TypeError, match="can only parse form bodies"):
        run(Response("x").form_data())


def test_requests_of_every_make(run):
    request = Request("https://example.com/", method="post", headers=[("A", "1"), ("a", "2")], body='{"k": {"n": 1}}')
    assert (request.method, f"{request.method}", request.headers["A"]) == ("POST", "POST", "1, 2")
    assert run(request.clone().json()).k.n == 1
    like = Request.new("https://example.com/other", request)
    assert (like.url, like.method, like.headers["a"]) == ("https://example.com/other", "POST", "1, 2")
    assert run(Request(request, headers={"b": "3"}).text()) == '{"k": {"n": 1}}'
    with pytest.raises(TypeError, match="cannot have a body"):
        Request("https://example.com/", body="x")


def test_headers_are_both_kinds():
    headers = Headers({"Content-Type": "a", "X": 1})
    headers.append("x", 2)
    assert (headers["x"], headers.get("nope"), headers.get("nope", "d"), "CONTENT-TYPE" in headers, headers.has("y")) == ("1, 2", None, "d", True, False)
    assert dict(headers.items())["content-type"] == "a"
    assert list(headers.entries()) == [("content-type", "a"), ("x", "1"), ("x", "2")]
    headers.set("x", "3")
    headers["y"] = "4"
    assert (headers.keys(), headers.values(), len(headers)) == (["content-type", "x", "y"], ["a", "3", "4"], 3)
    assert Headers.new(headers.items()) == headers
    headers.append("Set-Cookie", "c")
    assert headers.getSetCookie() == ["c"]


def test_asgi_errors_and_applications_without_lifespan(write, run):
    worker = write("""
        import asgi
        from workers import WorkerEntrypoint
        async def bare(scope, receive, send):
            assert scope["type"] == "http", scope
            if scope["path"] == "/silent":
                return
            if scope["path"] == "/raises":
                raise ValueError("in the app")
            assert (await receive())["type"] == "http.request"
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body"})
            assert (await receive())["type"] == "http.disconnect"
        async def fails(scope, receive, send):
            await receive()
            await send({"type": "lifespan.startup.failed", "message": "no database"})
        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                return await asgi.fetch(fails if "fails" in request.url else bare, request, self.env)
    """)
    assert run(worker.fetch("https://example.com/")).status == 204
    for path, said in (("silent", "did not generate a response"), ("raises", "in the app"), ("fails", "no database")):
        with pytest.raises((RuntimeError, ValueError), match=said):
            run(worker.fetch(f"https://example.com/{path}"))


SLOW = """
    import asyncio
    from workers import Response, WorkerEntrypoint, wait_until
    LOG = []
    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            LOG.append(request.url[-1])
            await asyncio.sleep(3600)
            LOG.append(request.url[-1])
            return Response(request.url[-1])
        async def job(self): await asyncio.sleep(1800)
"""


async def _late(turns, worker, path):
    for _ in range(turns):
        await asyncio.sleep(0)
    return await worker.fetch(path)


def test_requests_that_are_awaited_together_overlap_in_virtual_time(emu, write):
    worker, other, start = write(SLOW), write(SLOW, queues={}), emu.now

    async def main():
        async with asyncio.TaskGroup() as group:
            group.create_task(_late(5, worker, "/c"))
            group.create_task(other.call("job"))
        return await asyncio.gather(worker.fetch("/a"), other.fetch("/b"), _late(15, worker, "/d"))

    answers = asyncio.run(main())
    assert (emu.now - start).total_seconds() == 7200  # the group's hour, and one for the three
    assert worker.module.LOG == ["c", "c", "a", "d", "a", "d"]
    assert [asyncio.run(answer.text()) for answer in answers] == list("abd")


def test_a_request_that_is_given_up_ends(emu, write):
    worker = write(SLOW)

    async def main():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(worker.fetch("/a"), 0)

    asyncio.run(main())
    emu.advance(7200)
    assert worker.module.LOG in ([], ["a"])


NO_WAIT = """
    import asyncio
    DONE = []
    async def later():
        await asyncio.sleep(60)
        DONE.append(1)
    class Default:
        {kind} queue(self, batch, env=None, ctx=None):
            ctx.waitUntil(later())
"""


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize(("flags", "ends"), [([], 60), (["queue_consumer_no_wait_for_wait_until"], 0)])
def test_the_flag_that_lets_a_batch_end_before_its_promises(emu, write, kind, flags, ends):
    worker = write(NO_WAIT.format(kind=kind), compatibility_flags=["python_workers", *flags])
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert (emu.fates[0].state, emu.fates[0].at.timestamp() - emu.deliveries[0].at.timestamp()) == ("acked", ends)
    assert worker.module.DONE == [1]


CLIENTS = """
    import {client}
    from workers import WorkerEntrypoint

    class Default(WorkerEntrypoint):
        async def queue(self, batch):
            for message in batch.messages:
                answer = {call}
                assert answer.{status} == 201, answer
                assert answer.json() == {{"seen": message.body}}
                message.ack()
"""


@pytest.mark.parametrize(("client", "call", "status"), [
    ("httpx", 'httpx.post("https://api.example/a?b=1", json={"seen": message.body}, headers={"X-Key": "k"})', "status_code"),
    ("httpx", 'await httpx.AsyncClient(base_url="https://api.example").post("/a?b=1", json={"seen": message.body}, headers={"X-Key": "k"})', "status_code"),
    ("requests", 'requests.post("https://api.example/a?b=1", json={"seen": message.body}, headers={"X-Key": "k"})', "status_code"),
    ("requests", 'requests.Session().post("https://api.example/a?b=1", json={"seen": message.body}, headers={"X-Key": "k"})', "status_code"),
    ("urllib3", 'urllib3.PoolManager().request("POST", "https://api.example/a?b=1", json={"seen": message.body}, headers={"X-Key": "k"})', "status"),
])  # fmt: skip
def test_what_a_client_sends_goes_out_as_fetch_does(emu, write, client, call, status):
    pytest.importorskip(client, reason="the Worker's own dependency")
    source = CLIENTS.format(client=client, call=call, status=status)
    worker = write(source, options={"fetch": lambda asked: (201, {"content-type": "application/json"}, asked.body)})
    emu.queue("jobs").send("é")
    emu.run_until_idle()
    assert [delivery.error for delivery in emu.deliveries] == [None]
    [sent] = worker.fetches
    assert (sent.method, sent.url, sent.headers["x-key"]) == ("POST", "https://api.example/a?b=1", "k")


def test_without_an_answer_a_client_is_refused_and_the_tests_own_is_what_it_was(emu, write):
    import httpx

    source = CLIENTS.format(client="httpx", call='httpx.get("https://api.example/")', status="status_code")
    write(source)
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert "https://api.example/" in str(emu.deliveries[0].error)
    assert httpx.Client is __import__("httpx").Client
    with httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(204))) as own:
        assert own.get("http://x/").status_code == 204


def test_a_refused_fetch_is_told_where_the_workers_own_code_swallowed_it(emu, write):
    worker = write("""
        from workers import WorkerEntrypoint, fetch

        class Default(WorkerEntrypoint):
            async def queue(self, batch):
                try:
                    await fetch("https://api.example/")
                except Exception:
                    pass
                batch.ackAll()
    """)
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert "fetch refused: GET https://api.example/" in worker.console[-1].text
    assert "fetch refused: GET https://api.example/" in str(emu.report())
