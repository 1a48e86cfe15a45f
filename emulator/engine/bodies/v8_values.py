"""What V8's format and Python's values have in common: errors, kinds of views, flags of patterns, bounds of numbers.

https://github.com/v8/v8/blob/main/src/objects/value-serializer.cc. What workerd and Node write is recorded in fixtures/v8.
"""

from __future__ import annotations

import re
from typing import Any

from emulator.engine.bodies.undefined import UNDEFINED

HEADER = b"\xff\x0f"
"""The mark of a version, and the version that workerd writes."""
SMI_MIN, SMI_MAX = -(2**30), 2**30 - 1
"""Whole numbers that are no doubles in workerd, whose pointers are compressed."""
SAFE_MAX = 2**53 - 1
"""JavaScript's Number.MAX_SAFE_INTEGER: a larger int is a BigInt."""
ERROR_TAGS = {
    "EvalError": b"E", "RangeError": b"R", "ReferenceError": b"F", "SyntaxError": b"S", "TypeError": b"T", "URIError": b"U",
}  # fmt: skip
"""Errors that keep their names; all others become Error."""
REGEXP_FLAGS = {re.IGNORECASE: 2, re.MULTILINE: 4, re.DOTALL: 32}
VIEW_TYPECODES = {
    "b": "b", "w": "h", "W": "H", "d": "i", "D": "I", "q": "q", "Q": "Q", "h": "e", "f": "f", "F": "d", "B": "", "C": "",
    "?": "",
}  # fmt: skip
"""Typed arrays by V8's tag, and the typecode of `array` that is each one's in Python; none for those that are bytes there."""


class DataCloneError(TypeError):
    """A value is of none of the kinds that can be cloned, or holds one."""

    def __init__(self, value: object) -> None:
        super().__init__(f"#<{type(value).__name__}> could not be cloned.")


class BigInt(int):
    """An int that is a BigInt however small it is."""


class ClonedMap(dict[Any, Any]):
    """A Map, whatever its keys are: a dict of str alone would be an object."""


class ClonedError(Exception):
    """A JavaScript Error: `name`, `message`, `stack`, and `cause`, which is UNDEFINED where there is none."""

    def __init__(self, message: str = "", name: str = "Error", stack: str = "", cause: Any = UNDEFINED) -> None:
        super().__init__(message)
        self.message, self.name, self.stack, self.cause = message, name, stack, cause

    def __str__(self) -> str:
        return self.message
