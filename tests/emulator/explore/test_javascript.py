"""A TypeScript Worker in workerd, searched as a Python one is."""

from __future__ import annotations

from collections import Counter

import pytest

from emulator import explore
from emulator.explore import at_most_once, no_message_lost
from emulator.explore.schedule import Schedule
from emulator.explore.story import Told
from emulator.explore.world import World
from emulator.pool.processes import processes
from emulator.workers.javascript.workerd.process import POOL
from tests.emulator.explore.twins import WORKERS

pytestmark = pytest.mark.usefixtures("tools")
TYPESCRIPT = WORKERS.parent / "guard_after_effect_ts" / "wrangler.jsonc"


INSIDE = WORKERS.parent / "inside_ts" / "wrangler.jsonc"


def inside(emu):
    worker = emu.worker(INSIDE, fetch=lambda _request: (200, "booked"))
    emu.queue("payments").send({"key": "order-7"})
    return worker


def booked(run):
    return [request.body.decode() for request in run.world.fetches]


def test_calls_that_stay_inside_of_workerd_go_wrong_as_others_do():
    """Those of Durable Objects and of other Workers."""
    world = World(inside, [lambda _worker: None])
    try:
        points = world.run(Schedule()).schedule.points
        run = world.run(Schedule())
        assert booked(run) == ["order-7 500 1"]
        assert not run.emulator.timeline.deliveries.failures
        counts = Counter(label for _, _, label in points)
        assert (counts["crashes_at_call"], counts["failed_calls"], counts["lost_answers"]) == (3, 3, 3)  # of(), book(), fetch()
        ends = {}
        for number, n, label in points:
            for value in range(1, n):
                told = Told()
                run = world.run(Schedule(((number, value),), told=told))
                assert run.error is None
                assert [fate.state for fate in run.emulator.fates] == ["acked"], (label, value)
                ends.setdefault(label, []).append((value, booked(run), told.lines("")))
    finally:
        world.close()
    twice = ["order-7 500 1", "order-7 500 2"]
    assert [len(requests) for value, requests, _ in ends["crashes_at_call"] if value == 1] == [1, 1, 1]
    assert [requests for _, requests, _ in ends["failed_calls"]] == [["order-7 500 1"], ["order-7 500 1"], ["order-7 500 2"]]
    assert [requests for _, requests, _ in ends["lost_answers"]] == [["order-7 500 1"], twice, twice]
    stories = "\n".join("\n".join(lines) for _, _, lines in ends["lost_answers"])
    assert "PRICES.of('order-7') has acted, but its answer gets lost" in stories
    assert "BOOKS.book('order-7', 500) has acted, but its answer gets lost" in stories


def test_a_send_of_a_javascript_worker_is_refused_or_loses_its_answer(tmp_path):
    (tmp_path / "index.js").write_text("""export default { async queue(batch, env) {
        for (const message of batch.messages) { await env.OUT.send(message.body); message.ack(); }
    } };""")
    (tmp_path / "wrangler.json").write_text("""{"name": "w", "main": "index.js", "compatibility_date": "2026-01-01", "queues": {
        "producers": [{"binding": "OUT", "queue": "out"}],
        "consumers": [{"queue": "jobs", "max_batch_timeout": 0, "retry_delay": 10}]}}""")

    def forwarding(emu):
        emu.worker(tmp_path / "wrangler.json")
        emu.queue("jobs").send("order-7")

    world, arrived = World(forwarding, [no_message_lost]), {}
    try:
        for number, _, label in world.run(Schedule()).schedule.points:
            if label in {"refused_sends", "lost_replies"}:
                arrived[label] = world.run(Schedule(((number, 1),))).emulator.account.state.queues["out"].count
    finally:
        world.close()
    assert arrived == {"refused_sends": 1, "lost_replies": 2}


def payments(emu):
    emu.worker(TYPESCRIPT, fetch=lambda _request: (200, "charged"))
    emu.queue("payments").send({"key": "order-7"})


def test_a_worker_in_typescript_is_broken_by_one_fault():
    found = explore(payments, at_most_once("POST /charge"), max_faults=1)
    assert found.faults == 1
    assert found.story.splitlines()[:4] == [
        "1. order-7 is delivered",
        "2. POST /charge 'order-7' succeeds",
        "3. the Worker dies right after POST /charge 'order-7'",
        "4. 10 seconds later order-7 comes again",
    ]
    again = explore(payments, at_most_once("POST /charge"), replay=found.replay)
    assert str(again.error) == str(found.error) == "more than once: POST /charge 'order-7' (2 times)"


def idle():
    return len(POOL._idle)


def test_a_copy_of_this_process_leaves_its_workerd_alone():
    """Two processes that take their Workers' questions over one socket would get each other's."""
    explore(payments, lambda: None, max_faults=0)
    with processes(1, copies=True) as pool:
        assert (idle() > 0, pool.submit(idle).result()) == (True, 0)
