"""`console`: what a Worker writes is logged and remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.engine.error_text import error_text
from emulator.workers.console import Line, log
from emulator.workers.python.errors import NoSuchMember
from emulator.workers.python.javascript.js_globals import JSON
from emulator.workers.python.javascript.js_values import JsProxy
from emulator.workers.python.javascript.to_js import PyProxy

if TYPE_CHECKING:
    from collections.abc import Callable


class Console:
    """`console`: what is written goes to the logger `emulator.worker` and stays in `worker.console`."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines

    def _write(self, level: str, *parts: Any) -> None:
        text = " ".join(part if isinstance(part, str) else _shown(part) for part in parts)
        self._lines.append(Line(level, text))
        log(self._lines[-1])

    def __getattr__(self, level: str) -> Callable[..., None]:
        if level not in {"debug", "error", "info", "log", "trace", "warn"}:
            raise AttributeError(level) if level.startswith("_") else NoSuchMember(f"console.{level}")
        return lambda *parts: self._write(level, *parts)


def _shown(value: Any) -> str:
    """A text of anything: a line of the console fails nobody's batch."""
    try:
        return _text(value)
    except Exception as error:  # noqa: BLE001 - whatever a value's own methods raise
        return f"<{type(value).__name__}: {error_text(error)}>"


def _text(value: Any) -> str:
    return JSON.stringify(value) if isinstance(value, JsProxy) and not isinstance(value, PyProxy) else str(value)
