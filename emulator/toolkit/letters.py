"""Dead letters in a table: id, type, queue, the payload as it came, the error with its whole stack, and when."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from .panics import stack_of
from .sql import Sql, checked_name, settled
from .tasks import iso

if TYPE_CHECKING:
    from collections.abc import Callable

    from .task import Task


class DeadLetters:
    """Keeps what was given up. `tell(text)` is the alarm: a chat, a pager; it is called after the row is stored."""

    def __init__(
        self,
        database: Any,
        table: str = "dead_letters",
        *,
        tell: Callable[[str], Any] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.sql, self.table, self.tell, self.clock = Sql(database), checked_name(table), tell, clock

    async def create(self) -> None:
        """Make the table."""
        await self.sql.run(
            f"CREATE TABLE IF NOT EXISTS {self.table} (task_id TEXT PRIMARY KEY, type TEXT, queue TEXT NOT NULL, "
            "payload TEXT NOT NULL, error TEXT NOT NULL, stack TEXT NOT NULL, created_at TEXT NOT NULL)"
        )

    async def keep(self, error: BaseException, task: Task) -> None:
        """Store a task that was given up, and tell somebody, once: fits `on_exhausted`."""
        new = await self.sql.run(
            f"INSERT OR IGNORE INTO {self.table} VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - a checked name
            task.id, task.type, task.queue, json.dumps(task.payload, default=str), f"{type(error).__name__}: {error}",
            stack_of(error), iso(self.clock()),
        )  # fmt: skip
        if new and self.tell is not None:
            await settled(self.tell(f"[DEAD LETTER] id={task.id} type={task.type} queue={task.queue} err={error}"))

    async def all(self) -> list[dict[str, Any]]:
        """Every letter, oldest first."""
        return await self.sql.rows(f"SELECT * FROM {self.table} ORDER BY created_at, task_id")  # noqa: S608 - a checked name

    async def resend(self, task_id: str, queue: Any) -> bool:
        """Queue a letter's payload again, and drop the letter. False when there is none."""
        rows = await self.sql.rows(f"SELECT payload FROM {self.table} WHERE task_id = ?", task_id)  # noqa: S608 - a checked name
        if not rows:
            return False
        await settled(queue.send(json.loads(rows[0]["payload"])))
        await self.sql.run(f"DELETE FROM {self.table} WHERE task_id = ?", task_id)  # noqa: S608 - a checked name
        return True
