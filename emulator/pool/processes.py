"""Processes of this machine that share work. They leave Ctrl-C to their parent."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import warnings
from collections import deque
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class Promised(Protocol):
    """What a task will have given."""

    def result(self) -> Any:
        """Wait for it. Raises what the task raised."""


class Pool(Protocol):
    """Takes tasks."""

    width: int
    """About so many are done at a time."""

    def submit(self, function: Callable[..., Any], *given: Any) -> Promised:
        """Have a function called, somewhere."""

    def as_done(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Tasks as they come to their end."""


class Processes:
    """A pool of processes."""

    def __init__(self, executor: ProcessPoolExecutor, width: int) -> None:
        self.width, self._executor = width, executor

    def submit(self, function: Callable[..., Any], *given: Any) -> Promised:
        """Have a function called in one of them."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)  # threads that stand still
            return self._executor.submit(function, *given)

    def as_done(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Tasks as they come to their end."""
        return as_completed(tasks)


def can_fork() -> bool:
    """Whether a process can be a copy of this one, so that it has functions that no module names."""
    return sys.platform.startswith("linux")


@contextmanager
def processes(count: int, *, copies: bool = False) -> Iterator[Processes]:
    """A pool of so many processes; `copies` of this one, where the system can make such, else new ones."""
    context = multiprocessing.get_context("fork" if copies else "spawn")
    executor = ProcessPoolExecutor(count, mp_context=context, initializer=_quiet)
    try:
        yield Processes(executor, count)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _quiet() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # what a copy has of its parent need not be looked at again


def in_order(pool: Pool, function: Callable[..., Any], items: Iterator[tuple[Any, ...]]) -> Iterator[Any]:
    """What a function gives for each item, in their order; a few are asked for ahead of that."""
    waiting: deque[Promised] = deque()
    for given in items:
        waiting.append(pool.submit(function, *given))
        if len(waiting) >= 2 * pool.width:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def cores() -> int:
    """How many this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
