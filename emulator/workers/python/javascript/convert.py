"""How values cross between Python and JavaScript: `python_to_rpc`, `python_from_rpc`, and what is stored of them.

The rules are those of workers-runtime-sdk (rpc.py): to JavaScript dict → object, list → array, None → null, datetime → Date,
Exception → Error, callables → proxies, what has `js_object` → that; tuple, bytearray, awaitables and patterns cannot cross.
To Python null → None, object → JsDict, array → list, Date → datetime, Error → Exception (its toString()), bytes → memoryview.
"""

from __future__ import annotations

import inspect
import re
from array import array
from datetime import date, datetime
from typing import Any

from emulator.engine.bodies.undefined import UNDEFINED
from emulator.engine.bodies.v8_values import ClonedError, DataCloneError
from emulator.workers.python.errors import JsTypeError
from emulator.workers.python.javascript.js_time import JsTime
from emulator.workers.python.javascript.js_values import JsArray, JsDict, JsError, JsList, JsMap, JsObject, JsProxy, members
from emulator.workers.python.javascript.to_js import PyProxy, create_proxy

NUMBER_MAX = 2**53
"""A greater int is a BigInt in JavaScript."""


def refuse_disabled(value: Any) -> None:
    """Raise TypeError for what the SDK does not let cross, wherever in the value it stands."""
    if isinstance(value, tuple | bytearray | re.Pattern) or inspect.isawaitable(value):
        message = f"{type(value).__name__} cannot be sent over RPC."
        raise TypeError(message)
    if isinstance(value, dict):
        for entry in value.values():
            refuse_disabled(entry)
    elif isinstance(value, list | set | frozenset):
        for entry in value:
            refuse_disabled(entry)


def python_to_rpc(value: Any) -> Any:
    """The JavaScript value of a Python value. Raises TypeError for a type that cannot cross."""
    if isinstance(value, JsProxy | JsTime):
        return value
    refuse_disabled(value)
    if isinstance(value, dict):
        return JsObject({key: python_to_rpc(entry) for key, entry in value.items()})
    if isinstance(value, list):
        return JsArray(python_to_rpc(entry) for entry in value)
    if isinstance(value, datetime):
        return JsTime.at(value)
    if isinstance(value, Exception):
        return JsError(str(value))
    if inspect.getattr_static(value, "js_object", None) is not None:
        return value.js_object
    if callable(value) and not isinstance(value, type):
        return create_proxy(value)
    return value


def python_from_rpc(value: Any) -> Any:
    """The Python value of a JavaScript value; what is no JavaScript value stays as it is."""
    if value is UNDEFINED:
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
    if isinstance(value, JsError | ClonedError):
        name = value.name if isinstance(value, ClonedError) else "Error"
        return Exception(": ".join(part for part in (name, value.message) if part))  # its toString()
    if isinstance(value, bytes | bytearray | array):
        return memoryview(value)
    return value


def stored(value: Any, *, as_json: bool) -> Any:
    """What a store keeps of a value that crosses. Raises TypeError for one that cannot.

    As JSON a Map and an Error have nothing that is written, a Date is text, undefined is left out, and an int beyond 2**53,
    which is a BigInt, raises TypeError.
    """
    if isinstance(value, PyProxy):
        return stored(value.to_py(), as_json=as_json)
    value = python_to_rpc(value)
    if isinstance(value, JsTime):
        return value.toISOString() if as_json else value.to_py()
    if isinstance(value, PyProxy):
        raise DataCloneError(value.to_py())
    if isinstance(value, JsError):
        return {} if as_json else ClonedError(value.message, stack=f"Error: {value.message}")
    if as_json and isinstance(value, set | frozenset):
        return {}
    if as_json and isinstance(value, int) and abs(value) > NUMBER_MAX:
        raise JsTypeError("Do not know how to serialize a BigInt")
    if as_json and isinstance(value, JsMap):
        return {key: stored(entry, as_json=True) for key, entry in members(value).items()}
    if isinstance(value, dict):
        return {key: stored(entry, as_json=as_json) for key, entry in value.items()}
    if isinstance(value, list):
        return [stored(entry, as_json=as_json) for entry in value]
    return value.isoformat() if isinstance(value, date) and as_json else value


def options_of(given: Any, named: dict[str, Any]) -> dict[str, Any]:
    """An options object and keywords together. What is no object has no members, and neither has a Map."""
    return {**members(given.to_py() if isinstance(given, PyProxy) else given), **named}
