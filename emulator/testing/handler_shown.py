"""Who consumes a queue, for people: the handler's name, its file and line."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from emulator.testing.emulator import Emulator

OURS = str(Path(__file__).parents[1])
"""Where the emulator's own code is."""
_HANDLER_CHARACTERS_MAX = 60


def consumer_shown(emulator: Emulator, name: str) -> str:
    """The consumer of a queue: its handler with file and line, or what it is instead."""
    queue = emulator.account.state.queues.get(name)
    if queue is None or queue.consumer is None:
        return "deleted" if queue is None else "none"
    if queue.consumer.type != "worker":
        return queue.consumer.type
    target = emulator.timeline.deliveries.targets.get(name)
    if target is None or not queue.attached:
        return "no handler yet"
    handler = getattr(target, "handler", None)
    code = _code_of(handler)
    if code is None or code.co_filename.startswith(OURS):
        return getattr(target, "url", None) or repr(handler)[:_HANDLER_CHARACTERS_MAX]
    return f"{code.co_qualname.rpartition('.<locals>.')[2]} ({path_shown(code.co_filename)}:{code.co_firstlineno})"


def _code_of(handler: Any) -> CodeType | None:
    """The code of a handler, of a class's or an object's queue(), of what a wrapper wraps; None where it has none."""
    found = handler if hasattr(handler, "__code__") else getattr(handler, "queue", None) or getattr(handler, "func", handler)
    found = inspect.unwrap(found) if callable(found) else found
    code = getattr(getattr(found, "__func__", found), "__code__", None)
    return code if isinstance(code, CodeType) else None


def path_shown(file: str) -> str:
    """A path from where the tests were started, if it lies below."""
    try:
        return Path(file).resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return file
