"""Whatever is asked of the core, in any order: it refuses or decides, and its laws hold after every step."""

from __future__ import annotations

import contextlib
import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.core import commands, machine
from emulator.core.apply import apply
from emulator.core.decide.consume import deliver, departure_us
from emulator.core.decide.deadlines import expiry_us, lapse_us
from emulator.core.decide.manage import find
from emulator.core.fresh import ready_count
from emulator.core.limits import STRICT
from emulator.core.messages import DELAYED, FLYING, GONE, LEASED, READY
from emulator.core.model import Consumer, QueueState, State
from emulator.core.refusals import QueueOverloaded, Refused
from emulator.engine.ids import Ids
from emulator.engine.journal import replay
from emulator.engine.ledger.ledger import Ledger
from emulator.engine.metrics import Metrics
from tests.emulator.core_dump import dump, from_snapshot
from tests.emulator.helpers import lines_run

SECOND = 1_000_000
NAMES = ("a", "b", "c", "dead")


class Play:
    """A random run over the machine itself, without handlers: batches are settled by later commands."""

    def __init__(self, seed: int, plan: str = "paid") -> None:
        self.random, self.ids = random.Random(seed), Ids(seed)
        self.state, self.plan, self.now_us = State(plan), plan, 0
        self.events: list = []
        self.leases: dict[str, list[str]] = {}

    def step(self, command=None) -> list:
        """One step, remembering what happened."""
        before = len(self.events)
        with contextlib.suppress(Refused):
            machine.step(self.state, self.now_us, command, STRICT, self.events.extend)
        happened = self.events[before:]
        for event in happened:
            for lease in getattr(event, "leases", ()):
                self.leases.setdefault(event.queue, []).append(lease)
        return happened

    def command(self):
        """Something to ask for."""
        r, name = self.random, self.random.choice(NAMES)
        kind = r.choice(["send"] * 6 + ["settle"] * 6 + ["pull"] * 3 + ["ack"] * 3 + OTHERS)
        if kind == "send":
            count = r.randrange(1, 7)
            delays = tuple(r.choice([None, None, 0, 1, 30, 86_400, 90_000]) for _ in range(count)) if r.random() < 0.5 else (None,) * count
            return commands.Send(name, self.ids.take(count), (b"1",) * count, ("json",) * count, delays, r.choice([None, 0, 5]), True)
        if kind == "settle":
            return self.settle()
        if kind == "pull":
            return commands.Pull(name, r.randrange(6), self.ids.take(6), r.choice([None, 0, 1_000, 43_200_000, 50_000_000]))
        if kind == "ack":
            known = [*self.leases.get(name, []), "unknown.1"]
            retries = [(lease, r.choice([None, 0, 7, -1])) for lease in r.sample(known, min(2, len(known)))]
            return commands.Ack(name, tuple(r.sample(known, min(3, len(known)))), tuple(retries))
        if kind == "extend":
            known = self.leases.get(name, [])
            return commands.Extend(name, tuple(r.sample(known, min(3, len(known)))), self.ids.take(3), r.choice([None, 0, 60_000]))
        if kind == "create":
            return commands.CreateQueue(name, r.choice([None, 0, 20]), r.choice([None, 60, 4_000, 1_209_600]), r.choice([None, "eu"]))
        if kind == "change":
            return commands.ChangeQueue(name, r.choice([None, 0, 9]), r.choice([None, 60, 4_000, 9]), r.choice([None, True, False]))
        if kind == "consumer":
            consumer = Consumer(
                r.choice(["worker", "worker", "http_pull"]), r.choice([1, 2, 5, 101]), r.choice([0, 5, 60]), r.choice([0, 1, 3]),
                r.choice([None, "dead", "b", name]), r.choice([0, 0, 10]), r.choice([None, 1, 2]),
            )  # fmt: skip
            return commands.SetConsumer(name, consumer, r.random() < 0.8, r.random() < 0.5)
        if kind == "purge":
            return commands.Purge(name, r.choice([None, tuple(r.choice(self.leases.get(name) or ["x"]).split(".")[:1])]))
        if kind == "redrive":
            held = list(self.state.queues[name].messages) if name in self.state.queues else []
            ids = [*r.sample(held, min(3, len(held))), "unknown"]
            return commands.Redrive(name, r.choice(["a", "b", "dead", "none"]), tuple(ids))
        return {
            "delete": commands.DeleteQueue(name),
            "remove": commands.RemoveConsumer(name),
            "attach": commands.Attach(name, r.random() < 0.8),
        }[kind]

    def settle(self):
        """End a batch that is out, if there is one."""
        r = self.random
        out = [(name, flight) for name, queue in self.state.queues.items() for flight in queue.flights.values()]
        if not out:
            return commands.Settle("a", 99)
        name, flight = r.choice(out)
        some = r.sample(flight.ids, r.randrange(len(flight.ids) + 1))
        retries = tuple((id, r.choice([None, 0, 3])) for id in r.sample(flight.ids, r.randrange(len(flight.ids) + 1)))
        acks = frozenset(some) - {id for id, _ in retries}
        return commands.Settle(
            name, flight.batch, r.choice(["ok", "ok", "exception"]), None, acks, retries, r.random() < 0.2, r.random() < 0.2,
            r.choice([None, 2]), frozenset(r.sample(flight.ids, 1) if r.random() < 0.1 else ()),
        )  # fmt: skip


OTHERS = ["extend", "create", "create", "change", "consumer", "consumer", "purge", "redrive", "redrive", "attach", "remove", "delete"]


def brute_wake(queue: QueueState, now_us: int) -> int | None:
    """When something happens to a queue, found by looking at every message."""
    moments = []
    for message in queue.messages.values():
        if message.place <= DELAYED:
            seconds = queue.config.message_retention_period
            if message.dead and queue.consumer is None:
                seconds = min(seconds, 345_600)
            moments.append(message.arrived_us + seconds * SECOND)
        elif message.place == LEASED:
            moments.append(message.lease_until_us)
    consumer = queue.consumer
    slots = (consumer.max_concurrency or queue.slots) if consumer else 0
    if consumer and consumer.type == "worker" and queue.attached and not queue.config.delivery_paused and len(queue.flights) < slots:
        readies = sorted(m.ready_us for m in queue.messages.values() if m.place <= DELAYED)
        if readies:
            full = readies[consumer.max_batch_size - 1] if len(readies) >= consumer.max_batch_size else 10**30
            moments.append(min(full, readies[0] + consumer.max_batch_timeout * SECOND))
    return max(now_us, min(moments)) if moments else None


def check(state: State) -> None:
    """What must hold between any two steps."""
    wakes = []
    for queue in state.queues.values():
        wake = brute_wake(queue, state.now_us)
        wakes += [wake] if wake is not None else []
        own = [m for m in (expiry_us(queue), lapse_us(queue), departure_us(queue, state.now_us)) if m is not None]
        assert (max(min(own), state.now_us) if own else None) == wake
        assert queue.backlog_bytes == sum(len(m.body) for m in queue.messages.values())
        assert queue.count == len(queue.messages)
        flying = [m for m in queue.messages.values() if m.place == FLYING]
        assert queue.flying_count == len(flying)
        assert queue.flying_bytes == sum(len(m.body) for m in flying)
        ready = [m for m in queue.index.ready if m.place != GONE]
        assert len(ready) == ready_count(queue)
        assert [(m.ready_us, m.entry) for m in ready] == sorted((m.ready_us, m.entry) for m in queue.messages.values() if m.place == READY)
    assert machine.next_wake(state) == (min(wakes) if wakes else None)


def told(state: State) -> list:
    """What is told of the queues without a look at any single message, and which batches would leave."""
    return [
        (
            queue.count, queue.backlog_bytes, queue.flying_count, queue.flying_bytes, ready_count(queue), expiry_us(queue),
            lapse_us(queue), departure_us(queue, state.now_us), repr(Metrics(queue)), repr(Metrics(queue, remaining=True)),
            deliver(state, state.now_us, commands.Deliver(name), STRICT),
            [flight.columns() for flight in queue.flights.values()],
        )
        for name, queue in sorted(state.queues.items())
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_laws_hold_after_every_step_of_a_random_run(seed):
    play = Play(seed, "free" if seed % 5 == 0 else "paid")
    packed = State(play.plan)  # follows the events, and nobody looks at any message in it
    for name in NAMES:
        play.step(commands.CreateQueue(name))
    seen = 0
    for _ in range(250):
        play.step(play.command())
        check(play.state)
        if play.random.random() < 0.4:
            play.now_us += play.random.choice([0, 1, SECOND, 5 * SECOND, 60 * SECOND, 3_600 * SECOND, 90_000 * SECOND, 400_000 * SECOND])
            play.step()
            check(play.state)
        for event in play.events[seen:]:
            apply(packed, event)
        seen = len(play.events)
        assert told(packed) == told(play.state)
    ledger = Ledger().follow(play.events)
    for name, queue in play.state.queues.items():
        assert ledger.tallies[name].counts(name).waiting == len(queue.messages), "law 6"
    whole = dump(play.state)
    assert dump(replay(play.events, play.plan)) == dump(packed) == whole
    again = from_snapshot(play.state)
    assert dump(again) == whole
    check(again)


@pytest.mark.parametrize("seed", range(10))
def test_a_state_loaded_from_its_dump_goes_on_as_the_original_does(seed):
    play = Play(seed + 1000)
    for name in NAMES:
        play.step(commands.CreateQueue(name))
    for _ in range(120):
        play.step(play.command())
        play.now_us += play.random.choice([0, 0, SECOND, 30 * SECOND])
    other = from_snapshot(play.state)
    for _ in range(30):
        play.now_us += play.random.choice([SECOND, 30 * SECOND, 86_400 * SECOND])
        command = play.command()
        events: list = []
        for state in (play.state, other):
            seen: list = []
            try:
                machine.step(state, play.now_us, command, STRICT, seen.extend)
            except Refused as refused:
                seen.append(repr(refused))
            events.append(seen)
        assert events[0] == events[1]


def test_a_refused_command_changes_nothing():
    play = Play(0)
    play.step(commands.CreateQueue("a"))
    before = dump(play.state)
    with pytest.raises(Refused):
        machine.step(play.state, 0, commands.CreateQueue("a"))
    with pytest.raises(Refused):
        machine.step(play.state, 0, commands.Send("nowhere", ("1",), (b"1",), ("json",), (None,)))
    assert dump(play.state) == before
    assert find(play.state, "a").messages == {}


@given(st.lists(st.tuples(st.sampled_from([0, 1, 400_000, 999_999, SECOND, 3 * SECOND]), st.integers(1, 12)), max_size=60))
def test_what_came_within_a_second_is_counted_as_by_adding_it_up(sends):
    """The running sum refuses what the plain sum over all that was accepted refuses, at the very edges of the second."""
    state, now_us, accepted, serial = State(), 0, [], 0
    limits = STRICT._replace(throughput_per_second=30)
    machine.step(state, 0, commands.CreateQueue("a"))
    for later_us, count in sends:
        now_us += later_us
        command = commands.Send("a", tuple(f"{serial + n:032x}" for n in range(count)), (b"1",) * count, ("json",) * count, (None,) * count)
        fits = sum(some for at_us, some in accepted if at_us > now_us - SECOND) + count <= 30
        if fits:
            machine.step(state, now_us, command, limits)
            accepted.append((now_us, count))
            serial += count
        else:
            with pytest.raises(QueueOverloaded):
                machine.step(state, now_us, command, limits)


def test_a_send_at_full_rate_looks_at_no_more_than_one_at_rest():
    def lines(earlier):
        state = State()
        machine.step(state, 0, commands.CreateQueue("a"))
        for n in range(earlier):
            machine.step(state, n, commands.Send("a", (f"{n:032x}",), (b"1",), ("json",), (None,)))
        send = commands.Send("a", ("x",), (b"1",), ("json",), (None,))
        return lines_run(lambda: machine.decide(state, earlier, send))

    assert lines(4_900) == lines(5)


def test_a_delivery_beside_ten_thousand_queues_costs_what_it_costs_beside_a_hundred():
    def lines(queues):
        state = State()
        for n in range(queues):
            machine.step(state, 0, commands.CreateQueue(f"q{n}"))
            machine.step(state, 0, commands.SetConsumer(f"q{n}", Consumer(max_batch_timeout=0), attached=True))

        def deliver():
            for n in range(0, 100, 7):
                machine.step(state, n, commands.Send(f"q{n}", (f"{n:032x}",), (b"1",), ("json",), (None,)))
                (delivered,) = machine.step(state, n)
                machine.step(state, n, commands.Settle(f"q{n}", delivered.batch, "ok"))

        deliver()
        assert sys.getsizeof(state.dirty) == sys.getsizeof(set())  # else each pop() would scan what once was a large set
        return lines_run(deliver)

    assert lines(10_000) <= 1.3 * lines(100)


def test_the_agenda_does_not_grow_with_what_has_happened():
    state = State()
    machine.step(state, 0, commands.CreateQueue("a"))
    machine.step(state, 0, commands.SetConsumer("a", Consumer(max_batch_timeout=5), attached=True))
    for n in range(5_000):
        now_us = n * 7 * SECOND
        machine.step(state, now_us, commands.Send("a", (f"{n:032x}",), (b"1",), ("json",), (None,)))
        (delivered,) = machine.step(state, now_us + 5 * SECOND)
        machine.step(state, now_us + 5 * SECOND, commands.Settle("a", delivered.batch, "ok"))
    assert len(state.passive) + len(state.departures) < 2_100
