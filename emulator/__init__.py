"""Cloudflare Queues on a clock that a test can move."""

from emulator.core.limits import Limits
from emulator.core.refusals import Refused
from emulator.emulator import Emulator
from emulator.faults import Faults
from emulator.history import Delivery, Fate
from emulator.queue import Queue

__all__ = ["Delivery", "Emulator", "Fate", "Faults", "Limits", "Queue", "Refused"]
