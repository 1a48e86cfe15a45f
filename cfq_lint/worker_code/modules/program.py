"""A Worker's sources together: its entry, and the modules of its own that it imports."""

from __future__ import annotations

import os

from cfq_lint.facts.record import record
from cfq_lint.worker_code.lowering.steps import DEFAULT, EVERYTHING, NEW, Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from cfq_lint.worker_code.lowering.steps import Module

    Found: TypeAlias = tuple[Module, Function]

MODULES_MAX = 200
"""No Worker has that many modules of its own; what has is not read on."""
_SCRIPTS = (".ts", ".js", ".mts", ".mjs", ".tsx", ".jsx", ".cjs", ".cts")
_ALIASES = ("@/", "~/", "#/")
"""With what paths begin that a bundler or tsconfig.json leads to the sources; no package has such a name."""


@record
class Program:
    """What was read: `modules` by path. `problem` says why the entry is not among them, `remedy` what to do about that.

    `unread` are imports that look like modules of the Worker's own and could not be read.
    """

    entry: str
    modules: dict[str, Module]
    problem: str = ""
    remedy: str = ""
    unread: tuple[str, ...] = ()

    def handlers(self) -> list[Found]:
        """The queue handlers of the entry, each with the module that it stands in."""
        entry = self.modules.get(self.entry)
        home = self.exported(entry, DEFAULT) if entry is not None else None
        return self._handlers(home) if home is not None else []

    def _handlers(self, home: tuple[Module, str]) -> list[Found]:
        """Those of what a name stands for. What only names something that has none brings none along."""
        module, name = home
        found: list[Found] = []
        for each in module.handlers.get(name, ()):
            if isinstance(each, Function):
                found.append((module, each))
                continue
            named = self.callee(module, each)
            if named is not None:
                found.append(named)
            elif len(each) > 1 and (lent := self.home(module, each[0])) is not None and lent != home:
                found += self._handlers(lent)
        return found

    def home(self, module: Module, name: str) -> tuple[Module, str] | None:
        """The module that binds what a name means in another, and its name there; None where it is not certain."""
        source, original = module.imports.get(name, ("", ""))
        if not source:
            return module, name
        target = self.target(module, source)
        return self.exported(target, original) if target is not None and original != EVERYTHING else None

    def exported(self, module: Module, name: str, seen: frozenset[tuple[str, str]] = frozenset()) -> tuple[Module, str] | None:
        """The same for a name that a module exports."""
        if (module.path, name) in seen:
            return None
        seen |= {(module.path, name)}
        if name in module.exports:
            source, original = module.exports[name]
            if not source:
                return self.home(module, original)
            target = self.target(module, source)
            return self.exported(target, original, seen) if target is not None and original != EVERYTHING else None
        if not module.exports and (name in module.imports or module.binds(name)):
            return self.home(module, name)
        targets = [self.target(module, source) for source in module.stars if name != DEFAULT]
        found = [each for target in targets if target is not None and (each := self.exported(target, name, seen)) is not None]
        return found[0] if found and all(each == found[0] for each in found) else None

    def target(self, module: Module, source: str) -> Module | None:
        """The module that an import means, where it was read."""
        paths = candidates(module.path, source, self.entry)
        return next((self.modules[path] for path in paths if path in self.modules), None)

    def function(self, module: Module, name: str) -> Found | None:
        """The function that a name means in a module; None where it is not certain."""
        home = self.home(module, name)
        function = home[0].functions.get(home[1]) if home is not None else None
        return (home[0], function) if home is not None and function is not None else None

    def callee(self, module: Module, chain: tuple[str, ...], owner: str = "") -> Found | None:
        """The function that a path means, in a method of `owner` where there is one; None where it is not certain."""
        match chain:
            case (name,):
                return self.function(module, name)
            case ("this", name):
                function = module.functions.get(f"{owner}.{name}") or module.functions.get(f"this.{name}")
                return (module, function) if function is not None else None
            case ("this", field, name) if f"{owner}.{field}" in module.instances:
                return self.method(module, module.instances[f"{owner}.{field}"], name)
            case (maker, name) if maker.startswith(NEW):
                return self.method(module, maker.removeprefix(NEW), name)
            case (name, method) if name not in module.rebound:
                return self._member(module, name, method)
            case _:
                return None

    def _member(self, module: Module, name: str, member: str) -> Found | None:
        """The function in `name.member`, where the name stands for a module, an instance, a class or an object."""
        source, original = module.imports.get(name, ("", ""))
        if source:
            inner = source if original == EVERYTHING else f"{source.removesuffix('.')}.{original}"
            target = self.target(module, inner) if original == EVERYTHING or module.path.endswith(".py") else None
            if target is not None:
                home = self.exported(target, member)
                return self.function(*home) if home is not None else None
        home = self.home(module, name)
        if home is None:
            return None
        at, local = home
        return self.method(at, at.instances.get(local, local), member)

    def method(self, module: Module, owner: str, name: str) -> Found | None:
        """A method of a class, or of an object that has a name."""
        home = self.home(module, owner)
        function = home[0].functions.get(f"{home[1]}.{name}") if home is not None else None
        return (home[0], function) if home is not None and function is not None else None

    def constant(self, module: Module, name: str) -> str | None:
        """The text that a name means that a module imports; None where it is not certain."""
        home = self.home(module, name)
        return home[0].constants.get(home[1]) if home is not None else None


def load(entry: str, read: Callable[[str], str | None]) -> Program:
    """Read a Worker's sources, from its entry on. `read` gives the text of a path, None where there is none."""
    from cfq_lint.worker_code.modules.module import read as as_module

    modules: dict[str, Module] = {}
    unread: set[str] = set()
    waiting: list[tuple[str, tuple[str, ...]]] = [(entry, (entry,))]
    while waiting:
        shown, paths = waiting.pop()
        if any(path in modules for path in paths):
            continue
        path, text = next(((path, text) for path in paths if (text := read(path)) is not None), ("", None))
        if text is None or len(modules) >= MODULES_MAX:
            if entry in paths:
                return Program(entry, {}, f"{entry} cannot be read", "build it, or correct `main`")
            # In Python what is not there may as well be a package, or a name in a module.
            unread |= {shown} if text is not None or not entry.endswith(".py") else set()
            continue
        module = as_module(path, text)
        if module is None and path == entry:
            return Program(entry, {}, f"{entry} does not parse", "correct it")
        if module is None:
            unread.add(path)
            continue
        modules[path] = module
        found = {source: candidates(path, source, entry) for source in (*module.sources, *module.perhaps)}
        waiting += [(source if source.startswith(_ALIASES) else each[0], each) for source, each in found.items() if each]
    return Program(entry, modules, unread=tuple(sorted(unread)))


def candidates(path: str, source: str, entry: str) -> tuple[str, ...]:
    """The files that an import may mean, if it looks like a module of the Worker's own."""
    folder, root = os.path.dirname(path), os.path.dirname(entry)
    if path.endswith(".py"):
        dots = len(source) - len(source.lstrip("."))
        for _ in range(dots - 1):
            folder = os.path.dirname(folder)
        name = source.lstrip(".").replace(".", "/")
        folders = (folder,) if dots else tuple(dict.fromkeys((root, folder)))
        bases = [_join(each, name) if name else each for each in folders]
        return tuple(
            file for base in bases for file in ((f"{base}.py", f"{base}/__init__.py") if name else (f"{base}/__init__.py",))
        )
    if source.startswith("."):
        return _scripts(_join(folder, source))
    if source.startswith(_ALIASES):
        rest = source[len(_ALIASES[0]) :]
        return tuple(file for each in dict.fromkeys((root, os.path.dirname(root))) for file in _scripts(_join(each, rest)))
    return ()


def _scripts(base: str) -> tuple[str, ...]:
    bare, ending = os.path.splitext(base)
    if ending in _SCRIPTS:  # TypeScript imports "./x.js" and means x.ts
        return (base, *(bare + each for each in _SCRIPTS))
    if ending in {".json", ".txt", ".html", ".sql", ".wasm", ".css"}:
        return ()
    return (*(base + each for each in _SCRIPTS), *(f"{base}/index{each}" for each in _SCRIPTS), f"{base}.d.ts")


def _join(folder: str, name: str) -> str:
    return os.path.normpath(os.path.join(folder, name)).replace(os.sep, "/")
