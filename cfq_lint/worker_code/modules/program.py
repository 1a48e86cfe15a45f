"""A Worker's sources together: its entry, and the modules of its own that it imports, read when a name leads there."""

from __future__ import annotations

from types import MappingProxyType

from cfq_lint.facts.record import replace
from cfq_lint.worker_code.lowering.steps import DEFAULT, NEW
from cfq_lint.worker_code.modules.imports import Imports
from cfq_lint.worker_code.modules.module import Value
from cfq_lint.worker_code.modules.module import read as as_module
from cfq_lint.worker_code.modules.tables import Tables
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import walk, without_spread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, TypeAlias

    from cfq_lint.worker_code.lowering.steps import Function
    from cfq_lint.worker_code.modules.module import Module

    Found: TypeAlias = tuple[Module, Function]

MODULES_MAX, LENGTH_MAX = 200, 4_000_000
"""How many modules are read of a Worker, and how many characters; what is beyond that is unread."""
ENTRY_CLASS = "Default"
"""The class that a Python Worker exports. https://developers.cloudflare.com/workers/languages/python/basics/"""
_HOOK = "cloudflare:queue"
_NOTHING: Mapping[str, str] = MappingProxyType({})
_OF_PYTHON = ("queue", "on_queue")


class Program(Tables):
    """What is read of a Worker. `problem` says why there is no entry, `remedy` what to do about that.

    `kept` is for what is found out about it by a queue's name, and asked again.
    """

    def __init__(
        self,
        entry: str,
        imports: Imports | None,
        problem: str = "",
        remedy: str = "",
        variables: Mapping[str, str] = _NOTHING,
    ) -> None:
        super().__init__(variables)
        self.entry = entry
        self.problem = problem
        self.remedy = remedy
        self._imports = imports
        self._modules: dict[str, Module | None] = {}
        self._unread: dict[str, None] = {}
        self.length = 0
        self._read: dict[str, Module] = {}
        self._handlers: tuple[Found, ...] | None = None
        self.kept: dict[str, Any] = {}

    def under(self, variables: Mapping[str, str]) -> Program:
        """The same sources where the configuration has other variables, without reading them once more."""
        made = Program(self.entry, self._imports, self.problem, self.remedy, variables)
        made._read = self.modules
        return made

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
            made = self._read[path].again() if path in self._read else as_module(path, text)
            if isinstance(made, str):
                self._modules[path], self._unread[path] = None, None
                self.problem = f"{path} {made}" if path == self.entry else self.problem
                return None
            self._modules[path] = made
            self._link(made)
        return self._modules[path]

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

    def _link(self, module: Module) -> None:
        """Let a module's names be looked for in the others as well."""
        module.names.elsewhere = (
            lambda node: self.texts(Value(module, node, module.around, module.this)),
            lambda node: self.keys(Value(module, node, module.around, module.this)),
        )

    # --- what is asked

    def handlers(self) -> tuple[Found, ...]:
        """The queue handlers of the entry, each with the module that it stands in."""
        if self._handlers is None:
            found = ((module, module.function(node, node.name, owner)) for module, node, owner, _ in self.handling())
            self._handlers = tuple(found)
        return self._handlers

    def handling(self) -> list[tuple[Module, n.Lambda, str, Value | None]]:
        """The same as they are written, with their owners and with what they are called on."""
        module = self.module(self.entry)
        if module is None:
            return []
        if self.entry.endswith(".py"):
            values = self._of_python(module)
        else:
            home = self.exported(module, DEFAULT)
            if home is not None and isinstance(home.node, n.Class):
                home = replace(home, is_instance=True)
            values = [self.member(home, "queue") if home is not None else None]
            values = values if values[0] is not None else [*self._of_hooks(module)]
        found = [(self.located(each, module), each.this) for each in values if each is not None]
        return [(*each, this) for each, this in found if each is not None]

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

    def found(self, value: Value, near: Module) -> Found | None:
        """The same as a function in steps."""
        located = self.located(value, near)
        return (located[0], located[0].function(located[1], located[1].name, located[2])) if located is not None else None

    def located(self, value: Value, near: Module) -> tuple[Module, n.Lambda, str] | None:
        """The function that a value is, or that a wrapper is given, with its owner; in `near` where it is inside of that."""
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
        owner = value.this.node.owner if value.this is not None and isinstance(value.this.node, n.Record) else ""
        module = value.module.base
        if module is near.base and value.around == near.around and _is_same(value.this, near.this):
            module = near
        elif value.around or value.this is not None:
            module = module.view(value.around, value.this)
            self._link(module)
        return module, value.node, owner

    def callee(self, module: Module, chain: tuple[str, ...], owner: str = "") -> Found | None:
        """The function that a path means, in a method of `owner` where there is one; None where it is not certain."""
        value = self._start(module, chain[0], owner) if chain else None
        for name in chain[1:]:
            value = self.member(value, name) if value is not None else None
        if value is None and len(chain) == 2 and chain[0] == "this" and (one := module.method(chain[1])) is not None:  # noqa: PLR2004
            value = Value(module, one[1].value, module.around, self._this(module, one[0].owner))
        return self.found(value, module) if value is not None else None

    def _this(self, module: Module, owner: str) -> Value | None:
        """What `this` stands for in a method of a class or object."""
        if module.this is not None:
            return module.this
        home = module.once(owner) if owner else None
        return Value(module, home, module.around, is_instance=True) if isinstance(home, n.Record) else None

    def _start(self, module: Module, name: str, owner: str) -> Value | None:
        if name == "this":
            return self._this(module, owner)
        if name == "super":
            return self._above(module, owner)
        if name.startswith(NEW):
            made = self._start(module, name.removeprefix(NEW), owner)
            return (
                Value(made.module, made.node, made.around, is_instance=True)
                if made and isinstance(made.node, n.Class)
                else None
            )
        if module.around.get(name) is not None:
            return module.around[name]
        once = module.once(name)
        if once is not None:
            is_top = module.source.scope.names.get(name) == [once]
            return self.value(Value(module.base, once, {}) if is_top else Value(module, once, module.around, module.this))
        return self.imported(module, name) if name not in module.names.rebound else None

    def _above(self, module: Module, owner: str) -> Value | None:
        """What a class inherits from, as `this`."""
        this, home = self._this(module, owner), module.once(owner) if owner else None
        if this is None or not isinstance(home, n.Class):
            return None
        bases = [self.value(Value(module.base, each, {})) for each in home.bases]
        found = next((each for each in bases if each is not None and isinstance(each.node, n.Class)), None)
        return Value(found.module, found.node, this.around, is_instance=True) if found is not None else None

    def meaning(self, module: Module, name: str) -> Value | None:
        """What a name means in a module; None where it is not certain."""
        return self._start(module, name, "")

    def constant(self, module: Module, name: str) -> str | None:
        """The text that a name means; None where it is not certain."""
        value = self._start(module, name, "")
        return value.node.value if value is not None and isinstance(value.node, n.Text) else None


def _as_handler(hook: n.Lambda) -> n.Lambda:
    """A hook that takes its event apart, as a handler with parameters."""
    first = hook.parameters[0] if hook.parameters else None
    names = {each.id: each for each in first.names} if isinstance(first, n.Pattern) else {}
    parameters = tuple(names.get(name, n.Name(hook.at, "", n.Scope())) for name in ("batch", "env", "context"))
    return n.Lambda(hook.at, hook.name, parameters if "batch" in names else (), hook.body, hook.is_async, hook.gives)


def _is_same(one: Value | None, other: Value | None) -> bool:
    return one is other or (one is not None and other is not None and one.node is other.node)


def load(
    entry: str,
    read: Callable[[str], str | None],
    listed: Callable[[str], tuple[str, ...]] = lambda _: (),
    aliases: Mapping[str, str] = _NOTHING,
    variables: Mapping[str, str] = _NOTHING,
) -> Program:
    """A Worker's sources, from its entry on.

    `read` gives the text of a path, None where there is none; `listed` what stands in a folder, folders with a slash at their
    end. `aliases` are what the configuration names imports, `variables` its texts for `env`.
    """
    imports = Imports(read, listed, aliases)
    if imports.read(entry) is None:
        return Program(entry, None, f"{entry} cannot be read", "build it, or correct `main`")
    program = Program(entry, imports, variables=variables)
    program.remedy = "correct it" if program.module(entry) is None else ""
    return program
