"""A Worker's sources together: its entry, and the modules of its own that it imports."""

from __future__ import annotations

import os

from cfq_lint.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cfq_lint.code.steps import Function, Module

MODULES_MAX = 200
"""No Worker has that many modules of its own; what has is not read on."""
INSTALL = "pip install 'cfq-lint[code]'"
_SCRIPTS = (".ts", ".js", ".mts", ".mjs", ".tsx", ".jsx")


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

    def handlers(self) -> list[tuple[Module, Function]]:
        """The queue handlers of the entry, each with the module that it stands in."""
        module = self.modules.get(self.entry)
        if module is None:
            return []
        found = [(module, handler) for handler in module.handlers]
        return found + [each for name in module.handler_names if (each := self.function(module, name)) is not None]

    def function(self, module: Module, name: str) -> tuple[Module, Function] | None:
        """The function that a name means in a module, followed through one import; None where it is not certain."""
        if name in module.functions:
            return module, module.functions[name]
        source, original = module.imports.get(name, ("", ""))
        for path in candidates(module.path, source) if original else ():
            if path in self.modules and original in self.modules[path].functions:
                return self.modules[path], self.modules[path].functions[original]
        return None

    def constant(self, module: Module, name: str) -> str | None:
        """The text that a name means that a module imports; None where it is not certain."""
        source, original = module.imports.get(name, ("", ""))
        paths = candidates(module.path, source) if original else ()
        return next((self.modules[path].constants.get(original) for path in paths if path in self.modules), None)


def load(entry: str, read: Callable[[str], str | None]) -> Program:
    """Read a Worker's sources, from its entry on. `read` gives the text of a path, None where there is none."""
    modules: dict[str, Module] = {}
    unread: list[str] = []
    waiting: list[tuple[str, ...]] = [(entry,)]
    while waiting and len(modules) < MODULES_MAX:
        paths = waiting.pop()
        if any(path in modules for path in paths):
            continue
        path, text = next(((path, text) for path in paths if (text := read(path)) is not None), ("", None))
        if text is None:
            if entry in paths:
                return Program(entry, {}, f"{entry} cannot be read", "build it, or correct `main`")
            unread += paths[:1] if not entry.endswith(".py") else []
            continue
        try:
            module = _reader(path)(path, text)
        except ImportError:
            return Program(entry, {}, f"{entry} is JavaScript or TypeScript, and its parser is not installed", INSTALL)
        if module is None and path == entry:
            return Program(entry, {}, f"{entry} does not parse", "correct it")
        if module is None:
            unread.append(path)
            continue
        modules[path] = module
        waiting += [found for source, _ in module.imports.values() if (found := candidates(path, source))]
    return Program(entry, modules, unread=tuple(sorted(set(unread))))


def _reader(path: str) -> Callable[[str, str], Module | None]:
    if path.endswith(".py"):
        from cfq_lint.code.python import read
    else:
        from cfq_lint.code.javascript import read
    return read


def candidates(path: str, source: str) -> tuple[str, ...]:
    """The files that an import may mean, if it looks like a module of the Worker's own."""
    folder = os.path.dirname(path)
    if path.endswith(".py"):
        dots = len(source) - len(source.lstrip("."))
        for _ in range(dots - 1):
            folder = os.path.dirname(folder)
        name = source.lstrip(".").replace(".", "/")
        base = _join(folder, name) if name else folder
        return (f"{base}.py", f"{base}/__init__.py") if name else (f"{base}/__init__.py",)
    if not source.startswith("."):
        return ()
    base = _join(folder, source)
    bare, ending = os.path.splitext(base)
    if ending in _SCRIPTS:  # TypeScript imports "./x.js" and means x.ts
        return (base, *(bare + each for each in _SCRIPTS))
    if ending in {".json", ".txt", ".html", ".sql", ".wasm", ".css"}:
        return ()
    return (*(base + each for each in _SCRIPTS), *(f"{base}/index{each}" for each in _SCRIPTS))


def _join(folder: str, name: str) -> str:
    return os.path.normpath(os.path.join(folder, name)).replace(os.sep, "/")
