"""What a token means that JSON does not have and JSON5 does, and how JSON writes it. The one place that loads `json5`."""

from __future__ import annotations

import json
import math

TOKEN_LENGTH_MAX = 4_000
"""json5 takes some 20 µs a character; a longer token is left unexplained."""
_EXACT_MAX = 2**53


def quote(text: str) -> str:
    """A text as a JSON string, other than ASCII kept as it is; lone surrogates are escaped, since no file can hold them."""
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if quoted.isprintable() else json.dumps(text)


def explain_key(token: str) -> tuple[str, str] | None:
    """The name that a JSON5 key stands for and what kind of key it is; None where the token is no JSON5 key either."""
    if token[0] in "\"'":
        known = explain_value(token)
        return (known[0], known[1]) if known is not None and isinstance(known[0], str) else None
    value = _loads("{" + token + ":0}")
    if not isinstance(value, dict) or len(value) != 1:
        return None
    return next(iter(value)), f"the unquoted key `{token}`"


def explain_value(token: str) -> tuple[str | int | float, str, str | None] | None:
    """The value of a JSON5 string or number, what kind of token it is, and how JSON writes it (None: it cannot).

    None where the token is no JSON5 either.
    """
    value = _loads(token)
    if isinstance(value, str):
        return value, _kind_of_string(token), quote(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if math.isinf(value) or math.isnan(value):
        return value, f"`{token}`", None
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_MAX:
        value = int(value)
    return value, _kind_of_number(token), json.dumps(value)


def _loads(text: str) -> object:
    if len(text) > TOKEN_LENGTH_MAX:
        return None
    import json5  # costs a cold start more than all the rest; only a broken file needs it

    try:
        return json5.loads(text)
    except (ValueError, RecursionError):
        return None


def _kind_of_string(token: str) -> str:
    if token[0] == "'":
        return "a single-quoted string"
    if "\\\n" in token or "\\\r" in token:
        return "a string with a line continuation"
    return "a string with this escape or control character"


def _kind_of_number(token: str) -> str:
    if "x" in token or "X" in token:
        return f"the hexadecimal number `{token}`"
    if token[0] == "+":
        return f"the leading `+` of `{token}`"
    if token.lstrip("-")[0] == ".":
        return f"the leading `.` of `{token}`"
    return f"the trailing `.` of `{token}`"
