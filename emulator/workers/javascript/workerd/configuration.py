"""What workerd is told to run: its configuration, and the files that it names.

https://github.com/cloudflare/workerd/blob/main/src/workerd/server/workerd.capnp. Every service that a binding leads to is
one of the other Workers or ourselves; a header that workerd adds says which binding of which Worker a request is from.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from emulator.workers.javascript.workerd.process import CONFIG, DRIVER, OBJECTS, PARENT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RUNTIME = ("clock.js", "host.js", "outside.js", "timers.js", "timers_promises.js")
"""Our modules inside of a Worker's isolate."""
DRIVER_DATE = "2025-04-01"
_INTERNAL = ("fake.js", "missing.js")
"""Modules that make a binding: `wrapped` in the configuration."""
_V8_FLAGS = ("--expose-gc",)


class Script(NamedTuple):
    """A Worker as workerd runs it. `modules` are (name, kind, content), the main one first; `bindings` are of `binding()`.

    `durable` are classes of Durable Objects. `links` are the services of ours that its bindings lead to: (kind, identity).
    """

    place: int
    date: str
    flags: frozenset[str]
    modules: tuple[tuple[str, str, str | bytes], ...]
    exports: tuple[str, ...]
    awaits: bool
    bindings: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    durable: tuple[str, ...]
    builtin: tuple[tuple[str, bool, str], ...] = ()
    """Modules beside those of the runtime: (name, whether only the runtime's own may import it, text)."""

    @property
    def calls_workers(self) -> bool:
        """Whether a binding leads to a Worker, so that code may run elsewhere for it."""
        return any('"worker' in row for row in self.bindings)

    @property
    def main(self) -> str:
        """The name of its main module."""
        return self.modules[0][0]


def files(scripts: Sequence[Script]) -> dict[str, str | bytes]:
    """Every file, the configuration among them."""
    made: dict[str, str | bytes] = {"driver.js": _runtime("driver.js")}
    services, drives = [], []
    for script in scripts:
        made |= _modules_of(script)
        services += [_worker(script), *(_link(script.place, *each) for each in dict.fromkeys(_links(script)))]
        drives += _drives(script)
    made |= {name: _runtime(name) for name in (*RUNTIME, *_INTERNAL)}
    builtin = [(f"cfq-internal:{name}", True, name) for name in _INTERNAL]
    for number, (name, internal, content) in enumerate(dict.fromkeys(each for script in scripts for each in script.builtin)):
        made[f"builtin-{number}"] = content
        builtin.append((name, internal, f"builtin-{number}"))
    inner = ", ".join(
        f"(name = {text(name)}, internal = {str(internal).lower()}, esModule = embed {text(file)})"
        for name, internal, file in builtin
    )
    listed = ",\n    ".join(services)
    made[CONFIG] = f"""using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  v8Flags = [{", ".join(map(text, _V8_FLAGS))}],
  extensions = [(modules = [{inner}])],
  services = [
    (name = "driver", worker = (modules = [(name = "__cfq/driver.js", esModule = embed "driver.js")],
      compatibilityDate = {text(DRIVER_DATE)}, compatibilityFlags = ["service_binding_extra_handlers"],
      bindings = [{", ".join(drives)}])),
    (name = {text(OBJECTS)}, disk = (path = {text(OBJECTS)}, writable = true)),
    {listed}],
  sockets = [(name = "driver", address = "unix:{DRIVER}", http = (), service = "driver")]);
"""
    return made


def text(value: str) -> str:
    """A text of the configuration."""
    quoted = json.dumps(value, ensure_ascii=False)
    return re.sub(r"\\u00([0-9a-f]{2})", r"\\x\1", quoted)


def service(place: int, kind: str, identity: str = "") -> str:
    """The name of a service of ours."""
    return f"{place}:{kind}:{identity}"


def _links(script: Script) -> list[tuple[str, str]]:
    return [("cfq", ""), ("out", ""), ("cache", ""), *script.links]


def _link(place: int, kind: str, identity: str) -> str:
    told = f"{place} {kind} {quote(identity, safe='')}".strip()
    http = f'(style = proxy, injectRequestHeaders = [(name = "X-Cfq", value = {text(told)})])'
    return f'(name = {text(service(place, kind, identity))}, external = (address = "unix:{PARENT}", http = {http}))'


def _worker(script: Script) -> str:
    place = script.place
    rows = [f'(name = "entry.js", esModule = embed {text(f"{place}/entry.js")})']
    rows += [f"(name = {text(f'__cfq/{name}')}, esModule = embed {text(name)})" for name in RUNTIME]
    rows += [
        f"(name = {text(name)}, {kind} = embed {text(f'{place}/module-{number}')})"
        for number, (name, kind, _) in enumerate(script.modules)
    ]
    flags = script.flags | {"nodejs_als"} if not script.flags & {"nodejs_compat", "nodejs_compat_v2"} else script.flags
    bindings = [*script.bindings, f'(name = "__CFQ", service = {text(service(place, "cfq"))})']
    objects = ", ".join(
        f"(className = {text(each)}, uniqueKey = {text(f'{place}-{each}')}, enableSql = true)" for each in script.durable
    )
    storage = (
        f", durableObjectNamespaces = [{objects}], durableObjectStorage = (localDisk = {text(OBJECTS)})" if objects else ""
    )
    joined = ",\n        ".join
    return f"""(name = "worker{place}", worker = (modules = [
        {joined(rows)}],
      compatibilityDate = {text(script.date)}, compatibilityFlags = [{", ".join(map(text, sorted(flags)))}],
      bindings = [
        {joined(bindings)}],
      globalOutbound = {text(service(place, "out"))}, cacheApiOutbound = {text(service(place, "cache"))}{storage}))"""


def _drives(script: Script) -> list[str]:
    place = script.place
    worker = text(f"worker{place}")
    objects = [
        f"(name = {text(f'OBJECT{place}_{each}')}, durableObjectNamespace = (className = {text(each)}, serviceName = {worker}))"
        for each in script.durable
    ]
    return [
        f'(name = "WORKER{place}", service = {worker})',
        f'(name = "HOST{place}", service = (name = {worker}, entrypoint = "__cfqHost"))',
        *objects,
    ]


def _modules_of(script: Script) -> Mapping[str, str | bytes]:
    made: dict[str, str | bytes] = {
        f"{script.place}/module-{number}": content for number, (_, _, content) in enumerate(script.modules)
    }
    durable = json.dumps(script.durable)
    begin = f"{'await ' if script.awaits else ''}start(evaluate, {script.place}, {durable});"
    shells = []
    for number, name in enumerate(script.exports):
        if name == "default":
            shells.append('export default shell("default");')
        else:
            shells.append(f"const shell{number} = shell({json.dumps(name)}); export {{ shell{number} as {_name(name)} }};")
    made[f"{script.place}/entry.js"] = "\n".join([
        'import "./__cfq/clock.js";',
        'import { Host, shell, start } from "./__cfq/host.js";',
        f"import evaluate from {json.dumps(_beside(script.main))};",
        begin,
        *shells,
        "export { Host as __cfqHost };",
        "",
    ])  # fmt: skip
    return made


def _beside(name: str) -> str:
    return name if name.startswith("./") else f"./{name}"


def _name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_$][\w$]*", name) else json.dumps(name)


@cache
def _runtime(name: str) -> str:
    return (Path(__file__).parent / "modules" / name).read_text(encoding="utf-8")
