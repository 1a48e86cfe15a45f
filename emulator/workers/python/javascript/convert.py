"""How values cross between Python and JavaScript: `python_to_rpc`, `python_from_rpc`, and what is stored of them.

The rules are those of workers-runtime-sdk's rpc.py over Pyodide; what both really do is recorded in
fixtures/python_workers/conformance, and the tests hold these to it. To JavaScript: dict → object, list → array, None → null,
set → Set, datetime → Date, Exception → Error, bytes and views → typed arrays, what has `js_object` → that; everything else is a
proxy, of which JSON keeps `{}` (a UUID, a Decimal, an Enum, a date!) and structured clones nothing. Tuples, bytearrays and
awaitables are refused. To Python: null → None, object → JsDict, array → list, Date → datetime, Error → Exception (its
toString()), typed arrays → memoryview.
"""

from __future__ import annotations

import inspect
import re
from array import array
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from emulator.engine.bodies.stringify import key_text
from emulator.engine.bodies.undefined import UNDEFINED
from emulator.engine.bodies.v8_values import BigInt, ClonedError, ClonedMap
from emulator.workers.python.errors import ConversionError, JsException, JsTypeError
from emulator.workers.python.javascript.js_binary import JsBuffer
from emulator.workers.python.javascript.js_time import JsTime
from emulator.workers.python.javascript.js_values import (
    JSNULL,
    JsArray,
    JsDict,
    JsError,
    JsList,
    JsLiteralMap,
    JsMap,
    JsObject,
    JsProxy,
    JsWrapper,
    members,
)  # fmt: skip
from emulator.workers.python.javascript.to_js import PyProxy, create_proxy

NUMBER_MAX = 2**53 - 2
"""A greater int is a BigInt: Pyodide leaves Number.MAX_SAFE_INTEGER itself out."""
_WHOLE_MAX = 1e21
"""Below, JavaScript writes whole numbers without an exponent."""


def refuse_disabled(value: Any) -> None:
    """Raise TypeError for what the SDK does not let cross, wherever in the value. It iterates: a generator is used up."""
    if callable(value) and not isinstance(value, type):
        return
    if isinstance(value, tuple | bytearray):
        message = f"{type(value)} cannot be sent over RPC."
        raise TypeError(message)
    if inspect.isawaitable(value):
        message = f"Awaitable {type(value)} cannot be sent over RPC."
        raise TypeError(message)
    if isinstance(value, str | bytes | JsBuffer | memoryview | array | type) or not isinstance(value, Iterable):
        return
    for entry in value.values() if isinstance(value, dict) else value:
        if not isinstance(entry, str | int | float | None):
            refuse_disabled(entry)


def python_to_rpc(value: Any) -> Any:
    """The JavaScript value of a Python value. Raises TypeError for a type that cannot cross, ConversionError for a key."""
    if isinstance(value, JsProxy | JsTime):
        return value
    refuse_disabled(value)
    return _crossed(value)


def _crossed(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float | JsProxy | JsTime) or type(value) is set or value is UNDEFINED:
        return value
    if isinstance(value, dict):
        return JsObject({_property(key): _crossed(entry) for key, entry in value.items()})
    if isinstance(value, list):
        return JsArray(_crossed(entry) for entry in value)
    if isinstance(value, bytes | memoryview | array):
        return JsBuffer(value)
    if isinstance(value, datetime):
        return JsTime.at(value)
    if isinstance(value, Exception):
        return JsError(str(value))
    if inspect.getattr_static(value, "js_object", None) is not None:
        return value.js_object
    return create_proxy(value)


def _property(key: Any) -> str:
    """A property's name of a dict's key, as Object.fromEntries makes it."""
    if key is None:
        return "undefined"
    if isinstance(key, str | int | float):
        return key_text(key)
    message = f"Cannot use {key!r} as a key for a JavaScript object"
    raise ConversionError(message)


def python_from_rpc(value: Any) -> Any:
    """The Python value of a JavaScript value; what is no JavaScript value stays as it is."""
    if value is UNDEFINED or value is JSNULL:
        return None
    if isinstance(value, PyProxy):
        return value.to_py()
    if isinstance(value, JsTime):
        return value
    if isinstance(value, datetime):
        return JsTime.at(value)
    if isinstance(value, dict):
        return JsDict({key: python_from_rpc(entry) for key, entry in value.items()})
    if isinstance(value, list):
        return JsList(python_from_rpc(entry) for entry in value)
    if isinstance(value, JsError):
        return Exception(f"Error: {value.message}" if value.message else "Error")  # its toString()
    if isinstance(value, ClonedError):
        if value.name == "Error":
            return Exception(f"Error: {value.message}" if value.message else "Error")
        return JsWrapper(value.name, {"name": value.name, "message": value.message, "stack": value.stack})
    if isinstance(value, re.Pattern):
        return JsWrapper("RegExp", {"source": value.pattern, "global": False})
    if isinstance(value, JsBuffer):
        return value.to_py()
    if isinstance(value, bytes | bytearray | array):
        return memoryview(value)
    return value


def stored(value: Any, *, as_json: bool) -> Any:
    """What a store keeps of a value that crosses: as JSON.stringify writes it, or as structured clone copies it.

    Raises TypeError for a value that cannot cross and, as JSON, for a BigInt; JsException (DataCloneError) for no clone.
    """
    value = python_to_rpc(value)
    return _as_json(value) if as_json else _cloned(value)


def _as_json(value: Any) -> Any:
    """A value of plain Python whose JSON is the text that JavaScript would write; UNDEFINED for what has none."""
    if value is JSNULL:
        return None
    if isinstance(value, PyProxy):
        return _proxy_as_json(value.to_py())
    if isinstance(value, JsTime):
        return value.toISOString()
    if isinstance(value, bool | str) or value is None or value is UNDEFINED:
        return value
    if isinstance(value, int):
        if abs(value) > NUMBER_MAX:
            raise JsTypeError("Do not know how to serialize a BigInt")
        return int(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < _WHOLE_MAX else value
    if isinstance(value, dict):
        entries = members(value) if isinstance(value, JsMap) else value
        kept = {_property(key): _as_json(entry) for key, entry in entries.items()}
        return {key: entry for key, entry in kept.items() if entry is not UNDEFINED}
    if isinstance(value, list | tuple):
        return [None if (kept := _as_json(entry)) is UNDEFINED else kept for entry in value]
    if isinstance(value, JsBuffer) and value.typed:
        return {str(place): _as_json(entry) for place, entry in enumerate(value)}
    return {}


def _proxy_as_json(inner: Any) -> Any:
    """What JSON.stringify makes of a proxy: of a mapping and a sequence what is in them, of a callable nothing, else `{}`."""
    if isinstance(inner, dict):
        return _as_json(inner)
    if isinstance(inner, Sequence) and not isinstance(inner, str | bytes | memoryview):
        return [_as_json(entry) for entry in inner]
    return UNDEFINED if callable(inner) else {}


def _cloned(value: Any) -> Any:
    """A value of those that content type v8 keeps."""
    if value is JSNULL:
        return None
    if isinstance(value, PyProxy):
        raise _not_cloned(value.to_py())
    if isinstance(value, JsTime):
        return value.to_py()
    if isinstance(value, JsBuffer):
        return value.content
    if isinstance(value, JsError):
        return ClonedError(value.message, stack=f"Error: {value.message}")
    if isinstance(value, int) and not isinstance(value, bool):
        return BigInt(value) if abs(value) > NUMBER_MAX else int(value)
    if isinstance(value, JsLiteralMap):
        raise _not_cloned(value)
    if isinstance(value, JsMap):
        return ClonedMap((_cloned(key), _cloned(entry)) for key, entry in value.items())
    if isinstance(value, dict):
        return {key: _cloned(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_cloned(entry) for entry in value]
    return {_cloned(entry) for entry in value} if isinstance(value, set) else value


def _not_cloned(value: Any) -> JsException:
    return JsException(f"{value!r} could not be cloned.", "DataCloneError")


def options_of(given: Any, named: dict[str, Any]) -> dict[str, Any]:
    """An options object and keywords together. What is no object has no members, and neither has a Map."""
    found = members(given.to_py() if isinstance(given, PyProxy) else given)
    return {name: value for name, value in {**found, **named}.items() if value is not UNDEFINED and value is not JSNULL}
