"""What a wrangler file says about a Python Worker beyond its queues: `main`, dates and flags, KV, D1, and other bindings.

https://developers.cloudflare.com/workers/wrangler/configuration/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.core.refusals import ConfigRefused
from emulator.workers.setup import Config, config_of, select

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from pathlib import Path

    from cfq_lint.model.wrangler import Environment

CLASSES_SINCE = "2025-08-14"
"""Compatibility date from which handlers are methods of a class, and `on_queue` is not looked for."""
CLASSES_FLAG = "python_no_global_handlers"

_NAMES = {"durable_objects": "name", "send_email": "name", "ratelimits": "name", "unsafe": "name"}
_PLAIN = {
    "ai", "analytics_engine_datasets", "assets", "browser", "containers", "dispatch_namespaces", "durable_objects",
    "hyperdrive", "images", "media", "mtls_certificates", "pipelines", "r2_buckets", "ratelimits", "secrets_store_secrets",
    "send_email", "services", "unsafe", "vectorize", "version_metadata", "vpc_services", "worker_loaders", "workflows",
}  # fmt: skip
"""Keys whose bindings are not emulated."""


_SEEN_WHEN_RUN = frozenset({"CFQ801"})
"""Whether there is a handler need not be guessed from the source: the Worker is run."""


class Store(NamedTuple):
    """A KV namespace or a D1 database: the name it is bound as, and what tells it from others."""

    binding: str
    identity: str


class WorkerConfig(NamedTuple):
    """One environment of one file. `classes` tells which handlers count: True classes, False `on_queue`, None what there is."""

    file: Path
    main: Path
    queues: Config
    kv: list[Store]
    d1: list[Store]
    others: dict[str, str]
    classes: bool | None


def load(path: str | PathLike[str], env: str | None, plan: str) -> WorkerConfig:
    """Read a file, or the first wrangler file of a folder. Raises ConfigRefused for errors and a `main` that is no Python."""
    file, environment = select(path, env, plan, but=_SEEN_WHEN_RUN)
    main = environment.inherited("main")
    name = main.text if main is not None else None
    if not name or not name.endswith(".py"):
        found = f"its main is {name!r}" if name else "it has no main"
        raise ConfigRefused(f"{file} is no Python Worker: {found}, and a Python Worker's is a .py file")
    where = file.absolute().parent / name
    if not where.is_file():
        raise ConfigRefused(f"{file} names {name!r} as main, and there is no such file")
    queues = config_of(environment)
    return WorkerConfig(
        file=file,
        main=where,
        queues=queues,
        kv=[_store(each, "id") for each in _rows(environment, "kv_namespaces")],
        d1=[_store(each, "database_id", "database_name") for each in _rows(environment, "d1_databases")],
        others=dict(_others(environment)),
        classes=which_handlers(environment, queues.flags),
    )


def which_handlers(environment: Environment, flags: frozenset[str]) -> bool | None:
    """By flag, by the opposite flag, by date; None where the file has no date."""
    if CLASSES_FLAG in flags:
        return True
    if f"disable_{CLASSES_FLAG}" in flags:
        return False
    date = environment.inherited("compatibility_date")
    return date.text >= CLASSES_SINCE if date is not None and date.text else None


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
    for key in sorted(_PLAIN):
        for row in _rows(environment, key):
            name = row.get(_NAMES.get(key, "binding"))
            if isinstance(name, str):
                yield name, key
