"""One operation as an ASGI application: reads the body within bounds, validates it, acts at the present moment, answers.

Between the body's last byte and the answer nothing else happens: there is no `await` in between.
"""

from __future__ import annotations

import contextlib
import json
import logging
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import parse_qs

from pydantic import ValidationError

from emulator.core import refusals
from emulator.core.refusals import Refused
from emulator.engine.journal import JournalUnwritable
from emulator.server.operations.operation import Call, Operation
from emulator.server.wire import answers
from emulator.server.wire.refusals import NoRoute, TooSlow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Message, Receive, Scope, Send

    from emulator.server.service import Service

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]

logger = logging.getLogger("emulator.http")

BODY_BYTES_MAX = 4_000_000
"""A batch of 256 KB needs less, however its bodies are escaped."""
DRAIN_BYTES_MAX = 64_000_000
"""So much of a body that is too large is still read and dropped, so that the client hears the answer."""
_PARAMETERS_MAX = 1_000
_ERRORS_SHOWN = 3
_SHAPE = bytes(48 if each in b"0123456789" else 44 if each in b"[:, \t\r\n-" else 120 for each in range(256))
_LONG_NUMBER = b"," + b"0" * 19
"""In a body whose digits are all 0, and all that may stand before a number a comma. Ten times as fast as an expression."""
_JSON = (b"content-type", b"application/json")


class Endpoint:
    """Serves one operation."""

    def __init__(self, service: Service, operation: Operation) -> None:
        self.service, self.operation = service, operation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = dict(scope["headers"])
        try:
            self._check(scope, headers)
            raw = await read_body(receive, self.operation)
            body = None if self.operation.body is None else self._validated(raw)
            call = Call(self.service, scope["path_params"], _query(scope), body, headers.get(b"accept", b"").decode("latin-1"))
            result = self._act(call)
            if hasattr(result, "__await__"):
                result = await result
            if callable(result):  # an answer of its own, such as a stream
                await result(scope, receive, send)
                return
            status, content = self.operation.status, answers.success(result)
        except Refused as refused:
            status, content = refused.status, answers.failure(refused)
        except ConnectionAbortedError:
            return
        except JournalUnwritable as error:
            logger.error("%s: %s", self.operation.name, error)  # noqa: TRY400 - no fault of this program
            status, content = 500, answers.failure(refusals.UnknownInternalError(str(error)))
        except Exception:
            logger.exception("%s failed", self.operation.name)
            status, content = 500, answers.failure(refusals.UnknownInternalError())
        await answer(send, status, content)

    def _check(self, scope: Scope, headers: Mapping[bytes, bytes]) -> None:
        service, operation = self.service, self.operation
        given = headers.get(b"authorization")
        service.access.check(None if given is None else given.decode("latin-1"), operation.scope, data=operation.data)
        account = scope["path_params"].get("account_id")
        if account is not None and service.account_id is not None and account != service.account_id:
            raise NoRoute(f"This server's account is not {account[:100]!r}")

    def _act(self, call: Call) -> Any:
        engine = self.service.engine
        with self.service.broker.lock:
            engine.catch_up()
            try:
                return self.operation.act(call)
            except (TypeError, RecursionError, ValueError) as error:
                if isinstance(error, ValueError | TypeError) and self.operation.body is None:
                    raise
                raise refusals.JSONRequestBodyInvalid(str(error)[:200]) from error
            finally:
                engine.kick()

    def _validated(self, raw: bytes) -> Any:
        model = self.operation.body
        assert model is not None, "asked only where there is a model"
        try:
            return model.model_validate(_parsed(raw))
        except ValidationError as error:
            raise refusals.JSONRequestBodyInvalid(_told(error)) from None
        except RecursionError:
            raise refusals.JSONRequestBodyInvalid("the body is nested too deeply") from None


def _parsed(raw: bytes) -> Any:
    """The JSON of a body; nothing at all counts as an empty object."""
    if not raw.strip():
        return {}
    if orjson is not None and _LONG_NUMBER not in raw.translate(_SHAPE):  # it does not read longer numbers exactly
        with contextlib.suppress(ValueError):  # the standard library says what is wrong, or knows better
            return orjson.loads(raw)
    try:
        return json.loads(raw.decode(), parse_constant=_refuse_constant)
    except RecursionError:
        raise refusals.JSONRequestBodyMalformed("the body is nested too deeply") from None
    except ValueError as error:
        raise refusals.JSONRequestBodyMalformed(f"the body is no JSON: {str(error)[:100]}") from None


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is no JSON"
    raise ValueError(message)


def _told(error: ValidationError) -> str:
    """What is wrong with a body, in few words; never what it contained."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    told = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'body'}: {each['msg']}" for each in found[:_ERRORS_SHOWN])
    return told if len(found) <= _ERRORS_SHOWN else f"{told}; and {len(found) - _ERRORS_SHOWN} more"


def _query(scope: Scope) -> dict[str, list[str]]:
    try:
        text = scope["query_string"].decode("latin-1")
        return parse_qs(text, keep_blank_values=True, max_num_fields=_PARAMETERS_MAX) if text else {}
    except ValueError:
        raise refusals.JSONRequestBodyInvalid("the query is no query") from None


async def read_body(receive: Receive, operation: Operation | None = None) -> bytes:
    """A request's body. One that is too large is read to its end and refused, but never kept."""
    chunks: list[bytes] = []
    size_bytes = 0
    while True:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
            if message.get("slow"):
                raise TooSlow
            raise ConnectionAbortedError
        chunk = message.get("body", b"")
        size_bytes += len(chunk)
        if size_bytes <= BODY_BYTES_MAX:
            chunks.append(chunk)
        else:
            chunks.clear()
        if not message.get("more_body", False) or size_bytes > DRAIN_BYTES_MAX:
            break
    if size_bytes > BODY_BYTES_MAX:
        refused = {"push": refusals.MessageSizeOutOfBounds, "push_batch": refusals.BatchSizeOutOfBounds}
        name = "" if operation is None else operation.name
        raise refused.get(name, refusals.JSONRequestBodyInvalid)(f"a body may have {BODY_BYTES_MAX} bytes at most")
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


async def answer(send: Send, status: int, content: bytes) -> None:
    """Send an answer."""
    headers = [_JSON, (b"content-length", str(len(content)).encode())]
    if status == 401:  # noqa: PLR2004 - Unauthorized
        headers.append((b"www-authenticate", b"Bearer"))
    elif status == 405:  # noqa: PLR2004 - nothing is allowed on a queue that nobody may pull from, as things are
        headers.append((b"allow", b""))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
