"""`sys` and `os` for a Worker's own modules: they run on `emscripten`, and what is set on these is the Worker's own.

Among `sys.modules` they find the runtime's, which is how Python code asks whether it runs in Pyodide:
https://pyodide.org/en/stable/usage/faq.html (How to detect).
"""

from __future__ import annotations

import os
import sys
from collections import ChainMap
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping


class WorkerSys(ModuleType):
    """Python's own `sys`, but for `platform`, `modules`, `path` and what the Worker sets."""

    def __init__(self, runtime: Mapping[str, ModuleType]) -> None:
        super().__init__("sys", sys.__doc__)
        modules = ChainMap({**runtime, "sys": self}, sys.modules)
        self.__dict__.update(platform="emscripten", modules=modules, path=list(sys.path))

    def __getattr__(self, name: str) -> Any:
        return getattr(sys, name)


def worker_os(environ: MutableMapping[str, str]) -> ModuleType:
    """Python's own `os` with another `environ`."""

    def set_variable(name: str, value: str) -> None:
        environ[name] = value

    own = {"environ": environ, "getenv": environ.get, "putenv": set_variable, "unsetenv": lambda name: environ.pop(name, None)}
    return copied(os, own)


def copied(module: ModuleType, changed: Mapping[str, Any]) -> ModuleType:
    """A module that has what another one has, but for what is changed."""
    copy = ModuleType(module.__name__, module.__doc__)
    copy.__dict__.update({name: value for name, value in vars(module).items() if not name.startswith("__")})
    copy.__dict__.update(changed)
    return copy
