"""A PostgreSQL journal that several nodes share: one leads the account and writes, the others follow.

Who leads holds an advisory lock of its session, and has raised the account's `fence` with it. When its process dies, the
session ends and PostgreSQL frees the lock. When it freezes or is cut off, its session stays: then its `beat` grows old, and who
finds it older than a lease ends that session. Either way the next one takes the lock and raises the fence.

Why no two lead. A lock has one holder. Who held it before and does not know yet has the old fence, which no append passes
any more (see `postgres`): the fence was raised in the account's row, which the append has to change. Until it knows, it could
answer what needs no append, from a state that is not the last. So it makes sure: it answers within `SURE_SECONDS` of a beat
that was stored, and nobody takes the lock before that beat is older than that by the database's clock, which is later.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.engine.clock import real_seconds, wait_really
from emulator.engine.journal import JournalUnwritable, StaleWriter
from emulator.engine.journal.postgres import PostgresJournal

if TYPE_CHECKING:
    from collections.abc import Iterable

    import psycopg

    from emulator.core.events import Event
    from emulator.core.model import State

BEAT_SECONDS, SURE_SECONDS, LEASE_SECONDS = 0.5, 1.0, 2.0
"""A leader beats so often, beats before an answer where the last beat is so old, and is taken for frozen when it is so old."""
_TELL_SECONDS = 0.05
"""Those who follow are told of appends at most so often: a notification costs, and they look by themselves as well."""
_ENDING_SECONDS = 0.02
"""A session that was told to end has ended so much later, if nothing else is in its way."""

_LEAD = """
WITH unsure AS MATERIALIZED (
    SELECT id FROM cfq_accounts
    WHERE id = %(account)s AND (beat IS NULL OR beat < clock_timestamp() - make_interval(secs => %(sure)s))
), got AS MATERIALIZED (
    SELECT pg_try_advisory_lock('cfq_accounts'::regclass::oid::bigint << 32 | id) AS alone FROM unsure
)
UPDATE cfq_accounts SET fence = fence + 1, address = %(address)s, beat = clock_timestamp()
FROM got WHERE got.alone AND id = %(account)s RETURNING fence, length
"""
_OUST = """
SELECT pg_terminate_backend(held.pid) FROM pg_locks held, cfq_accounts led
WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 1 AND held.pid <> pg_backend_pid()
AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND held.classid = 'cfq_accounts'::regclass::oid AND held.objid = led.id
AND led.id = %(account)s AND led.beat < clock_timestamp() - make_interval(secs => %(lease)s)
"""
_BEAT = "UPDATE cfq_accounts SET beat = clock_timestamp() WHERE id = %(account)s AND fence = %(fence)s"
_GO = "UPDATE cfq_accounts SET beat = NULL WHERE id = %(account)s AND fence = %(fence)s"
_SEE = "SELECT length, directory_changes, address, fence FROM cfq_accounts WHERE id = %s"


class Seen(NamedTuple):
    """The account's row: events, changes of the directory, where its last leader listens, and its term."""

    length: int
    directory_changes: int
    address: str | None
    fence: int


class SharedJournal(PostgresJournal):
    """Follows until it leads, and leads until its session is lost."""

    def __init__(self, url: str, account: str = "") -> None:
        self.leads = False
        self._known: tuple[int, State] | None = None
        self._beat_at = self._told_at = 0.0
        super().__init__(url, account)
        found = self._rows("SELECT 'cfq_accounts'::regclass::oid::bigint")
        self.channel = f"cfq_{found[0][0]}_{self.account}"

    @property
    def follows(self) -> bool:
        """Whether another node leads, or none."""
        return not self.leads

    @property
    def _db(self) -> psycopg.Connection[Any]:
        if self.leads and (self._connection is None or self._connection.closed):
            self.leads = False  # the lock went with the session
            self._keeping.give_up()
            raise JournalUnwritable("the session with the database was lost, and with it the account")
        return super()._db

    # --- to follow

    def go_on_from(self, known: tuple[int, State] | None) -> None:
        """Give a state and the number of its last event, in place of the snapshot; unless the database is of an earlier day."""
        self._known = None if known is None or known[0] > self._length else known

    def snapshot(self) -> tuple[int, State] | None:
        """The state that was given to go on from, else as every journal."""
        known, self._known = self._known, None
        return known or super().snapshot()

    def see(self) -> Seen:
        """Look what there is, and know of as many events from now on."""
        seen = Seen(*self._rows(_SEE, (self.account,))[0])
        self._length = seen.length
        return seen

    def own_host(self) -> str:
        """This computer's address as the database sees it, for other nodes to call; loopback where they share a computer."""
        found = self._rows("SELECT host(inet_client_addr())")[0][0]
        return "127.0.0.1" if found is None else str(found)

    # --- to lead

    def try_to_lead(self, address: str) -> bool:
        """Lead from now on, if nobody does or if who does has not beaten for a lease. Raises JournalUnwritable."""
        values = {"account": self.account, "address": address, "sure": SURE_SECONDS, "lease": LEASE_SECONDS}
        began = real_seconds()
        found = self._run(_LEAD, values).fetchone()
        if found is None and self._run(_OUST, values).fetchall():
            wait_really(_ENDING_SECONDS)
            found = self._run(_LEAD, values).fetchone()
        if found is None:
            return False
        self.fence, self._length = found
        self.leads, self._beat_at = True, began
        return True

    def beat(self) -> None:
        """Say that this node still leads. Raises StaleWriter where another one does, JournalUnwritable."""
        began = real_seconds()
        if self.follows or self._run(_BEAT, self._me).rowcount != 1:
            self.leads = False
            raise self._stale()
        self._beat_at = began

    def make_sure(self) -> None:
        """Before an answer: beat, where the last one is not fresh. Raises as `beat` does."""
        if real_seconds() - self._beat_at > SURE_SECONDS:
            self.beat()
        elif self.follows:
            raise self._stale()

    def close(self) -> None:
        """Let go; who leads makes way for another one at once."""
        if self.leads:
            while self._keeping.busy:
                self._keeping.go_on()
            with suppress(JournalUnwritable):
                self._run(_GO, self._me)
            self.leads = False
        super().close()

    def append(self, expected: int, events: Iterable[Event]) -> None:
        """Keep events. Raises StaleWriter where this node does not lead, or not any more."""
        if self.follows:
            raise self._stale()
        try:
            super().append(expected, events)
        except StaleWriter:
            self.leads = False
            raise

    def _told(self) -> str:
        now = real_seconds()
        if now - self._told_at < _TELL_SECONDS:
            return ""
        self._told_at = now
        return self.channel

    def keep(self, kind: str, key: str, data: str) -> None:
        """Keep a row; where this node follows, what it makes of the leader's rows is its own and for the moment."""
        if not self.follows:
            super().keep(kind, key, data)

    def drop(self, kind: str, key: str) -> None:
        """Let a row go, as `keep`."""
        if not self.follows:
            super().drop(kind, key)
