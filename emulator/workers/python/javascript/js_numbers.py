"""`Math`, `Number` and the global functions of numbers, texts and URIs."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from emulator.workers.python.errors import JsException
from emulator.workers.python.runtime_names import Partial

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|Infinity))", re.IGNORECASE)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_UNESCAPED = "-_.!~*'()"
_RESERVED = ";/?:@&=+$,#"


def _whole(value: float) -> Any:
    """A number as Pyodide gives it: an int where it is whole."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def math_object(draw: Random) -> Partial:
    """`Math`; `draw` is what `Math.random()` draws from."""
    functions: dict[str, Callable[..., Any]] = {
        "abs": abs, "ceil": math.ceil, "floor": math.floor, "trunc": math.trunc, "sqrt": math.sqrt, "log": math.log,
        "log2": math.log2, "log10": math.log10, "exp": math.exp, "sin": math.sin, "cos": math.cos, "tan": math.tan,
        "atan2": math.atan2, "hypot": math.hypot, "pow": pow, "max": lambda *given: max(given, default=-math.inf),
        "min": lambda *given: min(given, default=math.inf), "round": lambda value: math.floor(value + 0.5),
        "sign": lambda value: (value > 0) - (value < 0),
    }  # fmt: skip
    found = {name: _rounded(function) for name, function in functions.items()}
    made: Partial = type("Math", (Partial,), {**found, "random": staticmethod(draw.random), "PI": math.pi, "E": math.e})()
    return made


def _rounded(function: Callable[..., Any]) -> Any:
    return staticmethod(lambda *given: _whole(function(*given)))


def parse_float(text: Any) -> Any:
    """The number that a text begins with; NaN where it begins with none."""
    found = _NUMBER.match(str(text))
    return math.nan if found is None else _whole(float(found[1]))


def parse_int(text: Any, radix: int = 10) -> Any:
    """The whole number that a text begins with; NaN where it begins with none."""
    digits = str(text).strip().lower()
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-")
    if digits.startswith("0x") and radix in {0, 10, 16}:
        digits, radix = digits[2:], 16
    kept = re.match(f"[{_DIGITS[: radix or 10]}]*", digits)
    return sign * int(kept[0], radix or 10) if kept is not None and kept[0] else math.nan


class Number(Partial):
    """`Number(value)`, `Number.isInteger(…)` and so on."""

    MAX_SAFE_INTEGER, MIN_SAFE_INTEGER = 2**53 - 1, 1 - 2**53
    parseInt, parseFloat = staticmethod(parse_int), staticmethod(parse_float)  # noqa: N815 - JavaScript's names

    def __new__(cls, value: Any = 0) -> Any:
        """The number of a value; NaN for a text that is none."""
        if value is None or isinstance(value, bool | int | float):
            return value + 0 if value is not None else 0
        text = str(value).strip()
        found = _NUMBER.fullmatch(text)
        return 0 if not text else _whole(float(found[1])) if found is not None else math.nan

    @staticmethod
    def isInteger(value: Any) -> bool:  # noqa: N802 - JavaScript's name
        """Whether it is a whole number."""
        return isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer()

    @staticmethod
    def isNaN(value: Any) -> bool:  # noqa: N802 - JavaScript's name
        """Whether it is NaN itself."""
        return isinstance(value, float) and math.isnan(value)

    @staticmethod
    def isFinite(value: Any) -> bool:  # noqa: N802 - JavaScript's name
        """Whether it is a number, and finite."""
        return isinstance(value, int | float) and math.isfinite(value)


def _decoded(text: Any) -> str:
    try:
        return unquote(str(text), errors="strict")
    except UnicodeDecodeError:
        raise JsException("URI malformed", "URIError") from None


NUMBERS = {
    "Infinity": math.inf, "NaN": math.nan, "Number": Number, "decodeURI": _decoded, "decodeURIComponent": _decoded,
    "encodeURI": lambda text: quote(str(text), safe=_UNESCAPED + _RESERVED),
    "encodeURIComponent": lambda text: quote(str(text), safe=_UNESCAPED),
    "isFinite": lambda value: math.isfinite(Number(value)), "isNaN": lambda value: math.isnan(Number(value)),
    "parseFloat": parse_float, "parseInt": parse_int,
}  # fmt: skip
"""The globals by name, but for `Math`, which draws."""
