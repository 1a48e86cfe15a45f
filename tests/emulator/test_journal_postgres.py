"""What is PostgreSQL's own: its tables grow older and newer, it is away and comes back, and what is wrong with it is said."""

from __future__ import annotations

import signal
from contextlib import closing

import pytest

psycopg = pytest.importorskip("psycopg")

from emulator import Emulator  # noqa: E402 - where there is no driver, none of this is tested
from emulator.engine.journal import JournalCorrupt, JournalNewer, JournalUnwritable, StaleWriter, postgres_schema, replay  # noqa: E402
from emulator.engine.journal import postgres as postgres_journal  # noqa: E402
from emulator.engine.journal.postgres import PostgresJournal  # noqa: E402
from emulator.engine.journal.shared import SharedJournal  # noqa: E402
from emulator.server import Service  # noqa: E402
from tests.emulator.core_dump import dump  # noqa: E402
from tests.emulator.test_journal import CREATED, SENT, used  # noqa: E402


def run_sql(url, statement):
    with psycopg.connect(url, autocommit=True) as db:
        return db.execute(statement)


def test_accounts_share_tables_and_nothing_else(postgres):
    with closing(PostgresJournal(postgres, "one")) as one, closing(PostgresJournal(postgres, "other")) as other:
        one.append(0, [CREATED, SENT])
        other.append(0, [CREATED])
        one.keep("queue", "1", "{}")
        assert list(other.read()) == [CREATED]
        assert other.rows() == []
    with closing(PostgresJournal(postgres, "one")) as again:
        assert list(again.read()) == [CREATED, SENT]
        assert again.rows() == [("queue", "1", "{}")]


@pytest.mark.parametrize("version", range(1, postgres_schema.VERSION))
def test_older_tables_are_brought_up_to_date_with_what_is_in_them(version, postgres, monkeypatch):
    with monkeypatch.context() as old:
        old.setattr(postgres_schema, "MIGRATIONS", postgres_schema.MIGRATIONS[:version])
        old.setattr(postgres_schema, "VERSION", version)
        with psycopg.connect(postgres, autocommit=True) as db:
            postgres_schema.migrate(db)
    run_sql(postgres, "INSERT INTO cfq_accounts (name) VALUES ('')")
    with closing(PostgresJournal(postgres)) as journal:
        journal.append(0, [CREATED])
        journal.keep("queue", "1", "{}")
    with Emulator(journal=postgres) as emu:
        assert emu.queues == ["jobs"]


def test_newer_tables_are_refused_and_left_alone(postgres):
    used(postgres).close()
    run_sql(postgres, "UPDATE cfq_version SET version = 99")
    with pytest.raises(JournalNewer, match="version 99"):
        Emulator(journal=postgres)
    assert run_sql(postgres, "SELECT version FROM cfq_version").fetchone() == (99,)


@pytest.mark.parametrize(
    "damage, said",
    [
        (r"UPDATE cfq_events SET data = '\x00' WHERE seq = 2", "event 2 is damaged"),
        ("DELETE FROM cfq_events WHERE seq = 2", "event 2 is missing"),
        (r"UPDATE cfq_events SET data = '\x00', checksum = 3523407757 WHERE seq = 2", "event 2 cannot be read"),
    ],
)
def test_a_damaged_journal_is_refused_with_a_reason(damage, said, postgres):
    used(postgres).close()
    run_sql(postgres, "DELETE FROM cfq_snapshots")
    run_sql(postgres, damage)
    with pytest.raises(JournalCorrupt, match=said):
        Emulator(journal=postgres)


def test_what_cannot_be_used_is_said_in_the_databases_words_without_the_password(postgres, monkeypatch):
    port = postgres.partition("127.0.0.1:")[2].partition("/")[0]
    secret = postgres.replace("postgres@", "nobody:geheim@")
    for url, said in (
        (secret, "nobody"), (secret.replace(port, "1"), "refused"), (postgres.replace("/postgres?", "/no_such?"), "no_such"),
        ("postgresql://h:port/", "port"),
    ):  # fmt: skip
        with pytest.raises(JournalUnwritable, match=said) as refused:
            PostgresJournal(url)
        assert "geheim" not in str(refused.value)
    run_sql(postgres, "CREATE ROLE looker LOGIN")
    with pytest.raises(JournalUnwritable, match=r"permission denied|no schema"):
        PostgresJournal(postgres.replace("postgres@", "looker@"))
    run_sql(postgres, "DROP ROLE looker")
    monkeypatch.setattr(postgres_journal, "psycopg", None)
    with pytest.raises(JournalUnwritable, match=r"pip install 'cfq-lint\[postgres\]'"):
        PostgresJournal(postgres)


def test_a_connection_that_breaks_is_made_anew_and_nothing_is_kept_twice(postgres):
    with closing(PostgresJournal(postgres)) as journal:
        journal.append(0, [CREATED])
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cfq-emulator'"
        run_sql(postgres, others)
        with pytest.raises(JournalUnwritable) as refused:
            journal.append(1, [SENT])
        assert not isinstance(refused.value, StaleWriter)
        journal.append(1, [SENT])
        run_sql(postgres, others)
        with pytest.raises(JournalUnwritable):
            journal.append(2, [SENT])
        with closing(PostgresJournal(postgres)) as other:
            other.append(2, [SENT])  # as if that append had been committed, and only its answer had been lost
        with pytest.raises(StaleWriter):
            journal.append(2, [SENT])
    with closing(PostgresJournal(postgres)) as again:
        assert list(again.read()) == [CREATED, SENT, SENT]


def test_one_leads_and_who_is_frozen_is_followed_by_another_whose_fence_refuses_it(postgres):
    with closing(SharedJournal(postgres)) as one, closing(SharedJournal(postgres)) as other:
        assert one.try_to_lead("http://one")
        one.append(0, [CREATED])
        one.keep("queue", "1", "{}")
        assert not other.try_to_lead("http://other")
        assert other.see() == (1, 1, "http://one", 1)
        with pytest.raises(StaleWriter):
            other.append(1, [SENT])
        run_sql(postgres, "UPDATE cfq_accounts SET beat = beat - interval '3 s'")
        assert other.try_to_lead("http://other")
        assert list(other.read()) == [CREATED]
        other.append(1, [SENT])
        with pytest.raises(JournalUnwritable):
            one.append(1, [SENT])  # its session was ended
        with pytest.raises(JournalUnwritable):
            one.beat()
        with pytest.raises(StaleWriter):
            one.make_sure()
        with closing(PostgresJournal(postgres)) as late:  # and if it were not, or a statement of its were still on its way:
            late.fence = 1
            for act in (lambda: late.append(2, [SENT]), lambda: late.keep("queue", "2", "{}"), lambda: late.drop("queue", "1")):
                with pytest.raises(StaleWriter):
                    act()
            late.keep_snapshot(replay(late.read()))
            assert late.snapshot() is None
        assert other.see() == (2, 1, "http://other", 2)
        assert other.rows() == [("queue", "1", "{}")]


def test_a_leader_that_goes_frees_its_account_at_once(postgres):
    with closing(SharedJournal(postgres)) as other:
        with closing(SharedJournal(postgres)) as one:
            assert one.try_to_lead("http://one")
        with closing(SharedJournal(postgres, "another account")) as third:
            assert third.try_to_lead("http://third")
            assert other.try_to_lead("http://other")


def test_a_state_from_before_is_gone_on_from_unless_the_database_is_of_an_earlier_day(postgres):
    with closing(SharedJournal(postgres)) as journal:
        assert journal.try_to_lead("http://one")
        journal.append(0, [CREATED, SENT])
        state = replay(journal.read())
        journal.go_on_from((2, state))
        assert journal.snapshot() == (2, state)
        journal.go_on_from((3, state))
        assert journal.snapshot() is None


def test_a_server_that_is_stopped_in_a_moment_loses_nothing_that_was_kept(postgres_server, postgres):
    """Without a checkpoint and without a goodbye, in the middle of a service's work."""
    server, url = postgres_server, postgres
    try:
        emu = used(url)
        service = Service(emu, store=emu.account.journal)
        service.directory.rename(service.directory.by_core["jobs"], "renamed")
        before = dump(emu.account.state)
        for how in (signal.SIGQUIT, signal.SIGINT):
            server.stop(how)
            with pytest.raises(JournalUnwritable):
                emu.queue("jobs").send("lost")
            with pytest.raises(JournalUnwritable):
                emu.account.journal.length()
            assert dump(emu.account.state) == before
            server.start()
        assert dump(replay(emu.events)) == before
        emu.queue("jobs").send("kept")
        service.close()
        with Emulator(journal=url) as again:
            assert "kept" in again.queue("jobs").bodies()
            assert sorted(Service(again, store=again.account.journal).directory.by_public) == ["dead", "renamed"]
    finally:
        if server.process.poll() is not None:
            server.start()
