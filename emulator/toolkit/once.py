"""Once: the side effect of a message that comes more than once. Three ways, each with what it does not do.

Queues delivers at least once (https://developers.cloudflare.com/queues/reference/delivery-guarantees/). The key is made by the
producer and travels with the message. Exactly one effect needs the record and the effect in one place: OnceSQL for effects in
the same database, OnceDownstream for those of a service that takes an idempotency key. OnceKV is cheap and leaves two gaps
open.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import Busy
from .sql import Sql, Statement, checked_name, is_duplicate, settled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DAY_SECONDS = 86_400
TTL_MIN_SECONDS = 60
"""KV keeps nothing for less: https://developers.cloudflare.com/kv/api/write-key-value-pairs/#expiring-keys"""


class OnceWarning(UserWarning):
    """A way of deduplicating that forgets before the queue does."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`ran`: the effect happened now, and `value` is what it returned. Else it had happened before."""

    ran: bool
    value: Any = None


class OnceKV:
    """Over a KV-like store: `get(key)`, `put(key, value, expirationTtl=seconds)`, `delete(key)`; sync or async.

    Look, act, record. A crash between act and record repeats the effect, and so do two Workers that look at the same moment (KV
    takes up to a minute to show a write elsewhere). Within one process a key that is being worked on raises Busy. Warns
    (OnceWarning) when `ttl_seconds` is shorter than the retention, for then a late duplicate finds nothing.
    """

    def __init__(
        self, kv: Any, *, ttl_seconds: int = DAY_SECONDS, retention_seconds: int = 345_600, prefix: str = "processed:"
    ) -> None:
        if ttl_seconds < TTL_MIN_SECONDS:
            raise ValueError(f"KV keeps a key for at least {TTL_MIN_SECONDS} s, not {ttl_seconds}")
        if ttl_seconds < retention_seconds:
            text = f"the record is forgotten after {ttl_seconds:,} s, the message may come again for {retention_seconds:,} s"
            warnings.warn(text, OnceWarning, stacklevel=2)
        self.kv, self.ttl_seconds, self.prefix = kv, ttl_seconds, prefix
        self.duplicates = 0
        self._in_hand: set[str] = set()

    async def run(self, key: str, effect: Callable[[], Any]) -> Outcome:
        """Let the effect happen unless the key is recorded. Raises Busy and what the effect raises, unrecorded."""
        if key in self._in_hand:
            raise Busy(f"{key} is being worked on")
        self._in_hand.add(key)
        try:
            if await settled(self.kv.get(self.prefix + key)) is not None:
                self.duplicates += 1
                return Outcome(False)
            value = await settled(effect())
            await settled(self.kv.put(self.prefix + key, "1", expirationTtl=self.ttl_seconds))
            return Outcome(True, value)
        finally:
            self._in_hand.discard(key)

    async def forget(self, key: str) -> None:
        """Let the key happen again: a manual retry under the same key would else be skipped."""
        await settled(self.kv.delete(self.prefix + key))


class OnceSQL:
    """Over a unique key, written in the same transaction as the effect: both or neither, whoever comes at the same time.

    `database` is a `sqlite3.Connection` or D1. The effect is made of statements: a list of (text, arguments), or a function
    that gives one. An effect outside the database is not protected by its transaction; see OnceSeen and OnceDownstream.
    """

    def __init__(self, database: Any, table: str = "once", *, clock: Callable[[], float] = time.time) -> None:
        self.sql, self.table, self.clock = Sql(database), checked_name(table), clock
        self.duplicates = 0

    async def create(self) -> None:
        """Make the table."""
        await self.sql.run(f"CREATE TABLE IF NOT EXISTS {self.table} (key TEXT PRIMARY KEY, at REAL NOT NULL)")

    async def run(self, key: str, effect: Sequence[Statement] | Callable[[], Any]) -> Outcome:
        """Run the statements with the key, in one transaction; `value` are the changed rows. Raises what they raise."""
        statements = await settled(effect()) if callable(effect) else effect
        mark = (f"INSERT INTO {self.table} (key, at) VALUES (?, ?)", (key, self.clock()))  # noqa: S608 - a checked name
        try:
            changed = await self.sql.together([mark, *statements])
        except Exception as error:
            if is_duplicate(error, self.table):
                self.duplicates += 1
                return Outcome(False)
            raise
        return Outcome(True, changed[1:])

    async def forget(self, key: str) -> None:
        """Let the key happen again."""
        await self.sql.run(f"DELETE FROM {self.table} WHERE key = ?", key)  # noqa: S608 - a checked name

    async def forget_before(self, seconds_ago: float) -> int:
        """Drop records older than that: no sooner than the retention. Returns how many."""
        return await self.sql.run(f"DELETE FROM {self.table} WHERE at < ?", self.clock() - seconds_ago)  # noqa: S608 - as above


class OnceSeen:
    """A table of what was seen, written before the effect: for effects outside the database, one consumer at a time.

    Two consumers do not run the same key together: the second raises Busy. A claim lasts `lease_seconds` (longer than the
    effect can take); one that died leaves it behind, and the next takes over. A crash between the effect and its record still
    repeats the effect, unless the other side knows the key too.
    """

    def __init__(
        self, database: Any, table: str = "seen", *, lease_seconds: float = 900, clock: Callable[[], float] = time.time
    ) -> None:
        self.sql, self.table, self.clock, self.lease_seconds = Sql(database), checked_name(table), clock, lease_seconds
        self.duplicates = 0

    async def create(self) -> None:
        """Make the table."""
        await self.sql.run(f"CREATE TABLE IF NOT EXISTS {self.table} (key TEXT PRIMARY KEY, until REAL, done INTEGER NOT NULL)")

    async def run(self, key: str, effect: Callable[[], Any]) -> Outcome:
        """Claim the key, act, record. Raises Busy while another has it; what the effect raises lets the claim go."""
        t, now = self.table, self.clock()
        claimed = await self.sql.run(
            f"INSERT INTO {t} (key, until, done) VALUES (?, ?, 0) "  # noqa: S608 - a checked name
            "ON CONFLICT(key) DO UPDATE SET until = excluded.until WHERE done = 0 AND until <= ?",
            key, now + self.lease_seconds, now,
        )  # fmt: skip
        if not claimed:
            rows = await self.sql.rows(f"SELECT done FROM {t} WHERE key = ?", key)  # noqa: S608 - a checked name
            if rows and rows[0]["done"]:
                self.duplicates += 1
                return Outcome(False)
            raise Busy(f"{key} is being worked on")
        try:
            value = await settled(effect())
        except Exception:
            await self.sql.run(f"DELETE FROM {t} WHERE key = ? AND done = 0", key)  # noqa: S608 - a checked name
            raise
        await self.sql.run(f"UPDATE {t} SET done = 1 WHERE key = ?", key)  # noqa: S608 - a checked name
        return Outcome(True, value)

    async def forget(self, key: str) -> None:
        """Let the key happen again."""
        await self.sql.run(f"DELETE FROM {self.table} WHERE key = ?", key)  # noqa: S608 - a checked name


class OnceDownstream:
    """The other side deduplicates: it gets the key with every call and refuses, or repeats its answer for, one it knows.

    Nothing is kept here. `says_duplicate(answer or error)` tells a repetition from the first time, where the other side tells
    it.
    """

    def __init__(self, says_duplicate: Callable[[Any], bool] = lambda _answer: False) -> None:
        self.says_duplicate = says_duplicate
        self.duplicates = 0

    async def run(self, key: str, effect: Callable[[str], Any]) -> Outcome:
        """Call `effect(key)`. Raises ValueError for an empty key, and what the effect raises."""
        if not key:
            raise ValueError("the other side cannot know a repetition without a key")
        try:
            answer = await settled(effect(key))
        except Exception as error:
            if self.says_duplicate(error):
                self.duplicates += 1
                return Outcome(False)
            raise
        if self.says_duplicate(answer):
            self.duplicates += 1
            return Outcome(False, answer)
        return Outcome(True, answer)


class MemoryKV:
    """A KV-like store in memory, for tests: entries end `expirationTtl` seconds after they were put."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self._entries: dict[str, tuple[str, float | None]] = {}

    async def get(self, key: str) -> str | None:
        """The value; None when there is none, or not any more."""
        value, until = self._entries.get(key, (None, None))
        return value if until is None or self.clock() < until else None

    async def put(
        self,
        key: str,
        value: str,
        options: Mapping[str, Any] | None = None,
        *,
        expirationTtl: float | None = None,  # noqa: N803 - KV's name
    ) -> None:
        """Keep a value, for so many seconds if told."""
        ttl = (options or {}).get("expirationTtl", expirationTtl)
        self._entries[key] = (value, None if ttl is None else self.clock() + ttl)

    async def delete(self, key: str) -> None:
        """Forget a key."""
        self._entries.pop(key, None)
