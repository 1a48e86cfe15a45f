"""A consumer behind a URL: what it does to the world goes through a recording proxy."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest

from emulator import explore
from emulator.explore import RecordingProxy, at_most_once, no_message_lost
from emulator.explore.schedule import Schedule
from emulator.explore.story import Told
from emulator.explore.world import World
from tests.emulator.endpoints import OK, Endpoint

FAILED = {**OK, "outcome": "exception"}


class Bank:
    def __init__(self):
        self.charged = []

    def charge(self, request):
        key = request.headers.get("idempotency-key")
        if key is None or key not in self.charged:
            self.charged.append(key or request.body.decode())
        return 200, "charged"


def consumer(proxy, *, with_key):
    def handle(batch):
        for message in batch["messages"]:
            headers = {"idempotency-key": message["body"]} if with_key else {}
            request = urllib.request.Request(f"{proxy.url}/charge", message["body"].encode(), headers)
            try:
                urllib.request.urlopen(request, timeout=20).close()
            except OSError:
                return FAILED
        return OK

    return handle


@pytest.mark.parametrize(("with_key", "broken"), [(False, True), (True, False)])
def test_a_lost_answer_charges_twice_unless_the_bank_knows_the_key(with_key, broken):
    banks = []

    def charge(request):
        return banks[-1].charge(request)

    with RecordingProxy(charge) as proxy, Endpoint(consumer(proxy, with_key=with_key)) as endpoint:

        def setup(emu):
            proxy.begin(emu)
            banks.append(Bank())
            queue = emu.create_queue("payments")
            emu.consume("payments", endpoint.url, max_batch_timeout=0, retry_delay=10)
            queue.send("order-7")
            return banks[-1]

        found = explore(setup, [at_most_once(lambda bank: bank.charged), no_message_lost], max_faults=1)
        assert found.found is broken
        told, world = Told(), World(setup, [no_message_lost])
        (crash,) = [number for number, _, label in world.run(Schedule()).schedule.points if label == "crashes"]
        world.run(Schedule(((crash, 1),), told=told))
        assert told.lines("")[1] == "2. the endpoint is not reached"
        if broken:
            assert "POST /charge 'order-7'" in found.story
            assert explore(setup, at_most_once("POST /charge"), max_faults=1).faults == 1
