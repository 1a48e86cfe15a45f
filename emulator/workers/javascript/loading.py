"""Loads a JavaScript or TypeScript Worker: bundled, bound, started beside the others of the account, consuming."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from emulator.engine.targets.python import NO_WAIT_FLAG
from emulator.workers import setup
from emulator.workers.bindings import Binding, Environment
from emulator.workers.config import Config
from emulator.workers.javascript.bindings import Bound, bound_of
from emulator.workers.javascript.bundle import bundle
from emulator.workers.javascript.bundling.options import build_options
from emulator.workers.javascript.configuration import Script, files
from emulator.workers.javascript.evaluating import FIRST_LINE, evaluating
from emulator.workers.javascript.runtime import Workerd
from emulator.workers.javascript.services import Services
from emulator.workers.javascript.source_map import SourceMap
from emulator.workers.javascript.toolchain import find
from emulator.workers.javascript.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from emulator.workers.host import Host
    from emulator.workers.javascript.bundle import Bundle
    from emulator.workers.javascript.toolchain import Toolchain
    from emulator.workers.outgoing import Outgoing


class JavaScript(Workerd):
    """workerd with the JavaScript Workers of one account."""

    def __init__(self, host: Host) -> None:
        self.services = Services(host)
        self.scripts: list[Script] = []
        self.configs: list[Config] = []
        super().__init__(host.now_us, host.account.seed, self.services)


def load(
    host: Host,
    config: Config,
    *,
    secrets: Mapping[str, str] | None = None,
    bindings: Mapping[str, Any] | None = None,
    fetch: Callable[[Outgoing], Any] | None = None,
) -> Worker:
    """Load the Worker of a configuration, whose queues and consumers are made. `fetch` answers its outgoing requests.

    `secrets` and plain values of `bindings` stand in its `env`; what else is in `bindings` stands in for what is not emulated.
    Raises ConfigRefused: a tool that is missing, source that cannot be built, a Worker that does not start.
    """
    runtime = _runtime(host)
    tools = find(config.file.absolute().parent)
    date = min(config.date or tools.newest_date, tools.newest_date)
    options = build_options(config.file, date, config.flags, config.settings)
    built = bundle(options, tools)
    setup.install(host.account, config, host.claimed)
    place = len(runtime.scripts)
    given = {**_dev_vars(config), **(secrets or {}), **(bindings or {})}
    bound = bound_of(config, place, given)
    script = _script(config, place, date, built, bound)
    worker = Worker(
        host, options.entry, config.script, _env(host, config, bound), place=place, runtime=runtime,
        source_map=_mapping(built, script, options.folder), exposes_codes=config.exposes_codes, responder=fetch,
        fakes=bound.fakes,
    )  # fmt: skip
    runtime.services.workers.append(worker)
    try:
        _start(runtime, tools, [*runtime.scripts, script])
    except BaseException:
        runtime.services.workers.pop()
        raise
    runtime.scripts.append(script)
    runtime.configs.append(config)
    for name, consumer in config.consumers.items():
        if consumer.type == "worker":
            host.attach(worker, name)
    host.schedule(config.owner, config.crons, worker.scheduled)
    return worker


def load_file(host: Host, main: Path, **options: Any) -> Worker:
    """Load one file of code, for every consumer of the account that waits for a handler. Likewise."""
    waiting = {name: queue.consumer for name, queue in sorted(host.account.state.queues.items()) if setup.lacks_handler(queue)}
    config = Config(
        file=main, script=main.stem, main=main, consumers={}, bindings=dict(_named(host)), variables={}, kv=(), d1=(), r2=(),
        others={}, flags=host.flags, content_type=host.content_type, exposes_codes=True, classes=None,
        settings={"main": main.name},
    )  # fmt: skip
    worker = load(host, config, **options)
    for name in waiting:
        host.attach(worker, name)
    return worker


def _named(host: Host) -> Iterator[tuple[str, str]]:
    """Every queue of the account under the name that the emulator's own `env` has for it."""
    for name in host.env:
        value = getattr(host.env, name)
        if isinstance(value, Binding):
            yield name, value.name


def _runtime(host: Host) -> JavaScript:
    """The one of this account."""
    for each in host.deliveries.runtimes:
        if isinstance(each, JavaScript):
            return each
    made = JavaScript(host)
    host.deliveries.add(made)
    return made


def _script(config: Config, place: int, date: str, built: Bundle, bound: Bound) -> Script:
    """The Worker as workerd runs it."""
    main, *others = built.modules
    made = evaluating(main.file.read_text(encoding="utf-8"))
    modules: list[tuple[str, str, str | bytes]] = [(main.name, "esModule", made.text)]
    modules += [(each.name, each.kind, each.file.read_bytes()) for each in others]
    return Script(
        place, date, config.flags | built.flags, tuple(modules), made.exports, made.awaits, bound.rows, bound.links,
        bound.durable,
    )  # fmt: skip


def _start(runtime: JavaScript, tools: Toolchain, scripts: list[Script]) -> None:
    alone = len(scripts) == 1 and not scripts[0].durable and not any(" service " in row for row in scripts[0].bindings)
    waits = not any(NO_WAIT_FLAG in each.flags for each in scripts)
    runtime.run(tools.workerd, files(scripts), tuple(range(len(scripts))), alone=alone, waits=waits)


def _mapping(built: Bundle, script: Script, folder: Path) -> Callable[[str], str]:
    """Puts stacks onto the lines of the source, and takes our own frames out."""
    from emulator.workers.javascript.stacks import on_source

    found = None if built.source_map is None else SourceMap(built.source_map, folder)
    return partial(on_source, found, script.main, FIRST_LINE)


def _dev_vars(config: Config) -> dict[str, str]:
    from emulator.workers.javascript.dev_vars import read_dev_vars

    return read_dev_vars(config.file.absolute().parent)


def _env(host: Host, config: Config, bound: Bound) -> Environment:
    """The same bindings for the test: queues and stores as it has them in Python."""
    env = Environment(host.queue, lambda: ())
    env.declare()
    for name, value in setup.bindings_of(config, host.queue, lambda: host.stores, lambda _: None).items():
        env.bind(name, value)
    for name, value in bound.values.items():
        env.bind(name, value)
    return env
