"""One batch in the hands of its handler, and what went wrong with it."""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any

from cfq_lint.facts import limits as cloudflare
from emulator.engine.clock import SECOND_US, moment
from emulator.engine.error_text import error_repr

if TYPE_CHECKING:
    from emulator.core.events import Delivered
    from emulator.engine.targets.batch import MessageBatch

WALL_US = cloudflare.CONSUMER_WALL_SECONDS * SECOND_US

current: contextvars.ContextVar[Invocation | None] = contextvars.ContextVar("invocation", default=None)
"""The invocation whose code runs, so that its tasks can be told from others."""


class Invocation:
    """One batch in the hands of its handler."""

    __slots__ = (
        "batch", "crashed", "error", "event", "finished", "open_awaits", "returned", "tasks", "wall_us",
    )  # fmt: skip

    def __init__(self, event: Delivered, batch: MessageBatch) -> None:
        self.event, self.batch = event, batch
        self.wall_us = event.at_us + WALL_US
        self.error: BaseException | None = None
        self.returned = self.finished = self.crashed = False
        self.open_awaits = 0
        self.tasks: dict[asyncio.Task[Any], None] = {}  # in order, so that every run cuts them off in the same order

    def forget(self, task: asyncio.Task[Any]) -> None:
        """A task of this invocation is done."""
        self.tasks.pop(task, None)

    def fail(self, error: BaseException) -> None:
        """Remember the first error; it decides the outcome."""
        if self.error is None:
            self.error = error


class Failure:
    """A handler's error: when, on which queue and batch, and the exception itself."""

    __slots__ = ("at", "batch", "error", "queue", "raised")

    def __init__(self, at_us: int, queue: str, batch: int, error: BaseException) -> None:
        self.at, self.queue, self.batch, self.error = moment(at_us), queue, batch, error
        self.raised = False

    def __repr__(self) -> str:
        return f"Failure(at={self.at.isoformat()}, queue={self.queue!r}, batch={self.batch}, error={error_repr(self.error)})"


def enrol(loop: Any, work: Any, **options: Any) -> asyncio.Task[Any]:
    """Make a task, and remember to which invocation it belongs."""
    task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, **options)
    invocation = current.get()
    if invocation is not None:
        invocation.tasks[task] = None
        task.add_done_callback(invocation.forget)
    return task
