"""A request's body from its JSON: read by msgspec, and by the standard library where JavaScript takes what msgspec does not.

That is half of a surrogate pair, and a number that only Infinity holds. NaN and what is nested too deeply are refused.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from emulator.core.refusals import JSONRequestBodyInvalid, JSONRequestBodyMalformed
from emulator.engine.bodies import json_text
from emulator.server.wire.fields import whole

if TYPE_CHECKING:
    from emulator.server.wire.fields import Body

_TEXT_MAX = 100
_UNKNOWN = re.compile(r"unknown field `(.+)`", re.DOTALL)


@cache
def _decoder(model: type[Body]) -> msgspec.json.Decoder[Body]:
    return msgspec.json.Decoder(model, dec_hook=whole)


def read(raw: bytes, model: type[Body]) -> Body:
    """The body; nothing at all counts as an empty object. Refuses what is no JSON (10208) or has another shape (10207)."""
    try:
        return _decoder(model).decode(raw or b"{}")
    except msgspec.DecodeError:  # the standard library knows better, or says what is wrong
        value = _parsed(raw)
    except RecursionError:
        raise JSONRequestBodyMalformed("the body is nested too deeply") from None
    try:
        return msgspec.convert(value, model, dec_hook=whole)
    except msgspec.ValidationError as error:
        raise JSONRequestBodyInvalid(_told(str(error), model)) from None


def _parsed(raw: bytes) -> Any:
    try:
        return json_text.parse_strictly(raw)
    except RecursionError:
        raise JSONRequestBodyMalformed("the body is nested too deeply") from None
    except ValueError as error:
        raise JSONRequestBodyMalformed(f"the body is no JSON: {str(error)[:_TEXT_MAX]}") from None


def _told(text: str, model: type[Body]) -> str:
    """What is wrong with a body; of a member that nobody knows what was probably meant. Never what the body contained else."""
    unknown = _UNKNOWN.search(text)
    if unknown is None:
        return text
    name, known = unknown[1], model.__struct_fields__
    near = get_close_matches(name, known, 1)
    return f"there is no {name[:_TEXT_MAX]!r}: " + (f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}")
