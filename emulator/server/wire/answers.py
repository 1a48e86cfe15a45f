"""The envelope of every answer: `{success, errors, messages, result}`, for lists `result_info`. Status and success agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import json, to_builtins

from emulator.engine.bodies import json_text
from emulator.server.wire.operation import Page

if TYPE_CHECKING:
    from emulator.core.refusals import Refused

DOCUMENTATION = "https://developers.cloudflare.com/queues/reference/error-codes/"
JSON = "application/json"
UNCACHED = ((b"cache-control", b"no-store"),)
_BESIDE = {401: ((b"www-authenticate", b"Bearer"),), 405: ((b"allow", b""),)}
"""By status. Nothing is allowed on a queue that nobody may pull from, as things are."""
_TEXT_MAX = 500
_encode = json.Encoder().encode


class Answer(NamedTuple):
    """What is sent: without the envelope where an operation gives one itself."""

    content: bytes
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    media_type: str = JSON


def success(result: Any) -> bytes:
    """The body of an answer that carries a result."""
    answer: dict[str, Any] = {"success": True, "errors": [], "messages": [], "result": result}
    if isinstance(result, Page):
        answer |= {"result": result.result, "result_info": result.info}
    return _bytes(answer)


def failure(refused: Refused) -> bytes:
    """The body of a refusal."""
    error = {"code": refused.code, "message": refused.text[:_TEXT_MAX], "documentation_url": DOCUMENTATION}
    return _bytes({"success": False, "errors": [error], "messages": [], "result": None})


def refusal(refused: Refused, *headers: tuple[bytes, bytes]) -> Answer:
    """The answer to what is refused."""
    return Answer(failure(refused), refused.status, headers or _BESIDE.get(refused.status, ()))


def _bytes(answer: dict[str, Any]) -> bytes:
    try:
        return _encode(answer)
    except ValueError:  # half of a surrogate pair
        return json_text.encode(to_builtins(answer))
