"""A hash of all that what comes may depend on: the account, its stores, and what the world's own code holds.

Two runs that are at rest with one hash go on alike, so that one of them is enough. It is taken where no handler runs, over what
can be read whole: plain data, objects of classes written in Python, what functions close over and the globals that they name.
Moments and ids are taken as they are, since a handler may look at them. What cannot be read (a coroutine, a file, an object of
a library, JavaScript) proves nothing: then there is no hash, and nothing is spared.
"""

from __future__ import annotations

import dis
import enum
import random
import re
import sqlite3
import sys
import types
from collections import OrderedDict, defaultdict, deque
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Generic, Protocol
from uuid import UUID

import msgspec

from emulator.engine.targets.python import PythonTarget
from emulator.explore.rewrite import is_library
from emulator.testing.emulator import Emulator
from emulator.testing.queue import Queue
from emulator.workers.bindings import Binding, put_by_test
from emulator.workers.python.queue_binding import QueueBinding
from emulator.workers.stores.d1 import D1
from emulator.workers.stores.kv import KV

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PARTS_MAX = 5_000
"""More objects than that are not read: it would cost more than it spares."""
_SCALARS = frozenset({
    int, float, complex, str, bytes, bool, range, slice, date, datetime, time, timedelta, timezone, Decimal, Fraction, UUID,
    type(None), type(...), type(NotImplemented),
})  # fmt: skip
_SCALAR_KINDS = (enum.Enum, PurePath, re.Pattern)
_BASES = (dict, list, tuple, set, frozenset, deque, str, bytes, bytearray, int, float)
"""What a class may be made of that is not written in Python."""
_MEMBERS = (
    types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.ClassMethodDescriptorType, types.GenericAlias, types.UnionType,
)  # fmt: skip
_KEEPS_NOTHING = frozenset({
    "__future__", "abc", "asyncio", "base64", "binascii", "bisect", "builtins", "calendar", "collections", "contextlib", "copy",
    "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "hmac", "html", "inspect",
    "itertools", "json", "keyword", "logging", "math", "numbers", "operator", "pathlib", "pprint", "random", "re", "reprlib",
    "secrets", "sqlite3", "statistics", "string", "struct", "textwrap", "time", "traceback", "types", "typing", "unicodedata",
    "urllib", "uuid", "warnings", "zlib", "zoneinfo",
})  # fmt: skip
"""Modules of Python's that keep nothing of what they are told, except chance, which is looked at."""
_HIDING = frozenset({"open", "exec", "eval", "globals", "locals", "vars", "__import__"})
"""Builtins by which code reaches what cannot be seen here."""
_PYTEST = "@"
"""How the names begin by which pytest's assertions reach pytest: no author can write them, and nothing is kept there."""
_IMMUTABLE_TYPE = 1 << 8
_POINTER = 8
_USER, _OURS, _PLAIN, _OTHER = "the user's", "ours", "keeps nothing", "a library's"


class Opaque(Exception):  # noqa: N818 - what something is
    """Something cannot be read whole; its text says what."""


def state_of(emulator: Emulator, roots: Iterable[Any], history: Iterable[Any] = ()) -> bytes:
    """The hash of a world at rest. `roots` are the user's own: what setup made, the invariants. Raises Opaque.

    `history` is what invariants look at beside the journal.
    """
    timeline, account = emulator.timeline, emulator.account
    if timeline.alarms.next_us() is not None:
        raise Opaque("an alarm")
    reader = _Reader()
    warnings = list(timeline.deliveries.late_warnings)
    told = (account.now_us, account.empty_pulls, warnings, hash(random.getstate()), list(history))
    reader.out += (msgspec.msgpack.encode(list(account.events())), repr(told).encode("utf-8", "surrogatepass"))
    for queue, target in sorted(timeline.deliveries.targets.items()):
        if not isinstance(target, PythonTarget):
            raise Opaque(f"a consumer in {target.name}")
        reader.read((queue, target.handler))
    for root in (put_by_test(emulator.env), emulator.stores, emulator.workers, *roots):
        reader.read(root)
    return blake2b(b"\x00".join(reader.out), digest_size=16).digest()


class _Reader:
    """Writes what it reads to `out`. What was read before is told by its number: whether something is shared counts, too."""

    def __init__(self) -> None:
        self.out: list[bytes] = []
        self._numbers: dict[int, int] = {}
        self._held: list[Any] = []

    def read(self, value: Any) -> None:
        """Read a value and all that it holds."""
        kind: Any = type(value)
        if kind in _SCALARS or isinstance(value, _SCALAR_KINDS):
            self.say(f"{kind.__qualname__} {value!r}")
            return
        number = self._numbers.setdefault(id(value), len(self._held))
        if number < len(self._held):
            self.say(f"={number}")
            return
        self._held.append(value)  # held, so that its id is nobody else's meanwhile
        if len(self._held) > _PARTS_MAX or len(self.out) > 10 * _PARTS_MAX:
            raise Opaque(f"more than {_PARTS_MAX:,} objects")
        self.say(kind.__qualname__)
        try:
            how = _HOW.get(kind)
            if how is not None:
                how(self, value)
            elif isinstance(value, type):
                self.a_class(value)
            elif isinstance(value, sqlite3.Connection):
                self.database(value)
            elif isinstance(value, random.Random) and not isinstance(value, random.SystemRandom):
                self.say(hash(value.getstate()))
            elif _home(kind) == _OURS and kind not in _TOKENS:
                self.read(_held_by(value))
            elif not isinstance(value, _TOKENS) and kind is not object:
                self.instance(value, kind)
        except RecursionError:
            raise Opaque("something that is too deep") from None

    def say(self, what: object) -> None:
        """Write a text."""
        self.out.append(str(what).encode("utf-8", "surrogatepass"))

    def row(self, row: Any) -> None:
        """Values in order."""
        self.say(len(row))
        for each in row:
            self.read(each)

    def table(self, table: Any) -> None:
        """Names and values in order."""
        self.say(len(table))
        for name, each in list(table.items()):
            self.read(name)
            self.read(each)

    def members(self, members: Any) -> None:
        """In no order: whoever goes through a set meets one that is another in every process."""
        parts = []
        for each in members:
            before = len(self.out)
            if not _is_flat(each):
                raise Opaque("a set of objects")
            self.read(each)
            parts.append(b"\x01".join(self.out[before:]))
            del self.out[before:]
        self.out += sorted(parts)

    def function(self, function: types.FunctionType) -> None:
        """A function: where its code stands, and what that may reach."""
        code = function.__code__
        home = _home_of(str(function.__globals__.get("__name__")), code.co_filename)
        self.say(f"{code.co_filename}:{code.co_firstlineno}:{code.co_qualname}")
        if home == _OTHER:
            raise Opaque(f"{code.co_qualname} of {code.co_filename}")
        self.row((function.__closure__, function.__defaults__, function.__kwdefaults__, function.__dict__))
        if home != _USER:
            return
        known = function.__globals__
        names, imports = _named(code)
        for name in names:
            if name in known:
                self.say(name)
                self.read(known[name])
            elif name in _HIDING:
                raise Opaque(f"{name}() in {code.co_qualname}")
        for name in imports:
            if name in sys.modules:
                self.module(sys.modules[name])

    def cell(self, cell: Any) -> None:
        """A variable that a function closes over."""
        try:
            held = cell.cell_contents
        except ValueError:  # it is empty
            return
        self.read(held)

    def builtin(self, function: Any) -> None:
        """A function of C's with what it is bound to."""
        self.say(function.__qualname__)
        if function.__name__ in _HIDING:
            raise Opaque(f"{function.__name__}()")
        if function.__self__ is not None:
            self.read(function.__self__)

    def module(self, module: Any) -> None:
        """A module: all that a user's own holds."""
        home = _home_of(module.__name__, getattr(module, "__file__", None))
        self.say(getattr(module, "__file__", None) or module.__name__)
        if home == _OTHER:
            raise Opaque(f"the module {module.__name__}")
        if home == _USER:
            for name, each in list(vars(module).items()):
                if not name.startswith(("__", _PYTEST)):
                    self.say(name)
                    self.read(each)

    def a_class(self, kind: type) -> None:
        """A class: its code, and what it holds itself."""
        home = _home(kind)
        self.say(kind.__qualname__)
        if home == _OTHER:
            raise Opaque(f"the class {kind.__module__}.{kind.__qualname__}")
        if home != _USER or issubclass(kind, enum.Enum):
            return
        self.read(kind.__bases__)
        for name, each in list(vars(kind).items()):
            special = name.startswith("__") and type(each) is not types.FunctionType
            if not special and name != "_abc_impl":
                self.say(name)
                self.read(each)

    def database(self, connection: sqlite3.Connection) -> None:
        """What a database in memory holds, and what its connection remembers."""
        try:
            databases = connection.execute("PRAGMA database_list").fetchall()
            if len(databases) > 1 or databases[0][2] or connection.in_transaction:
                raise Opaque("a database that is not in memory alone")
            if connection.execute(_FUNCTIONS).fetchall() not in _known_functions():
                raise Opaque("a database with functions of its own")
            last = connection.execute("SELECT last_insert_rowid(), changes()").fetchone()
            self.out += (connection.serialize(), repr((last, connection.total_changes)).encode())
        except sqlite3.Error as error:
            raise Opaque(f"a database: {error}") from None
        self.attributes(connection, type(connection))

    def instance(self, value: Any, kind: type) -> None:
        """An object of a class written in Python: what it holds, and its class."""
        if _home(kind) == _OTHER:
            raise Opaque(f"a {kind.__module__}.{kind.__qualname__}")
        base = next((each for each in _BASES if isinstance(value, each)), None)
        if isinstance(value, BaseException):
            self.read(value.args)
        elif base is not None:
            self.read(base(value.items() if base is dict else value))
            if isinstance(value, defaultdict):
                self.read(value.default_factory)
        elif _hides(kind):
            raise Opaque(f"a {kind.__module__}.{kind.__qualname__}")
        self.read(kind)
        self.attributes(value, kind)

    def attributes(self, value: Any, kind: type) -> None:
        """What an object holds."""
        held = getattr(value, "__dict__", None)
        if type(held) is dict:
            self.table(held)
        for base in kind.__mro__:
            for name, slot in vars(base).items():
                if type(slot) is types.MemberDescriptorType:
                    self.say(name)
                    try:
                        found = slot.__get__(value, kind)
                    except AttributeError:
                        continue
                    self.read(found)


_TOKENS = (Emulator, Queue, Binding, QueueBinding, KV, D1)
"""What these hold is in the journal, or in the account's stores."""
_HOW: dict[type, Callable[[_Reader, Any], None]] = {
    dict: _Reader.table, OrderedDict: _Reader.table, types.MappingProxyType: _Reader.table,
    list: _Reader.row, tuple: _Reader.row, deque: _Reader.row, set: _Reader.members, frozenset: _Reader.members,
    bytearray: lambda reader, value: reader.out.append(bytes(value)),
    types.FunctionType: _Reader.function, types.BuiltinFunctionType: _Reader.builtin,
    types.MethodType: lambda reader, value: reader.row((value.__func__, value.__self__)),
    types.CellType: _Reader.cell, types.ModuleType: _Reader.module,
    partial: lambda reader, value: reader.row((value.func, value.args, value.keywords)),
    staticmethod: lambda reader, value: reader.read(value.__func__),
    classmethod: lambda reader, value: reader.read(value.__func__),
    property: lambda reader, value: reader.row((value.fget, value.fset, value.fdel)),
    **dict.fromkeys(_MEMBERS, lambda reader, value: reader.say(repr(value))),
}  # fmt: skip
_FUNCTIONS = "SELECT name, narg FROM pragma_function_list WHERE NOT builtin ORDER BY name, narg"


@lru_cache(maxsize=1)
def _known_functions() -> list[Any]:
    """What every database has that is not built in, and what each of D1 has."""
    databases = [sqlite3.connect(":memory:"), D1(lambda: 0).connection]
    try:
        return [each.execute(_FUNCTIONS).fetchall() for each in databases]
    finally:
        for each in databases:
            each.close()


def _held_by(value: Any) -> Any:
    """What an object of the emulator's holds that is not in the journal."""
    held = getattr(type(value), "held", None)
    if held is None:
        raise Opaque(f"a {type(value).__module__}.{type(value).__qualname__}")
    return held(value)


def _is_flat(value: Any) -> bool:
    return type(value) in _SCALARS or isinstance(value, _SCALAR_KINDS) or (type(value) is tuple and all(map(_is_flat, value)))


@lru_cache(maxsize=1_000)
def _named(code: types.CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The globals that code and what is in it look up, and the modules that it imports when it runs."""
    names, imports, todo = set[str](), set[str](), [code]
    for each in todo:
        for step in dis.get_instructions(each):
            if step.opname in {"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"}:
                names.add(str(step.argval))
            elif step.opname == "IMPORT_NAME" and step.argval:
                imports.add(str(step.argval))
        todo += [const for const in each.co_consts if isinstance(const, types.CodeType)]
    return tuple(sorted(name for name in names if not name.startswith(_PYTEST))), tuple(sorted(imports))


@lru_cache(maxsize=1_000)
def _home(kind: type) -> str:
    """Whose a class is."""
    return _home_of(kind.__module__, getattr(sys.modules.get(kind.__module__), "__file__", None))


def _home_of(name: str, file: str | None) -> str:
    """Whose a module is, by its name and its file."""
    if file is not None and file.startswith(_HERE):
        return _USER if file.startswith(f"{_HERE}toolkit/") else _OURS
    top = name.partition(".")[0]
    if file is not None and not is_library(file):
        return _USER
    if top in _KEEPS_NOTHING or top.lstrip("_") in _KEEPS_NOTHING:
        return _PLAIN
    return _USER if file is None and top not in sys.stdlib_module_names else _OTHER


_HERE = __file__.replace("\\", "/").rpartition("explore/")[0]


@lru_cache(maxsize=1_000)
def _hides(kind: type) -> bool:
    """Whether an object may hold something that no attribute shows."""
    slots = 0
    for base in kind.__mro__[:-1]:
        if base in {Generic, Protocol}:
            continue
        if base.__flags__ & _IMMUTABLE_TYPE:
            return True
        slots += sum(type(each) is types.MemberDescriptorType for each in vars(base).values())
    return kind.__basicsize__ > object.__basicsize__ + _POINTER * (slots + 2)
