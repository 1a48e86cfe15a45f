"""The modules that a Worker finds in the runtime, made anew for each Worker: `workers`, `js`, `pyodide.ffi`, `asgi`.

What they lack raises NotEmulated when it is imported; a global of `js`, when it is used.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

from emulator.workers.python import worker_time
from emulator.workers.python.environment import Unsupported
from emulator.workers.python.errors import ConversionError, JsException, NotEmulated
from emulator.workers.python.gateways import asgi, wsgi
from emulator.workers.python.javascript import convert, js_globals
from emulator.workers.python.javascript.forms import Blob, File, FormData
from emulator.workers.python.javascript.headers import Headers
from emulator.workers.python.javascript.http_values import Request, Response
from emulator.workers.python.javascript.js_values import JSNULL, JsProxy
from emulator.workers.python.javascript.to_js import create_once_callable, create_proxy, to_js
from emulator.workers.python.worker_sys import WorkerSys, worker_os

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, MutableMapping
    from random import Random

    from emulator.workers.python.console import Console


class StandIn(ModuleType):
    """A module of the runtime. What is not in it is not emulated; what is `lacking` is imported, and says so when used."""

    def __init__(self, name: str, content: dict[str, Any], lacking: Iterable[str] = ()) -> None:
        super().__init__(name, f"Stands for {name} of the Python Workers runtime.")
        self.__dict__.update({each: Unsupported(f"{name}.{each}") for each in lacking})
        self.__dict__.update(content)
        self.__all__ = sorted(content)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotEmulated(f"{self.__name__}.{name}", f"{self.__name__} has {', '.join(self.__all__)}")


class WorkerEntrypoint:
    """The base of a Worker's class: `self.env` and `self.ctx`."""

    def __init__(self, ctx: Any, env: Any) -> None:
        self.ctx, self.env = ctx, env


class NonRetryableError(Exception):
    """`workers.workflows.NonRetryableError`."""


def _of_other_kind(name: str, what: str) -> type:
    """A base class of what a Worker's file may have beside its consumer: it loads, and only making one is not emulated."""

    def refuse(self: Any, *_given: Any, **_named: Any) -> None:
        raise NotEmulated(f"{what}: an instance of {type(self).__name__}")

    return type(name, (), {"__init__": refuse, "__module__": "workers", "__doc__": f"The base of {what}."})


def handler(function: Any) -> Any:
    """The decorator of module-level handlers. Requests and environments are Python's already: the function stays as it is."""
    return function


def run_sync(awaitable: Any) -> Any:
    """`pyodide.ffi.run_sync`: what an awaitable gives, without await. Raises NotEmulated for one that has to wait."""
    steps = awaitable.__await__()
    try:
        next(steps)
    except StopIteration as end:
        return end.value
    steps.close()
    raise NotEmulated("run_sync() of what waits", "await it")


def stand_ins(
    *,
    env: Any,
    console: Console,
    fetch: Callable[..., Any],
    wait_until: Callable[[Any], None],
    now_us: Callable[[], int],
    environ: MutableMapping[str, str],
    draw: Random,
) -> dict[str, ModuleType]:
    """The modules by dotted name, and the base class as `workers.WorkerEntrypoint`."""
    base = type("WorkerEntrypoint", (WorkerEntrypoint,), {"__module__": "workers", "__doc__": WorkerEntrypoint.__doc__})
    steps = StandIn("workers.workflows", {"NonRetryableError": NonRetryableError})
    web, gateway = StandIn("asgi", {"fetch": asgi.fetch}), StandIn("workers.wsgi", {"fetch": wsgi.fetch})
    ffi = StandIn(
        "pyodide.ffi",
        {
            "ConversionError": ConversionError, "JsException": JsException, "JsProxy": JsProxy,
            "create_once_callable": create_once_callable, "create_proxy": create_proxy, "jsnull": JSNULL, "run_sync": run_sync,
            "to_js": to_js,
        },
    )  # fmt: skip
    web_values = {
        "Blob": Blob, "File": File, "FormData": FormData, "Headers": Headers, "Request": Request, "Response": Response,
    }  # fmt: skip
    workers = StandIn(
        "workers",
        {
            **web_values, "DurableObject": _of_other_kind("DurableObject", "Durable Objects"), "FetchResponse": Response,
            "WorkerEntrypoint": base, "WorkflowEntrypoint": _of_other_kind("WorkflowEntrypoint", "Workflows"), "asgi": web,
            "env": env, "fetch": fetch, "handler": handler, "python_from_rpc": convert.python_from_rpc,
            "python_to_rpc": convert.python_to_rpc, "waitUntil": wait_until, "wait_until": wait_until, "workflows": steps,
            "wsgi": gateway,
        },
    )  # fmt: skip
    of_js = {**web_values, **js_globals.globals_of(now_us, draw), "console": console, "fetch": fetch}
    js = StandIn("js", of_js, js_globals.LACKING)
    http = StandIn("pyodide.http", {"FetchResponse": Response, "pyfetch": fetch})
    pyodide = StandIn("pyodide", {"ffi": ffi, "http": http})
    modules = {
        "workers.workflows": steps,
        "workers": workers,
        "workers.asgi": web,
        "asgi": web,
        "js": js,
        "pyodide": pyodide,
        "pyodide.ffi": ffi,
        "pyodide.http": http,
        "workers.wsgi": gateway,
    }
    runtime = {**modules, **{name: StandIn(name, {}) for name in ("_pyodide", "pyodide_js")}}
    process = {"os": worker_os(environ), "os.path": os.path, "sys": WorkerSys(runtime)}
    return {**runtime, **worker_time.modules(now_us), **process}
