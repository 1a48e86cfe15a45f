"""A user's code under search: every `await` is a place where something may happen, and every branch says that it was reached.

The source of a module is read once more and compiled with these additions, and its functions run that code until the search is
over. What has no source runs as it is: then only what a handler really waits for is such a place.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
import sysconfig
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from emulator.engine.targets.awaits import await_point
from emulator.workers.python.importing import compiling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_AWAIT, _REACHED = "__cfq_await__", "__cfq_reached__"
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_OURS, _VENDORED = ("emulator", "cfq_lint", "pytest", "_pytest"), "emulator.toolkit"
_MODULES_MAX = 50


class Reached:
    """The branches that were reached since the last look, as (file, line)."""

    def __init__(self) -> None:
        self.known: set[tuple[str, int]] = set()
        self.fresh: list[tuple[str, int]] = []

    def __call__(self, place: tuple[str, int]) -> None:
        """A branch begins."""
        if place not in self.known:
            self.known.add(place)
            self.fresh.append(place)

    def begin(self, known: Iterable[tuple[str, int]]) -> None:
        """Only these are known."""
        self.known, self.fresh = set(known), []

    def take(self) -> list[tuple[str, int]]:
        """What is new since the last look."""
        fresh, self.fresh = self.fresh, []
        return fresh


reached = Reached()


class _Points(ast.NodeTransformer):
    def __init__(self, path: str) -> None:
        self._path = path

    def visit_Await(self, node: ast.Await) -> ast.AST:
        self.generic_visit(node)
        call = ast.Call(ast.Name(_AWAIT, ast.Load()), [node.value], [])
        node.value = ast.copy_location(call, node.value)
        return ast.fix_missing_locations(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.If | ast.For | ast.While | ast.AsyncFor | ast.Try | ast.ExceptHandler):
            for field in ("body", "orelse"):
                block = getattr(node, field, None)
                if block and not (field == "orelse" and isinstance(block[0], ast.If)):
                    block.insert(0, self._probe(block[0]))
        return node

    def _probe(self, first: ast.stmt) -> ast.stmt:
        place = ast.Tuple([ast.Constant(self._path), ast.Constant(first.lineno)], ast.Load())
        probe = ast.Expr(ast.Call(ast.Name(_REACHED, ast.Load()), [place], []))
        return ast.fix_missing_locations(ast.copy_location(probe, first))


def compiled(source: bytes | str, path: str, asserts: Callable[[ast.Module, bytes], None] | None = None) -> CodeType:
    """The code of a source with these additions; `asserts` rewrites assertions, as pytest does."""
    tree = ast.parse(source, path)
    tree = _Points(path).visit(tree)
    if asserts is not None:
        asserts(tree, source.encode() if isinstance(source, str) else source)
    code: CodeType = compile(tree, path, "exec", dont_inherit=True)
    return code


@contextmanager
def rewritten(roots: Iterable[Callable[..., Any]]) -> Iterator[None]:
    """Let functions, and what their modules use of the user's own, run with these additions; afterwards they are as before."""
    for name, value in ((_AWAIT, await_point), (_REACHED, reached)):
        setattr(builtins, name, value)
    changed: list[tuple[FunctionType, CodeType]] = []
    token = compiling.set(compiled)
    try:
        starts = list(roots)
        for module in _modules(starts):
            codes = _codes_of(module)
            for function in _functions(module, starts):
                new = codes.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
                if new is not None and new.co_freevars == function.__code__.co_freevars:
                    changed.append((function, function.__code__))
                    function.__code__ = new
        yield
    finally:
        compiling.reset(token)
        for function, code in changed:
            function.__code__ = code


def _modules(roots: list[Callable[..., Any]]) -> list[ModuleType]:
    """The modules of functions, and those of the user's own that they refer to."""
    names = [getattr(root, "__module__", None) or type(root).__module__ for root in roots]
    found: dict[str, ModuleType] = {}
    while names and len(found) < _MODULES_MAX:
        name = names.pop(0)
        module = sys.modules.get(name)
        if name in found or module is None or not _is_users(module):
            continue
        found[name] = module
        for value in list(vars(module).values()):
            other = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if isinstance(other, str):
                names.append(other)
    return list(found.values())


def is_library(path: str) -> bool:
    """Whether a file belongs to Python or to what was installed."""
    return path.startswith(_LIBRARIES)


def _is_users(module: ModuleType) -> bool:
    name, path = module.__name__, getattr(module, "__file__", None)
    if not isinstance(path, str) or not path.endswith(".py"):
        return False
    if f"{name}.".startswith(f"{_VENDORED}."):
        return True
    return name.partition(".")[0] not in _OURS and not is_library(path)


def _codes_of(module: ModuleType) -> dict[tuple[str, int], CodeType]:
    """The new code of a module's functions, by name and first line; empty where its source cannot be read."""
    path = str(module.__file__)
    return _codes("".join(linecache.getlines(path)), path, "@pytest_ar" in vars(module))


@lru_cache(maxsize=_MODULES_MAX)
def _codes(source: str, path: str, asserts: bool) -> dict[tuple[str, int], CodeType]:
    """As `_codes_of`: one search after the other finds the same modules."""
    if not source:
        return {}
    try:
        code = compiled(source, path, _pytest_asserts(path) if asserts else None)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[tuple[str, int], CodeType] = {}
    several = set[tuple[str, int]]()
    todo = [code]
    for each in todo:
        name = each.co_qualname, each.co_firstlineno
        several.update({name} & found.keys())  # such as two lambdas in one line: nobody knows which is which
        found[name] = each
        todo += [const for const in each.co_consts if isinstance(const, CodeType)]
    return {name: each for name, each in found.items() if name not in several}


def _pytest_asserts(path: str) -> Callable[[ast.Module, bytes], None]:
    """What makes assertions tell their values, as pytest has done in this module."""
    from _pytest.assertion.rewrite import rewrite_asserts

    return lambda tree, source: rewrite_asserts(tree, source, path)


def _functions(module: ModuleType, roots: list[Callable[..., Any]]) -> list[FunctionType]:
    """The functions of a module: its own, those of its classes, and those that the roots hold on to."""
    found: dict[int, FunctionType] = {}
    todo: list[Any] = [*vars(module).values(), *roots]
    seen: set[int] = set()
    path = str(module.__file__)
    for value in todo:
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, staticmethod | classmethod):
            todo.append(value.__func__)
        elif isinstance(value, property):
            todo += [value.fget, value.fset]
        elif isinstance(value, FunctionType):
            if value.__code__.co_filename == path:
                found[id(value)] = value
            todo.append(getattr(value, "__wrapped__", None))
            todo += [cell.cell_contents for cell in value.__closure__ or () if _is_full(cell)]
        elif isinstance(value, type) and value.__module__ == module.__name__:
            todo += list(vars(value).values())
    return list(found.values())


def _is_full(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty one raises
    except ValueError:
        return False
    return True
