"""`crypto`: identifiers, chance and digests. What is drawn is the same in every run of a test.

https://developers.cloudflare.com/workers/runtime-apis/web-crypto/.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Any
from uuid import UUID

from emulator.workers.promise import Promise
from emulator.workers.python.errors import JsException
from emulator.workers.python.javascript.convert import options_of
from emulator.workers.python.javascript.js_binary import JsBuffer
from emulator.workers.python.javascript.js_values import JsObject
from emulator.workers.python.runtime_names import Partial

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

_DIGESTS = {"MD5": "md5", "SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512"}


class Crypto(Partial):
    """`crypto.randomUUID()`, `crypto.getRandomValues(array)`, `crypto.subtle`. `draw` is what they draw from."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self.subtle = Subtle()

    def randomUUID(self) -> str:  # noqa: N802 - JavaScript's name
        """A UUID of version 4."""
        return str(UUID(bytes=self._draw.randbytes(16), version=4))

    def getRandomValues(self, given: JsBuffer) -> JsBuffer:  # noqa: N802 - JavaScript's name
        """Fill a typed array, and give it."""
        content = given.content
        drawn = self._draw.randbytes(memoryview(content).nbytes)
        given.content = drawn if isinstance(content, bytes) else type(content)(content.typecode, drawn)
        return given


class Subtle(Partial):
    """`crypto.subtle`: `digest`, and HMAC by `importKey`, `sign`, `verify`."""

    def digest(self, algorithm: Any, content: Any) -> Promise:
        """The digest of bytes, as an ArrayBuffer."""
        return _done(lambda: JsBuffer(hashlib.new(_digest(algorithm), bytes(content)).digest(), typed=False))

    def importKey(self, form: str, content: Any, algorithm: Any, _extractable: bool, _usages: Any) -> Promise:  # noqa: N802
        """A key for HMAC from its raw bytes."""
        chosen = options_of(algorithm, {})
        if form != "raw" or chosen.get("name") != "HMAC":
            raise JsException(f"the emulator imports raw HMAC keys, not {form} for {chosen.get('name')}", "NotSupportedError")
        return _done(lambda: JsObject(type="secret", digest=_digest(chosen.get("hash")), content=bytes(content)))

    def sign(self, _algorithm: Any, key: JsObject, content: Any) -> Promise:
        """The signature of bytes, as an ArrayBuffer."""
        return _done(lambda: JsBuffer(hmac.digest(key["content"], bytes(content), key["digest"]), typed=False))

    def verify(self, _algorithm: Any, key: JsObject, signature: Any, content: Any) -> Promise:
        """Whether a signature is that of bytes."""
        return _done(lambda: hmac.compare_digest(bytes(signature), hmac.digest(key["content"], bytes(content), key["digest"])))


def _done(work: Callable[[], Any]) -> Promise:
    return Promise(work, ("crypto",), may_fail=False)


def _digest(algorithm: Any) -> str:
    name = str(algorithm if isinstance(algorithm, str) else options_of(algorithm, {}).get("name"))
    found = _DIGESTS.get(name.upper())
    if found is None:
        raise JsException(f"Unrecognized digest algorithm {name!r}", "NotSupportedError")
    return found
