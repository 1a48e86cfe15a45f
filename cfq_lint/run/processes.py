"""Spread work over processes. This process works as well, so that only the others' results have to travel."""

from __future__ import annotations

import os
import pickle
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


_PROTOCOL = pickle.HIGHEST_PROTOCOL
PARTS_MAX = 256
"""So many parts can be told apart by one byte."""


def spread(function: Callable[[Any], Any], parts: list[Any], jobs: int) -> list[Any]:
    """`[function(part) for part in parts]`, done by `jobs` processes, of which this is one. At most PARTS_MAX parts.

    Each takes the next part when it is done with one, so that none waits for a slower one. Where processes cannot be forked, or
    one dies, its parts are done here: slower, and nothing is lost.
    """
    if sys.platform != "linux":
        return [function(part) for part in parts]
    claims, writer = os.pipe()
    os.write(writer, bytes(range(len(parts))))
    os.close(writer)
    children = [_fork(function, parts, claims) for _ in range(jobs - 1)]
    results = dict(_claimed(function, parts, claims))
    os.close(claims)
    for child, reader in children:
        with os.fdopen(reader, "rb") as pipe:
            received = pipe.read()
        _, status = os.waitpid(child, 0)
        if status == 0:
            results |= {number: pickle.loads(result) for number, result in pickle.loads(received)}  # noqa: S301 - our own child
    return [results[number] if number in results else function(part) for number, part in enumerate(parts)]


def _claimed(function: Callable[[Any], Any], parts: list[Any], claims: int) -> Iterator[tuple[int, Any]]:
    """Take the numbers of parts from a pipe, one by one until it is empty, and do them."""
    while number := os.read(claims, 1):
        yield number[0], function(parts[number[0]])


def _fork(function: Callable[[Any], Any], parts: list[Any], claims: int) -> tuple[int, int]:
    """Start a child on what it can claim; its process id, and the end of a pipe from which its pickled results can be read."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    status = 1
    try:
        os.close(reader)
        with os.fdopen(writer, "wb") as pipe:
            # Each result as soon as it is there: who takes fewer parts for it is the one that has to pickle them.
            done = [(number, pickle.dumps(result, _PROTOCOL)) for number, result in _claimed(function, parts, claims)]
            pickle.dump(done, pipe, _PROTOCOL)
        status = 0
    finally:
        # No cleaning up of what belongs to the parent: its buffers, its exit handlers.
        os._exit(status)
