"""The contract of the table of faults: each row is bounded, documented, settable over REST, shown, and acts wherever it says.

A row that is added is taken through all of this without a change here.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from pathlib import Path

import httpx
import pytest

from emulator import Emulator, Faults, Refused
from emulator.core import events as happened
from emulator.engine.faults import DEPARTURE, FAULTS, HANDLER, PULL, PYTHON, SEND, SETTLEMENT, TARGETS, THREAD, URL, WORKERD
from emulator.engine.targets.python import PythonTarget
from emulator.engine.targets.real_time import RealTime
from emulator.engine.targets.thread import ThreadTarget
from emulator.engine.targets.url import URLTarget
from emulator.server import Transport
from tests.emulator.endpoints import OK, Endpoint

OF_TARGETS = [name for name, row in FAULTS.items() if row.place in {DEPARTURE, HANDLER, SETTLEMENT}]
FACES = ["in process", "over REST"]
PATH = "/client/v4/accounts/a"


class Service:
    """Something outside that a test puts into env."""

    async def tell(self, body):
        await asyncio.sleep(0)
        return body


async def worker(batch, env):
    """A consumer that reads, calls a binding and a service, awaits and acknowledges."""
    for message in batch.messages:
        assert message.body is not None
        await env.OTHER.send(message.body)
        await env.SERVICE.tell(message.body)
        await asyncio.sleep(0)
        message.ack()


def on_a_thread(_stack, emu):
    return ThreadTarget(RealTime(), worker, emu.env)


def behind_a_url(stack, _emu):
    endpoint = Endpoint(lambda batch: {**OK, "explicitAcks": [m["id"] for m in batch["messages"]]})
    return URLTarget(RealTime(), stack.enter_context(endpoint).url)


def on_virtual_time(_stack, emu):
    return PythonTarget(emu.runtime, worker, emu.env)


JAVASCRIPT = """export default { async queue(batch, env) {
  for (const message of batch.messages) {
    if (message.body === null) throw new Error("no body");
    await env.OTHER.send(message.body);
    await env.SERVICE.tell(message.body);
    await scheduler.wait(0);
    message.ack();
  }
} };"""


def in_workerd(stack, emu):
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    (folder / "worker.js").write_text(JAVASCRIPT, encoding="utf-8")
    return emu.worker(folder / "worker.js", env={"SERVICE": Service()}).target()


MAKERS = {PYTHON: on_virtual_time, THREAD: on_a_thread, URL: behind_a_url, WORKERD: in_workerd}
"""How to make a target of each kind; what must end with it goes onto the stack."""


def story(emu):
    """What happened to `jobs`: kinds, moments and counts of attempts, not which ids; and in which order messages came."""
    found, names = [], {}
    for event in emu.events:
        if getattr(event, "queue", "") != "jobs":
            continue
        if isinstance(event, happened.Sent):
            names |= {id: len(names) + n for n, id in enumerate(event.ids)}
        row = [type(event).__name__, event.at_us]
        for field in ("outcome", "attempts", "retried", "acked", "repeated", "dropped", "ids", "until_us"):
            value = getattr(event, field, None)
            row.append(tuple(names.get(each, each) for each in value) if isinstance(value, tuple) else value)
        found.append(row)
    return found


async def run(target_name, face, chances):
    """Eight messages through one target; what happened, and how often each fault acted."""
    emu = Emulator(seed=5, faults=Faults(**chances) if face == "in process" else Faults())
    for name in ("jobs", "other"):
        emu.create_queue(name)
    emu.env.bind("SERVICE", Service())
    with contextlib.ExitStack() as stack:
        target = MAKERS[target_name](stack, emu)
        emu.consume("jobs", lambda _batch: None, max_batch_size=4, max_retries=2)
        emu.timeline.deliveries.attach("jobs", target)
        if face == "in process":
            emu.queue("jobs").send_batch([{"body": n} for n in range(8)])
            emu.run_until_idle()
        else:
            async with httpx.AsyncClient(transport=Transport(emu, control=True), base_url=f"http://emulator{PATH}") as client:
                queue = next(row for row in (await client.get("/queues")).json()["result"] if row["queue_name"] == "jobs")
                assert (await client.put("http://emulator/emulator/faults", json=chances)).status_code == 200
                rows = {"messages": [{"body": n} for n in range(8)]}
                assert (await client.post(f"/queues/{queue['queue_id']}/messages/batch", json=rows)).status_code == 200
                assert (await client.post("http://emulator/emulator/time/run-until-idle")).status_code == 200
        drawn = dict(emu.account.chance.drawn)
        emu.timeline.deliveries.close()
    return story(emu), drawn, emu


@pytest.fixture(scope="module")
def calm(request):
    """What happens on a target, told over a face, where no fault acts; each is tried once."""
    told = {}

    def of(target, face):
        if target == WORKERD:
            request.getfixturevalue("tools")
        if (target, face) not in told:
            told[target, face] = asyncio.run(run(target, face, {}))[0]
        return told[target, face]

    return of


def test_there_is_one_of_every_target():
    assert MAKERS.keys() == set(TARGETS)


def test_every_target_and_every_face_tell_the_same_calm_story(calm):
    first = calm(PYTHON, "in process")
    assert {row[0] for row in first} >= {"Sent", "Delivered", "Settled"}
    assert all(calm(target, face) == first for target in TARGETS for face in FACES)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("fault", OF_TARGETS)
def test_a_fault_acts_on_every_target_that_it_names_and_on_no_other(fault, target, face, calm):
    ordinary = calm(target, face)
    told, drawn, emu = asyncio.run(run(target, face, {fault: 1.0}))
    row = FAULTS[fault]
    if target in row.targets:
        assert drawn[fault] > 0
        assert told != ordinary
        assert f"{fault} " in str(emu.report()).replace("\n", " ")
    else:
        assert dict(row.why_not)[target]
        assert told == ordinary


@pytest.mark.parametrize("name", FAULTS)
def test_a_row_says_where_it_acts(name):
    row = FAULTS[name]
    assert row.doc
    assert row.place in {SEND, PULL, DEPARTURE, HANDLER, SETTLEMENT}
    if row.place in {SEND, PULL}:
        assert not row.targets
    else:
        assert {*row.targets, *dict(row.why_not)} == set(TARGETS)
        assert not set(row.targets) & set(dict(row.why_not))


@pytest.mark.parametrize("name", FAULTS)
def test_a_row_is_bounded_documented_and_settable(name):
    low, high = FAULTS[name].bounds
    for wrong in (low - 0.1, high + 0.1, "much", True, None, float("nan")):
        with pytest.raises(ValueError, match=name):
            Faults(**{name: wrong})
    page = Path(__file__).resolve().parents[2] / "docs" / "emulator" / "faults.md"
    assert f"| `{name}` | {FAULTS[name].doc} |" in page.read_text(encoding="utf-8")
    emu = Emulator()
    with httpx.Client(transport=Transport(emu, control=True), base_url="http://emulator") as client:
        for wrong in (low - 0.1, high + 0.1, "much", None):
            answer = client.put("/emulator/faults", json={name: wrong})
            assert (answer.status_code, name in answer.text) == (400, True), answer.text
        assert client.put("/emulator/faults", json={name: 0.25}).status_code == 200
        assert getattr(emu.account.faults, name) == 0.25
        assert f'"{name}"' in client.get("/emulator/faults").text


@pytest.mark.parametrize("wrong", ["reoder", "crash", "fail", ""])
def test_a_misspelt_fault_is_refused_everywhere(wrong):
    with pytest.raises(TypeError, match="there is no fault"):
        Faults(**{wrong: 0.1})
    with httpx.Client(transport=Transport(Emulator(), control=True), base_url="http://emulator") as client:
        answer = client.put("/emulator/faults", json={wrong: 0.1})
    assert answer.status_code == 400
    assert "reorder" in answer.text or wrong != "reoder"


@pytest.mark.parametrize("wrong", [(0, 5), (5, 1), (1.5, 2), (1,), "ab"])
def test_the_bounds_of_a_slow_handler_are_whole_seconds(wrong):
    with pytest.raises((ValueError, TypeError)):
        Faults(slow=0.1, slow_seconds=wrong)


# --- sends and pulls, on every face


def sends(emu, face):
    """Send one message; the code of the refusal, or None."""
    queue = emu.create_queue("jobs")
    if face == "over REST":
        with httpx.Client(transport=Transport(emu), base_url=f"http://emulator{PATH}") as client:
            (row,) = client.get("/queues").json()["result"]
            answer = client.post(f"/queues/{row['queue_id']}/messages", json={"body": 1})
            return None if answer.status_code == 200 else answer.json()["errors"][0]["code"]
    try:
        if face == "binding":
            asyncio.run(_awaited(emu.env.JOBS.send(1)))
        else:
            queue.send(1)
    except Refused as refused:
        return refused.code
    return None


async def _awaited(sent):
    await sent


def pulls(emu, face):
    """Pull one message; what happened."""
    queue = emu.create_queue("jobs")
    emu.consume("jobs", type="http_pull")
    queue.send(1)
    if face == "over REST":
        with httpx.Client(transport=Transport(emu), base_url=f"http://emulator{PATH}") as client:
            (row,) = client.get("/queues").json()["result"]
            assert client.post(f"/queues/{row['queue_id']}/messages/pull", json={}).status_code == 200
    else:
        queue.pull()
    emu.advance(1)
    return story(emu)


@pytest.mark.parametrize(
    ("fault", "tried", "face"),
    [
        *((name, sends, face) for name, row in FAULTS.items() if row.place == SEND for face in ("in process", "binding", "over REST")),
        *((name, pulls, face) for name, row in FAULTS.items() if row.place == PULL for face in FACES),
    ],
)
def test_a_fault_of_sends_or_pulls_acts_on_every_face(fault, tried, face):
    calm, emu = Emulator(), Emulator(faults=Faults(**{fault: 1.0}))
    assert (tried(emu, face), emu.queue("jobs").bodies()) != (tried(calm, face), calm.queue("jobs").bodies())
    assert emu.account.chance.drawn[fault] > 0
    assert f"{fault} " in str(emu.report()).replace("\n", " ")


@pytest.mark.parametrize("face", ["in process", "binding", "over REST"])
@pytest.mark.parametrize(("fault", "code", "stored"), [("refused_sends", 10250, []), ("lost_replies", 15000, [1])])
def test_a_send_is_refused_or_its_answer_gets_lost(fault, code, stored, face):
    emu = Emulator(faults=Faults(**{fault: 1.0}))
    assert sends(emu, face) == code
    assert emu.queue("jobs").bodies() == stored
    assert emu.account.chance.drawn[fault] == 1


@pytest.mark.parametrize("face", FACES)
def test_a_short_lease_lapses_while_its_holder_works(face):
    emu = Emulator(faults=Faults(short_leases=1.0))
    queue = emu.create_queue("jobs")
    emu.consume("jobs", type="http_pull", max_retries=3)
    queue.send(1)
    if face == "in process":
        (message,) = queue.pull()
        lease, attempts = message.lease_id, message.attempts
        again = queue.pull()
        said = queue.ack(acks=[lease])
        assert (attempts, [m.attempts for m in again], said.ack_count) == (1, [2], 1)
    else:
        with httpx.Client(transport=Transport(emu), base_url=f"http://emulator{PATH}") as client:
            (row,) = client.get("/queues").json()["result"]
            path = f"/queues/{row['queue_id']}/messages"
            (first,) = client.post(f"{path}/pull", json={}).json()["result"]["messages"]
            (second,) = client.post(f"{path}/pull", json={}).json()["result"]["messages"]
            assert (first["attempts"], second["attempts"]) == (1, 2)
            assert client.post(f"{path}/ack", json={"acks": [{"lease_id": first["lease_id"]}]}).json()["result"]["ackCount"] == 1
    assert queue.bodies() == []  # a late acknowledgement holds


def test_two_deliveries_of_one_message_overlap():
    emu = Emulator(faults=Faults(overlaps=1.0))
    queue = emu.create_queue("jobs")
    running, most = set(), []

    async def slow(batch):
        running.add(batch.messages[0].attempts)
        most.append(len(running))
        await asyncio.sleep(30)
        running.discard(batch.messages[0].attempts)

    emu.consume("jobs", slow, max_batch_timeout=0, max_retries=1, max_concurrency=1)
    queue.send(1)
    emu.run_until_idle()
    assert most == [1, 2]
    assert [fate.state for fate in emu.fates] == ["dropped"]


def test_a_dead_process_calls_nothing_any_more():
    emu = Emulator(faults=Faults(crashes_at_await=1.0))
    jobs = emu.create_queue("jobs")
    emu.create_queue("other")

    async def careful(batch, env):
        try:
            batch.ackAll()
            await asyncio.sleep(1)
        finally:
            env.OTHER.send("I was here")

    emu.consume("jobs", careful, max_batch_timeout=0, max_retries=1)
    jobs.send(1)
    emu.run_until_idle()
    assert emu.queue("other").bodies() == []
    assert [delivery.outcome for delivery in emu.deliveries] == ["exception", "exception"]
    assert [fate.state for fate in emu.fates] == ["dropped"]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_crash_at_a_call_comes_before_or_behind_it(seed):
    emu = Emulator(seed=seed, faults=Faults(crashes_at_call=1.0))
    jobs = emu.create_queue("jobs")
    emu.create_queue("other")
    emu.consume("jobs", lambda batch, env: env.OTHER.send(batch.messages[0].attempts), max_batch_timeout=0, max_retries=20)
    jobs.send(1)
    emu.run_until_idle()
    done = emu.queue("other").bodies()
    assert 0 < len(done) < 21
    assert {fate.state for fate in emu.fates if fate.queue == "jobs"} == {"dropped"}
