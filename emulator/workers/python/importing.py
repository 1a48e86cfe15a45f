"""How a Worker's modules import: an `__import__` of their own, in their own builtins. Nobody else's imports see any of it.

First come the stand-ins, then the Worker's own files (the folder of `main`, `python_modules`, the project's folder), then
everything else as usual. The Worker's modules stand in `sys.modules` under a prefix of the Worker's own, so that neither the
test nor another Worker meets them. Relative imports work, also in `main`.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import itertools
import os
import sys
import weakref
from contextvars import ContextVar
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from emulator.engine.chance import remembered
from emulator.workers.python.errors import NotEmulated
from emulator.workers.python.worker_sys import copied

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_numbers = itertools.count(1)
Adapter: TypeAlias = "Callable[[ModuleType], ModuleType]"


def _compiled(source: bytes, path: str) -> CodeType:
    code: CodeType = compile(source, path, "exec", dont_inherit=True)
    return code


compiling: ContextVar[Callable[[bytes, str], CodeType]] = ContextVar("compiling", default=_compiled)
"""How a Worker's source becomes code; a search makes every `await` of it a place where something may happen."""


def _forget(modules: dict[str, ModuleType], name: str, _gone: object) -> None:
    modules.pop(name, None)


class Importer:
    """Loads a Worker's modules.

    `stand_ins` are modules by dotted name; `roots` are the folders of the Worker's own files; `adapters` make of an installed
    package, by its name, what the Worker has of it.
    """

    def __init__(self, roots: Sequence[Path], stand_ins: Mapping[str, ModuleType], adapters: Mapping[str, Adapter]) -> None:
        self.prefix = f"_python_worker_{next(_numbers)}"
        self._given = [str(root) for root in roots]
        self._stand_ins, self._adapters = stand_ins, adapters
        self._adapted: dict[str, ModuleType] = {}
        self._tops = {name.partition(".")[0] for name in stand_ins}
        self._builtins = {**vars(builtins), "__import__": self._import}
        self._modules: dict[str, ModuleType] = {}
        package = ModuleType(self.prefix)
        package.__path__ = []
        self._keep(package)
        self._importlib = copied(importlib, {"import_module": self.import_module})

    @property
    def _roots(self) -> list[str]:
        """Where the Worker's own files are: beside what is given, what it has put into its `sys.path`."""
        path: list[str] = self._stand_ins["sys"].path
        return [*self._given, *(each for each in path if each not in sys.path)]

    def load_main(self, file: Path) -> ModuleType:
        """Run the Worker's main file as a module. What it raises is raised here."""
        spec = importlib.util.spec_from_file_location(f"{self.prefix}.{file.stem}", file)
        assert spec is not None, "a .py file always has one"
        return self._run(spec)

    def close(self) -> None:
        """Take the Worker's modules out of `sys.modules`."""
        for name in self._modules:
            sys.modules.pop(name, None)

    def _import(self, name: str, names: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> ModuleType:
        if level:
            package = (names or {}).get("__package__") or self.prefix
            full = importlib.util.resolve_name("." * level + name, package)
            if not full.startswith(self.prefix):
                return builtins.__import__(name, names, locals, fromlist, level)
            return self._with_children(self._load(full), fromlist)
        top = name.partition(".")[0]
        if top in self._tops:
            found = self._stand_in(name)
            return found if fromlist else self._stand_ins[top]
        if name == "importlib" or (name.startswith("importlib.") and not fromlist):
            builtins.__import__(name)
            return self._importlib
        if not self._is_own(top):
            found = builtins.__import__(name, names, locals, fromlist, level)
            return self._adapt(name, found, fromlist) if top in self._adapters else found
        found = self._load(f"{self.prefix}.{name}")
        return self._with_children(found, fromlist) if fromlist else self._modules[f"{self.prefix}.{top}"]

    def import_module(self, name: str, package: str | None = None) -> ModuleType:
        """`importlib.import_module` for the Worker's modules."""
        name = importlib.util.resolve_name(name, package) if name.startswith(".") else name
        own = name.startswith(f"{self.prefix}.")
        return self._load(name) if own else self._import(name, fromlist=("__name__",))

    def _adapt(self, name: str, found: ModuleType, fromlist: Any) -> ModuleType:
        """A package that is installed, as the Worker has it; what stands in it besides is as it is."""
        top, _, below = name.partition(".")
        if top not in self._adapted:
            self._adapted[top] = self._adapters[top](builtins.__import__(top))
        return found if fromlist and below else self._adapted[top]

    def _stand_in(self, name: str) -> ModuleType:
        if name not in self._stand_ins:
            raise NotEmulated(name)
        return self._stand_ins[name]

    def _is_own(self, top: str) -> bool:
        if f"{self.prefix}.{top}" in self._modules:
            return True
        spec = PathFinder.find_spec(top, self._roots)
        if spec is None:
            return False
        # A mere folder gives way to a module of that name elsewhere, as it does in Python.
        return spec.origin is not None or (top not in sys.modules and importlib.util.find_spec(top) is None)

    def _load(self, full: str) -> ModuleType:
        if full in self._modules:
            return self._modules[full]
        parent, _, name = full.rpartition(".")
        above = self._load(parent)
        where = self._roots if parent == self.prefix else list(above.__path__) if hasattr(above, "__path__") else []
        spec = PathFinder.find_spec(name, where)
        if spec is None:
            message = f"No module named {full.removeprefix(self.prefix + '.')!r}"
            raise ModuleNotFoundError(message, name=full.removeprefix(self.prefix + "."))
        folders = list(spec.submodule_search_locations) if spec.submodule_search_locations is not None else None
        own = ModuleSpec(full, spec.loader, origin=spec.origin, is_package=folders is not None)
        own.submodule_search_locations = folders
        own.has_location = spec.has_location
        module = self._run(own)
        setattr(above, name, module)
        return module

    def _run(self, spec: ModuleSpec) -> ModuleType:
        if spec.origin is not None and not spec.origin.endswith(".py"):
            raise NotEmulated(f"a Worker's module that is no Python source: {os.path.basename(spec.origin)}")
        module = ModuleType(spec.name)
        module.__spec__, module.__loader__ = spec, spec.loader
        module.__package__ = spec.name if spec.submodule_search_locations is not None else spec.name.rpartition(".")[0]
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
        self._keep(module)
        if spec.origin is None:
            return module
        module.__file__ = spec.origin
        module.__dict__["__builtins__"] = self._builtins
        try:
            code = remembered(("code", spec.origin), partial(_code_of, spec.origin))
            exec(code, module.__dict__)  # noqa: S102 - running it is what loading means
        except BaseException:
            del sys.modules[spec.name], self._modules[spec.name]
            raise
        return module

    def _keep(self, module: ModuleType) -> None:
        """Hold a module here; `sys.modules` only points to it, so that both go when nobody has the Worker any more."""
        name = module.__name__
        self._modules[name] = module
        sys.modules[name] = cast("ModuleType", _Pointer(weakref.ref(module, partial(_forget, sys.modules, name))))

    def _with_children(self, module: ModuleType, fromlist: Any) -> ModuleType:
        if hasattr(module, "__path__"):
            for name in fromlist or ():
                if name != "*" and not hasattr(module, name):
                    try:
                        self._load(f"{module.__name__}.{name}")
                    except ModuleNotFoundError as error:
                        if error.name != f"{module.__name__}.{name}".removeprefix(self.prefix + "."):
                            raise
        return module


def _code_of(path: str) -> CodeType:
    """The code of a file."""
    with open(path, "rb") as file:
        return compiling.get()(file.read(), path)


class _Pointer:
    """What `sys.modules` holds of a Worker's module: it keeps nothing alive, and of a module that is gone it has no attribute.

    No weak proxy: whoever walks over `sys.modules`, as debuggers and property testers do, expects what can be hashed, and an
    AttributeError at worst.
    """

    __slots__ = ("_module",)

    def __init__(self, module: weakref.ref[ModuleType]) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        module = self._module()
        if module is None:
            raise AttributeError(name)
        return getattr(module, name)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        module = self._module()
        return {} if module is None else vars(module)
