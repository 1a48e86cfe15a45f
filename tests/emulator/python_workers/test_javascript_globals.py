"""JavaScript's globals in a Python Worker: timers on virtual time, promises, signals, crypto; forms; WSGI."""

from __future__ import annotations

import asyncio
import hashlib

WORKER = """
    import asyncio, js
    from pyodide.ffi import run_sync, to_js
    from pyodide.http import pyfetch
    from workers import Blob, File, FormData, Request, Response, WorkerEntrypoint, wsgi
    SEEN = []
    class Default(WorkerEntrypoint):
        async def queue(self, batch, env=None, ctx=None):
            SEEN.append(await getattr(self, batch.messages[0].body)())
    {body}
"""


def seen(emu, write, body, **options):
    """What a method `go` gives, with a queue as its way in, and the seconds that it took."""
    lines = "\n".join(f"        {line}" for line in body.strip().splitlines())
    worker = write(WORKER.replace("    {body}", lines), options=options)
    emu.queue("jobs").send("go")
    began = emu.now
    emu.run_until_idle()
    assert not emu.errors
    return worker.module.SEEN[0], (emu.now - began).total_seconds()


def test_timers_and_promises_are_on_virtual_time(emu, write):
    found, seconds = seen(emu, write, """
async def go(self):
    said = []
    js.setTimeout(lambda: said.append("never"), 1000)
    js.clearTimeout(1)
    turn = js.setInterval(lambda: said.append(js.Date.now() % 100_000), 20_000)
    js.queueMicrotask(lambda: said.append("soon"))
    first = await js.Promise.new(lambda resolve, reject: js.setTimeout(resolve, 65_000, "late"))
    js.clearInterval(turn)
    settled = await js.Promise.allSettled([js.Promise.resolve(1), js.Promise.reject("no")])
    chained = await js.Promise.resolve(2).then(lambda value: value + 1)
    caught = await js.Promise.reject("why").catch(lambda error: error.message)
    raced = await js.Promise.race([asyncio.sleep(9, "slow"), asyncio.sleep(1, "fast")])
    return said, first, [each.status for each in settled], chained, caught, raced, await js.Promise.all([1, 2])
""")
    said, first, settled, *others = found
    assert (said[0], len(said), first) == ("soon", 4, "late")
    assert (settled, others) == (["fulfilled", "rejected"], [3, "why", "fast", [1, 2]])
    assert seconds == 66


def test_signals(emu, write):
    found, seconds = seen(emu, write, """
async def go(self):
    signal, heard = js.AbortSignal.timeout(5_000), []
    signal.addEventListener("abort", lambda event: heard.append(event.type))
    before = signal.aborted
    await asyncio.sleep(6)
    controller = js.AbortController.new()
    either = js.AbortSignal.any([controller.signal])
    controller.abort()
    try:
        either.throwIfAborted()
    except Exception as error:
        heard.append(error.name)
    return before, signal.aborted, signal.reason.name, heard
""")
    assert (found, seconds) == ((False, True, "TimeoutError", ["abort", "AbortError"]), 6)


def test_a_signal_ends_a_fetch(emu, write):
    async def never(_outgoing):
        await asyncio.sleep(1_000)

    found, seconds = seen(emu, write, """
async def go(self):
    said = []
    for signal in (js.AbortSignal.timeout(2_500), js.AbortSignal.abort()):
        try:
            await js.fetch("https://example.com/", signal=signal)
        except Exception as error:
            said.append(error.name)
    try:
        await js.fetch("https://example.com/", to_js({"signal": js.AbortSignal.timeout(500)}, dict_converter=js.Object.fromEntries))
    except Exception as error:
        said.append(error.name)
    return said
""", fetch=never)
    assert (found, seconds) == (["TimeoutError", "AbortError", "TimeoutError"], 3)


def test_crypto_is_the_same_in_every_run(emu, write):
    found, _ = seen(emu, write, """
async def go(self):
    digest = await js.crypto.subtle.digest("SHA-256", js.TextEncoder.new().encode("a"))
    key = await js.crypto.subtle.importKey("raw", b"key", {"name": "HMAC", "hash": "SHA-256"}, False, ["sign"])
    signed = await js.crypto.subtle.sign("HMAC", key, b"a")
    verified = await js.crypto.subtle.verify("HMAC", key, signed, b"a")
    drawn = js.crypto.getRandomValues(js.Uint8Array.new(4))
    return js.crypto.randomUUID(), digest.to_bytes().hex(), signed.byteLength, verified, len(set(drawn.to_py()))
""")
    assert found[0] == "78484764-99f7-4fdb-af9c-f1d92a005423"
    assert found[1:] == (hashlib.sha256(b"a").hexdigest(), 32, True, 4)


def test_forms_and_blobs_go_out_and_come_back(emu, write):
    def answer(outgoing):
        assert outgoing.headers["content-type"].startswith("multipart/form-data; boundary=")
        return 200, {"content-type": outgoing.headers["content-type"]}, outgoing.body

    found, _ = seen(emu, write, """
async def go(self):
    form = FormData({"a": "1"})
    form.append("a", "é")
    form.append("f", Blob(b"x\\x00", "image/png"), "f.png")
    response = await pyfetch("https://example.com/", method="POST", body=form)
    back = await response.form_data()
    plain = await Request("https://x.y/", method="POST", body=js.URLSearchParams.new({"q": "a b"})).form_data()
    blob = await Response("text").blob()
    return back.get_all("a"), back["f"].name, back["f"].content_type, await back["f"].bytes(), plain["q"], await blob.slice(1).text(), "f" in back
""", fetch=answer)
    assert found == (["1", "é"], "f.png", "image/png", b"x\x00", "a b", "ext", True)


def test_wsgi_answers(write, run):
    worker = write("""
        from workers import WorkerEntrypoint, wsgi
        def app(environ, start_response):
            start_response("201 Made", [("x-path", environ["PATH_INFO"]), ("x-query", environ["QUERY_STRING"])])
            return [environ["REQUEST_METHOD"].encode(), b" ", environ["wsgi.input"].read(), environ["HTTP_X_NAME"].encode()]
        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                return await wsgi.fetch(app, request, self.env)
    """)
    answer = run(worker.fetch("https://x.y/a%20b?c=d", method="POST", body="body", headers={"x-name": "n"}))
    assert (answer.status, answer.headers.get("x-path"), answer.headers.get("x-query")) == (201, "/a b", "c=d")
    assert run(answer.text()) == "POST bodyn"


def test_run_sync_gives_what_need_not_wait(emu, write):
    found, _ = seen(emu, write, """
async def go(self):
    async def one():
        return 1
    return run_sync(one()), js.btoa("ab"), js.atob("YWI="), js.structuredClone(to_js([1])).to_py(), js.parseInt("0x1f", 16)
""")
    assert found == (1, "YWI=", "ab", [1], 31)


def test_what_is_javascript_s_already_is_not_converted_and_nothing_is_asked_of_it(emu, write):
    async def never(_outgoing):
        await asyncio.sleep(1_000)

    found, seconds = seen(emu, write, """
async def go(self):
    form = js.FormData.new()
    form.append("file", js.Blob.new(["x"]), "x.txt")
    signal = js.AbortSignal.timeout(2_500)
    options = to_js({"method": "POST", "signal": signal}, dict_converter=js.Object.fromEntries)
    try:
        await js.fetch("https://example.com/", options)
    except Exception as error:
        return options.signal is signal, error.name, form.get("file").name
""", fetch=never)
    assert (found, seconds) == ((True, "TimeoutError", "x.txt"), 2.5)
    assert "not emulated" not in str(emu.report())
