"""The task table: status guard, retry rate with its alarm, retry by hand; over sqlite3 and over something like D1."""

from __future__ import annotations

import asyncio

import pytest

from emulator.toolkit import MemoryKV, OnceKV, OnceSQL, RateAlarm, RetryRate, TaskTable
from emulator.toolkit.sql import Sql
from tests.emulator.toolkit.support import NOW, Binding, database, run

COLUMNS = ["id", "user_id", "type", "payload", "status", "retry_count", "error_message", "created_at", "completed_at", "updated_at"]


class LikeD1:
    """D1's face over sqlite3: prepare, bind, all, batch; answers are mappings, and a batch is one transaction."""

    def __init__(self, connection):
        self.connection = connection

    def prepare(self, text):
        return Prepared(self, text)

    async def batch(self, statements):
        self.connection.execute("BEGIN")
        try:
            answers = [await statement.all() for statement in statements]
        except BaseException:
            self.connection.rollback()
            raise
        self.connection.commit()
        return answers


class Prepared:
    """A statement of LikeD1."""

    def __init__(self, database, text, arguments=()):
        self.database, self.text, self.arguments = database, text, arguments

    def bind(self, *arguments):
        return Prepared(self.database, self.text, arguments)

    async def all(self):
        cursor = self.database.connection.execute(self.text, self.arguments)
        names = [column[0] for column in cursor.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        return {"results": rows, "meta": {"changes": max(0, cursor.rowcount)}}


def with_table(work):
    """Run `work(table, time)` over both databases."""
    for face in (lambda connection: connection, LikeD1):
        with database() as connection:
            time = [NOW]
            table = TaskTable(face(connection), clock=lambda time=time: time[0])
            run(table.create())
            run(work(table, time))


def test_the_table_has_the_courses_columns():
    async def work(table, _time):
        assert await table.add("t1", "ann", "parse_pdf", {"file": "a.pdf"})
        assert not await table.add("t1", "bob", "parse_pdf", {})
        row = await table.get("t1")
        assert list(row) == COLUMNS
        assert (row["status"], row["retry_count"], row["payload"]) == ("pending", 0, '{"file": "a.pdf"}')
        assert row["created_at"] == "2026-01-01T00:00:00.000Z"

    with_table(work)


def test_a_completed_task_is_not_completed_again():
    async def work(table, time):
        await table.add("t1", "ann", "x", {})
        assert not await table.is_completed("t1")
        assert await table.complete("t1")
        time[0] += 60
        assert not await table.complete("t1")
        assert not await table.fail("t1", "too late")
        await table.count_retry("t1", 3, "too late")
        row = await table.get("t1")
        assert (row["status"], row["retry_count"], row["completed_at"]) == ("completed", 0, "2026-01-01T00:00:00.000Z")
        assert await table.is_completed("t1")

    with_table(work)


def test_the_status_guard_lets_one_of_two_consumers_act():
    async def work(table, _time):
        await table.add("t1", "ann", "x", {})
        assert sorted(await asyncio.gather(table.complete("t1"), table.complete("t1"))) == [False, True]

    with database() as connection:
        table = TaskTable(connection)
        run(table.create())
        run(work(table, None))


def test_the_completion_goes_into_one_transaction_with_the_effect():
    with database() as connection:
        connection.execute("CREATE TABLE paid (id TEXT)")
        table, once = TaskTable(connection), OnceSQL(connection)
        run(table.create())
        run(once.create())
        run(table.add("t1", "ann", "x", {}))
        effect = [("INSERT INTO paid VALUES (?)", ("t1",)), table.completion("t1")]
        assert run(once.run("t1", effect)).value == [1, 1]
        assert not run(once.run("t1", effect)).ran
        assert run(table.is_completed("t1"))


def test_the_retry_rate_of_the_last_hour():
    async def work(table, time):
        assert (await table.retry_rate()).rate == 0
        assert await table.average_retries() == 0
        await table.add("old", "ann", "x", {})
        await table.count_retry("old", 5)
        time[0] += 3_601
        for n in range(4):
            await table.add(f"t{n}", "ann", "x", {})
        await table.count_retry("t0", 1, "timeout")
        assert await table.retry_rate() == RetryRate(4, 1)
        assert (await table.retry_rate()).rate == 0.25
        assert (await table.retry_rate(7_200)).total == 5

    with_table(work)


def test_the_window_is_an_hour_and_not_the_whole_day():
    """With SQLite's datetime() against toISOString(), what was made at noon is still "within the hour" at midnight."""
    async def work(table, time):
        await table.add("t1", "ann", "x", {})
        time[0] += 2 * 3_600
        assert (await table.retry_rate()).total == 0

    with_table(work)


def test_average_retries_of_completed_tasks():
    async def work(table, _time):
        for id, retries in (("a", 0), ("b", 3), ("c", 9)):
            await table.add(id, "ann", "x", {})
            await table.count_retry(id, retries)
        await table.complete("a")
        await table.complete("b")
        assert await table.average_retries() == 1.5

    with_table(work)


def test_a_late_report_does_not_lower_the_count():
    async def work(table, _time):
        await table.add("t1", "ann", "x", {})
        await table.count_retry("t1", 3)
        await table.count_retry("t1", 2)
        assert (await table.get("t1"))["retry_count"] == 3

    with_table(work)


def test_a_jump_from_five_to_thirty_percent_sounds_the_alarm():
    alarm = RateAlarm()
    assert alarm.see(RetryRate(100, 5)) is None
    assert alarm.see(RetryRate(100, 6)) is None
    assert alarm.see(RetryRate(3, 3)) is None, "three tasks are no rate"
    jump = alarm.see(RetryRate(100, 30))
    assert (jump.before, jump.now) == (0.06, 0.3)
    assert alarm.see(RetryRate(100, 35)) is not None, "it sounds as long as it lasts"
    assert alarm.see(RetryRate(100, 7)) is None


def test_the_alarm_can_be_told_what_is_usual():
    assert RateAlarm().see(RetryRate(100, 30)) is None
    assert RateAlarm(usual=0.05).see(RetryRate(100, 30)) is not None


def test_the_alarm_says_where_to_look():
    jump = [alarm.see(rate) for alarm in [RateAlarm()] for rate in (RetryRate(100, 5), RetryRate(100, 30))][1]
    for word in ("5% to 30%", "limit the rate", "network", "overloaded"):
        assert word in jump.text


def failed(table):
    async def prepare():
        await table.add("t1", "ann", "parse_pdf", {"file": "a.pdf", "taskId": "forged"})
        await table.count_retry("t1", 3, "timeout")
        await table.fail("t1", "max retries exceeded (3)")

    return prepare()


def test_a_manual_retry_is_for_the_owner():
    async def work(table, _time):
        await failed(table)
        queue = Binding()
        assert await table.retry("t1", "bob", queue) == (404, {"error": "Not found"})
        assert await table.retry("t9", "ann", queue) == (404, {"error": "Not found"})
        assert queue.sent == []

    with_table(work)


def test_a_manual_retry_is_for_failed_tasks():
    async def work(table, _time):
        await table.add("t1", "ann", "x", {})
        queue = Binding()
        assert await table.retry("t1", "ann", queue) == (400, {"error": "Only failed tasks can be retried"})
        await table.complete("t1")
        assert (await table.retry("t1", "ann", queue))[0] == 400
        assert queue.sent == []

    with_table(work)


def test_a_manual_retry_resets_the_task_and_queues_its_payload_again():
    async def work(table, time):
        await failed(table)
        time[0] += 60
        queue = Binding()
        assert await table.retry("t1", "ann", queue) == (200, {"status": "retrying"})
        assert queue.sent == [{"file": "a.pdf", "taskId": "t1"}]
        row = await table.get("t1")
        assert (row["status"], row["retry_count"], row["error_message"]) == ("pending", 0, None)
        assert row["updated_at"] == "2026-01-01T00:01:00.000Z"

    with_table(work)


def test_two_manual_retries_at_once_queue_it_once():
    async def work(table, _time):
        await failed(table)
        queue = Binding()
        answers = await asyncio.gather(table.retry("t1", "ann", queue), table.retry("t1", "ann", queue))
        assert sorted(code for code, _ in answers) == [200, 400]
        assert len(queue.sent) == 1

    with_table(work)


def test_a_manual_retry_forgets_that_the_task_was_processed():
    async def work(table, _time):
        await failed(table)
        once = OnceKV(MemoryKV(), ttl_seconds=345_600)
        await once.run("t1", lambda: None)
        await table.retry("t1", "ann", Binding(), once)
        assert (await once.run("t1", lambda: None)).ran

    with_table(work)


def test_a_manual_retry_that_cannot_be_queued_leaves_the_task_failed():
    async def work(table, _time):
        await failed(table)
        with pytest.raises(ConnectionError):
            await table.retry("t1", "ann", Binding(ConnectionError("down")))
        assert (await table.get("t1"))["status"] == "failed"

    with_table(work)


def test_statements_together_are_all_or_none():
    async def work(face):
        sql = Sql(face)
        await sql.run("CREATE TABLE a (n INTEGER PRIMARY KEY)")
        with pytest.raises(Exception, match="UNIQUE"):
            await sql.together([("INSERT INTO a VALUES (1)", ()), ("INSERT INTO a VALUES (1)", ())])
        assert await sql.rows("SELECT * FROM a") == []
        assert await sql.together([("INSERT INTO a VALUES (?)", (1,)), ("UPDATE a SET n = 2", ())]) == [1, 1]

    for face in (lambda connection: connection, LikeD1):
        with database() as connection:
            run(work(face(connection)))
