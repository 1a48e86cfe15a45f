"""Every Worker of fixtures/python_workers runs unmodified: the same bodies, attempts and calls as in the runtime."""

from __future__ import annotations

import json

import pytest

from emulator import Emulator
from tests.emulator.helpers import fates, moments, timeline
from tests.emulator.python_workers.conftest import WORKERS


def test_one_argument(emu, load):
    worker = load("one_argument")
    for n in range(3):
        emu.queue("jobs").send({"n": n})
    emu.run_until_idle()
    assert [(queue, body, attempts) for queue, _, body, attempts in worker.module.SEEN] == [
        ("jobs", {"n": 0}, 1), ("jobs", {"n": 1}, 1), ("jobs", {"n": 2}, 1), *[("jobs", {"n": 1}, n) for n in (2, 3, 4)],
    ]  # fmt: skip
    assert moments(emu) == [(0, [{"n": 0}, {"n": 1}, {"n": 2}]), (30, [{"n": 1}]), (60, [{"n": 1}]), (90, [{"n": 1}])]
    assert fates(emu) == [({"n": 0}, "acked"), ({"n": 1}, "dropped"), ({"n": 2}, "acked")]


def test_two_arguments(emu, load, run):
    worker = load("two_arguments")
    response = run(worker.fetch("https://example.com/a/b"))
    assert (response.status, run(response.text())) == (202, "queued")
    emu.run_until_idle()
    (fate,) = emu.fates
    assert (fate.state, fate.body) == ("acked", {"path": "a/b"})
    assert run(worker.env.SEEN.get(fate.id)) == "a/b"


def test_three_arguments(emu, load):
    worker = load("three_arguments")
    sent = emu.env.JOBS.send("world")
    emu.run_until_idle()
    assert worker.module.SEEN == ["hello world"]
    assert emu.queue("done").bodies() == [{"of": sent.value.id}]


def test_optional_arguments(emu, load):
    worker = load("optional_arguments")
    emu.queue("jobs").send(7)
    emu.run_until_idle()
    assert worker.module.SEEN == ["job 7"]


def test_without_base(emu, load, run):
    worker = load("without_base")
    emu.queue("jobs").send(["a"])
    emu.run_until_idle()
    assert worker.module.SEEN == [(["a"], "plain", True)]
    assert run(run(worker.fetch("https://example.com/", method="DELETE")).text()) == "DELETE plain"


def test_own_base(emu, load):
    worker = load("own_base")
    for body in ("good", "bad", "fine"):
        emu.queue("jobs").send(body)
    emu.run_until_idle()
    assert worker.module.SEEN == [("good", 0), ("fine", 1)]
    assert fates(emu) == [("good", "acked"), ("bad", "dropped"), ("fine", "acked")]


def test_other_name(emu, load):
    worker = load("other_name")
    emu.queue("ready").send({"zip": "10115", "formats": ["tall", "wide"]})
    emu.run_until_idle()
    assert worker.module.SEEN == ["10115"]
    assert emu.queue("render").bodies() == [{"format": "tall", "zip": "10115"}, {"format": "wide", "zip": "10115"}]


def test_on_queue_old(emu, load, run):
    worker = load("on_queue_old")
    run(worker.fetch("https://example.com/", method="POST", body='{"order": 5}'))
    emu.run_until_idle()
    body = {"order": 5, "lines": [{"sku": "a", "n": 2}]}
    seen = worker.module.SEEN
    assert seen == [(True, body, 1), (True, body, 2)]
    assert moments(emu) == [(0, [body]), (7, [body])]


def test_on_queue_flag(emu, load):
    worker = load("on_queue_flag")
    for n in range(3):
        emu.queue("rows").send({"batch_id": n, "rows": [{}] * n})
    emu.run_until_idle()
    assert emu.queue("summary").bodies() == [{"batch_id": n, "rows": n} for n in range(3)]
    assert [(line.level, line.text) for line in worker.console] == [("log", f"processing {n}") for n in range(3)]
    assert emu.now.isoformat() == "2026-01-01T00:00:20+00:00"  # the gate lets two through


def test_on_queue_forgotten(emu, load):
    load("on_queue_forgotten")
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert {d.outcome for d in emu.deliveries} == {"exception"}
    assert all("Handler does not export a queue() function" in str(error) for error in emu.errors)
    assert "2025-08-14" in str(emu.errors[0])
    assert "disable_python_no_global_handlers" in str(emu.errors[0])


@pytest.mark.parametrize(("env", "queue", "called"), [(None, "jobs", "class"), ("old", "jobs-old", "function"), ("flag", "jobs-flag", "function")])
def test_both_forms(emu, load, env, queue, called):
    worker = load("both_forms", env)
    emu.queue(queue).send(1)
    emu.run_until_idle()
    seen = worker.module.SEEN
    assert seen == [called]


def test_not_async(emu, load, run):
    worker = load("not_async")
    for n in (3, 4):
        run(worker.fetch(f"https://example.com/{n}"))
    emu.run_until_idle()
    assert worker.module.TOTAL == {"sum": 7}
    assert fates(emu) == [(3, "acked"), (4, "acked")]


def test_bodies(emu, load):
    worker = load("bodies")
    bodies = [{"user": {"name": "ada"}, "tags": [{"a": None}]}, [1, {"b": 2.5}], "text", 12, 1.5, True, None, "", {}, []]
    for body in bodies:
        emu.queue("jobs").send(body)
    emu.queue("jobs").send("as text", content_type="text")
    emu.queue("jobs").send(b"\x00\x01", content_type="bytes")
    emu.run_until_idle()
    (first, forms), *others = worker.module.SEEN
    assert (first["user"]["name"], first.user.name, forms["attribute"]) == ("changed", "changed", "ada")
    assert forms["read"] == forms["json"] == bodies[0]
    assert [type(forms["read"]), type(forms["read"]["user"]), type(forms["read"]["tags"])] == [dict, dict, list]
    assert [body for body, _ in others] == [*bodies[1:], "as text", b"\x00\x01"]
    assert [forms["json"] for _, forms in others[:-1]] == [*bodies[1:], "as text"]
    assert isinstance(others[-1][0], memoryview)


def test_once_kv(emu, load):
    worker = load("once_kv")
    queue = emu.queue("jobs")
    for key in ("a", "b", "a"):
        queue.send({"key": key})
    emu.run_until_idle()
    assert worker.module.EFFECTS == ["a", "b"]
    emu.advance(3599)
    queue.send({"key": "a"})
    emu.advance(0)
    assert worker.module.EFFECTS == ["a", "b"]
    emu.advance(1)
    queue.send({"key": "a"})
    emu.advance(0)
    assert worker.module.EFFECTS == ["a", "b", "a"]


def test_ledger_d1(emu, load, run):
    worker = load("ledger_d1")
    assert run(worker.env.DB.exec(worker.module.SCHEMA))["count"] == 3
    for key, amount in (("x", 5), ("y", 7), ("x", 5)):
        emu.queue("events").send({"key": key, "amount": amount})
    emu.run_until_idle()
    assert run(run(worker.fetch("https://example.com/")).json()) == {"balance": 12, "events": ["x", "y"]}
    assert {f.state for f in emu.fates} == {"acked"}


def test_wait_until(emu, load, run):
    worker = load("wait_until")
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert worker.module.SEEN == ["waitUntil", "wait_until", "proxy", "ctx"]
    assert emu.fates[0].at.second == 20
    worker.module.SEEN.clear()
    assert run(run(worker.fetch("https://example.com/")).text()) == "at once"
    assert worker.module.SEEN == []
    emu.run_until_idle()
    assert worker.module.SEEN == ["after the answer", "and after that"]


def test_neighbours(emu, load):
    import sys

    load("neighbours")
    emu.queue("jobs").send("x")
    emu.run_until_idle()
    assert [at for at, _ in moments(emu)] == [0, 20, 60]
    assert {f.state for f in emu.fates} == {"acked"}, emu.errors
    assert not {"lib", "names", "workers", "src"} & sys.modules.keys()


def test_asgi_app(emu, load, run):
    worker = load("asgi_app")
    response = run(worker.fetch("https://example.com/a%20b?x=1&x=2", method="POST", body='{"n": 1}'))
    assert (response.status, response.headers["x-method"], run(response.json())) == (202, "POST", {"queued": True})
    emu.run_until_idle()
    assert worker.module.SEEN == [{"path": "/a b", "query": {"x": ["1", "2"]}, "body": {"n": 1}}]
    assert worker.module.app.__globals__["STARTED"] == ["lifespan.startup", "lifespan.shutdown"]


def test_upstream(emu, load, run):
    from emulator import Response

    answers = iter([Response("slow down", status=429, headers={"retry-after": "45"}), Response("down", status=503), {"id": "a1"}, {"id": "a2"}])
    worker = load("upstream", secrets={"API_KEY": "k"}, fetch=lambda _request: next(answers))
    emu.queue("jobs").send({"n": 1})
    emu.run_until_idle()
    assert timeline(emu) == [(0, [{"n": 1}], [1]), (45, [{"n": 1}], [2]), (45, [{"n": 1}], [3])]
    assert [str(error) for error in emu.errors] == ["503: down"]
    emu.queue("jobs").send({"old": True})
    emu.run_until_idle()
    assert [request.url.rpartition("/")[2] for request in worker.fetches] == ["new", "new", "new", "old"]
    assert {(request.method, request.headers["x-key"]) for request in worker.fetches} == {("POST", "k")}
    assert run(worker.fetches[-1].json()) == {"old": True}
    assert [line.text for line in worker.console if line.level == "info"] == ["accepted a1", "accepted a2"]


def test_two_queues(emu, load):
    load("two_queues")
    emu.queue("orders").send({"id": 1, "lines": ["a", "b"]})
    emu.run_until_idle()
    a, b = {"order": 1, "line": "a"}, {"order": 1, "line": "b"}
    assert timeline(emu, "lines") == [(0, [a], [1]), (5, [b], [1]), (100, [a], [2]), (105, [b], [2])]
    assert fates(emu) == [({"id": 1, "lines": ["a", "b"]}, "acked"), (a, "acked"), (b, "acked")]


def test_producer_forms(emu, load, run):
    worker = load("producer_forms")
    answer = run(run(worker.fetch("https://example.com/")).json())
    assert answer["backlog"] == 11
    assert answer["counts"] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]
    kinds = ["<class 'tuple'>", "<class 'bytearray'>", "<class 'tuple'>", "Awaitable <class 'coroutine'>"]
    assert answer["refused"][:4] == [f"{kind} cannot be sent over RPC." for kind in kinds]
    assert len(answer["refused"]) == 5
    assert emu.queue("jobs").bodies() == [
        "text as json", "plain text", {"nested": {"list": [1, None, True]}, "at": "2026-01-02T03:04:05.678Z"}, {"js": "object"},
        {"js": "map"}, {"rpc": [1]}, None, b"\x00\xff", {"at": "1970-01-01T00:00:00.000Z"}, "one", "two",
    ]  # fmt: skip


def test_many_bindings(load, run):
    class Clock:
        def now(self):
            return 12

    worker = load("many_bindings", secrets={"API_KEY": "s3cret"})
    worker.env.CLOCK = Clock()
    response = run(worker.fetch("https://example.com/"))
    assert json.loads(run(response.text())) == {"region": "weur", "limits": 10, "key": "s3cret", "clock": 12}
    assert run(run(worker.fetch("https://example.com/missing")).text()) == "None"
    run(worker.fetch("https://example.com/r2"))
    assert run(run(worker.env.BUCKET.get("key")).text()) == "value"
    with pytest.raises(NotImplementedError, match=r"not emulated: env\.AI, a binding of ai"):
        run(worker.fetch("https://example.com/ai"))
    assert "not emulated" in repr(worker.env.ROOM)
    assert "not emulated" in repr(worker.env.OTHER)


def test_other_classes(emu, load):
    worker = load("other_classes")
    assert (worker.console, emu.report().warnings) == ([], [])
    for _ in range(2):
        emu.queue("jobs").send("x")
        emu.run_until_idle()
    assert (worker.module.SEEN, fates(emu)) == (["x", "x"], [("x", "acked"), ("x", "acked")])
    said = "not emulated: env.ROOMS, a binding of durable_objects (put an object of your own there: worker.env.ROOMS = …)"
    assert [tuple(line) for line in worker.console] == [("warn", said)]
    assert emu.report().warnings == [f"<Worker entry.py>: {said}"]
    with pytest.raises(NotImplementedError, match=r"^not emulated: Durable Objects: an instance of Room$"):
        worker.call("Room", None, None)
    with pytest.raises(NotImplementedError, match=r"^not emulated: Workflows: an instance of Import$"):
        worker.module.Import(None, None)


def test_optional_import(emu, load):
    worker = load("optional_import")
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert worker.module.patch_env is None
    told = [line.text.split(" (")[0] for line in worker.console if line.text.startswith("not emulated")]
    assert told == ["not emulated: workers.patch_env", "not emulated: js.caches"]
    assert fates(emu) == [(1, "dropped")]


def test_single_file(emu, run):
    emu.create_queue("my-output")
    emu.create_queue("numbers")
    emu.consume("numbers", print, max_batch_timeout=0)
    emu.remove_consumer("numbers")
    worker = emu.worker(WORKERS / "single_file" / "worker.py")
    emu.consume("numbers", worker, max_batch_timeout=0)
    emu.queue("numbers").send(21)
    emu.run_until_idle()
    assert worker.module.SEEN == [42]
    assert worker.call("double", 4) == 8
    assert run(worker.call("slow_double", 5)) == 10
    assert emu.now.minute == 1
    assert run(worker.call("scheduled", {"cron": "* * * * *"})) == "helped"
    assert worker.call("helper") == "helped"
    assert emu.queue("my-output").bodies() == [42, {"cron": "* * * * *"}]


def test_a_file_is_loaded_for_the_consumers_that_wait(tmp_path):
    config = {"name": "n", "queues": {"producers": [{"binding": "MY_OUTPUT", "queue": "out"}], "consumers": [{"queue": "in", "max_batch_timeout": 0}]}}
    (tmp_path / "wrangler.jsonc").write_text(json.dumps({"main": "x.js", "compatibility_date": "2026-06-01", **config}))
    with Emulator.from_wrangler(tmp_path / "wrangler.jsonc") as emu:
        worker = emu.worker(WORKERS / "single_file" / "worker.py")
        emu.queue("in").send(1)
        emu.run_until_idle()
        assert worker.module.SEEN == [2]
        assert emu.queue("out").bodies() == [2]


def test_every_fixture_has_a_test():
    names = {folder.name for folder in WORKERS.iterdir() if folder.is_dir() and not folder.name.startswith((".", "_"))}
    names -= {"conformance", "cron"}  # which have modules of tests
    assert len(names) >= 15
    assert {f"test_{name}" for name in names} <= globals().keys()
