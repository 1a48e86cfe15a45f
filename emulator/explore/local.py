"""Who runs the shards: this process, or others. Results come in the order of the shards, whoever was quicker."""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from emulator.explore.rewrite import rewritten
from emulator.explore.shards import Result, Shard, Watch, search
from emulator.explore.world import World
from emulator.pool.processes import can_fork, in_order, processes

if TYPE_CHECKING:
    from emulator.pool.processes import Pool

Runner = Callable[[Iterator[Shard], Watch], Iterator[Result]]
"""Runs shards; their results in order."""

_prepared: dict[bytes, World] = {}
_copied: list[World] = []
_one_at_a_time = threading.Lock()


def one_core(world: World) -> Runner:
    """This process, one shard after the other."""

    def run(shards: Iterator[Shard], watch: Watch) -> Iterator[Result]:
        for shard in shards:
            yield search(world, shard, watch)

    return run


@contextmanager
def several(world: World, workers: int, scheduler: str | None) -> Iterator[Runner]:
    """The one process, several, or a cluster. Raises ValueError for a world that cannot be told to others."""
    if scheduler is not None:
        from emulator.pool.cluster import cluster

        with cluster(scheduler) as pool:
            yield _shared(pool, _remote, _told(world))
    elif workers > 1 and can_fork():
        _copied.append(world)
        try:
            with processes(workers, copies=True) as pool:
                yield _shared(pool, _copy)
        finally:
            _copied.remove(world)
    elif workers > 1:
        with processes(workers) as pool:
            yield _shared(pool, _remote, _told(world))
    else:
        yield one_core(world)


def _shared(pool: Pool, work: Callable[..., Result], *first: Any) -> Runner:
    def run(shards: Iterator[Shard], watch: Watch) -> Iterator[Result]:
        for result in in_order(pool, work, ((*first, shard) for shard in shards)):
            watch(result.schedules)
            yield result

    return run


def _copy(shard: Shard) -> Result:
    """In a copy of this process: the world is there."""
    return search(_copied[-1], shard)


def _told(world: World) -> bytes:
    """A world for another process: functions by their names, or by their code where Dask brings what can write that."""
    given = (world.setup, world.invariants, world.each_step, world.options, [os.getcwd(), *sys.path])
    try:
        dumps: Callable[[Any], bytes] = import_module("cloudpickle").dumps  # Dask brings it
    except ImportError:
        dumps = pickle.dumps
    try:
        return dumps(given)
    except Exception as error:
        raise ValueError(f"other processes need functions that a module names: {error}") from error


def _remote(told: bytes, shard: Shard) -> Result:
    """In another process: the world is made there once."""
    with _one_at_a_time:  # a worker may have threads, and what a search changes is the whole process's
        if told not in _prepared:
            sys.path += [path for path in pickle.loads(told)[4] if path not in sys.path]  # noqa: S301 - our own parent wrote it
            setup, invariants, each_step, options, _ = pickle.loads(told)  # noqa: S301 - as above
            ExitStack().enter_context(rewritten([setup, *invariants]))
            _prepared[told] = World(setup, invariants, each_step=each_step, options=options)
        return search(_prepared[told], shard)
