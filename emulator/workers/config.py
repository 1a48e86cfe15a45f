"""What a wrangler file says of a Worker in one environment: queues, consumers, bindings, flags. The view is the linter's.

An environment's `queues` replaces the top level's and is never merged with it. A file with lint errors is refused.
https://developers.cloudflare.com/workers/wrangler/configuration/ and .../workers/configuration/compatibility-flags/.
"""

from __future__ import annotations

import os
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cfq_lint import lint_paths
from cfq_lint.facts.errors import Unreadable
from cfq_lint.model.wrangler import Environment, read_worker
from emulator.core.model import Consumer
from emulator.core.refusals import ConfigRefused
from emulator.workers.cron import Cron

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cfq_lint.model.finding import Finding

JSON_SINCE = "2024-03-18"
"""Compatibility date from which a body without a content type is json; before it, v8."""
CODES_SINCE = "2026-03-12"
"""Compatibility date from which a Worker sees the codes of refusals."""
CLASSES_SINCE = "2025-08-14"
"""Compatibility date from which a Python Worker's handlers are methods of a class, and `on_queue` is not looked for."""
CLASSES_FLAG = "python_no_global_handlers"

_NAMED_BY = {"durable_objects": "name", "send_email": "name", "ratelimits": "name", "unsafe": "name"}
"""Which member of a binding is its name; of all others, `binding`."""
_ONLY_UNWISE = frozenset({
    "CFQ003",  # a key given twice: the last one holds
    "CFQ104", "CFQ108", "CFQ118",  # keys that wrangler does not know: "Unexpected fields"
    "CFQ206", "CFQ207",  # settings of producers and consumers that a deploy does not send
    "CFQ308", "CFQ309",  # delays that outlive the message, and failures that lose it: the service takes both
    "CFQ402",  # another environment consumes the queue as well; this one is deployed alone
})  # fmt: skip
"""Errors of the linter that neither wrangler nor Cloudflare refuses."""
_OF_CODE = ("CFQ82", "CFQ83")
"""The rules about a consumer's code: no deploy reads it, and here it runs, and shows."""
_EMULATED = frozenset({"queues", "vars", "kv_namespaces", "d1_databases", "r2_buckets"})
_OWN = frozenset({
    "ai", "analytics_engine_datasets", "browser", "cloudchamber", "containers", "d1_databases", "define", "dispatch_namespaces",
    "durable_objects", "env", "hyperdrive", "images", "kv_namespaces", "media", "mtls_certificates", "pipelines", "previews",
    "queues", "r2_buckets", "ratelimits", "secrets_store_secrets", "send_email", "services", "tail_consumers",
    "unsafe", "unsafe_hello_world", "vars", "vectorize", "version_metadata", "vpc_services", "worker_loaders", "workflows",
})  # fmt: skip
"""Keys that environments do not inherit: …/workers/wrangler/configuration/#non-inheritable-keys."""


_READ_MAX = 64
_read: dict[tuple[Path, str | None, str, frozenset[str]], tuple[tuple[tuple[int, int], ...], Config]] = {}


class Store(NamedTuple):
    """A KV namespace, a D1 database or an R2 bucket: the name it is bound as, and what tells it from others."""

    binding: str
    identity: str


class Config(NamedTuple):
    """One environment of one file.

    `consumers` by queue, queues by binding, plain variables, stores, the keys of the bindings that are not emulated by name,
    and what dates and flags mean. `crons` are those of `triggers`. `main` is None where there is none. `classes` tells which
    handlers of a Python Worker count: True classes, False `on_queue`, None what there is. `settings` are all keys, as plain
    values; `warnings` tell what is only unwise.
    """

    file: Path
    script: str
    main: Path | None
    consumers: dict[str, Consumer]
    bindings: dict[str, str]
    variables: dict[str, Any]
    kv: tuple[Store, ...]
    d1: tuple[Store, ...]
    r2: tuple[Store, ...]
    others: dict[str, str]
    flags: frozenset[str]
    content_type: str
    exposes_codes: bool
    classes: bool | None
    crons: tuple[Cron, ...] = ()
    date: str = ""
    settings: Mapping[str, Any] = {}
    warnings: tuple[str, ...] = ()

    @property
    def owner(self) -> str:
        """What tells the Worker from others: its name, else its file."""
        return self.script or str(self.file)


def load(path: str | PathLike[str], env: str | None, plan: str, *, but: frozenset[str] = frozenset()) -> Config:
    """Read a file, or the first wrangler file of a folder.

    What wrangler and Cloudflare take, however unwise it is, is a warning of the config. Raises ConfigRefused, with the
    findings, for a file with errors (but for those of the rules `but`), and for one with environments but none of that name.
    A file that has not changed since is not judged again: one process runs many tests.
    """
    key = (Path(fspath(path)).absolute(), env, plan, but)
    known, found = _read.get(key, ((), None))
    if found is None or _seen(found) != known:
        found = _load(path, env, plan, but)
        while len(_read) >= _READ_MAX:
            del _read[next(iter(_read))]
        _read[key] = _seen(found), found
    return found


def _seen(config: Config) -> tuple[tuple[int, int], ...]:
    """What tells whether a configuration may have changed: its file, a build's redirect, and the code."""
    places = (config.file, config.file.parent / ".wrangler" / "deploy" / "config.json", config.main)
    stats = [os.stat(each) if each is not None and each.exists() else None for each in places]
    return tuple((0, 0) if each is None else (each.st_mtime_ns, each.st_size) for each in stats)


def _load(path: str | PathLike[str], env: str | None, plan: str, but: frozenset[str]) -> Config:
    try:
        worker = read_worker(fspath(path), env)
    except Unreadable as error:
        raise ConfigRefused(str(error)) from error
    where = worker.document.path
    report = lint_paths([where], env=env, plan=plan, ignore=_OF_CODE)
    errors = [finding for finding in report.findings if finding.severity == "error" and finding.code not in but]
    wrong = [finding for finding in errors if finding.code not in _ONLY_UNWISE]
    if wrong or report.problems:
        raise ConfigRefused("\n".join([f"{where} has errors:", *report.problems, *map(_shown, wrong)]), wrong)
    known = ", ".join(sorted(each.name for each in worker.every_environment if each.name))
    if worker.lacks_selected and known:
        raise ConfigRefused(f"{where} has no environment {env!r} (environments: {known})")
    warnings = [_shown(finding) for finding in errors if finding.code in _ONLY_UNWISE]
    if worker.lacks_selected:
        warnings.append(f"{where} has no environments, and so no {env!r}: as wrangler does, its top level is taken")
    chosen = worker.top if env is None or worker.lacks_selected else worker.environments[0]
    # A plan holds many Workers, and without a choice they are all deployed.
    deployed = worker.environments if worker.is_plan and env is None else [chosen]
    return _config(Path(where), chosen, deployed)._replace(warnings=tuple(warnings))


def _shown(finding: Finding) -> str:
    return f"{finding.path}:{finding.line}:{finding.column}: {finding.code} {finding.name}: {finding.message}"


def load_all(paths: str | PathLike[str] | Iterable[str | PathLike[str]], env: str | None, plan: str) -> list[Config]:
    """Read one file or several, for one account. Raises ConfigRefused as `load` does, and for a queue with two consumers."""
    listed = [paths] if isinstance(paths, str | PathLike) else list(paths)
    found = [load(path, env, plan) for path in listed]
    whose: dict[str, Config] = {}
    for config in found:
        for name in list(config.consumers):
            other = whose.setdefault(name, config)
            if other is not config and other.owner == config.owner:  # one Worker: its later deploy changes the consumer
                del other.consumers[name]
                whose[name] = config
            elif other.owner != config.owner:
                raise ConfigRefused(
                    f"queue {name!r} is consumed by {other.file} and by {config.file}: it may have one consumer"
                )
    return found


def handlers_are_classes(flags: frozenset[str], date: str = "") -> bool | None:
    """Which handlers of a Python Worker count: by flag, by the opposite flag, by date; None where nothing says."""
    if CLASSES_FLAG in flags or f"disable_{CLASSES_FLAG}" in flags:
        return CLASSES_FLAG in flags
    return date >= CLASSES_SINCE if date else None


def _config(file: Path, environment: Environment, deployed: list[Environment]) -> Config:
    """What `environment` says of a Worker, with the queues of all that is `deployed`; a queue whose name is unknown is none."""
    flags_field, date_field = environment.inherited("compatibility_flags"), environment.inherited("compatibility_date")
    flags = frozenset(flag for flag in (flags_field.node.plain() if flags_field is not None else []) if isinstance(flag, str))
    date = date_field.text or "" if date_field is not None else ""
    main, variables = environment.inherited("main"), environment.fields.get("vars")
    values = variables.node.plain() if variables is not None else {}
    return Config(
        file=file,
        script=environment.script or "",
        main=file.absolute().parent / main.text if main is not None and main.text else None,
        consumers={each.queue_name: _consumer(each.node.plain()) for one in deployed for each in one.consumers if each.queue},
        bindings={
            each.binding.text or "": each.queue_name
            for one in deployed
            for each in one.producers
            if each.binding and each.queue
        },
        variables=values if isinstance(values, dict) else {},
        kv=tuple(_store(each, "id") for each in _rows(environment, "kv_namespaces")),
        d1=tuple(_store(each, "database_id", "database_name") for each in _rows(environment, "d1_databases")),
        r2=tuple(_store(each, "bucket_name") for each in _rows(environment, "r2_buckets")),
        others=dict(_others(environment)),
        flags=flags,
        content_type="json" if _on("queues_json_messages", JSON_SINCE, date, flags) else "v8",
        exposes_codes=_on("queue_expose_error_codes", CODES_SINCE, date, flags),
        classes=handlers_are_classes(flags, date),
        crons=_crons(file, environment),
        date=date,
        settings=_settings(environment),
    )


def _settings(environment: Environment) -> dict[str, Any]:
    """Every key of the file as plain values: bindings are the environment's own, everything else may be the top level's."""
    found: dict[str, Any] = {}
    for key in environment.top.fields.keys() | environment.fields.keys():
        field = environment.fields.get(key) if key in _OWN else environment.inherited(key)
        if field is not None:
            found[key] = field.node.plain()
    return found


def _crons(file: Path, environment: Environment) -> tuple[Cron, ...]:
    """What `triggers` says. Raises ConfigRefused for what Cloudflare does not take."""
    field = environment.inherited("triggers")
    triggers = field.node.plain() if field is not None else None
    listed = triggers.get("crons") if isinstance(triggers, dict) else triggers
    if listed is None:
        return ()
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise ConfigRefused(f"{file}: triggers is an object with a list of texts, crons, not {triggers!r}")
    try:
        return tuple([Cron(each) for each in dict.fromkeys(listed)])
    except ValueError as error:
        raise ConfigRefused(f"{file}: triggers.crons: {error}") from error


def _consumer(fields: dict[str, Any]) -> Consumer:
    """The keys that a consumer has in the file; the service's defaults for the others."""
    known = {name: value for name, value in fields.items() if name in _SENT and value is not None}
    known = {name: int(value) if isinstance(value, float) and value.is_integer() else value for name, value in known.items()}
    return Consumer(**known | {"dead_letter_queue": known.get("dead_letter_queue") or None})


_SENT = frozenset(Consumer._fields) - {"visibility_timeout_ms"}
"""What a deploy sends of a consumer's settings."""


def _on(flag: str, since: str, date: str, flags: frozenset[str]) -> bool:
    """Whether a compatibility flag is in force: by name, by the opposite's name, or by date."""
    if flag in flags:
        return True
    return f"no_{flag}" not in flags and date >= since


def _rows(environment: Environment, key: str) -> list[dict[str, Any]]:
    field = environment.fields.get(key)
    value = field.node.plain() if field is not None else None
    if isinstance(value, dict):  # durable_objects and unsafe hold a list of bindings; ai and others are one binding
        value = value.get("bindings", [value])
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _store(row: dict[str, Any], *identities: str) -> Store:
    binding = str(row.get("binding", ""))
    return Store(binding, next((str(row[each]) for each in identities if row.get(each)), binding))


def _others(environment: Environment) -> Iterator[tuple[str, str]]:
    """Every other binding, by its name, with the key that it stands under, whatever that is."""
    for key in environment.fields.keys() - _EMULATED:
        for row in _rows(environment, key):
            name = row.get(_NAMED_BY.get(key, "binding"))
            if isinstance(name, str):
                yield name, key
