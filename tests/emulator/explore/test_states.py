"""States that were seen are not explored twice, and nothing is missed by it."""

from __future__ import annotations

import asyncio
import io
import itertools
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import Emulator, explore
from emulator.explore import at_most_once, shards
from emulator.explore.schedule import Schedule
from emulator.explore.state import Opaque, state_of
from emulator.explore.world import World
from tests.emulator.explore.twins import TWINS, Bank, Store, charged_once, payments

STEPS = st.lists(st.sampled_from(["get", "put", "take", "charge", "charge once", "ack", "sleep", "note", "retry"]), min_size=1, max_size=5)
SEEN = []


def drawn(steps, keys, settings):
    """A world with a consumer that does these steps for each message."""

    def setup(emu):
        bank, store, notes = Bank(), Store(emu), []
        SEEN.clear()

        async def handle(batch):
            for message in batch.messages:
                key, known = message.body["key"], False
                for step in steps:
                    if step == "get":
                        known = await store.get(key) is not None
                    elif step == "put":
                        await store.put(key, "1", ttl=60)
                    elif step == "take":
                        known = not await store.take(key)
                    elif step == "charge" and not known:
                        await bank.charge(key)
                    elif step == "charge once":
                        await bank.charge(key, key)
                    elif step == "ack":
                        message.ack()
                    elif step == "sleep":
                        await asyncio.sleep(1)
                    elif step == "note":
                        notes.append(message.attempts)
                        SEEN.append(key)
                    elif step == "retry" and message.attempts == 1:
                        message.retry()

        payments(emu, handle, keys, **settings)
        return bank

    return setup


@settings(max_examples=12)
@given(
    steps=STEPS,
    keys=st.sampled_from([("k0",), ("k0", "k0")]),
    given_settings=st.sampled_from([{}, {"max_retries": 1}, {"max_batch_size": 1}, {"max_retries": 0, "dead_letter_queue": "dead"}]),
)
def test_the_same_is_found_with_and_without(steps, keys, given_settings):
    setup = drawn(steps, keys, given_settings)
    with_states = explore(setup, charged_once)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shards, "_STATES_MAX", 0)
        without = explore(setup, charged_once)
    assert (with_states.found, with_states.replay) == (without.found, without.replay)
    assert without.covered.spared == 0
    if without.found:
        assert str(with_states.error) == str(without.error)
    else:
        assert with_states.exhaustive == without.exhaustive
        if without.exhaustive:
            assert with_states.schedules + with_states.covered.spared == without.schedules


@pytest.mark.parametrize("name", ["guard after effect", "guard in KV after a fetch", "guard in D1 after a row"])
def test_states_spare_schedules_and_say_so(name):
    _, right, invariant = TWINS[name]
    nothing = explore(right, invariant)
    assert nothing.exhaustive
    assert nothing.covered.spared > nothing.schedules / 10
    assert f"{nothing.covered.spared:,} schedules spared by {nothing.covered.states:,} states seen" in str(nothing.covered)


def test_what_an_invariant_remembers_belongs_to_the_state():
    """A call that was made is seen by nothing but the invariant."""
    _, right, _ = TWINS["lost answer taken as failure"]
    found = explore(right, at_most_once("BANK.charge"))
    assert found.faults == 1


def holds():
    """Always."""


def closing_over(value):
    return lambda: value


def world_of(held, invariant=holds):
    """A world whose handler holds something."""

    def setup(emu):
        payments(emu, lambda batch: (held, batch.ackAll()), ("k0",))
        return held

    return World(setup, [invariant])


class Plain:
    def __init__(self, **held):
        self.__dict__.update(held)


class Slotted:
    __slots__ = ("one", "two")

    def __init__(self, one):
        self.one = one


class Table(dict):
    pass


def database(*rows):
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE t (a)")
    for row in rows:
        connection.execute("INSERT INTO t VALUES (?)", (row,))
    return connection


A_LIST = [1]


@pytest.mark.parametrize(("one", "other"), [
    ([1], [2]), ({"a": 1}, {"a": 2}), ({1}, {2}), (Plain(a=1), Plain(a=2)), (Slotted(1), Slotted(2)), (Table(a=1), Table(a=2)),
    (bytearray(b"a"), bytearray(b"b")), ([A_LIST, A_LIST], [[1], [1]]), ([True], [1]), (database(1), database(2)),
    (Plain(a=Slotted([1])), Plain(a=Slotted([2]))), (ValueError("a"), ValueError("b")),
    (closing_over([1]), closing_over([2])),
])  # fmt: skip
def test_what_a_handler_holds_is_told_apart(one, other):
    states = []
    for held in (one, one, other):
        run = world_of(held).run(Schedule(), look=True)
        assert run.error is None
        assert run.schedule.states
        states.append(run.schedule.states[-1][1])
    assert states[0] == states[1] != states[2]


def a_generator():
    yield 1


def reads_a_file():
    return open  # what it opens, nobody sees


@pytest.mark.parametrize(("held", "said"), [
    (a_generator(), "generator"), (io.BytesIO(b"a"), "BytesIO"), (itertools.count(), "count"), (iter([1]), "list_iterator"),
    (asyncio.Lock, ""), (reads_a_file, "open()"), (pytest, "the module pytest"), ([object()] * 10, ""),
    ([[] for _ in range(6_000)], "more than 5,000"), ({object()}, "a set of objects"),
])  # fmt: skip
def test_what_cannot_be_read_whole_proves_nothing(held, said):
    world = world_of(held)
    run = world.run(Schedule(), look=True)
    assert run.error is None
    assert said in world.opaque
    assert bool(run.schedule.states) is not bool(said)


def test_what_a_handler_names_counts_and_what_it_does_not_name_does_not():
    counted, beside = {"n": 0}, {"n": 0}

    def setup(emu):
        payments(emu, lambda _batch: counted.update(n=counted["n"]), ("k0",))

    world, states = World(setup, [holds]), []
    for table in (beside, counted):
        states.append(world.run(Schedule(), look=True).schedule.states[-1][1])
        table["n"] += 1
    states.append(world.run(Schedule(), look=True).schedule.states[-1][1])
    assert states[0] == states[1] != states[2]


def test_an_alarm_and_a_consumer_outside_prove_nothing():
    with Emulator() as emu:
        emu.create_queue("jobs")
        emu.consume("jobs", "http://127.0.0.1:9/")
        with pytest.raises(Opaque, match="a consumer in url"):
            state_of(emu, ())


def test_no_more_states_are_remembered_than_there_is_room_for(monkeypatch):
    """So a search of any length holds no more; what is not remembered is met anew."""
    _, right, invariant = TWINS["guard after effect"]
    whole = explore(right, invariant)
    monkeypatch.setattr(shards, "_STATES_MAX", 5)
    few = explore(right, invariant)
    assert (few.exhaustive, few.covered.states) == (True, 5)
    assert few.schedules + few.covered.spared == whole.schedules + whole.covered.spared


def test_assertions_that_pytest_has_rewritten_hide_nothing():
    """They reach pytest by names that no author can write."""

    def setup(emu):
        store = Store(emu)

        def handle(batch):
            for message in batch.messages:
                assert message.attempts
                store.rows.setdefault(message.body["key"], 1)

        payments(emu, handle, ("k0",))
        return store

    def once(store):
        assert len(store.rows) < 2

    world = World(setup, [once])
    assert (world.run(Schedule(), look=True).schedule.states != [], world.opaque) == (True, "")
