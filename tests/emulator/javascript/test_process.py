"""workerd as a process: started, proven ready, shared, ended in every failing path; nothing is left."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from emulator import Emulator, Faults, Refused
from emulator.workers.javascript.workerd import process
from tests.emulator.javascript.workers import consumes, write

ECHO = "export default { async queue(batch, env) { for (const message of batch.messages) await env.OTHER.send(message.body); } };"


@pytest.fixture(autouse=True)
def _workerd(tools):
    """It is there."""


@pytest.fixture
def ended(monkeypatch, tmp_path):  # noqa: ARG001 - pytest's own folder stands before ours
    """Every process that this test started ends with it, in a temporary folder of its own."""
    process.POOL.close()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield
        process.POOL.close()
        assert _children() == []


def _children():
    found = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False)
    return [line for line in found.stdout.splitlines() if "workerd" in line]


def _folders():
    return {each.name for each in Path(tempfile.gettempdir()).glob("cfq-workerd-*")}


RESIDENT_KB_MAX = 120_000


def _resident_kb(emu):
    status = Path(f"/proc/{_runtime(emu)._traffic.process.pid}/status").read_text(encoding="utf-8")
    (resident,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return int(resident.split()[1])


def _runtime(emu):
    return next(each for each in emu.timeline.deliveries.runtimes if hasattr(each, "services"))


def test_a_hundred_tests_leave_nothing(ended, tmp_path):  # noqa: ARG001
    before, files = _folders(), len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    configs = [write(tmp_path / str(n), ECHO.replace("message.body)", f"{n})"), file="src/index.js", queues=consumes()) for n in range(3)]
    pids = set()
    for n in range(100):
        with Emulator(faults=Faults(crashes_at_call=0.5) if n % 5 == 0 else Faults()) as emu:
            emu.worker(configs[n % 2 if n < 99 else 2])
            emu.queue("jobs").send(n)
            emu.run_until_idle()
            pids.add(_runtime(emu)._traffic.process.pid)
            assert len(_children()) <= process.IDLE_MOST + 1
            if files:
                assert _resident_kb(emu) < RESIDENT_KB_MAX
    assert len(pids) == 3
    process.POOL.close()
    assert _folders() == before
    if files:
        assert len(os.listdir("/proc/self/fd")) == files


def test_globals_and_timers_of_one_test_are_not_the_nexts(tmp_path):
    source = """let n = 0; const seen = new Map(); globalThis.mark ??= 0;
    export default { async queue(batch, env, ctx) {
      seen.set(batch.messages[0].id, ++n);
      setTimeout(() => env.OTHER.send("from the past"), 5000);
      await env.OTHER.send([n, seen.size]);
      if (batch.messages[0].body === "sleep") await scheduler.wait(3_600_000);
    } };"""
    config, told, pids = write(tmp_path, source, file="src/index.js", queues=consumes()), [], set()
    for body in ("sleep", "x", "x"):
        with Emulator() as emu:
            emu.worker(config)
            emu.queue("jobs").send(body)
            emu.advance(10)
            told.append(emu.queue("other").bodies())
            pids.add(_runtime(emu)._traffic.process.pid)
    assert told == [[[1, 1], "from the past"], [[1, 1]], [[1, 1]]]  # a timer lives as long as its handler
    assert len(pids) == 1


def test_an_endless_loop_is_ended_and_the_next_batch_finds_a_new_process(emu, tmp_path):
    source = """export default { async queue(batch, env) {
      console.log("before");
      await scheduler.wait(1000);
      if (batch.messages[0].body === "spin") for (;;);
      await env.OTHER.send("done");
    } };"""
    worker = emu.worker(write(tmp_path, source, file="src/index.js", queues=consumes(max_retries=1)))
    runtime = _runtime(emu)
    runtime.patience_seconds, first = 0.5, runtime._traffic.process.pid
    emu.queue("jobs").send("spin")
    emu.queue("jobs").send("work")
    emu.run_until_idle()
    assert [each.outcome for each in emu.deliveries] == ["exceededCpu", "ok", "exceededCpu"]
    assert emu.deliveries[0].error == "the Worker ran for 0.5 s without an end"
    assert emu.queue("other").bodies() == ["done"]
    assert worker.console[0].text == "before"
    assert runtime._traffic.process.pid != first


def test_what_durable_objects_hold_outlives_an_endless_loop(tmp_path):
    source = """import { DurableObject } from "cloudflare:workers";
    export class Counter extends DurableObject {
      async add(rings) {
        const n = ((await this.ctx.storage.get("n")) ?? 0) + 1;
        await this.ctx.storage.put("n", n);
        this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS t (n)");
        this.ctx.storage.sql.exec("INSERT INTO t VALUES (?)", n);
        if (rings) await this.ctx.storage.setAlarm(Date.now() + 60_000);
        return [n, this.ctx.storage.sql.exec("SELECT count(*) AS n FROM t").one().n];
      }
      async alarm() { await this.env.OTHER.send(["rung", await this.ctx.storage.get("n")]); }
    }
    export default { async queue(batch, env) {
      const told = await env.COUNTER.get(env.COUNTER.idFromName("one")).add(batch.messages[0].body === "spin");
      if (batch.messages[0].body === "spin") for (;;);
      await env.OTHER.send(told);
    } };"""
    settings = {
        "durable_objects": {"bindings": [{"name": "COUNTER", "class_name": "Counter"}]},
        "migrations": [{"tag": "v1", "new_sqlite_classes": ["Counter"]}],
    }
    config = write(tmp_path, source, file="src/index.js", queues=consumes(max_retries=0), **settings)
    pids = []
    for _ in range(2):
        with Emulator() as emu:
            emu.worker(config)
            pids.append(_runtime(emu)._traffic.process.pid)
            _runtime(emu).patience_seconds = 0.5
            for body in ("work", "spin", "work"):
                emu.queue("jobs").send(body)
                emu.run_until_idle()
            emu.advance(61)
            pids.append(_runtime(emu)._traffic.process.pid)
            assert emu.queue("other").bodies() == [[1, 1], [3, 3], ["rung", 3]]
    assert pids[1] == pids[2]  # the next test has objects of its own, in the same process
    assert len(set(pids)) == 3


def test_a_process_that_dies_fails_its_batch_alone(emu, tmp_path):
    emu.worker(write(tmp_path, ECHO, file="src/index.js", queues=consumes(max_retries=0, dead_letter_queue="dead")))
    runtime = _runtime(emu)
    runtime._traffic.process._child.kill()
    runtime._traffic.process._child.wait()
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    emu.queue("jobs").send(2)
    emu.run_until_idle()
    assert [each.outcome for each in emu.deliveries] == ["exception", "ok"]
    assert emu.deliveries[0].error.startswith("workerd ended")
    assert (emu.queue("dead").bodies(), emu.queue("other").bodies()) == ([1], [2])


@pytest.mark.parametrize(("source", "settings", "said"), [
    ("export default { async queue( }", {}, "src/index.js:1"),
    ('import x from "nowhere-to-be-found"; export default { queue() { x(); } };', {}, "nowhere-to-be-found"),
    ('import { x } from "./missing"; export default { queue() { x(); } };', {}, "./missing"),
    ('throw new RangeError("at the top"); export default { queue() {} };', {}, "RangeError: at the top"),
    (ECHO, {"durable_objects": {"bindings": [{"name": "C", "class_name": "Counter"}]}},
     "index.js does not export Counter, the class of the Durable Objects that env.C leads to"),
    (ECHO, {"workflows": [{"binding": "F", "name": "f", "class_name": "Flow"}]},
     "index.js does not export Flow, the class of the workflow that env.F leads to"),
    (ECHO, {"services": [{"binding": "ME", "service": "w", "entrypoint": "Admin"}]},
     "index.js does not export Admin, the entrypoint that env.ME leads to"),
])  # fmt: skip
def test_what_cannot_start_is_told_in_one_message_and_leaves_nothing(ended, tmp_path, source, settings, said):  # noqa: ARG001
    before = _folders()
    config = write(tmp_path, source, file="src/index.js", queues=consumes(), **settings)
    with Emulator() as emu:
        with pytest.raises(Refused) as refused:
            emu.worker(config)
        assert said in str(refused.value)
        assert "__cfq" not in str(refused.value)
        assert _children() == []
    assert _folders() == before


def test_no_handler_is_what_the_runtime_says_of_it(emu, tmp_path):
    emu.worker(write(tmp_path, "export default { fetch() { return new Response(); } };", file="src/index.js", queues=consumes(max_retries=1)))
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert [each.outcome for each in emu.deliveries] == ["exception"] * 2
    assert emu.deliveries[0].error == "Handler does not export a queue() function."


def test_an_interpreter_that_ends_in_a_test_takes_workerd_along(tmp_path):
    config = write(tmp_path, ECHO, file="src/index.js", queues=consumes())
    script = f"""
    from emulator import Emulator
    emu = Emulator()
    emu.worker({str(config)!r})
    print(emu.timeline.deliveries.runtimes[-1]._traffic.process.pid, flush=True)
    raise SystemExit(3)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 3, done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_memory_stays_small(tmp_path):
    if sys.platform != "linux":
        pytest.skip("read from /proc")
    config = write(tmp_path, "export default { queue(batch) { batch.ackAll(); } };", file="src/index.js", queues=consumes())
    with Emulator(limits="relaxed") as emu:
        emu.worker(config)
        for _ in range(10):
            emu.queue("jobs").send_batch([{"body": {"n": n}} for n in range(100)])
            emu.run_until_idle()
        assert _resident_kb(emu) < RESIDENT_KB_MAX
