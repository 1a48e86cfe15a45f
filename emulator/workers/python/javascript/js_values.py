"""JavaScript's values as Python sees them: plain results (`JsDict`, `JsList`), and proxies of what was made in JavaScript.

Since SDK 1.4 bindings and messages give Python values: a dict with attribute access, a list. Before, they gave proxies that
had `.to_py()`. These values serve both. https://developers.cloudflare.com/workers/languages/python/ffi/.
"""

from __future__ import annotations

from typing import Any, Self

from emulator.engine.bodies.undefined import UNDEFINED
from emulator.workers.python.errors import NoSuchMember, tell
from emulator.workers.python.javascript.js_time import JsTime


class JsProxy:
    """Stands for Pyodide's class of the same name: what `to_js`, `JSON.parse` and `Object.new` give is an instance."""

    __slots__ = ()

    def to_py(self, **_options: Any) -> Any:
        """The Python value of it."""
        return plain(self)

    def destroy(self) -> None:
        """Nothing: Python frees what nobody holds."""


class JsDict(dict[str, Any]):
    """An object that came from JavaScript: a dict whose keys are attributes too, unless a dict has that attribute itself."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(name) from None

    def to_py(self, **_options: Any) -> dict[str, Any]:
        """Plain dicts and lists, all the way down."""
        _say_to_py(self)
        return {key: plain(value) for key, value in self.items()}

    def object_keys(self) -> JsArray:
        """Its keys."""
        return JsArray(self)

    def object_values(self) -> JsArray:
        """Its values."""
        return JsArray(self.values())

    def object_entries(self) -> JsArray:
        """Its pairs of key and value."""
        return JsArray(JsArray(pair) for pair in self.items())

    def as_object_map(self, **_options: Any) -> JsDict:
        """Itself: it is a mapping already."""
        return self


class JsList(list[Any]):
    """An array that came from JavaScript: a list that has `.to_py()` and `.length`."""

    @property
    def length(self) -> int:
        """How many entries it has."""
        return len(self)

    def to_py(self, **_options: Any) -> list[Any]:
        """Plain lists and dicts, all the way down."""
        _say_to_py(self)
        return [plain(value) for value in self]


class JsObject(JsDict, JsProxy):
    """An object made in JavaScript."""


class JsMap(JsDict, JsProxy):
    """A Map. It has entries and no members: as JSON it is `{}`."""

    def set(self, key: Any, value: Any) -> Self:
        """Put an entry."""
        self[key] = value
        return self

    def has(self, key: Any) -> bool:
        """Whether it has the key."""
        return key in self


class JsLiteralMap(JsMap):
    """What `to_js` makes of a dict without a dict_converter: a Map whose entries under strings are members as well.

    Pyodide's own class is a proxy that says so of its keys, so that JSON has them.
    """


class JsArray(JsList, JsProxy):
    """An array made in JavaScript."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name) if name.startswith("_") else NoSuchMember(f"Array.{name}")

    def push(self, *values: Any) -> int:
        """Append; gives the new length."""
        self.extend(values)
        return len(self)


class JsWrapper:
    """What the SDK makes of a JavaScript object that it has no Python type for: its members as attributes. `kind` names it."""

    def __init__(self, kind: str, found: dict[str, Any]) -> None:
        self._kind, self._found = kind, found

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_found"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self) -> str:
        return f"<{self._kind}>"


def _say_to_py(value: Any) -> None:
    if not isinstance(value, JsProxy):
        tell("to_py() is for workers-runtime-sdk before 1.4: since then the value is Python's, and this an AttributeError")


class JsNull:
    """`pyodide.ffi.jsnull`: JavaScript's null, where Python's None would be undefined."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "jsnull"


JSNULL = JsNull()


class JsError(Exception, JsProxy):
    """An Error object: `message`."""

    @property
    def message(self) -> str:
        """What it says."""
        return str(self)


def members(value: Any) -> dict[str, Any]:
    """The members of an object: of a Map none, of a literal Map those under strings, of what is no object none."""
    if isinstance(value, JsMap):
        return {key: entry for key, entry in value.items() if isinstance(key, str)} if isinstance(value, JsLiteralMap) else {}
    return dict(value) if isinstance(value, dict) else {}


def plain(value: Any) -> Any:
    """Python's own types, all the way down: what `.to_py()` gives."""
    if isinstance(value, JsTime):
        return value.to_py()
    if value is UNDEFINED:
        return None
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return value
