"""A table of tasks: where each one stands, how often it was tried, the retry rate with its alarm, and the retry by hand.

Times are ISO texts in UTC with milliseconds, one form in every column. The course compares toISOString() with SQLite's
datetime(): a "T" is greater than a blank, so its window of an hour takes in the whole day.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .sql import Sql, checked_name, settled

if TYPE_CHECKING:
    from collections.abc import Callable

HOUR_SECONDS = 3_600
PENDING, COMPLETED, FAILED, REVOKED = "pending", "completed", "failed", "revoked"

COLUMNS = """id TEXT PRIMARY KEY, user_id TEXT NOT NULL, type TEXT NOT NULL, payload TEXT NOT NULL, status TEXT NOT NULL,
retry_count INTEGER NOT NULL DEFAULT 0, error_message TEXT, created_at TEXT NOT NULL, completed_at TEXT, updated_at TEXT NOT
NULL"""

CHECKLIST = (
    "does the other side limit the rate (429)?",
    "is the network unstable (timeouts, resets)?",
    "is the other side overloaded (5xx)?",
)
"""What to look at when the retry rate jumps."""


@dataclass(frozen=True, slots=True)
class RetryRate:
    """Tasks made in the window, how many of them were retried, and their share from 0 to 1 (0 when there are none)."""

    total: int
    retried: int

    @property
    def rate(self) -> float:
        """The share of tasks that were retried."""
        return self.retried / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class RateJump:
    """A retry rate that jumped: `text` for people, `checklist` of what to look at."""

    before: float
    now: float
    checklist: tuple[str, ...] = CHECKLIST

    @property
    def text(self) -> str:
        """The alarm in one line."""
        return f"retry rate jumped from {self.before:.0%} to {self.now:.0%}: {' '.join(self.checklist)}"


class RateAlarm:
    """Remembers the usual retry rate and tells of a jump: from 5 % to 30 %, say.

    It sounds when the rate is at least `least` and `factor` times the usual one. Windows with fewer than `enough` tasks say
    nothing. While it sounds, what was usual stays.
    `usual` is the rate to begin with; without it the first one is taken.
    """

    def __init__(self, *, factor: float = 3.0, least: float = 0.2, enough: int = 10, usual: float | None = None) -> None:
        self.factor, self.least, self.enough = factor, least, enough
        self.usual = usual

    def see(self, rate: RetryRate) -> RateJump | None:
        """Take note of a rate; the jump, if it is one."""
        if rate.total < self.enough:
            return None
        usual = self.usual
        if usual is not None and rate.rate >= self.least and rate.rate >= self.factor * usual:
            return RateJump(usual, rate.rate)
        self.usual = rate.rate
        return None


def iso(seconds: float) -> str:
    """Seconds since 1970 as the table writes them: 2026-01-01T00:00:00.000Z."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class TaskTable:
    """Tasks in a database of `sqlite3` or D1. `clock` gives seconds since 1970."""

    def __init__(self, database: Any, table: str = "tasks", *, clock: Callable[[], float] = time.time) -> None:
        self.sql, self.table, self.clock = Sql(database), checked_name(table), clock

    async def create(self) -> None:
        """Make the table."""
        await self.sql.run(f"CREATE TABLE IF NOT EXISTS {self.table} ({COLUMNS})")

    async def add(self, id: str, user_id: str, type: str, payload: Any) -> bool:
        """Record a task before it is queued, pending. False where its id is known."""
        now = iso(self.clock())
        return bool(await self.sql.run(
            f"INSERT OR IGNORE INTO {self.table} (id, user_id, type, payload, status, created_at, updated_at) "  # noqa: S608 - a checked name
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            id, user_id, type, json.dumps(payload), PENDING, now, now,
        ))  # fmt: skip

    async def get(self, id: str, user_id: str | None = None) -> dict[str, Any] | None:
        """A task's row, if that user (when one is given) owns it."""
        rows = await self.sql.rows(f"SELECT * FROM {self.table} WHERE id = ?", id)  # noqa: S608 - a checked name
        return rows[0] if rows and user_id in {None, rows[0]["user_id"]} else None

    async def is_completed(self, id: str) -> bool:
        """Whether the task is done: then a delivery of it is a duplicate."""
        row = await self.get(id)
        return row is not None and row["status"] == COMPLETED

    def completion(self, id: str) -> tuple[str, tuple[Any, ...]]:
        """The guarded statement that completes a task, to go into one transaction with its effect."""
        now = iso(self.clock())
        text = (
            f"UPDATE {self.table} SET status = 'completed', completed_at = ?, updated_at = ?, error_message = NULL "  # noqa: S608 - a checked name
            "WHERE id = ? AND status != 'completed'"
        )
        return text, (now, now, id)

    async def complete(self, id: str) -> bool:
        """Mark a task completed. False when it was already: another consumer was first."""
        text, arguments = self.completion(id)
        return bool(await self.sql.run(text, *arguments))

    async def count_retry(self, id: str, retries: int, error: str = "") -> None:
        """Record how often a task has been retried, and why; a late report never lowers the count."""
        await self.sql.run(
            f"UPDATE {self.table} SET retry_count = max(retry_count, ?), error_message = ?, updated_at = ? "  # noqa: S608 - a checked name
            "WHERE id = ? AND status != 'completed'",
            retries, error, iso(self.clock()), id,
        )  # fmt: skip

    async def fail(self, id: str, reason: str, status: str = FAILED) -> bool:
        """Mark a task failed (or revoked) for a reason. False when it is completed."""
        return bool(await self.sql.run(
            f"UPDATE {self.table} SET status = ?, error_message = ?, updated_at = ? "  # noqa: S608 - a checked name
            "WHERE id = ? AND status != 'completed'",
            status, reason, iso(self.clock()), id,
        ))  # fmt: skip

    async def retry_rate(self, window_seconds: float = HOUR_SECONDS) -> RetryRate:
        """Of the tasks made in the last hour: how many, and how many of them were retried."""
        rows = await self.sql.rows(
            f"SELECT COUNT(*) AS total, SUM(CASE WHEN retry_count > 0 THEN 1 ELSE 0 END) AS retried FROM {self.table} "  # noqa: S608 - a checked name
            "WHERE created_at > ?",
            iso(self.clock() - window_seconds),
        )
        return RetryRate(int(rows[0]["total"] or 0), int(rows[0]["retried"] or 0))

    async def average_retries(self, window_seconds: float = HOUR_SECONDS) -> float:
        """How often the completed tasks of the last hour were retried, on average; 0 when there are none."""
        rows = await self.sql.rows(
            f"SELECT AVG(retry_count) AS average FROM {self.table} WHERE status = 'completed' AND created_at > ?",  # noqa: S608 - a checked name
            iso(self.clock() - window_seconds),
        )
        return float(rows[0]["average"] or 0)

    async def retry(self, id: str, user_id: str, queue: Any, once: Any = None) -> tuple[int, dict[str, str]]:
        """Retry a failed task by hand: (HTTP status, JSON). 404 if it is not this user's, 400 if it has not failed.

        Resets the row, forgets the key in `once` (else the retry would pass for a duplicate), and queues the first payload
        again with its `taskId`. Two calls at once queue it once. When queueing fails, the row is failed again and the error
        comes through.
        """
        row = await self.get(id, user_id)
        if row is None:
            return 404, {"error": "Not found"}
        reset = row["status"] == FAILED and await self.sql.run(
            f"UPDATE {self.table} SET status = 'pending', retry_count = 0, error_message = NULL, updated_at = ? "  # noqa: S608 - a checked name
            "WHERE id = ? AND user_id = ? AND status = 'failed'",
            iso(self.clock()), id, user_id,
        )  # fmt: skip
        if not reset:
            return 400, {"error": "Only failed tasks can be retried"}
        payload = json.loads(row["payload"])
        try:
            if once is not None:
                await settled(once.forget(id))
            await settled(queue.send({**payload, "taskId": id}))
        except Exception as error:
            await self.fail(id, f"not queued: {error}")
            raise
        return 200, {"status": "retrying"}
