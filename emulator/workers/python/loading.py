"""`Emulator.worker()`: make what a config asks for, bind it, load the Worker, and let it consume."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from emulator.engine.targets.python import NO_WAIT_FLAG
from emulator.workers.bindings import Binding
from emulator.workers.python import config
from emulator.workers.python.environment import Unsupported, WorkerEnvironment
from emulator.workers.python.javascript.convert import python_from_rpc
from emulator.workers.python.worker import Worker
from emulator.workers.stores.stores import stores_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from os import PathLike

    from emulator.testing.emulator import Emulator
    from emulator.workers.python.config import WorkerConfig
    from emulator.workers.python.javascript.http_values import Request


def load(
    emulator: Emulator,
    path: str | PathLike[str],
    env: str | None = None,
    *,
    secrets: Mapping[str, str] | None = None,
    bindings: Mapping[str, Any] | None = None,
    kv: Iterable[str] = (),
    d1: Iterable[str] = (),
    fetch: Callable[[Request], Any] | None = None,
) -> Worker:
    """Load a Worker: of a wrangler file, whose queues, consumers and bindings are made, or of a .py file.

    `secrets` and `bindings` go into its `env`; so do a KV namespace for each name in `kv` and a D1 database for each in `d1`.
    `fetch` answers its outgoing requests.

    Raises Refused (ConfigRefused) for a config with errors, and what the Worker's module raises.
    """
    stores = stores_of(emulator)
    made = {**{name: stores.kv(name) for name in kv}, **{name: stores.d1(name) for name in d1}}
    more = {**made, **(secrets or {}), **(bindings or {})}
    if str(path).endswith(".py"):
        if env is not None:
            raise TypeError("env names an environment of a wrangler file; a .py file has none")
        return _of_file(emulator, Path(path).absolute(), more, fetch)
    return _of_config(emulator, config.load(path, env, emulator.plan), more, fetch)


def _of_file(emulator: Emulator, main: Path, more: dict[str, Any], responder: Any) -> Worker:
    """A Worker for every consumer that waits for a handler; its `env` is the emulator's."""
    env = WorkerEnvironment(
        emulator.default_content_type,
        lambda name: getattr(emulator.env, name),
        lambda: iter([*emulator.env, *_put_by_test(emulator)]),
    )
    _bind_all(env, more)
    flags = emulator.flags
    classes = True if config.CLASSES_FLAG in flags else False if f"disable_{config.CLASSES_FLAG}" in flags else None
    project = main.parent.parent if main.parent.name == "src" else main.parent
    worker = Worker(emulator, main, env, project=project, classes=classes, responder=responder)
    for name in emulator.queues:
        if _waits(emulator, name):
            emulator.attach(worker, name)
    return worker


def _of_config(emulator: Emulator, found: WorkerConfig, more: dict[str, Any], responder: Any) -> Worker:
    """A Worker with its queues, its consumers, and its own bindings."""
    queues = found.queues
    for name in dict.fromkeys([*queues.bindings.values(), *queues.consumers]):
        if name not in emulator.queues:
            emulator.create_queue(name)
    for name, consumer in queues.consumers.items():
        known = emulator.account.state.queues[name].consumer
        if known is None or known != consumer or not _waits(emulator, name):
            emulator.set_consumer(name, consumer, attached=False)
    env = WorkerEnvironment(
        queues.content_type,
        lambda name: object.__getattribute__(emulator.env, name) if name in _put_by_test(emulator) else _no(name),
        lambda: iter(_put_by_test(emulator)),
    )
    _bind_all(env, {name: Unsupported(name, kind) for name, kind in found.others.items()})
    _bind_all(env, {name: python_from_rpc(value) for name, value in queues.variables.items()})
    _bind_all(env, _emulated(emulator, found))
    _bind_all(env, more)
    if NO_WAIT_FLAG in queues.flags:
        emulator.flags |= {NO_WAIT_FLAG}
    project = found.file.absolute().parent
    worker = Worker(emulator, found.main, env, project=project, classes=found.classes, responder=responder)
    for name, consumer in queues.consumers.items():
        if consumer.type == "worker":
            emulator.attach(worker, name)
    return worker


def _emulated(emulator: Emulator, found: WorkerConfig) -> dict[str, Any]:
    """Queues, KV and D1; `emu.env` gets those whose names it does not have yet."""
    stores, queues = stores_of(emulator), found.queues
    bound: dict[str, Any] = {
        binding: Binding(emulator.queue(name), exposes_codes=queues.exposes_codes) for binding, name in queues.bindings.items()
    }
    bound |= {store.binding: stores.kv(store.identity) for store in found.kv}
    bound |= {store.binding: stores.d1(store.identity) for store in found.d1}
    taken = set(emulator.env)
    for name, value in {**queues.variables, **bound}.items():
        if name not in taken:
            emulator.env.bind(name, value)
    return bound


def _bind_all(env: WorkerEnvironment, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        env.bind(name, value)


def _put_by_test(emulator: Emulator) -> list[str]:
    """What a test has set on `emu.env` itself."""
    return [name for name in vars(emulator.env) if not name.startswith("_")]


def _no(name: str) -> Any:
    raise AttributeError(name)


def _waits(emulator: Emulator, name: str) -> bool:
    queue = emulator.account.state.queues[name]
    return queue.consumer is not None and queue.consumer.type == "worker" and not queue.attached
