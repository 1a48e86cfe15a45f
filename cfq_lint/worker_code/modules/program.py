"""A Worker's sources together: its entry, and the modules of its own that it imports, read when a name leads there."""

from __future__ import annotations

from types import MappingProxyType

from cfq_lint.facts.record import replace
from cfq_lint.worker_code.modules.imports import Imports
from cfq_lint.worker_code.modules.module import TOO_DEEP, Value
from cfq_lint.worker_code.modules.module import read as as_module
from cfq_lint.worker_code.modules.values import Values
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import walk, without_spread
from cfq_lint.worker_code.tree.statements import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from cfq_lint.worker_code.modules.module import Module

MODULES_MAX, LENGTH_MAX = 200, 4_000_000
"""How many modules are read of a Worker, and how many characters; what is beyond that is unread."""
ENTRY_CLASS = "Default"
"""The class that a Python Worker exports. https://developers.cloudflare.com/workers/languages/python/basics/"""
_HOOK = "cloudflare:queue"
_NOTHING: Mapping[str, str] = MappingProxyType({})
_OF_PYTHON = ("queue", "on_queue")


class Program(Values):
    """What is read of a Worker. `problem` says why there is no entry, `remedy` what to do about that.

    `kept` is for what is found out about it by a queue's name, and asked again. `known` are modules that were read before, for
    it or for others, by their paths; those whose text is another one now are read again in their places.
    """

    def __init__(
        self,
        entry: str,
        imports: Imports | None,
        problem: str = "",
        remedy: str = "",
        variables: Mapping[str, str] = _NOTHING,
        *,
        known: dict[str, Module] | None = None,
    ) -> None:
        super().__init__(variables)
        self.entry = entry
        self.problem = problem
        self.remedy = remedy
        self._imports = imports
        self._modules: dict[str, Module | None] = {}
        self._unread: dict[str, None] = {}
        self.length = 0
        self._known = known if known is not None else {}
        self._handlers: list[tuple[Module, n.Lambda, Value | None]] | None = None
        self.kept: dict[str, Any] = {}

    def under(self, variables: Mapping[str, str]) -> Program:
        """The same sources where the configuration has other variables, without reading them once more."""
        return Program(self.entry, self._imports, self.problem, self.remedy, variables, known=self._known)

    # --- modules

    @property
    def modules(self) -> dict[str, Module]:
        """The modules that were read, by their paths."""
        return {path: module for path, module in self._modules.items() if module is not None}

    @property
    def unread(self) -> tuple[str, ...]:
        """The imports that could not be read, as far as they were asked for."""
        return tuple(sorted(self._unread))

    def read_all(self) -> None:
        """Read all that the entry imports, and that these import in turn."""
        home = self.module(self.entry)
        waiting = [home] if home is not None else []
        seen: set[str] = set()
        while waiting:
            module = waiting.pop()
            if module.path in seen:
                continue
            seen.add(module.path)
            several = [self.target(module, source) for source in (*module.source.sources, *module.source.perhaps)]
            waiting += [each for each in several if each is not None]

    def module(self, path: str) -> Module | None:
        """The module at a path, None where it cannot be read."""
        if path not in self._modules:
            text = self._imports.read(path) if self._imports is not None else None
            if text is None:
                return None
            self.length += len(text)
            if len(self.modules) >= MODULES_MAX or self.length > LENGTH_MAX:
                self._unread[path] = None
                return None
            known = self._known.pop(path, None)
            made = known.again() if known is not None and known.text == text else as_module(path, text, known)
            if isinstance(made, str):
                if known is not None and made != TOO_DEEP:
                    self._known[path] = known  # the next text may be like it
                self._modules[path], self._unread[path] = None, None
                self.problem = f"{path} {made}" if path == self.entry else self.problem
                return None
            self._modules[path] = self._known[path] = made
        return self._modules[path]

    def renew(self, new: Module) -> bool:
        """Take a module for the one at its path; whether what was found out holds on. If not, the program is of no use."""
        old = self._modules.get(new.path)
        if old is None or self._imports is None or any(_HOOK in each.text for each in (old, new)):
            return False
        from cfq_lint.worker_code.modules.renewing import renew  # a run reads each text once

        length = self.length - len(old.text) + len(new.text)
        if length > LENGTH_MAX or not renew(old, new):
            return False
        self.length, self._handlers = length, None
        self._imports.put(new.path, new.text)
        return True

    def target(self, module: Module, source: str) -> Module | None:
        """The module that an import means, where it can be read."""
        if self._imports is None:
            return None
        shown, paths = self._imports.candidates(module.path, source, self.entry)
        for path in paths:
            if path in self._modules or self._imports.read(path) is not None:
                return self.module(path)
        if paths and not self.entry.endswith(".py"):
            # In Python what is not there may as well be a package, or a name in a module.
            self._unread[shown] = None
        return None

    # --- what is asked

    def handlers(self) -> list[tuple[Module, n.Lambda, Value | None]]:
        """The queue handlers of the entry, each with the module that it stands in and with what it is called on."""
        if self._handlers is None:
            self._handlers = [*self._found()]
        return self._handlers

    def _found(self) -> Iterator[tuple[Module, n.Lambda, Value | None]]:
        module = self.module(self.entry)
        if module is None:
            return
        if self.entry.endswith(".py"):
            values = self._of_python(module)
        else:
            home = self.exported(module, DEFAULT)
            if home is not None and isinstance(home.node, n.Class):
                home = replace(home, is_instance=True)
            values = [self.member(home, "queue") if home is not None else None]
            values = values if values[0] is not None else [*self._of_hooks(module)]
        for each in values:
            located = self._located(each) if each is not None else None
            if each is not None and located is not None:
                yield *located, each.this

    def _of_hooks(self, module: Module) -> Iterator[Value]:
        """What a plugin of Nitro's does with a batch: `hooks.hook("cloudflare:queue", ({ batch, env }) => …)`."""
        for each in walk(module.source.body) if _HOOK in module.text else ():
            match each:
                case n.Invoke(n.Member(_, "hook"), (n.Text(name), function, *_)) if name == _HOOK:
                    found = self.value(Value(module, function, {}))
                    if found is not None and isinstance(found.node, n.Lambda):
                        yield replace(found, node=_as_handler(found.node))

    def _of_python(self, module: Module) -> list[Value | None]:
        """A method of the class that a Python Worker exports, else the module's own function."""
        entry = self.exported(module, ENTRY_CLASS)
        if entry is not None and isinstance(entry.node, n.Class):
            instance = Value(entry.module, entry.node, entry.around, is_instance=True)
            for name in _OF_PYTHON:
                found = self.member(instance, name)
                if found is not None:
                    return [found]
        return [self.exported(module, "on_queue")]

    def _located(self, value: Value) -> tuple[Module, n.Lambda] | None:
        """The function that a value is, or that a wrapper is given, with the module as it sees it."""
        for _ in range(4):
            if not isinstance(value.node, n.Invoke) or isinstance(value.node, n.New):
                break
            given = [self.value(value.beside(without_spread(each))) for each in value.node.given]
            inner = next((each for each in given if each is not None and isinstance(each.node, n.Lambda | n.Invoke)), None)
            if inner is None:
                return None
            value = inner
        if not isinstance(value.node, n.Lambda):
            return None
        module = value.module.base
        if value.around or value.this is not None:
            module = module.view(value.around, value.this)
        return module, value.node

    def meaning(self, module: Module, name: str) -> Value | None:
        """What a name means in a module; None where it is not certain."""
        if name == "this":
            return module.this
        if module.around.get(name) is not None:
            return module.around[name]
        once = module.once(name)
        if once is not None:
            is_top = module.source.scope.names.get(name) == [once]
            return self.value(Value(module.base, once, {}) if is_top else Value(module, once, module.around, module.this))
        return self.imported(module, name) if name not in module.names.rebound else None


def _as_handler(hook: n.Lambda) -> n.Lambda:
    """A hook that takes its event apart, as a handler with parameters."""
    first = hook.parameters[0] if hook.parameters else None
    names = {each.id: each for each in first.names} if isinstance(first, n.Pattern) else {}
    parameters = tuple(names.get(name, n.Name(hook.at, "", n.Scope())) for name in ("batch", "env", "context"))
    return n.Lambda(hook.at, hook.name, parameters if "batch" in names else (), hook.body, hook.is_async, hook.gives)


def load(
    entry: str,
    read: Callable[[str], str | None],
    listed: Callable[[str], tuple[str, ...]] = lambda _: (),
    aliases: Mapping[str, str] = _NOTHING,
    variables: Mapping[str, str] = _NOTHING,
    *,
    known: dict[str, Module] | None = None,
) -> Program:
    """A Worker's sources, from its entry on.

    `read` gives the text of a path, None where there is none; `listed` what stands in a folder, folders with a slash at their
    end. `aliases` are what the configuration names imports, `variables` its texts for `env`; `known` is as in `Program`.
    """
    imports = Imports(read, listed, aliases)
    if imports.read(entry) is None:
        return Program(entry, None, f"{entry} cannot be read", "build it, or correct `main`")
    program = Program(entry, imports, variables=variables, known=known)
    program.remedy = "correct it" if program.module(entry) is None else ""
    return program
