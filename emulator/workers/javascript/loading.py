"""Loads a JavaScript or TypeScript Worker: bundled, bound, started beside the others of the account, consuming."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.engine.chance import remembered
from emulator.engine.targets.python import NO_WAIT_FLAG
from emulator.workers import setup
from emulator.workers.bindings import Binding, Environment
from emulator.workers.config import Config
from emulator.workers.javascript.bindings import Bound, bound_of, durable_of, guarded_of, not_exported
from emulator.workers.javascript.bundling.bundle import bundle
from emulator.workers.javascript.bundling.evaluating import FIRST_LINE, Evaluated, evaluated_of, evaluating
from emulator.workers.javascript.bundling.options import build_options
from emulator.workers.javascript.bundling.source_map import SourceMap
from emulator.workers.javascript.bundling.stacks import naming_bindings, on_source
from emulator.workers.javascript.dev_vars import read_dev_vars
from emulator.workers.javascript.errors import SourceRefused
from emulator.workers.javascript.toolchain import cache_folder, find
from emulator.workers.javascript.worker import Worker
from emulator.workers.javascript.workerd.configuration import Script
from emulator.workers.javascript.workerd.object_alarms import ObjectAlarms
from emulator.workers.javascript.workerd.runtime import Workerd
from emulator.workers.javascript.workerd.services import Services
from emulator.workers.javascript.workflows import engine_of, rows_of, script_of, workflows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from emulator.workers.host import Host
    from emulator.workers.javascript.bundling.bundle import Bundle
    from emulator.workers.javascript.bundling.options import BuildOptions
    from emulator.workers.javascript.toolchain import Toolchain
    from emulator.workers.javascript.workflows import Workflow
    from emulator.workers.outgoing import Outgoing


class Loaded(NamedTuple):
    """A Worker before it is bound: what it is bound to depends on the others, which may be loaded later."""

    config: Config
    date: str
    built: Bundle
    evaluated: Evaluated
    given: Mapping[str, Any]


class JavaScript(Workerd):
    """workerd with the JavaScript Workers of one account."""

    def __init__(self, host: Host) -> None:
        self.services = Services(host)
        self.loaded: list[Loaded] = []
        super().__init__(host.now_us, host.account.seed, self.services)
        self.services.alarms = ObjectAlarms(
            host,
            lambda worker, given, on_end: self.begin(worker, "alarm", given, on_end),
            lambda worker, text: self.services.workers[worker].hear("error", text),
        )


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
    runtime, folder = _runtime(host), config.file.absolute().parent
    key = (str(config.file), config.date, tuple(sorted(config.flags)), repr(config.settings))
    tools, date, options, built, evaluated, mapped = remembered(("bundle", *key), lambda: _built(config, folder))
    dev_vars = remembered(("dev vars", folder), lambda: read_dev_vars(folder))
    given = {**dev_vars, **(secrets or {}), **(bindings or {})}
    loaded = [*runtime.loaded, Loaded(config, date, built, evaluated, given)]
    engine = engine_of(folder) if any(rows_of(each.config) for each in loaded) else None
    workflows = {} if engine is None else workflows_of([each.config for each in loaded])
    _check_exports(loaded)
    bound = _bound(loaded, workflows)
    setup.install(host.account, config, host.claimed)
    told = partial(naming_bindings, mapped, folder, bound[-1].names)
    worker = Worker(
        host, options.entry, config.script, _env(host, config, bound[-1]), place=len(runtime.loaded), runtime=runtime,
        source_map=told, exposes_codes=config.exposes_codes, responder=fetch, fakes=bound[-1].fakes,
        assets=config.settings.get("assets") or {}, guarded=guarded_of(config, bound[-1].fakes),
    )  # fmt: skip
    runtime.services.workers.append(worker)
    try:
        scripts = [_script(place, *each) for place, each in enumerate(zip(loaded, bound, strict=True))]
        if engine is not None:
            scripts += [script_of(each, engine, scripts[each.worker].flags) for each in workflows.values()]
        _start(runtime, tools.workerd, scripts)
    except SourceRefused as refused:
        runtime.services.workers.pop()
        raise SourceRefused(mapped(refused.text)) from None
    except BaseException:
        runtime.services.workers.pop()
        raise
    runtime.loaded = loaded
    for name, consumer in config.consumers.items():
        if consumer.type == "worker":
            host.attach(worker, name)
    if config.crons:
        host.schedule(config.owner, config.crons, worker.scheduled)
    return worker


@lru_cache(maxsize=64)
def _tools(folder: Path, _cache: Path) -> Toolchain:
    """The programs for a project, looked for once."""
    return find(folder)


def _built(config: Config, folder: Path) -> tuple[Toolchain, str, BuildOptions, Bundle, Evaluated, Callable[[str], str]]:
    """The programs, the compatibility date that they know, the Worker's bundle, and what puts stacks onto its source."""
    options = build_options(config.file, config.date, config.flags, config.settings)  # which needs no programs to be wrong
    tools = _tools(folder, cache_folder())
    date = min(config.date or tools.newest_date, tools.newest_date)
    options = options._replace(date=date)
    built = bundle(options, tools)
    main = built.modules[0].file
    evaluated = evaluating(main.read_text(encoding="utf-8")) if built.source_map is None else evaluated_of(main)
    return tools, date, options, built, evaluated, _mapping(built, folder)


def load_file(host: Host, main: Path, **options: Any) -> Worker:
    """Load one file of code, for every consumer of the account that waits for a handler. Likewise."""
    waiting = [name for name, queue in sorted(host.account.state.queues.items()) if setup.lacks_handler(queue)]
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


def _check_exports(loaded: list[Loaded]) -> None:
    """Raise SourceRefused for bindings that lead to what no Worker exports."""
    places = {each.config.script: place for place, each in enumerate(loaded)}
    exports = [each.evaluated.exports for each in loaded]
    for place, each in enumerate(loaded):
        for lack in not_exported(each.config, place, each.given, places, exports):
            raise SourceRefused(lack)


def _bound(loaded: list[Loaded], workflows: Mapping[str, Workflow]) -> list[Bound]:
    """The bindings of all, each with its exports that are Durable Objects."""
    places = {each.config.script: place for place, each in enumerate(loaded)}
    configs = [each.config for each in loaded]
    return [
        bound_of(each.config, place, each.given, places, workflows)._replace(
            durable=tuple([name for name in durable_of(each.config, configs) if name in each.evaluated.exports])
        )
        for place, each in enumerate(loaded)
    ]


def _script(place: int, loaded: Loaded, bound: Bound) -> Script:
    """A Worker as workerd runs it."""
    main, *others = loaded.built.modules
    modules: list[tuple[str, str, str | bytes]] = [(main.name, "esModule", loaded.evaluated.text)]
    modules += [(each.name, each.kind, each.file.read_bytes()) for each in others]
    return Script(
        place, loaded.date, loaded.config.flags | loaded.built.flags, tuple(modules), loaded.evaluated.exports,
        loaded.evaluated.awaits, bound.rows, bound.links, bound.durable,
    )  # fmt: skip


def _start(runtime: JavaScript, workerd: Path, scripts: list[Script]) -> None:
    alone = len(scripts) == 1 and not scripts[0].durable and not scripts[0].calls_workers
    waits = not any(NO_WAIT_FLAG in each.flags for each in scripts)
    runtime.run(workerd, tuple(scripts), alone=alone, waits=waits)


def _mapping(built: Bundle, folder: Path) -> Callable[[str], str]:
    """Puts stacks onto the lines of the source, and takes our own frames out."""
    found = None if built.source_map is None else _source_map(built.source_map, folder.resolve())
    return partial(on_source, found, built.modules[0].name, FIRST_LINE)


@lru_cache(maxsize=8)
def _source_map(file: Path, folder: Path) -> SourceMap:
    """The map of a bundle, read once for all tests: another bundle has another file."""
    return SourceMap(file, folder)


def _env(host: Host, config: Config, bound: Bound) -> Environment:
    """The same bindings for the test: queues and stores as it has them in Python."""
    env = Environment(host.queue, lambda: ())
    env.declare()
    for name, value in setup.bindings_of(config, host.queue, lambda: host.stores, lambda _: None).items():
        env.bind(name, value)
    for name, value in bound.values.items():
        env.bind(name, value)
    return env
