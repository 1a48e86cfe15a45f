"""Operations are files: each is found, named as its file, and added by CONTRIBUTING's steps; what they cost does not grow."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import httpx
import pytest

from emulator import Emulator
from emulator.engine.faults import FAULTS
from emulator.server import Transport, app, control, operations
from emulator.server.access import READ
from emulator.server.wire.openapi import document
from emulator.server.wire.operation import gathered

ROOT = Path(__file__).resolve().parents[3]
BASE = "http://emulator/client/v4/accounts/a"


@pytest.fixture
def client():
    with httpx.Client(transport=Transport(Emulator(), control=True), base_url=BASE) as client:
        yield client


@pytest.mark.parametrize("package", [operations, control])
def test_every_operation_has_its_file_and_its_name(package):
    files = {file.stem for file in Path(package.__file__).parent.glob("*.py")} - {"__init__"}
    assert {each.name for each in package.OPERATIONS} == files
    assert len({(each.method, each.path) for each in package.OPERATIONS}) == len(files)
    for each in package.OPERATIONS:
        assert each.act.__doc__, each.name
        assert (each.scope == READ) == (each.method == "GET"), each.name


def test_an_operation_is_added_as_contributing_says(tmp_path, monkeypatch):
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("### A new operation of the server\n")[2].partition("\n### ")[0]
    name = re.search(r"`emulator/server/operations/(\w+)\.py`", section)[1]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    (tmp_path / "added").mkdir()
    (tmp_path / "added" / "__init__.py").write_text("")
    (tmp_path / "added" / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    (added,) = gathered("added", [str(tmp_path / "added")])
    assert added.name == name
    monkeypatch.setattr(app, "OPERATIONS", (*operations.OPERATIONS, added))
    client = httpx.Client(transport=Transport(Emulator()), base_url=BASE)
    client.post("/queues", json={"queue_name": "jobs"})
    assert client.request(added.method, added.path).json()["result"] == {"queues": 1}
    described = document((*operations.OPERATIONS, added))["paths"][f"/accounts/{{account_id}}{added.path}"]
    assert described[added.method.lower()]["operationId"] == name
    for imported in [each for each in sys.modules if each.startswith("added")]:
        del sys.modules[imported]


def test_what_does_not_wait_is_answered_at_once():
    service = Transport(Emulator(), control=True)
    prompt = service._app.prompt
    for method, path in (("GET", "/health"), ("GET", "/accounts/a/queues"), ("POST", "/accounts/a/queues/b/messages/pull")):
        assert prompt(method, path), path
    for method, path in (("GET", "/metrics"), ("GET", "/accounts/a/queues/b/metrics"), ("POST", "/emulator/time/advance"), ("GET", "/"),
                         ("PUT", "/health"), ("GET", "/nothing")):  # fmt: skip
        assert not prompt(method, path), path


def calls(work):
    """How many functions a piece of work calls."""
    count = 0

    def look(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_deleting_one_message_looks_at_no_other():
    found = []
    for size in (10, 1_000):
        emu = Emulator(limits="relaxed")
        client = httpx.Client(transport=Transport(emu), base_url=BASE)
        id = client.post("/queues", json={"queue_name": "jobs"}).json()["result"]["queue_id"]
        queue = emu.queue("jobs")
        for number in range(0, size, 10):
            queue.send_batch([{"body": number}] * 10)
        ref = queue.messages()[5].id
        client.post(f"/queues/{id}/messages/purge", json={"refs": [{"ref": "nobody"}]})

        def purge(client=client, id=id, ref=ref):
            answer = client.post(f"/queues/{id}/messages/purge", json={"refs": [{"ref": ref}, {"ref": "x"}]})
            assert answer.json()["result"]["warnings"] == {"x": "the message is no longer in the queue"}

        found.append(calls(purge))
        assert len(queue) == size - 1
    assert found[1] <= found[0] + 20, found


@pytest.mark.parametrize("time", ["virtual", "real"])
def test_a_push_costs_the_same_whatever_came_before_and_however_many_queues_there_are(time):
    emu = Emulator(limits="relaxed")
    client = httpx.Client(transport=Transport(emu, time=time), base_url=BASE)
    id = client.post("/queues", json={"queue_name": "jobs"}).json()["result"]["queue_id"]

    def push():
        assert client.post(f"/queues/{id}/messages", json={"body": 1}).status_code == 200

    push()
    first = calls(push)
    for number in range(200):
        emu.create_queue(f"q-{number}")
    for _ in range(40):
        emu.queue("jobs").send_batch([{"body": 1}] * 100)
    assert calls(push) <= first + 20


def test_faults_over_rest_are_the_table(client):
    path = "http://emulator/emulator/faults"
    shown = client.get(path).json()["result"]
    assert shown == {**dict.fromkeys(FAULTS, 0), "slow_seconds": [1, 60], "acted": dict.fromkeys(FAULTS, 0)}
    body = client.get("http://emulator/emulator/openapi.json").json()["components"]["schemas"]["FaultChances"]
    assert body["properties"].keys() == FAULTS.keys() | {"slow_seconds"}
    for name, row in FAULTS.items():
        schema = body["properties"][name]
        assert (schema["minimum"], schema["maximum"], schema["description"]) == (*row.bounds, row.doc)
        assert client.put(path, json={name: row.bounds[1]}).json()["result"] == shown | {name: row.bounds[1]}
        assert client.post(path, json={}).json()["result"] == shown | {name: row.bounds[1]}
        for wrong in (row.bounds[0] - 0.01, row.bounds[1] + 0.01, True, "1", None):
            assert client.put(path, json={name: wrong}).status_code == 400
        assert client.get(path).json()["result"][name] == row.bounds[1]
    client.put(path, json={"slow": 0.5, "slow_seconds": [3, 4]})
    assert client.post(path, json={"crashes": 0.25}).json()["result"] == shown | {"slow": 0.5, "crashes": 0.25, "slow_seconds": [3, 4]}
    for wrong in ([4, 3], [0, 1], [1], [1, 2, 3], "x", [1.5, 2]):
        assert client.put(path, json={"slow_seconds": wrong}).status_code == 400, wrong


def test_how_often_a_fault_acted_is_told_over_rest_and_on_the_dashboard(client):
    id = client.post("/queues", json={"queue_name": "jobs"}).json()["result"]["queue_id"]
    client.put("http://emulator/emulator/faults", json={"refused_sends": 1})
    for _ in range(3):
        assert client.post(f"/queues/{id}/messages", json={"body": 1}).status_code == 429
    assert client.get("http://emulator/emulator/faults").json()["result"]["acted"]["refused_sends"] == 3
    shown = client.get("http://emulator/dashboard/data/queues").json()["faults"]
    assert shown == [{"fault": "refused_sends", "chance": 1.0, "acted": 3}]
    client.post("http://emulator/emulator/reset")
    assert client.get("http://emulator/emulator/faults").json()["result"]["refused_sends"] == 0
