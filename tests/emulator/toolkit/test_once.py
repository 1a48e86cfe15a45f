"""Once: under seeded duplicates, crashes and two consumers at once the effect happens once; each way's gaps are shown."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import threading
import warnings
from collections import Counter

import pytest

from emulator import Emulator, Faults
from emulator.engine.faults import WorkerCrashed
from emulator.toolkit import Busy, MemoryKV, MissingKey, OnceDownstream, OnceKV, OnceSeen, OnceSQL, OnceWarning, Outcome, Task
from tests.emulator.toolkit.support import NOW, account, clock_of, database, run

DAY = 86_400
SEEDS = range(1_000)
KEYS = [f"payment-{n}" for n in range(4)]
FAULTS = Faults(duplicates=0.2, crashes=0.15, reorder=0.3)


class Bank:
    """Takes money; knows the keys that it was given."""

    def __init__(self):
        self.taken, self.keys = Counter(), set()

    def charge(self, key, idempotency_key=None):
        if idempotency_key is not None:
            if idempotency_key in self.keys:
                return "known"
            self.keys.add(idempotency_key)
        self.taken[key] += 1
        return "taken"


def payments(seed, make):
    """Four payments, some of them sent twice, through chaos and two consumers at once. `make(emu, chance)` gives `pay(key)`."""
    chance = random.Random(seed)
    emu = Emulator(seed=seed, faults=FAULTS)
    try:
        pay = make(emu, chance)

        async def handler(batch):
            for message in batch.messages:
                await asyncio.sleep(chance.choice((0, 1, 2)))
                try:
                    await pay(message.body["key"])
                except Busy:
                    message.retry(delaySeconds=1)
                    continue
                if chance.random() < 0.15:
                    raise WorkerCrashed("after the effect, before the ack()")
                message.ack()

        queue = emu.create_queue("payments")
        emu.consume("payments", handler, max_batch_size=2, max_batch_timeout=0, max_concurrency=2, max_retries=50)
        queue.send_batch([{"body": {"key": key}} for key in (*KEYS, *chance.sample(KEYS, 2))])
        emu.run_until_idle()
        return {fate.state for fate in emu.fates}
    finally:
        emu.close()


def charged_without_once(seed):
    bank = Bank()

    def make(_emu, _chance):
        async def pay(key):
            bank.charge(key)

        return pay

    assert payments(seed, make) == {"acked"}
    return bank.taken


def charged_with_sql(seed, once_class=OnceSQL):
    with database() as connection:
        connection.execute("CREATE TABLE charges (key TEXT)")

        def make(emu, chance):
            once = once_class(connection, clock=clock_of(emu))
            run(once.create())

            def crash():
                if chance.random() < 0.15:
                    raise WorkerCrashed("between the effect and the end of its transaction")
                return 1

            connection.create_function("crash", 0, crash)

            async def pay(key):
                await once.run(key, [("INSERT INTO charges VALUES (?)", (key,)), ("SELECT crash()", ())])

            return pay

        assert payments(seed, make) == {"acked"}
        return Counter(key for (key,) in connection.execute("SELECT key FROM charges"))


def charged_downstream(seed):
    bank = Bank()

    def make(_emu, chance):
        once = OnceDownstream(lambda answer: answer == "known")

        async def pay(key):
            await once.run(key, lambda k: bank.charge(key, idempotency_key=k))
            if chance.random() < 0.15:
                raise WorkerCrashed("after the effect")

        return pay

    assert payments(seed, make) == {"acked"}
    return bank.taken


def charged_with_kv(seed):
    bank = Bank()

    def make(emu, chance):
        once = OnceKV(MemoryKV(clock_of(emu)), ttl_seconds=4 * DAY)

        async def pay(key):
            async def effect():
                await asyncio.sleep(chance.choice((0, 1)))
                bank.charge(key)

            await once.run(key, effect)

        return pay

    assert payments(seed, make) == {"acked"}
    return bank.taken


ONCE = dict.fromkeys(KEYS, 1)


def test_a_thousand_seeds_without_once_the_effect_repeats():
    repeated = sum(charged_without_once(seed) != ONCE for seed in SEEDS)
    assert repeated > 990


def test_a_thousand_seeds_with_once_in_the_same_transaction():
    for seed in SEEDS:
        assert charged_with_sql(seed) == ONCE, seed


def test_a_thousand_seeds_with_the_key_given_downstream():
    for seed in SEEDS:
        assert charged_downstream(seed) == ONCE, seed


def test_a_thousand_seeds_with_once_over_kv_when_nothing_dies_between_effect_and_record():
    for seed in SEEDS:
        assert charged_with_kv(seed) == ONCE, seed


# --- the gaps


def test_over_kv_two_workers_that_look_at_the_same_moment_both_act():
    kv, done = MemoryKV(), []

    async def effect():
        done.append(1)
        await asyncio.sleep(0)

    async def both():
        one, other = (OnceKV(kv, ttl_seconds=4 * DAY) for _ in range(2))
        await asyncio.gather(one.run("k", effect), other.run("k", effect))

    run(both())
    assert len(done) == 2


def test_over_kv_a_crash_between_effect_and_record_repeats_the_effect():
    done = []

    class Dying(MemoryKV):
        async def put(self, key, value, **options):
            if len(done) == 1:
                raise WorkerCrashed("here")
            await super().put(key, value, **options)

    once = OnceKV(Dying(), ttl_seconds=4 * DAY)
    with pytest.raises(WorkerCrashed):
        run(once.run("k", lambda: done.append(1)))
    run(once.run("k", lambda: done.append(1)))
    assert done == [1, 1]


def test_over_kv_the_record_is_processed_and_the_id_and_lasts_as_long_as_told():
    with account() as emu:
        kv = MemoryKV(clock_of(emu))
        once = OnceKV(kv, ttl_seconds=DAY, retention_seconds=DAY)
        assert run(once.run("task-1", lambda: "sent")) == Outcome(True, "sent")
        assert run(kv.get("processed:task-1")) == "1"
        assert run(once.run("task-1", lambda: "sent")) == Outcome(False)
        assert once.duplicates == 1
        emu.advance(DAY)
        assert run(once.run("task-1", lambda: "again")).ran, "a duplicate that comes after the record is gone acts"


def test_a_ttl_shorter_than_the_retention_is_warned_of():
    with pytest.warns(OnceWarning, match="86,400"):
        OnceKV(MemoryKV())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OnceKV(MemoryKV(), ttl_seconds=345_600)
    with pytest.raises(ValueError, match="60"):
        OnceKV(MemoryKV(), ttl_seconds=5)


def test_an_effect_that_failed_is_not_recorded():
    with database() as connection:
        kv = OnceKV(MemoryKV(), ttl_seconds=4 * DAY)
        seen = OnceSeen(connection)
        run(seen.create())
        for once in (kv, seen, OnceDownstream()):
            with pytest.raises(ZeroDivisionError):
                run(once.run("k", lambda *_: 1 / 0))
            assert run(once.run("k", lambda *_: "now")).ran


def test_one_process_does_not_work_on_one_key_twice_at_once():
    once = OnceKV(MemoryKV(), ttl_seconds=4 * DAY)

    async def both():
        async def effect():
            await asyncio.sleep(0)

        return await asyncio.gather(once.run("k", effect), once.run("k", effect), return_exceptions=True)

    first, second = run(both())
    assert first.ran
    assert isinstance(second, Busy)


def test_record_and_effect_are_one_transaction():
    with database() as connection:
        connection.execute("CREATE TABLE payments (id TEXT)")
        once = OnceSQL(connection)
        run(once.create())
        with pytest.raises(sqlite3.OperationalError):
            run(once.run("p1", [("INSERT INTO payments VALUES ('p1')", ()), ("INSERT INTO nowhere VALUES (1)", ())]))
        assert connection.execute("SELECT count(*) FROM payments").fetchone() == (0,)
        assert run(once.run("p1", [("INSERT INTO payments VALUES ('p1')", ())])) == Outcome(True, [1])
        assert run(once.run("p1", lambda: [("INSERT INTO payments VALUES ('p1')", ())])) == Outcome(False)
        assert connection.execute("SELECT count(*) FROM payments").fetchone() == (1,)
        assert once.duplicates == 1


def test_a_unique_key_of_the_effects_own_table_is_no_duplicate_of_ours():
    with database() as connection:
        connection.execute("CREATE TABLE payments (id TEXT PRIMARY KEY)")
        once = OnceSQL(connection)
        run(once.create())
        connection.execute("INSERT INTO payments VALUES ('p1')")
        with pytest.raises(sqlite3.IntegrityError):
            run(once.run("k", [("INSERT INTO payments VALUES ('p1')", ())]))


def test_two_connections_race_for_one_key(tmp_path):
    path = tmp_path / "once.db"
    outcomes, connections = [], [sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30) for _ in range(4)]
    run(OnceSQL(connections[0]).create())
    connections[0].execute("CREATE TABLE payments (id TEXT)")

    def work(connection):
        once = OnceSQL(connection)
        outcomes.extend(run(once.run(f"p{n}", [("INSERT INTO payments VALUES (?)", (f"p{n}",))])).ran for n in range(20))

    threads = [threading.Thread(target=work, args=(connection,)) for connection in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(True) == 20
    assert connections[0].execute("SELECT count(*), count(DISTINCT id) FROM payments").fetchone() == (20, 20)
    for connection in connections:
        connection.close()


def test_a_claim_keeps_others_away_and_lapses_with_its_owner():
    time = [NOW]
    with database() as connection:
        once = OnceSeen(connection, lease_seconds=60, clock=lambda: time[0])
        run(once.create())

        def dies():
            raise WorkerCrashed("in the middle")

        with pytest.raises(WorkerCrashed):
            run(once.run("k", dies))
        with pytest.raises(Busy):
            run(once.run("k", lambda: "sent"))
        time[0] += 60
        assert run(once.run("k", lambda: "sent")) == Outcome(True, "sent")
        assert run(once.run("k", lambda: "sent")) == Outcome(False)


def test_old_records_can_be_dropped_and_one_can_be_forgotten():
    time = [NOW]
    with database() as connection:
        once = OnceSQL(connection, clock=lambda: time[0])
        run(once.create())
        run(once.run("old", []))
        time[0] += 10 * DAY
        run(once.run("new", []))
        assert run(once.forget_before(4 * DAY)) == 1
        assert run(once.run("old", [])).ran
        run(once.forget("new"))
        assert run(once.run("new", [])).ran


def test_downstream_refuses_the_second_time():
    bank = Bank()
    once = OnceDownstream(lambda answer: answer == "known")
    assert run(once.run("k", lambda k: bank.charge("ann", k))).ran
    assert not run(once.run("k", lambda k: bank.charge("ann", k))).ran
    assert bank.taken == {"ann": 1}
    conflict = OnceDownstream(lambda answer: isinstance(answer, FileExistsError))

    def refuse(_key):
        raise FileExistsError("409")

    assert run(conflict.run("k", refuse)) == Outcome(False)
    with pytest.raises(ValueError, match="without a key"):
        run(once.run("", bank.charge))


def test_there_are_three_levels():
    test_record_and_effect_are_one_transaction()
    test_a_claim_keeps_others_away_and_lapses_with_its_owner()
    test_downstream_refuses_the_second_time()


def test_a_key_comes_from_the_producer_or_not_at_all():
    assert Task("m", "jobs", None, {"key": "k-1"}).key() == "k-1"
    assert Task("m", "jobs", None, {"id": 1, "taskId": "t-1"}).key() == "t-1"
    assert Task("m", "jobs", None, {"orderId": 7}).key("orderId") == "7"
    for body in ({}, {"key": ""}, "text", None, [1]):
        with pytest.raises(MissingKey, match="make it where you send"):
            Task("m", "jobs", None, body).key()


def test_a_name_that_is_no_name_is_refused():
    with pytest.raises(ValueError, match="table"):
        OnceSQL(None, "a; DROP TABLE b")
