"""The search for a schedule that breaks a queue's consumer: every decision of the world is a choice, few faults first.

The module is the function: `emulator.explore(setup, invariant)`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_ROOMS = {
    "Covered": "found", "Found": "found", "Nothing": "found", "RecordingProxy": "proxy", "SetupFailed": "world",
    "at_most_once": "invariants",
    "converges": "invariants", "every_message_ends": "invariants", "explore": "search", "in_order": "invariants",
    "no_message_lost": "invariants", "same_end_state": "invariants",
}  # fmt: skip

__all__ = [
    "Covered", "Found", "Nothing", "RecordingProxy", "SetupFailed",
    "at_most_once", "converges", "every_message_ends", "explore", "in_order",
    "no_message_lost", "same_end_state",
]  # fmt: skip


class _Explore(ModuleType):
    """This module, which can be called."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        return import_module("emulator.explore.search").explore(*given, **named)


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for: every pytest run loads this package, few use it."""
    if name not in _ROOMS:
        raise AttributeError(f"module 'emulator.explore' has no attribute {name!r}")
    value = getattr(import_module(f"emulator.explore.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value


sys.modules[__name__].__class__ = _Explore
