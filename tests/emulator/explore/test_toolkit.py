"""The toolkit's own ways of doing things once, and of settling, under every schedule with up to three faults."""

from __future__ import annotations

import sqlite3

import pytest

from emulator import explore
from emulator.explore import every_message_ends
from emulator.toolkit import MemoryKV, OnceDownstream, OnceKV, OnceSQL, TaskTable, settle

PAYMENT = "INSERT INTO payments (key) VALUES (?)"


class Database(sqlite3.Connection):
    """Is closed when nobody holds it: a world is made for each of thousands of runs, and nothing tells when it is over."""

    def __del__(self):
        self.close()


class World:
    """A bank, and beside it a database with payments where one is asked for."""

    def __init__(self, emu, *, database=False):
        self.emu, self.charged, self.database = emu, {}, None
        if database:
            self.database = sqlite3.connect(":memory:", isolation_level=None, factory=Database)
            self.database.execute("CREATE TABLE payments (key TEXT)")

    def seconds(self):
        return self.emu.now.timestamp()

    @property
    def payments(self):
        rows = () if self.database is None else self.database.execute("SELECT key FROM payments")
        return [key for (key,) in rows] + list(self.charged)


def begin(emu, handler):
    emu.create_queue("dead")
    queue = emu.create_queue("payments")
    settings = {"max_batch_timeout": 0, "max_batch_size": 1, "max_retries": 5, "retry_delay": 30, "dead_letter_queue": "dead"}
    emu.consume("payments", handler, **settings)
    queue.send({"key": "k0", "taskId": "k0", "type": "payment"})


async def once_sql(emu):
    world = World(emu, database=True)
    once = OnceSQL(world.database, clock=world.seconds)
    await once.create()

    async def handle(batch):
        for message in batch.messages:
            await once.run(message.body["key"], [(PAYMENT, (message.body["key"],))])
            message.ack()

    begin(emu, handle)
    return world


def once_downstream(emu):
    world = World(emu)
    once = OnceDownstream()

    async def handle(batch):
        for message in batch.messages:
            await once.run(message.body["key"], lambda key: world.charged.setdefault(key, 10))
            message.ack()

    begin(emu, handle)
    return world


def settled(emu):
    world = World(emu)

    @settle(clock=world.seconds)
    def process(task):
        world.charged.setdefault(task.body["key"], 10)

    begin(emu, process)
    return world


async def task_table(emu):
    world = World(emu, database=True)
    tasks = TaskTable(world.database, clock=world.seconds)
    await tasks.create()
    await tasks.add("k0", user_id="u", type="payment", payload={})

    async def handle(batch):
        for message in batch.messages:
            world.charged.setdefault(message.body["key"], 10)
            await tasks.complete(message.body["taskId"])
            message.ack()

    begin(emu, handle)
    return world


async def settled_with_a_task_table(emu):
    world = World(emu, database=True)
    once, tasks = OnceSQL(world.database, clock=world.seconds), TaskTable(world.database, clock=world.seconds)
    await once.create()
    await tasks.create()
    await tasks.add("k0", user_id="u", type="payment", payload={})

    @settle(table=tasks, clock=world.seconds)
    async def process(task):
        await once.run(task.body["key"], [(PAYMENT, (task.body["key"],))])

    begin(emu, process)
    return world


def paid_once(world):
    assert world.payments == ["k0"], f"paid: {world.payments}"


def task_is_completed(world):
    assert world.database.execute("SELECT id, status FROM tasks").fetchall() == [("k0", "completed")]


@pytest.mark.parametrize(("setup", "faults", "more"), [
    (once_sql, 3, []), (once_downstream, 3, []), (settled, 3, []), (task_table, 3, [task_is_completed]),
    (settled_with_a_task_table, 1, [task_is_completed]),  # three take 12,000 schedules, which were run once and break nothing
])  # fmt: skip
def test_an_effect_happens_once_whatever_goes_wrong(setup, faults, more):
    nothing = explore(setup, [paid_once, every_message_ends, *more], max_faults=faults)
    assert (nothing.found, nothing.exhaustive, nothing.covered.deviations) == (False, True, faults)


def test_what_the_kv_guard_leaves_open_is_found():
    """As its docstring says: a crash between act and record repeats the effect."""

    def once_kv(emu):
        charges = []
        once = OnceKV(MemoryKV(clock=World(emu).seconds), ttl_seconds=345_600)

        async def handle(batch):
            for message in batch.messages:
                key = message.body["key"]
                await once.run(key, lambda key=key: charges.append(key))
                message.ack()

        begin(emu, handle)
        return charges

    def once(charges):
        assert len(charges) <= 1, f"charged {len(charges)} times"

    assert explore(once_kv, once).faults == 1
