"""What a wrangler file makes of a Worker: main, environments, dates, bindings; and what a test may add."""

from __future__ import annotations

import json

import pytest

from emulator import Emulator, Refused
from emulator.engine.bodies.undefined import UNDEFINED
from tests.emulator.helpers import fates
from tests.emulator.python_workers.conftest import DATES, WORKERS

ENVIRONMENTS = {
    "vars": {"NAME": "top"},
    "queues": {"producers": [{"binding": "OUT", "queue": "out-top"}], "consumers": [{"queue": "in-top", "max_batch_timeout": 0}]},
    "env": {
        "staging": {
            "vars": {"NAME": "staging", "NESTED": {"a": [1]}},
            "queues": {
                "producers": [{"binding": "OUT", "queue": "out-staging"}],
                "consumers": [{"queue": "in-staging", "max_batch_timeout": 0, "max_retries": 1, "dead_letter_queue": "dead"}],
            },
        }
    },
}
SOURCE = """
    from workers import WorkerEntrypoint
    class Default(WorkerEntrypoint):
        async def queue(self, batch):
            for message in batch.messages:
                if message.body == "bad":
                    raise ValueError("bad")
                await self.env.OUT.send([self.env.NAME, message.body])
"""


def test_the_top_level_and_an_environment(emu, write, tmp_path):
    worker = write(SOURCE, **ENVIRONMENTS)
    emu.queue("in-top").send(1)
    emu.run_until_idle()
    assert emu.queue("out-top").bodies() == [["top", 1]]
    assert worker.env.NAME == "top"
    with Emulator() as other:
        staged = other.worker(str(next(tmp_path.glob("*/wrangler.jsonc"))), env="staging")
        assert staged.env.NESTED.a == [1]
        other.queue("in-staging").send_batch([{"body": 2}, {"body": "bad"}])
        other.run_until_idle()
        assert other.queue("out-staging").bodies() == [["staging", 2]] * 2
        assert [body for body, state in fates(other, "in-staging") if state == "dead-lettered"] == [2, "bad"]
        assert "in-top" not in other.queues


def test_a_folder_a_toml_file_and_main_in_the_same_folder(emu, tmp_path):
    (tmp_path / "wrangler.toml").write_text("""
name = "w"
main = "entry.py"
compatibility_date = "2026-06-01"
compatibility_flags = ["python_workers"]
[[queues.consumers]]
queue = "jobs"
max_batch_timeout = 0
""")
    (tmp_path / "entry.py").write_text("SEEN = []\nclass Default:\n    def queue(self, batch):\n        SEEN.append(len(batch.messages))\n")
    worker = emu.worker(tmp_path)
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert worker.module.SEEN == [1]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"main": "src/entry.php"}, "is no JavaScript or TypeScript: main ends in .*, or in .py"),
        ({}, "has no main"),
        ({"main": "src/other.py"}, "names 'src/other.py' as main, and there is no such file"),
        ({"main": "src/entry.py", "queues": {"consumers": [{"queue": "jobs", "max_batch_size": 101}]}}, "max_batch_size"),
    ],
)
def test_what_is_no_python_worker_is_refused(emu, tmp_path, config, said):
    (tmp_path / "src").mkdir()
    for name in ("entry.py", "entry.php"):
        (tmp_path / "src" / name).write_text("class Default: pass\n")
    (tmp_path / "wrangler.jsonc").write_text(json.dumps({"name": "w", **DATES, **config}))
    with pytest.raises(Refused, match=said):
        emu.worker(tmp_path / "wrangler.jsonc")


def test_an_environment_that_is_not_there_is_refused(emu):
    with pytest.raises(Refused, match="no environment 'prod'"):
        emu.worker(WORKERS / "both_forms" / "wrangler.jsonc", "prod")
    with pytest.raises(TypeError, match=r"a \.py file has none"):
        emu.worker(WORKERS / "single_file" / "worker.py", "prod")


def test_a_queue_has_one_consumer(write):
    write(SOURCE)
    with pytest.raises(Refused, match=r"consumer"):
        write(SOURCE)


def test_after_from_wrangler_the_worker_takes_the_consumers_that_wait():
    path = WORKERS / "one_argument" / "wrangler.jsonc"
    with Emulator.from_wrangler(path) as emu:
        worker = emu.worker(path)
        emu.env.JOBS.send({"n": 2})
        emu.run_until_idle()
        assert [row[2] for row in worker.module.SEEN] == [{"n": 2}]


def test_a_test_puts_objects_there_in_every_way(emu, write):
    class Mail:
        pass

    worker = write("from workers import env\n", options={"bindings": {"A": Mail}, "secrets": {"S": "s"}}, vars={"V": "v"})
    worker.env.B = Mail
    worker.env["C"] = Mail
    worker.env.bind("D", Mail)
    emu.env.E = Mail
    env = worker.module.env
    assert env.A is env.B is env.C is env.D is env["E"] is Mail
    assert (env.S, env.V) == ("s", "v")
    assert {"A", "B", "C", "D", "E", "JOBS", "S", "V"} <= set(env)
    assert "B" in env
    del worker.env.B
    assert getattr(env, "B", None) is None
    with pytest.raises(KeyError, match="no binding 'B'"):
        _ = env["B"]
    with pytest.raises(AttributeError):
        del worker.env.B


def test_a_test_s_binding_replaces_one_that_is_not_emulated(write):
    worker = write("", ai={"binding": "AI"})
    for touch in (lambda b: b.put, lambda b: b["x"], lambda b: b(), lambda b: setattr(b, "x", 1), list):
        with pytest.raises(NotImplementedError, match=r"not emulated: env\.AI, a binding of ai"):
            touch(worker.env.AI)
    worker.env.AI = {"k": "v"}
    assert worker.env.AI == {"k": "v"}


def test_another_worker_may_be_bound(emu, write, run):
    inner = write("""
        from workers import Response, WorkerEntrypoint
        import asyncio
        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                await asyncio.sleep(3)
                return Response("inner " + await request.text())
    """, queues={})
    outer = write("""
        from workers import Request, Response, WorkerEntrypoint
        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                answer = await self.env.INNER.fetch(Request("https://inner/", method="POST", body="called"))
                return Response(await answer.text())
    """, queues={})
    outer.env.INNER = inner
    assert run(run(outer.fetch("https://example.com/")).text()) == "inner called"
    assert emu.now.second == 3


@pytest.mark.parametrize(("date", "content_type"), [("2024-03-17", "v8"), ("2024-03-18", "json")])
def test_the_content_type_of_a_body_follows_the_date(emu, write, run, date, content_type):
    worker = write("", compatibility_date=date, queues={"producers": [{"binding": "JOBS", "queue": "jobs"}]})
    run(worker.env.JOBS.send({"a": 1}))
    (message,) = emu.queue("jobs").messages()
    assert message.content_type == content_type


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda q: q.send(), (TypeError, "Message body cannot be undefined")),
        (lambda q: q.send(UNDEFINED), (TypeError, "Message body cannot be undefined")),
        (lambda q: q.send("x", contentType="xml"), (TypeError, "Unsupported queue message content type: xml")),
        (lambda q: q.send(5, contentType="text"), (TypeError, 'Content Type "text" requires a value of type string, but received: number')),
        (lambda q: q.send("x", contentType="bytes"), (TypeError, 'Content Type "bytes" requires a value of type ArrayBufferView')),
        (lambda q: q.sendBatch([]), (TypeError, r"sendBatch\(\) requires at least one message")),
        (lambda q: q.send("x", delaySeconds=2**40), (TypeError, "out of range")),
        (lambda q: q.send("x", delaySeconds=86_401), (Refused, r"\(10\d+\)$")),
        (lambda q: q.send("x" * 128_001), (Refused, r"\(10\d+\)$")),
        (lambda q: q.sendBatch([{"body": n} for n in range(101)]), (Refused, r"\(10\d+\)$")),
    ],
)
def test_what_the_service_refuses_is_raised_where_it_is_awaited(emu, write, call, refusal):
    worker = write("")
    promise = call(worker.env.JOBS)
    with pytest.raises(refusal[0], match=refusal[1]):
        promise.result()
    assert emu.queue("jobs").bodies() == []


def test_before_2026_03_12_a_worker_sees_no_codes(write, run):
    worker = write("", compatibility_date="2026-03-11")
    with pytest.raises(Refused, match=r"^Queue send failed: "):
        run(worker.env.JOBS.send("x" * 128_001))


def test_emu_env_has_a_worker_s_bindings(emu, write):
    worker = write("", kv_namespaces=[{"binding": "KV", "id": "1" * 32}], vars={"V": "v"})
    assert emu.env.KV is worker.env.KV
    assert emu.env.V == "v"
    emu.env.JOBS.send(1)
    assert emu.queue("jobs").bodies() == [1]


CLASSES = """
    from workers import WorkerEntrypoint
    SEEN = []
    class One(WorkerEntrypoint):
        {one}
    class Two(WorkerEntrypoint):
        {two}
"""


def test_of_several_classes_the_one_with_the_handler(emu, write):
    worker = write(CLASSES.format(one="async def queue(self, batch): SEEN.append('one')", two="pass"))
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert worker.module.SEEN == ["one"]


def test_two_classes_with_the_handler_are_one_too_many(emu, write):
    method = "async def queue(self, batch): pass"
    write(CLASSES.format(one=method, two=method))
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert "None of One, Two is named Default" in str(emu.errors[0])


@pytest.mark.parametrize("signature", ["(self, *a)", "(self, batch, *rest)", "(self, batch, env=None, ctx=None)", "(s, b, /, e, *, k=1)"])
def test_signatures(emu, write, signature):
    worker = write(f"""
        SEEN = []
        class Default:
            async def queue{signature}:
                SEEN.append(1)
    """)
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert worker.module.SEEN == [1], emu.errors


@pytest.mark.parametrize(("signature", "count"), [("(self, batch)", 1), ("(self, batch, env)", 1), ("(self, b, e=None, c=None)", 0), ("(*a)", 0)])
def test_a_narrow_method_is_called_with_one_warning(emu, write, signature, count):
    worker = write(f"class Default:\n    def queue{signature}:\n        pass\n")
    for _ in range(2):
        emu.queue("jobs").send(1)
        emu.run_until_idle()
    assert [line.level for line in worker.console if "queue(batch, env, ctx)" in line.text] == ["warn"] * count
    assert not emu.errors


def test_retry_options_of_every_make(emu, write):
    write("""
        from js import Object
        from pyodide.ffi import to_js
        from workers import WorkerEntrypoint
        class Default(WorkerEntrypoint):
            async def queue(self, batch):
                for m in batch.messages:
                    m.retry(*[[], [{"delaySeconds": 20}], [to_js({"delaySeconds": 30}, dict_converter=Object.fromEntries)],
                              [to_js({"delaySeconds": 40})], [None]][m.body])
                    m.retry(delaySeconds=None) if m.body == 4 else None
    """, queues={"consumers": [{"queue": "jobs", "max_batch_timeout": 0, "max_retries": 1, "retry_delay": 5}]})
    emu.queue("jobs").send_batch([{"body": n} for n in range(5)])
    emu.run_until_idle()
    later = [(d.at.minute * 60 + d.at.second, [body for _, body, _ in d.messages]) for d in emu.deliveries[1:]]
    assert later == [(5, [0, 4]), (20, [1]), (30, [2]), (40, [3])]
    assert not emu.errors


UNKNOWN = [
    ("m.retry(delay_seconds=60)", "retry(delay_seconds=…) has no effect in the runtime: it is delaySeconds", None),
    ('m.retry({"delay_seconds": 60})', "retry(delay_seconds=…) has no effect in the runtime: it is delaySeconds", None),
    ("batch.retryAll(delay_seconds=60)", "retryAll(delay_seconds=…) has no effect in the runtime: it is delaySeconds", None),
    ("batch.retry_all()", "batch.retry_all does not exist in the runtime: it is retryAll", "AttributeError: batch has no attribute 'retry_all'"),
    ("batch.ack_all()", "batch.ack_all does not exist in the runtime: it is ackAll", "AttributeError: batch has no attribute 'ack_all'"),
    ("m.nothing", None, "AttributeError: message has no attribute 'nothing'"),
    ("await env.JOBS.send_batch([])", "QueueBinding.send_batch does not exist in the runtime: it is sendBatch",
     "AttributeError: QueueBinding has no attribute 'send_batch'"),
    ("ctx.wait_until(None)", "ctx.wait_until does not exist in the runtime: it is waitUntil", "AttributeError: ctx has no attribute 'wait_until'"),
    ("m.retry(60)", None, "JsTypeError: TypeError: Failed to execute 'retry' on 'QueueMessage': parameter 1 is not of type 'QueueRetryOptions'."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "told", "error"), UNKNOWN)
def test_what_the_runtime_does_not_know_has_no_effect_or_is_no_attribute_and_is_told(emu, write, call, told, error):
    worker = write(f"""
        class Default:
            async def queue(self, batch, env=None, ctx=None):
                for m in batch.messages:
                    if m.attempts == 1:
                        {call}
    """)
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert [tuple(line) for line in worker.console] == ([("warn", told)] if told else [])
    assert [delivery.error for delivery in emu.deliveries][:1] == [error]
    assert emu.now.second == 0
    assert emu.report().warnings == []


def test_options_of_a_send_that_the_runtime_does_not_know_have_no_effect(emu, write, run):
    worker = write("""
        class Default:
            async def job(self):
                await self.env.JOBS.send("a", content_type="text", delay_seconds=60)
                await self.env.JOBS.sendBatch([{"body": "b", "content_type": "text"}], delay_seconds=60)
    """, queues={"producers": [{"binding": "JOBS", "queue": "jobs"}]})
    run(worker.call("job"))
    assert [(m.content_type, m.state) for m in emu.queue("jobs").messages()] == [("json", "ready")] * 2
    assert [line.text.split(" ")[0] for line in worker.console] == [
        "send(content_type=…)", "send(delay_seconds=…)", "sendBatch(delay_seconds=…)", "sendBatch(content_type=…)",
    ]  # fmt: skip


def test_batch_metadata_and_message_repr(emu, write):
    worker = write("""
        SEEN = []
        class Default:
            def queue(self, batch):
                SEEN.append((batch.metadata.metrics.backlogCount, batch.metadata["metrics"].get("oldestMessageTimestamp"), repr(batch)))
    """, queues={"consumers": [{"queue": "jobs", "max_batch_timeout": 0, "max_batch_size": 1}]})
    emu.queue("jobs").send_batch([{"body": 1}, {"body": 2}])
    emu.run_until_idle()
    (first, oldest, shown), (second, *_) = worker.module.SEEN
    assert (first, second, oldest.isoformat()) == (1, 0, "2026-01-01T00:00:00")
    assert shown.startswith("MessageBatch(queue='jobs', messages=[Message(id=")


def test_call_finds_handlers_functions_and_methods_or_says_so(write, run):
    worker = write("""
        from workers import WorkerEntrypoint, wait_until
        DONE = []
        def add(a, b=1): return a + b
        async def after(): DONE.append(1)
        def start(): wait_until(after())
        class Default(WorkerEntrypoint):
            async def scheduled(self, controller): return controller.cron, self.ctx is not None
            def method(self, x): return [x, list(self.env)]
    """)
    assert (worker.call("add", 1), worker.call("add", 1, b=5)) == (2, 6)
    assert worker.call("method", 3) == [3, ["JOBS"]]

    class Controller:
        cron = "0 * * * *"

    assert run(worker.call("scheduled", Controller())) == ("0 * * * *", True)
    worker.call("start")
    assert worker.module.DONE == [1]
    with pytest.raises(AttributeError, match="the Worker has no 'nothing'"):
        worker.call("nothing")
    with pytest.raises(RuntimeError, match="nothing is being handled"):
        worker.module.start()


@pytest.mark.parametrize(
    ("flags", "outcome"), [((), "function"), (("python_no_global_handlers",), None), (("disable_python_no_global_handlers",), "function")]
)
def test_a_file_follows_the_emulator_s_flags(tmp_path, flags, outcome):
    (tmp_path / "worker.py").write_text("SEEN = []\ndef on_queue(batch):\n    SEEN.append('function')\n")
    with Emulator(flags=flags) as emu:
        emu.create_queue("jobs")
        worker = emu.worker(tmp_path / "worker.py")
        emu.consume("jobs", worker, max_batch_timeout=0, max_retries=0)
        emu.queue("jobs").send(1)
        emu.run_until_idle()
        seen = worker.module.SEEN
        assert seen == ([outcome] if outcome else [])
        assert len(emu.errors) == (outcome is None)


def test_a_worker_crashes_and_slows_down_with_chaos():
    from emulator import Faults

    with Emulator(faults=Faults(crashes=0.4, duplicates=0.2, slow=0.3)) as emu:
        worker = emu.worker(WORKERS / "once_kv")
        for n in range(30):
            emu.env.JOBS.send({"key": n})
        emu.run_until_idle()
        assert sorted(worker.module.EFFECTS) == list(range(30))
        assert any("a fault ended" in str(error) for error in emu.errors)
        assert len(emu.deliveries) > 3


def test_a_send_is_a_coroutine_everywhere(emu, write, run):
    worker = write("""
        import asyncio
        from workers import WorkerEntrypoint
        class Default(WorkerEntrypoint):
            async def job(self):
                q = self.env.JOBS
                task = asyncio.create_task(q.send(1))
                await asyncio.gather(q.send(2), q.sendBatch([{"body": 3}]), q.metrics())
                await asyncio.wait_for(q.send(4), 5)
                async with asyncio.TaskGroup() as group:
                    group.create_task(self.env.KV.put("k", "v"))
                assert (await asyncio.shield(task)).metadata.metrics.backlogCount == 1
                done, _ = await asyncio.wait({asyncio.ensure_future(q.send("x" * 130_000))})
                assert "10204" in str(done.pop().exception())
                assert asyncio.iscoroutine(q.send(5)) and await asyncio.wait_for(self.env.KV.get("k"), 1) == "v"
    """, queues={"producers": [{"binding": "JOBS", "queue": "jobs"}]}, kv_namespaces=[{"binding": "KV", "id": "1" * 32}])
    run(worker.call("job"))
    assert emu.queue("jobs").bodies() == [1, 2, 3, 4, 5]


def test_what_is_no_options_object_fails_in_workerds_words(emu, write):
    write("""
        class Default:
            def queue(self, batch):
                (batch.messages[0].retry if batch.messages[0].attempts == 1 else batch.retryAll)(60)
    """)
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert [d.error for d in emu.deliveries[:2]] == [
        f"JsTypeError: TypeError: Failed to execute '{call}' on '{of}': parameter 1 is not of type 'QueueRetryOptions'."
        for call, of in (("retry", "QueueMessage"), ("retryAll", "QueueController"))
    ]


@pytest.mark.parametrize("keyword", ["", "async "])
def test_a_handler_with_a_stray_yield_never_ran_and_that_is_told(emu, write, keyword):
    write(f"""
        from workers import WorkerEntrypoint
        class Default(WorkerEntrypoint):
            {keyword}def queue(self, batch, env=None, ctx=None):
                yield batch.messages[0].ack()
    """)
    emu.queue("jobs").send(1)
    emu.advance(0)
    assert {d.outcome for d in emu.deliveries} == {"exception"}
    assert "it is a generator" in str(emu.report())


def test_what_structured_clone_takes_crosses_both_ways(emu, write, run):
    worker = write("""
        from array import array
        from datetime import datetime, timezone
        from js import undefined
        from workers import WorkerEntrypoint
        SEEN = []
        class Default(WorkerEntrypoint):
            async def go(self):
                body = {"e": ValueError("x"), "b": b"ab", "s": {1}, "u": undefined, "n": 2**70, "a": memoryview(array("h", [1, -2])),
                        "d": datetime(2026, 1, 1, tzinfo=timezone.utc)}
                await self.env.JOBS.send(body, contentType="v8")
            async def queue(self, batch, env=None, ctx=None):
                SEEN.extend(m.body for m in batch.messages)
    """)
    run(worker.call("go"))
    emu.run_until_idle()
    [seen] = worker.module.SEEN
    assert (type(seen["e"]), str(seen["e"])) == (Exception, "Error: x")  # its toString(), as the SDK has it
    assert (bytes(seen["b"]), seen["s"], seen["u"], seen["n"]) == (b"ab", {1}, None, 2**70)
    assert (seen["a"].format, seen["a"].tolist()) == ("h", [1, -2])
    assert seen["d"].isoformat() == "2026-01-01T00:00:00"
