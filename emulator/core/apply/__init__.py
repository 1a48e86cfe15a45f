"""(state, event) → state: the only writer. It decides nothing; what it cannot find is a broken journal and raises KeyError."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.core import events as happened
from emulator.core.apply import consumers, delivering, ending, leasing, queues, sending

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.core.model import State


def apply(state: State, event: happened.Event) -> None:
    """Write one event into the state."""
    state.now_us = event.at_us
    _WRITERS[type(event)](state, event)


def _clock_stopped(state: State, event: happened.ClockStopped) -> None:
    """Nothing but the time has changed."""


_WRITERS: dict[type, Callable[[State, Any], None]] = {
    happened.QueueCreated: queues.created,
    happened.QueueChanged: queues.changed,
    happened.QueueDeleted: queues.deleted,
    happened.ConsumerSet: consumers.consumer_set,
    happened.ConsumerRemoved: consumers.removed,
    happened.HandlerAttached: consumers.attached,
    happened.Sent: sending.sent,
    happened.Delivered: delivering.delivered,
    happened.Settled: ending.settled,
    happened.Pulled: leasing.pulled,
    happened.LeasesSettled: ending.leases_settled,
    happened.LeasesLapsed: ending.leases_lapsed,
    happened.LeasesExtended: leasing.extended,
    happened.Expired: ending.expired,
    happened.Purged: ending.purged,
    happened.Redriven: sending.redriven,
    happened.ClockStopped: _clock_stopped,
}
