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


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for: every pytest run loads this package, few use it."""
    room: object
    if name == "Emulator":
        from emulator.testing import emulator as room
    elif name == "Queue":
        from emulator.testing import queue as room
    elif name in {"create_batch", "result_of"}:
        from emulator.testing import hand_made as room
    elif name in {"Delivery", "Fate"}:
        from emulator.engine.ledger import records as room
    elif name == "Faults":
        from emulator.engine import faults as room
    elif name == "Limits":
        from emulator.core import limits as room
    elif name == "Refused":
        from emulator.core import refusals as room
    elif name == "Outgoing":
        from emulator.workers import outgoing as room
    elif name == "Response":
        from emulator.workers.python.javascript import http_values as room
    elif name == "explore":  # a room that is itself the name: it can be called, and holds more
        import emulator.explore

        return emulator.explore
    else:
        raise AttributeError(f"module 'emulator' has no attribute {name!r}")
    value: object = getattr(room, name)
    globals()[name] = value
    return value
