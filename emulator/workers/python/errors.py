"""What a Worker or a test is told when it asks for more than there is."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

hearing: ContextVar[Callable[[str, bool], None] | None] = ContextVar("hearing", default=None)
"""Who hears, while a Worker's code runs, what is said of it: a text, and whether the emulator lacks what the runtime has."""


def tell(text: str, *, lacking: bool = False) -> None:
    """Tell whose Worker runs, where the user looks: its console; also the report, when the emulator lacks something."""
    hear = hearing.get()
    if hear is not None:
        hear(text, lacking)


class NotEmulated(NotImplementedError, ImportError):  # noqa: N818 - what is so
    """A part of the runtime that the emulator does not have: raised, and told, in case the Worker's own code swallows it.

    Also an ImportError: Workers that try an import can go on.
    """

    def __init__(self, what: str, instead: str = "") -> None:
        text = f"not emulated: {what}{f' ({instead})' if instead else ''}"
        super().__init__(text)
        tell(text, lacking=True)


class NoSuchMember(NotImplementedError, AttributeError):  # noqa: N818 - what is so
    """The same, of a member: who asks with `hasattr` or a default goes on without it."""

    def __init__(self, what: str) -> None:
        text = f"not emulated: {what}"
        super().__init__(text)
        tell(text, lacking=True)


class FetchRefused(OSError):  # noqa: N818 - what happened to it
    """A Worker wanted to reach the network, and the test gave no responder: raised, and told, as NotEmulated is."""

    def __init__(self, method: str, url: str) -> None:
        text = f"fetch refused: {method} {url}; the emulator reaches no network: give emu.worker(…, fetch=responder)"
        super().__init__(text)
        tell(text, lacking=True)


class JsException(Exception):  # noqa: N818 - Pyodide's name
    """An error that JavaScript threw, as `pyodide.ffi.JsException`: `name` and `message`."""

    def __init__(self, message: str, name: str = "Error") -> None:
        super().__init__(f"{name}: {message}")
        self.name, self.message = name, message


class ConversionError(Exception):
    """`pyodide.ffi.ConversionError`: a value has no JavaScript form, such as a dict's key that is a tuple."""


class JsTypeError(JsException, TypeError):
    """A TypeError that JavaScript threw."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "TypeError")
