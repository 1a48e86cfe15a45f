"""The bindings of a Worker in workerd: native ones that lead to the account, and what a test gives for the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.workers.javascript.workerd.configuration import service, text
from emulator.workers.javascript.workflows import LACKING, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emulator.workers.config import Config
    from emulator.workers.javascript.workflows import Workflow

_LEADS = (
    ("durable_objects", "name", "script_name", "class_name", "the class of the Durable Objects"),
    ("workflows", "binding", "script_name", "class_name", "the class of the workflow"),
    ("services", "binding", "service", "entrypoint", "the entrypoint"),
)
"""Bindings that lead to an export: their key, the keys of their name, of the Worker and of the export, and what that is."""
_PLAIN = (str, int, float, bool, list, dict, type(None))


class Bound(NamedTuple):
    """Bindings as `rows` of the configuration, and the `links` to services of ours: (kind, identity).

    `durable` are classes of Durable Objects, `fakes` a test's objects and `values` plain values, both by name. `names` are all.
    """

    rows: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    durable: tuple[str, ...]
    fakes: dict[str, Any]
    values: dict[str, Any]
    names: frozenset[str]


def bound_of(
    config: Config,
    place: int,
    given: Mapping[str, Any],
    places: Mapping[str, int],
    workflows: Mapping[str, Workflow] = MappingProxyType({}),
) -> Bound:
    """The bindings of a configuration, with what a test gives. `places` are those of the account's Workers by name.

    `workflows` are those that have an engine, by name.
    """
    plain = {**config.variables, **{name: value for name, value in given.items() if isinstance(value, _PLAIN)}}
    fakes = {name: value for name, value in given.items() if not isinstance(value, _PLAIN)}
    rows: dict[str, str] = {name: _value(name, value) for name, value in plain.items()}
    links: list[tuple[str, str]] = []

    def native(name: str, member: str, kind: str, identity: str) -> None:
        links.append((kind, identity))
        rows[name] = f"(name = {text(name)}, {member} = {text(service(place, kind, identity))})"

    for name, queue in config.bindings.items():
        native(name, "queue", "queue", queue)
    for each in config.kv:
        native(each.binding, "kvNamespace", "kv", each.identity)
    for each in config.d1:
        links.append(("d1", each.identity))
        inner = f'(name = "fetcher", service = {text(service(place, "d1", each.identity))})'
        rows[each.binding] = _wrapping(each.binding, "cloudflare-internal:d1-api", [inner])
    for each in config.r2:
        native(each.binding, "r2Bucket", "r2", each.identity)
    for row in _rows(config, "assets"):
        if row.get("binding") and row.get("directory"):
            native(str(row["binding"]), "service", "assets", str(config.file.absolute().parent / str(row["directory"])))
    rows |= dict(_of_workers(config, place, places))
    rows |= dict(_of_versions(config))
    for row in rows_of(config):
        name, workflow = str(row["binding"]), workflows.get(str(row.get("name")))
        if workflow is not None and name not in fakes:
            inner = f'(name = "binding", service = (name = {text(f"worker{workflow.place}")}, entrypoint = "WorkflowBinding"))'
            rows[name] = _wrapping(name, "cfq-internal:workflows.js", [inner])
    for name, key in config.others.items():
        if name not in rows and name not in fakes:
            links.append(("fake", name))
            rows[name] = _ours(place, name, "missing", _lacking(config, name, key))
    for name in fakes:
        links.append(("fake", name))
        rows[name] = _ours(place, name, "fake")
    return Bound(tuple(rows.values()), tuple(links), (), fakes, plain, frozenset(rows))


def durable_of(config: Config, configs: list[Config]) -> list[str]:
    """The classes of a Worker that are Durable Objects: those that it or another Worker binds, or that it migrates to."""
    found = {str(row["class_name"]): None for row in _rows(config, "durable_objects") if _own(config, row)}
    for other in configs:
        rows = _rows(other, "durable_objects")
        found |= {str(row["class_name"]): None for row in rows if row.get("script_name") == config.script}
    for step in config.settings.get("migrations") or ():
        for key in ("new_classes", "new_sqlite_classes"):
            found |= dict.fromkeys(step.get(key) or ())
    return list(found)


def not_exported(
    config: Config, place: int, given: Mapping[str, Any], places: Mapping[str, int], exports: Sequence[Sequence[str]]
) -> Iterator[str]:
    """What bindings lead to and no Worker exports, each as a sentence. `exports` are those of the Workers, by place."""
    for key, name_key, script_key, class_key, what in _LEADS:
        for row in _rows(config, key):
            name, script, wanted = str(row.get(name_key)), row.get(script_key), row.get(class_key)
            where = place if script in {None, config.script} else places.get(str(script))
            if wanted and where is not None and name not in given and wanted not in exports[where]:
                whose = str(config.main and config.main.name) if where == place else f"the Worker {script!r}"
                yield f"{whose} does not export {wanted}, {what} that env.{name} leads to"


def guarded_of(config: Config, fakes: Mapping[str, Any]) -> str:
    """The bindings whose calls stay inside of workerd: `OBJECTS:o,WORKER:s`, namespaces of objects and services."""
    objects = [f"{row['name']}:o" for row in _rows(config, "durable_objects") if row["name"] not in fakes]
    return ",".join(objects + [f"{row['binding']}:s" for row in _rows(config, "services") if row["binding"] not in fakes])


def _own(config: Config, row: Mapping[str, Any]) -> bool:
    return row.get("script_name") in {None, config.script}


def _of_workers(config: Config, place: int, places: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Bindings to Durable Objects and to other Workers of the account, itself among them."""
    for row in _rows(config, "durable_objects"):
        name, where = str(row["name"]), place if _own(config, row) else places.get(str(row["script_name"]))
        if where is not None:
            leads = f"(className = {text(str(row['class_name']))}, serviceName = {text(f'worker{where}')})"
            yield name, f"(name = {text(name)}, durableObjectNamespace = {leads})"
    for row in _rows(config, "services"):
        name, where = str(row["binding"]), places.get(str(row.get("service")))
        if where is not None:
            entry = f", entrypoint = {text(str(row['entrypoint']))}" if row.get("entrypoint") else ""
            props = f", props = (json = {text(json.dumps(row['props']))})" if row.get("props") else ""
            yield name, f"(name = {text(name)}, service = (name = {text(f'worker{where}')}{entry}{props}))"


def _of_versions(config: Config) -> Iterator[tuple[str, str]]:
    for row in _rows(config, "version_metadata"):
        name = str(row["binding"])
        yield name, _value(name, {"id": "00000000-0000-0000-0000-000000000000", "tag": "", "timestamp": "1970-01-01T00:00:00Z"})


def _lacking(config: Config, name: str, key: str) -> str:
    give = f"emu.worker(…, env={{{json.dumps(name)}: object}})"
    if key in {"services", "durable_objects"}:
        field = "service" if key == "services" else "script_name"
        rows = [row for row in _rows(config, key) if name in {row.get("binding"), row.get("name")}]
        other = next((row.get(field) for row in rows), None)
        return f"env.{name} leads to the Worker {other!r}, which is not loaded: load its file with emu.worker(), or give {give}"
    if key == "workflows":
        return f"env.{name}: {LACKING}, or give the test's own, {give}"
    return f"env.{name}, a binding of {key}, is not emulated: give the test's own, {give}"


def _ours(place: int, name: str, module: str, said: str = "") -> str:
    inner = [
        f'(name = "channel", service = {text(service(place, "fake", name))})', f'(name = "name", text = {text(name)})',
        f'(name = "text", text = {text(said)})',
    ]  # fmt: skip
    return _wrapping(name, f"cfq-internal:{module}.js", inner)


def _wrapping(name: str, module: str, inner: list[str]) -> str:
    return f"(name = {text(name)}, wrapped = (moduleName = {text(module)}, innerBindings = [{', '.join(inner)}]))"


def _value(name: str, value: Any) -> str:
    if isinstance(value, str):
        return f"(name = {text(name)}, text = {text(value)})"
    return f"(name = {text(name)}, json = {text(json.dumps(value))})"


def _rows(config: Config, key: str) -> Iterator[dict[str, Any]]:
    value = config.settings.get(key)
    if isinstance(value, Mapping):
        value = value.get("bindings", [value])
    yield from (row for row in value or () if isinstance(row, dict))
