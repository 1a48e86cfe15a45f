"""One operation as an ASGI application: reads the body within bounds, validates it, acts at the present moment, answers.

Between the body's last byte and the answer nothing else happens: there is no `await` in between.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from emulator.core import refusals
from emulator.core.refusals import Refused
from emulator.engine.journal import JournalUnwritable
from emulator.server.wire import answers, request_json
from emulator.server.wire.answers import Answer
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.refusals import NoRoute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Message, Receive, Scope, Send

    from emulator.server.service import Service

logger = logging.getLogger("emulator.http")

BODY_BYTES_MAX = 4_000_000
"""A batch of 256 KB needs less, however its bodies are escaped."""
DRAIN_BYTES_MAX = 64_000_000
"""So much of a body that is too large is still read and dropped, so that the client hears the answer."""
_PARAMETERS_MAX = 1_000
_JSON = (b"content-type", answers.JSON.encode())


class Endpoint:
    """Serves one operation."""

    def __init__(self, service: Service, operation: Operation) -> None:
        self.service, self.operation = service, operation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers, operation = dict(scope["headers"]), self.operation
        try:
            self._check(scope, headers)
            raw = await read_body(receive, operation.too_large)
            body = None if operation.body is None else request_json.read(raw, operation.body)
            call = Call(self.service, scope["path_params"], _query(scope), body, headers.get(b"accept", b"").decode("latin-1"))
            result = self._act(call)
            if operation.waits:
                if hasattr(result, "__await__"):
                    result = await result
                if callable(result):  # a stream
                    await result(scope, receive, send)
                    return
            found = result if type(result) is Answer else Answer(answers.success(result))
        except Refused as refused:
            found = answers.refusal(refused)
        except ConnectionAbortedError:
            return
        except JournalUnwritable as error:
            logger.error("%s: %s", operation.name, error)  # noqa: TRY400 - no fault of this program
            found = answers.refusal(refusals.UnknownInternalError(str(error)))
        except Exception:
            logger.exception("%s failed", operation.name)
            found = answers.refusal(refusals.UnknownInternalError())
        await answer(send, found)

    def _check(self, scope: Scope, headers: Mapping[bytes, bytes]) -> None:
        service, operation = self.service, self.operation
        given = headers.get(b"authorization")
        service.access.check(None if given is None else given.decode("latin-1"), operation.scope, data=operation.data)
        account = scope["path_params"].get("account_id")
        if account is not None and service.account_id is not None and account != service.account_id:
            raise NoRoute(f"This server's account is not {account[:100]!r}")

    def _act(self, call: Call) -> Any:
        time = self.service.time
        with self.service.account.lock:
            try:
                time.catch_up()
            except (JournalUnwritable, RuntimeError):
                if not self.operation.always:  # it tells of the last moment that could be kept
                    raise
            try:
                return self.operation.act(call)
            except (TypeError, RecursionError, ValueError) as error:
                if isinstance(error, ValueError | TypeError) and self.operation.body is None:
                    raise
                raise refusals.JSONRequestBodyInvalid(str(error)[:200]) from error
            finally:
                time.kick()


def _query(scope: Scope) -> dict[str, list[str]]:
    try:
        text = scope["query_string"].decode("latin-1")
        return parse_qs(text, keep_blank_values=True, max_num_fields=_PARAMETERS_MAX) if text else {}
    except ValueError:
        raise refusals.JSONRequestBodyInvalid("the query is no query") from None


async def read_body(receive: Receive, too_large: type[Refused] = refusals.JSONRequestBodyInvalid) -> bytes:
    """A request's body. One that is too large is read to its end and refused, but never kept."""
    chunks: list[bytes] = []
    size_bytes = 0
    while True:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
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
        raise too_large(f"a body may have {BODY_BYTES_MAX} bytes at most")
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


async def answer(send: Send, found: Answer) -> None:
    """Send an answer."""
    kind = _JSON if found.media_type == answers.JSON else (b"content-type", found.media_type.encode())
    headers = [kind, (b"content-length", b"%d" % len(found.content)), *found.headers]
    await send({"type": "http.response.start", "status": found.status, "headers": headers})
    await send({"type": "http.response.body", "body": found.content})
