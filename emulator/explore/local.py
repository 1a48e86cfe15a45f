"""Who runs the shards: this process, or several here. Results come in the order of the shards, whoever was quicker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from emulator.explore.shards import Result, Shard, Watch, search

if TYPE_CHECKING:
    from emulator.explore.world import World

Pool = Callable[[Iterator[Shard], Watch], Iterator[Result]]
"""Runs shards; their results in order."""


@contextmanager
def one_core(world: World) -> Iterator[Pool]:
    """This process, one shard after the other."""

    def pool(shards: Iterator[Shard], watch: Watch) -> Iterator[Result]:
        for shard in shards:
            yield search(world, shard, watch)

    yield pool
