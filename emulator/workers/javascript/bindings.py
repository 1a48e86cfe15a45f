"""The bindings of a Worker in workerd: native ones that lead to the account, and what a test gives for the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.workers.javascript.configuration import service, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.workers.config import Config

_PLAIN = (str, int, float, bool, list, dict, type(None))
_NATIVE = frozenset({"durable_objects", "r2_buckets", "services", "assets", "version_metadata"})


class Bound(NamedTuple):
    """Bindings as `rows` of the configuration, and the `links` to services of ours: (kind, identity).

    `durable` are classes of Durable Objects, `fakes` a test's objects and `values` plain values, both by name.
    """

    rows: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    durable: tuple[str, ...]
    fakes: dict[str, Any]
    values: dict[str, Any]


def bound_of(config: Config, place: int, given: Mapping[str, Any]) -> Bound:
    """The bindings of a configuration, with what a test gives."""
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
        wrapped = f'(moduleName = "cloudflare-internal:d1-api", innerBindings = [{inner}])'
        rows[each.binding] = f"(name = {text(each.binding)}, wrapped = {wrapped})"
    for each in config.r2:
        native(each.binding, "r2Bucket", "r2", each.identity)
    objects = [row for row in _rows(config, "durable_objects") if not row.get("script_name")]
    for row in objects:
        rows[str(row["name"])] = f"(name = {text(str(row['name']))}, durableObjectNamespace = {text(str(row['class_name']))})"
    for name, key in config.others.items():
        if name not in rows and name not in fakes and name not in plain:
            links.append(("fake", name))
            rows[name] = _wrapped(place, name, "missing", _lacking(name, key))
    for name in fakes:
        links.append(("fake", name))
        rows[name] = _wrapped(place, name, "fake")
    durable = tuple(dict.fromkeys(str(row["class_name"]) for row in objects))
    return Bound(tuple(rows.values()), tuple(links), durable, fakes, plain)


def _lacking(name: str, key: str) -> str:
    return (
        f"env.{name}, a binding of {key}, is not emulated: give the test's own, such as "
        f"emu.worker(…, env={{{json.dumps(name)}: object}})"
    )


def _wrapped(place: int, name: str, module: str, said: str = "") -> str:
    inner = [
        f'(name = "channel", service = {text(service(place, "fake", name))})', f'(name = "name", text = {text(name)})',
        f'(name = "text", text = {text(said)})',
    ]  # fmt: skip
    return f'(name = {text(name)}, wrapped = (moduleName = "cfq-internal:{module}.js", innerBindings = [{", ".join(inner)}]))'


def _value(name: str, value: Any) -> str:
    if isinstance(value, str):
        return f"(name = {text(name)}, text = {text(value)})"
    return f"(name = {text(name)}, json = {text(json.dumps(value))})"


def _rows(config: Config, key: str) -> Iterator[dict[str, Any]]:
    value = config.settings.get(key)
    if isinstance(value, Mapping):
        value = value.get("bindings", [value])
    yield from (row for row in value or () if isinstance(row, dict))
