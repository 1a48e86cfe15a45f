"""The text of an exception for people. Exceptions of users' code may fail at every question; these answers never do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ERROR_TEXT_MAX = 4_000
"""An error's text has at most so many characters, so that journal and report stay readable; what was cut off ends in `…`."""


def error_text(error: BaseException) -> str:
    """`ValueError: no such user`. Never raises, whatever the exception's own methods do."""
    return _cut(f"{error_name(error)}: {error_message(error)}")


def error_repr(error: BaseException) -> str:
    """`ValueError('no such user')`, as `repr` writes it. Never raises, whatever the exception's own methods do."""
    return _cut(_asked(repr, error))


def error_message(error: BaseException) -> str:
    """What `str` gives, as long as it is. Never raises, whatever the exception's own methods do."""
    return _asked(str, error)


def error_name(error: BaseException) -> str:
    """The name of the class, not asked of the class itself: a metaclass may answer anything."""
    name: str = type.__dict__["__name__"].__get__(type(error))
    return name


def _asked(ask: Callable[[BaseException], str], error: BaseException) -> str:
    try:
        return str.__str__(ask(error))  # an exact str: a subclass could fail later on
    except BaseException as failure:  # noqa: BLE001 - also what would end the program is only an answer that failed
        return f"<{error_name(error)}: {ask.__name__}() raised {error_name(failure)}>"


def _cut(text: str) -> str:
    return text if len(text) <= ERROR_TEXT_MAX else text[: ERROR_TEXT_MAX - 1] + "…"
