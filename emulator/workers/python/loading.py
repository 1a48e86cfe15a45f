"""Loads a Python Worker: what its configuration asks for is made and bound, and it consumes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from emulator.core.refusals import ConfigRefused
from emulator.engine.targets.python import NO_WAIT_FLAG
from emulator.workers import config
from emulator.workers.bindings import put_by_test
from emulator.workers.python.environment import WorkerEnvironment, unsupported_binding
from emulator.workers.python.javascript.convert import python_from_rpc
from emulator.workers.python.worker import Worker
from emulator.workers.setup import bindings_of, install, lacks_handler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emulator.workers.config import Config
    from emulator.workers.host import Host
    from emulator.workers.outgoing import Outgoing


def load(
    host: Host,
    source: Config | Path,
    *,
    secrets: Mapping[str, str] | None = None,
    bindings: Mapping[str, Any] | None = None,
    kv: Iterable[str] = (),
    d1: Iterable[str] = (),
    fetch: Callable[[Outgoing], Any] | None = None,
) -> Worker:
    """Load a Worker: of a configuration, whose queues, consumers and bindings are made, or of a .py file.

    `secrets` and `bindings` go into its `env`; so do a KV namespace for each name in `kv` and a D1 database for each in `d1`.
    `fetch` answers its outgoing requests.

    Raises Refused (ConfigRefused) for a config without a Python main, and what the Worker's module raises.
    """
    stores = host.stores
    made = {**{name: stores.kv(name) for name in kv}, **{name: stores.d1(name) for name in d1}}
    more = {**made, **(secrets or {}), **(bindings or {})}
    if isinstance(source, Path):
        return _of_file(host, source, more, fetch)
    return _of_config(host, source, _main(source), more, fetch)


def _main(found: Config) -> Path:
    """The Worker's main file. Raises ConfigRefused for one that is no Python or is not there."""
    if found.main is None or found.main.suffix != ".py":
        said = f"its main is {_shown(found)!r}" if found.main else "it has no main"
        raise ConfigRefused(f"{found.file} is no Python Worker: {said}, and a Python Worker's is a .py file")
    if not found.main.is_file():
        raise ConfigRefused(f"{found.file} names {_shown(found)!r} as main, and there is no such file")
    return found.main


def _shown(found: Config) -> str:
    assert found.main is not None, "asked only where there is one"
    return found.main.relative_to(found.file.absolute().parent).as_posix()


def _of_file(host: Host, main: Path, more: dict[str, Any], responder: Any) -> Worker:
    """A Worker for every consumer that waits for a handler; its `env` is the emulator's."""
    env = WorkerEnvironment(
        host.content_type, lambda name: getattr(host.env, name), lambda: iter([*host.env, *put_by_test(host.env)])
    )
    _bind_all(env, more)
    project = main.parent.parent if main.parent.name == "src" else main.parent
    classes = config.handlers_are_classes(host.flags)
    worker = Worker(host, main, env, project=project, classes=classes, waits=True, responder=responder)
    for name, queue in sorted(host.account.state.queues.items()):
        if lacks_handler(queue):
            host.attach(worker, name)
    return worker


def _of_config(host: Host, found: Config, main: Path, more: dict[str, Any], responder: Any) -> Worker:
    """A Worker with its queues, its consumers, and its own bindings."""
    install(host.account, found, host.claimed)

    def put_there(name: str) -> Any:
        return getattr(host.env, name) if name in put_by_test(host.env) else _missing(name)

    env = WorkerEnvironment(found.content_type, put_there, lambda: iter(put_by_test(host.env)))
    bound = bindings_of(found, host.queue, lambda: host.stores, host.warn)
    for name in bound.keys() - set(host.env):
        host.env.bind(name, bound[name])
    unsupported = {name: unsupported_binding(name, kind) for name, kind in found.others.items()}
    _bind_all(env, {**{name: python_from_rpc(value) for name, value in bound.items()}, **unsupported, **more})
    project, waits = found.file.absolute().parent, NO_WAIT_FLAG not in found.flags
    worker = Worker(host, main, env, project=project, classes=found.classes, waits=waits, responder=responder)
    for name, consumer in found.consumers.items():
        if consumer.type == "worker":
            host.attach(worker, name)
    if found.crons:
        host.schedule(found.owner, found.crons, worker.scheduled)
    return worker


def _bind_all(env: WorkerEnvironment, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        env.bind(name, value)


def _missing(name: str) -> NoReturn:
    raise AttributeError(name)
