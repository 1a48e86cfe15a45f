"""The globals of JavaScript that Workers import from `js`: `JSON`, `Object`, `Date`, and all the others gathered."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from emulator.engine.bodies.undefined import UNDEFINED
from emulator.workers.python.errors import JsException
from emulator.workers.python.javascript.convert import python_to_rpc, stored
from emulator.workers.python.javascript.js_binary import BINARY
from emulator.workers.python.javascript.js_crypto import Crypto
from emulator.workers.python.javascript.js_events import events
from emulator.workers.python.javascript.js_numbers import NUMBERS, math_object
from emulator.workers.python.javascript.js_time import JsTime
from emulator.workers.python.javascript.js_url import URL, URLSearchParams
from emulator.workers.python.javascript.js_values import JsArray, JsMap, JsObject, members
from emulator.workers.python.runtime_names import Partial

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

LACKING = (  # noqa: SIM905 - so many names are read as a text
    "AggregateError AsyncDisposableStack Atomics BigInt Body Boolean ByteLengthQueuingStrategy Cache CacheStorage "
    "CloseEvent Cloudflare CompressionStream CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DataView "
    "DecompressionStream DisposableStack Error ErrorEvent EvalError Event EventSource EventTarget ExtendableEvent "
    "FetchEvent FinalizationRegistry FixedLengthStream Float16Array Function HTMLRewriter IdentityTransformStream Intl "
    "Iterator MessageChannel MessageEvent MessagePort Navigator PromiseRejectionEvent Proxy RangeError "
    "ReadableByteStreamController ReadableStream ReadableStreamBYOBReader ReadableStreamBYOBRequest "
    "ReadableStreamDefaultController ReadableStreamDefaultReader ReferenceError Reflect RegExp ScheduledEvent "
    "ServiceWorkerGlobalScope Set SharedArrayBuffer String SubtleCrypto SuppressedError Symbol SyntaxError TailEvent "
    "TextDecoderStream TextEncoderStream TraceEvent TransformStream TransformStreamDefaultController TypeError URIError "
    "URLPattern WeakMap WeakRef WeakSet WebAssembly WebSocket WebSocketPair WebSocketRequestResponsePair WorkerGlobalScope "
    "WritableStream WritableStreamDefaultController WritableStreamDefaultWriter addEventListener caches dispatchEvent "
    "escape eval globalThis navigator origin removeEventListener reportError scheduler self unescape"
).split()
"""The other globals of the runtime, asked of workerd 1.20260503: a Worker can import them, and is told when it uses one."""


class JSON(Partial):
    """`JSON.stringify` and `JSON.parse`."""

    @staticmethod
    def stringify(value: Any, replacer: Any = None, indent: Any = None) -> Any:
        """The text of a value; undefined for undefined. A Map is `{}`. Raises TypeError for what cannot cross."""
        if value is UNDEFINED:
            return UNDEFINED
        data = stored(value, as_json=True)
        if isinstance(replacer, list) and isinstance(data, dict):
            data = {key: entry for key, entry in data.items() if key in replacer}
        separators = (",", ": ") if indent else (",", ":")
        return json.dumps(data, ensure_ascii=False, indent=indent or None, separators=separators)

    @staticmethod
    def parse(text: Any, _reviver: Any = None) -> Any:
        """The JavaScript value of a text. Raises JsException (SyntaxError)."""
        try:
            return python_to_rpc(json.loads(str(text)))
        except json.JSONDecodeError as error:
            raise JsException(str(error), "SyntaxError") from None


class Object(Partial):
    """`Object.fromEntries`, which `to_js` takes for a dict_converter, and its relatives. `Object()` makes an empty one."""

    def __new__(cls, given: Any = None) -> JsObject:  # type: ignore[misc]
        """An object."""
        return JsObject(given or {})

    @staticmethod
    def fromEntries(entries: Any) -> JsObject:  # noqa: N802 - JavaScript's name
        """An object of pairs, or of a Map."""
        pairs = entries.items() if isinstance(entries, dict) else entries
        return JsObject({key if isinstance(key, str) else str(key): value for key, value in pairs})

    @staticmethod
    def new(given: Any = None) -> JsObject:
        """An object: empty, or with what is given."""
        return JsObject(given or {})

    @staticmethod
    def keys(value: Any) -> JsArray:
        """The keys. A Map has none, as an object."""
        return JsArray(members(value))

    @staticmethod
    def values(value: Any) -> JsArray:
        """The values."""
        return JsArray(members(value).values())

    @staticmethod
    def entries(value: Any) -> JsArray:
        """The pairs."""
        return JsArray(JsArray(pair) for pair in members(value).items())

    @staticmethod
    def assign(target: Any, *sources: Any) -> Any:
        """Put the sources' members into the target, and give that."""
        for source in sources:
            target.update(members(source))
        return target


class Date(Partial):
    """`Date`: `Date.now()` and `Date.new()` read the emulator's clock."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self.now = now_ms

    def new(self, *given: Any) -> JsTime:
        """Now; or the moment of milliseconds, of a text, of a datetime, or of year, month (from 0), day and so on, in UTC."""
        if len(given) > 1:
            year, month, *rest = map(int, given)
            day, hour, minute, second, ms = [*rest, *(1, 0, 0, 0, 0)[len(rest) :]]
            return JsTime(year, month + 1, day, hour, minute, second, ms * 1_000)
        if not given:
            return JsTime.of_ms(self.now())
        return JsTime.at(given[0]) if isinstance(given[0], datetime) else JsTime.of_ms(self._ms(given[0]))

    def parse(self, text: str) -> int:
        """Milliseconds since 1970 of an ISO text."""
        return self._ms(text)

    @staticmethod
    def _ms(given: Any) -> int:
        if isinstance(given, int | float):
            return int(given)
        moment = datetime.fromisoformat(given)
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1_000)


class Array(Partial):
    """`Array.new()`, `Array.of(…)`, `Array.from_(…)`, `Array.isArray(…)`."""

    @staticmethod
    def new(*values: Any) -> JsArray:
        """An array of the values."""
        return JsArray(values)

    of = new

    @staticmethod
    def from_(values: Any) -> JsArray:
        """An array of what can be iterated."""
        return JsArray(values)

    @staticmethod
    def isArray(value: Any) -> bool:  # noqa: N802 - JavaScript's name
        """Whether it is one."""
        return isinstance(value, list)


def structured_clone(value: Any, _options: Any = None) -> Any:
    """A copy, as JavaScript copies what crosses. Raises DataCloneError."""
    return python_to_rpc(stored(value, as_json=False))


class Map(Partial):
    """`Map.new(pairs)`."""

    @staticmethod
    def new(pairs: Any = ()) -> JsMap:
        """A Map of pairs."""
        return JsMap(pairs)


def globals_of(now_us: Callable[[], int], draw: Random) -> dict[str, Any]:
    """The globals of one Worker by name, but for what it reaches the outside with. `draw` is what it draws chance from."""
    return {
        "Array": Array, "Date": Date(lambda: now_us() // 1_000), "JSON": JSON, "Map": Map, "Math": math_object(draw),
        "Object": Object, "URL": URL, "URLSearchParams": URLSearchParams, "crypto": Crypto(draw),
        "structuredClone": structured_clone, "undefined": UNDEFINED, **BINARY, **NUMBERS, **events(now_us),
    }  # fmt: skip
