"""The envelope of every answer: `{success, errors, messages, result}`, for lists `result_info`. Status and success agree."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from emulator.server.operations.operation import Page

if TYPE_CHECKING:
    from emulator.core.refusals import Refused

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]

DOCUMENTATION = "https://developers.cloudflare.com/queues/reference/error-codes/"
_TEXT_MAX = 500


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


def _bytes(answer: dict[str, Any]) -> bytes:
    if orjson is not None:
        with contextlib.suppress(TypeError):  # half of a surrogate pair, a number beyond 64 bits
            return orjson.dumps(answer)
    return json.dumps(answer, separators=(",", ":")).encode()
