"""The Workers that a server runs: loaded from their configurations, asked for what they answer, loaded anew by a reset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.server.wire.refusals import NoRoute
from emulator.workers.config import load_all
from emulator.workers.host import Attachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emulator.server.directory import Directory
    from emulator.testing.emulator import Emulator
    from emulator.workers.config import Config


class Served(NamedTuple):
    """A Worker that runs here, and what its configuration says."""

    config: Config
    worker: Any

    @property
    def name(self) -> str:
        """What it is called: its script, or the folder that it stands in."""
        return self.config.script or self.config.file.absolute().parent.name


class Workers:
    """Workers of wrangler files on one account. `responder` answers what they fetch; None refuses it."""

    def __init__(
        self, emulator: Emulator, files: Iterable[str], env: str | None, responder: Callable[[Any], Any] | None = None
    ) -> None:
        self._emulator, self._env, self._responder = emulator, env, responder
        self._files = list(files)
        self.served: list[Served] = []
        self.load()

    def load(self) -> None:
        """Load every Worker. Raises Refused (ConfigRefused), and what their modules raise."""
        for config in load_all(self._files, self._env, self._emulator.plan):
            worker = self._emulator.worker(config.file, env=self._env, fetch=self._responder)
            self.served.append(Served(config, worker))

    def introduce(self, directory: Directory, now_us: int) -> None:
        """Show each as the producer and the consumer that it is."""
        for config, _ in self.served:
            introduce(directory, config, now_us)

    def close(self) -> None:
        """Let go of them, and end the processes that they run in."""
        deliveries = self._emulator.timeline.deliveries
        while self.served:
            worker = self.served.pop().worker
            worker.close()
            if isinstance(worker, Attachable):
                deliveries.remove(worker.target().runtime)

    def find(self, name: str | None) -> Served:
        """The Worker of a name; without one, the first. Refuses with 7003."""
        for each in self.served:
            if name in {None, each.name}:
                return each
        known = ", ".join(each.name for each in self.served) or "none"
        raise NoRoute("no Worker runs here" if name is None else f"there is no Worker {name!r} (there are: {known})")


def introduce(directory: Directory, config: Config, now_us: int) -> None:
    """Show the Worker of a wrangler file as the producer and the consumer that it is."""
    producer, rows = {"type": "worker", "script": config.script}, directory.by_core
    for name in config.bindings.values():
        directory.save(rows[name], producers=[producer])
    for name in config.consumers:
        known = rows[name]["consumer"] or directory.new_consumer(now_us)
        directory.save(rows[name], consumer=known | {"script": config.script})
