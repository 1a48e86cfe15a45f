"""JavaScript's undefined: False, no body, and no None, which is null."""

from __future__ import annotations


class Undefined:
    """The class of UNDEFINED."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED = Undefined()
