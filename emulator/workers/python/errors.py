"""What a Worker or a test is told when it asks for more than there is."""

from __future__ import annotations


class NotEmulated(NotImplementedError, ImportError):  # noqa: N818 - what is so
    """A part of the runtime that the emulator does not have. Also an ImportError: Workers that try an import can go on."""

    def __init__(self, what: str, instead: str = "") -> None:
        super().__init__(f"not emulated: {what}{f' ({instead})' if instead else ''}")


class FetchRefused(OSError):  # noqa: N818 - what happened to it
    """A Worker wanted to reach the network, and the test gave no responder."""

    def __init__(self, method: str, url: str) -> None:
        super().__init__(f"fetch refused: {method} {url}; the emulator reaches no network: give emu.worker(…, fetch=responder)")


class JsException(Exception):  # noqa: N818 - Pyodide's name
    """An error that JavaScript threw, as `pyodide.ffi.JsException`: `name` and `message`."""

    def __init__(self, message: str, name: str = "Error") -> None:
        super().__init__(f"{name}: {message}")
        self.name, self.message = name, message
