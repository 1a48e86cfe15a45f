"""The search for a schedule that breaks a queue's consumer: every decision of the world is a choice, few faults first.

The module is the function: `emulator.explore(setup, invariant)`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

__all__ = [
    "Covered", "Found", "Nothing", "RecordingProxy", "SetupFailed",
    "at_most_once", "converges", "every_message_ends", "explore", "in_order",
    "no_message_lost", "same_end_state",
]  # fmt: skip


class _Explore(ModuleType):
    """This module, which can be called."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        from emulator.explore.search import explore

        return explore(*given, **named)


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for: every pytest run loads this package, few use it."""
    room: object
    if name not in __all__:
        raise AttributeError(f"module 'emulator.explore' has no attribute {name!r}")
    if name in {"Covered", "Found", "Nothing"}:
        from emulator.explore import found as room
    elif name == "RecordingProxy":
        from emulator.explore import proxy as room
    elif name == "SetupFailed":
        from emulator.explore import world as room
    elif name == "explore":
        from emulator.explore import search as room
    else:
        from emulator.explore import invariants as room
    value: object = getattr(room, name)
    globals()[name] = value
    return value


sys.modules[__name__].__class__ = _Explore
