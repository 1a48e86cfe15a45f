"""The workers of a Dask cluster share work: https://distributed.dask.org/. Needs the extra `cluster`.

A worker that is lost costs the time of its task alone: Dask gives it to another one, and it gives the same there.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emulator.pool.processes import Promised

_WAIT_SECONDS = 10


class Cluster:
    """A pool of Dask workers. `width` is how many threads they have together."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.width = max(1, sum(client.nthreads().values()))

    def submit(self, function: Callable[..., Any], *given: Any) -> Promised:
        """Have a function called on one of them."""
        made: Promised = self._client.submit(function, *given, pure=False, retries=3)
        return made

    def as_done(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Tasks as they come to their end."""
        import distributed

        dask: Any = distributed  # it tells no types
        done: Iterator[Any] = dask.as_completed(list(tasks), loop=self._client.loop)
        return done


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """The workers of a scheduler, such as tcp://10.0.0.1:8786. Raises ValueError where there is none, or no Dask here."""
    try:
        import distributed
    except ImportError:
        raise ValueError("a scheduler needs Dask: pip install 'cfq-lint[cluster]'") from None
    dask: Any = distributed  # it tells no types
    try:
        client = dask.Client(address, timeout=_WAIT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"no Dask scheduler answers at {address}: {error}") from None
    try:
        if not client.nthreads():
            client.wait_for_workers(1, timeout=_WAIT_SECONDS)
        yield Cluster(client)
    finally:
        client.close()
