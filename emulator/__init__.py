"""Cloudflare Queues on a clock that a test can move. The names in `__all__` are public; everything else may change."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulator.core.limits import Limits
    from emulator.core.refusals import Refused
    from emulator.engine.faults import Faults
    from emulator.engine.ledger.records import Delivery, Fate
    from emulator.explore.search import explore
    from emulator.testing.emulator import Emulator
    from emulator.testing.hand_made import create_batch, result_of
    from emulator.testing.queue import Queue
    from emulator.workers.outgoing import Outgoing
    from emulator.workers.python.javascript.http_values import Response

__all__ = [
    "Delivery", "Emulator", "Fate", "Faults", "Limits", "Outgoing", "Queue", "Refused", "Response", "create_batch", "explore",
    "result_of",
]  # fmt: skip

_ROOMS = {
    "Delivery": "engine.ledger.records", "Emulator": "testing.emulator", "Fate": "engine.ledger.records",
    "Faults": "engine.faults", "Limits": "core.limits", "Outgoing": "workers.outgoing", "Queue": "testing.queue",
    "Refused": "core.refusals", "Response": "workers.python.javascript.http_values", "create_batch": "testing.hand_made",
    "result_of": "testing.hand_made",
}  # fmt: skip


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for: every pytest run loads this package, few use it."""
    if name not in __all__:
        raise AttributeError(f"module 'emulator' has no attribute {name!r}")
    from importlib import import_module

    if name == "explore":  # a room that is itself the name: it can be called, and holds more
        return import_module("emulator.explore")
    value = getattr(import_module(f"emulator.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value
