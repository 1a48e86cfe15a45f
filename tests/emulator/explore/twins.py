"""Consumers of a queue of payments, in twins: one wrong in one way, one right. Each world keeps what it has charged.

`TWINS` has, by what is wrong: (the wrong world, the right world, the invariant). A world is a setup for `emulator.explore`.
"""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path

WORKERS = Path(__file__).resolve().parents[3] / "fixtures" / "explore" / "workers"
KEYS = ("k0", "k1")


class Bank:
    """The service that charges; it knows idempotency keys."""

    def __init__(self):
        self.charges = []
        self.known = set()

    async def charge(self, key, idempotency_key=None):
        await asyncio.sleep(0.05)
        if idempotency_key is None or idempotency_key not in self.known:
            self.known.add(idempotency_key)
            self.charges.append(key)
        await asyncio.sleep(0.05)


class Store:
    """A store with a clock, in memory."""

    def __init__(self, emu):
        self.emu, self.rows, self.charges = emu, {}, []

    async def get(self, key):
        value, until = self.rows.get(key, (None, None))
        return value if until is None or self.emu.now.timestamp() < until else None

    async def put(self, key, value, ttl=None):
        self.rows[key] = (value, None if ttl is None else self.emu.now.timestamp() + ttl)

    async def take(self, key):
        """Put a key there if nobody has: whether it was free."""
        if key in self.rows:
            return False
        self.rows[key] = ("1", None)
        return True

    async def charge_once(self, key, ttl=None):
        """The charge and its key in one transaction."""
        _, until = self.rows.get(key, (None, 0.0))
        if until is None or self.emu.now.timestamp() < until:
            return
        self.rows[key] = ("1", None if ttl is None else self.emu.now.timestamp() + ttl)
        self.charges.append(key)


def payments(emu, handler, keys=KEYS, **settings):
    queue = emu.create_queue("payments")
    emu.consume("payments", handler, **{"max_batch_timeout": 0, "max_retries": 4, "retry_delay": 10, **settings})
    for key in keys:
        queue.send({"key": key})


def charged_once(world):
    twice = sorted({key for key in world.charges if world.charges.count(key) > 1})
    assert not twice, f"charged twice: {', '.join(twice)}"


def charged(world):
    missing = sorted(set(KEYS) - set(world.charges))
    assert not missing, f"never charged: {', '.join(missing)}"


# --- no guard at all


def no_guard(emu):
    bank = Bank()

    def handle(batch):
        for message in batch.messages:
            bank.charges.append(message.body["key"])
            message.ack()

    payments(emu, handle)
    return bank


def key_of_the_table(emu):
    table = Table()

    def handle(batch):
        for message in batch.messages:
            table.rows.setdefault(message.body["key"], 10)
            message.ack()

    payments(emu, handle)
    return table


class Table:
    """A table that has a key once."""

    def __init__(self):
        self.rows = {}

    @property
    def charges(self):
        return list(self.rows)


# --- the guard after the effect


def guard_after_effect(emu):
    bank, done = Bank(), Store(emu)

    async def handle(batch):
        for message in batch.messages:
            key = message.body["key"]
            if await done.get(key) is None:
                await bank.charge(key)
                await done.put(key, "1")
            message.ack()

    payments(emu, handle)
    return bank


def guard_with_effect(emu):
    store = Store(emu)

    async def handle(batch):
        for message in batch.messages:
            await store.charge_once(message.body["key"])
            message.ack()

    payments(emu, handle)
    return store


def kv_worker(name):
    def setup(emu):
        bank = Bank()

        def pay(request):
            key = request.body.decode()
            known = request.headers.get("Idempotency-Key")
            if known is None or known not in bank.known:
                bank.known.add(known)
                bank.charges.append(key)
            return 200, "charged"

        payments(emu, emu.worker(WORKERS / f"{name}.py", kv=["DONE"], fetch=pay))
        return bank

    return setup


def d1_worker(name):
    def setup(emu):
        worker = emu.worker(WORKERS / f"{name}.py", d1=["DB"])
        database = worker.env.DB.connection
        database.execute("CREATE TABLE payments (key TEXT)")
        database.execute("CREATE TABLE seen (key TEXT PRIMARY KEY)")
        payments(emu, worker)
        return Rows(database)

    return setup


class Rows:
    """The payments of a database."""

    def __init__(self, database):
        self.database = database

    @property
    def charges(self):
        return [key for (key,) in self.database.execute("SELECT key FROM payments ORDER BY key")]


# --- check, then act


def check_then_act(emu):
    bank, done = Bank(), Store(emu)

    async def handle(batch):
        for message in batch.messages:
            key = message.body["key"]
            if await done.get(key) is None:
                await done.put(key, "1")
                await bank.charge(key)
            message.ack()

    payments(emu, handle, ("k0", "k0"), max_batch_size=1, max_concurrency=2)
    return bank


def take_then_act(emu):
    bank, done = Bank(), Store(emu)

    async def handle(batch):
        for message in batch.messages:
            key = message.body["key"]
            if await done.take(key):
                await bank.charge(key)
            message.ack()

    payments(emu, handle, ("k0", "k0"), max_batch_size=1, max_concurrency=2)
    return bank


# --- a guard that forgets before the retries are over


def short_guard(emu):
    store = Store(emu)

    async def handle(batch):
        for message in batch.messages:
            await store.charge_once(message.body["key"], ttl=60)
            message.ack()

    payments(emu, handle, retry_delay=300)
    return store


def long_guard(emu):
    store = Store(emu)

    async def handle(batch):
        for message in batch.messages:
            await store.charge_once(message.body["key"], ttl=345_600)
            message.ack()

    payments(emu, handle, retry_delay=300)
    return store


# --- ack before the effect


def ack_first(emu):
    bank = Bank()

    async def handle(batch):
        for message in batch.messages:
            message.ack()
            await bank.charge(message.body["key"], message.body["key"])

    payments(emu, handle)
    return bank


def ack_last(emu):
    bank = Bank()

    async def handle(batch):
        for message in batch.messages:
            await bank.charge(message.body["key"], message.body["key"])
            message.ack()

    payments(emu, handle)
    return bank


def ack_first_sync(emu):
    bank = Bank()

    def handle(batch):
        batch.ackAll()
        for message in batch.messages:
            if message.body["key"] not in bank.charges:
                bank.charges.append(message.body["key"])

    payments(emu, handle)
    return bank


def ack_last_sync(emu):
    bank = Bank()

    def handle(batch):
        for message in batch.messages:
            if message.body["key"] not in bank.charges:
                bank.charges.append(message.body["key"])
        batch.ackAll()

    payments(emu, handle)
    return bank


# --- a key that is made at consume time


def key_made_late(emu):
    bank = Bank()

    async def handle(batch):
        for message in batch.messages:
            await bank.charge(message.body["key"], str(uuid.uuid4()))
            message.ack()

    payments(emu, handle)
    return bank


def key_of_the_message(emu):
    bank = Bank()

    async def handle(batch):
        for message in batch.messages:
            await bank.charge(message.body["key"], message.id)
            message.ack()

    payments(emu, handle)
    return bank


# --- a lost answer taken as failure


def lost_is_failed(emu):
    bank, done = Bank(), Store(emu)
    emu.env.BANK = bank

    class Worker:
        async def queue(self, batch):
            for message in batch.messages:
                key = message.body["key"]
                if not await done.take(key):
                    message.ack()
                    continue
                try:
                    await self.env.BANK.charge(key)
                except ConnectionError:
                    done.rows.pop(key)  # it has failed: let it happen again
                    message.retry()

    payments(emu, Worker)
    return bank


def lost_is_unknown(emu):
    bank = Bank()
    emu.env.BANK = bank

    class Worker:
        async def queue(self, batch):
            for message in batch.messages:
                try:
                    await self.env.BANK.charge(message.body["key"], message.body["key"])
                except ConnectionError:
                    message.retry()

    payments(emu, Worker)
    return bank


# --- what takes two faults


def only_after_two(emu):
    """Breaks only where the Worker dies twice in the same place."""
    bank = Bank()
    tried = {}

    async def handle(batch):
        for message in batch.messages:
            key = message.body["key"]
            tried[key] = tried.get(key, 0) + 1
            await asyncio.sleep(0.1)
            message.ack()
            if tried[key] > 2:
                bank.charges += [key, key]

    payments(emu, handle, ("k0",))
    return bank


TWINS = {
    "no guard": (no_guard, key_of_the_table, charged_once),
    "guard after effect": (guard_after_effect, guard_with_effect, charged_once),
    "guard in KV after a fetch": (kv_worker("guard_after_effect"), kv_worker("key_with_effect"), charged_once),
    "guard in D1 after a row": (d1_worker("row_then_guard"), d1_worker("row_with_guard"), charged_once),
    "check then act": (check_then_act, take_then_act, charged_once),
    "guard shorter than the retries": (short_guard, long_guard, charged_once),
    "ack before effect": (ack_first, ack_last, charged),
    "ack before effect, sync": (ack_first_sync, ack_last_sync, charged),
    "key made at consume time": (key_made_late, key_of_the_message, charged_once),
    "lost answer taken as failure": (lost_is_failed, lost_is_unknown, charged_once),
}
