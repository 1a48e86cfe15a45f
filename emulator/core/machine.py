"""The machine: `step(state, now, command)` runs what is due and then the command; `next_wake(state)` tells when to come back.

At one moment: expiries, then lapsed leases, queue by queue in order of name; then batches, likewise. Each runs at its own
moment, so that one jump of ten days equals ten jumps of one.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from emulator.core import commands
from emulator.core.apply import apply
from emulator.core.decide import consume, deadlines, manage, produce, pull
from emulator.core.events import Event
from emulator.core.index import CLUTTER
from emulator.core.limits import STRICT, Limits

if TYPE_CHECKING:
    from emulator.core.commands import Command
    from emulator.core.model import State

EXPIRE, LAPSE = 0, 1

Record = Callable[[tuple[Event, ...]], None]


def decide(state: State, now_us: int, command: Command, limits: Limits = STRICT) -> tuple[Event, ...]:
    """What a command brings about now. Raises Refused, and changes nothing either way."""
    return _DECIDERS[type(command)](state, now_us, command, limits)


def refresh(state: State) -> None:
    """Bring the agenda up to date with the queues that have been written to."""
    queues = state.queues
    for name in state.dirty:
        queue = queues.get(name)
        if queue is None:
            continue
        # A retention that was cut may lie in the past.
        wake_us = deadlines.expiry_us(queue)
        if wake_us is not None and (wake_us := max(wake_us, state.now_us)) != queue.wake_expiry_us:
            heappush(state.passive, (wake_us, EXPIRE, name))
        queue.wake_expiry_us = wake_us
        wake_us = deadlines.lapse_us(queue)
        if wake_us is not None and (wake_us := max(wake_us, state.now_us)) != queue.wake_lapse_us:
            heappush(state.passive, (wake_us, LAPSE, name))
        queue.wake_lapse_us = wake_us
        wake_us = consume.departure_us(queue, state.now_us)
        if wake_us is not None and wake_us != queue.wake_departure_us:
            heappush(state.departures, (wake_us, name))
        queue.wake_departure_us = wake_us
    state.dirty.clear()  # and not pop(): a set does not shrink, and would be scanned for its next entry
    if len(state.passive) > CLUTTER + 4 * len(queues):
        state.passive = sorted({due for due in state.passive if _is_due(state, *due)})
    if len(state.departures) > CLUTTER + 4 * len(queues):
        state.departures = sorted({due for due in state.departures if _departure_us(state, due[1]) == due[0]})


def _is_due(state: State, moment_us: int, kind: int, name: str) -> bool:
    """Whether an entry of `passive` still holds, and no later look at the queue has found another moment."""
    queue = state.queues.get(name)
    return queue is not None and moment_us == (queue.wake_expiry_us if kind == EXPIRE else queue.wake_lapse_us)


def next_passive(state: State) -> tuple[int, int, str] | None:
    """The next expiry or lapse: (moment, kind, queue)."""
    if state.dirty:
        refresh(state)
    heap = state.passive
    while heap:
        if _is_due(state, *heap[0]):
            return heap[0]
        heappop(heap)
    return None


def next_departure_us(state: State) -> int | None:
    """When the next batch leaves."""
    if state.dirty:
        refresh(state)
    if state.turn or state.next_turn:
        for name in (*state.turn, *state.next_turn):
            heappush(state.departures, (_departure_us(state, name) or 0, name))
        state.turn.clear()
        state.next_turn.clear()
    heap = state.departures
    while heap and _departure_us(state, heap[0][1]) != heap[0][0]:
        heappop(heap)
    return heap[0][0] if heap else None


def next_to_depart(state: State, now_us: int, after: str) -> str | None:
    """The queue whose batch leaves next at this moment: in order of name, not before `after`; None ends the round."""
    if state.dirty:
        refresh(state)
    heap, turn = state.departures, state.turn
    while heap and heap[0][0] <= now_us:
        moment_us, name = heappop(heap)
        queue = state.queues.get(name)
        if queue is not None and queue.wake_departure_us == moment_us:
            heappush(turn if name >= after else state.next_turn, name)
    while turn:
        name = heappop(turn)
        queue = state.queues.get(name)
        if queue is not None and queue.wake_departure_us is not None and queue.wake_departure_us <= now_us:
            queue.wake_departure_us = None  # so that the next refresh enters it anew
            state.dirty.add(name)
            return name
    return None


def _departure_us(state: State, name: str) -> int | None:
    queue = state.queues.get(name)
    return None if queue is None else queue.wake_departure_us


def next_wake(state: State) -> int | None:
    """The next moment at which something happens by itself, in microseconds; None when nothing will."""
    passive, departure_us = next_passive(state), next_departure_us(state)
    if passive is None or departure_us is None:
        return departure_us if passive is None else passive[0]
    return min(passive[0], departure_us)


def run_passive(state: State, now_us: int, record: Record) -> list[Event]:
    """Run every expiry and lapse up to now, each at its own moment."""
    done: list[Event] = []
    while (due := next_passive(state)) is not None and due[0] <= now_us:
        moment_us, kind, name = due
        moment_us = max(moment_us, state.now_us)
        events = (deadlines.expire if kind == EXPIRE else deadlines.lapse)(state, moment_us, name)
        assert events, "a wake-up that yields nothing is a bug"
        write(state, events, record)
        done += events
    return done


def write(state: State, events: tuple[Event, ...], record: Record) -> None:
    """Store first, then apply."""
    record(events)
    for event in events:
        apply(state, event)


def step(
    state: State, now_us: int, command: Command | None = None, limits: Limits = STRICT, record: Record = lambda _events: None
) -> list[Event]:
    """Run every deadline up to now at its own moment, then the command; what happened. Raises Refused for the command.

    Batches leave as far as there are slots; who runs handlers settles each batch before it asks for the next.
    """
    done: list[Event] = []
    while (moment_us := next_wake(state)) is not None and moment_us <= now_us:
        moment_us = max(moment_us, state.now_us)
        done += run_passive(state, moment_us, record)
        name = ""
        while (following := next_to_depart(state, moment_us, name)) is not None:
            name = following
            delivered = consume.deliver(state, moment_us, commands.Deliver(name), limits)
            assert delivered, "a wake-up that yields nothing is a bug"
            write(state, delivered, record)
            done += delivered
    if command is not None:
        events = decide(state, now_us, command, limits)
        write(state, events, record)
        done += events
    return done


_DECIDERS: dict[type, Callable[[State, int, Any, Limits], tuple[Event, ...]]] = {
    commands.Send: produce.send,
    commands.CreateQueue: manage.create_queue,
    commands.ChangeQueue: manage.change_queue,
    commands.SetConsumer: manage.set_consumer,
    commands.Pull: pull.pull,
    commands.Ack: pull.ack,
    commands.Extend: pull.extend,
    commands.Redrive: manage.redrive,
    commands.Deliver: consume.deliver,
    commands.Settle: consume.settle,
    commands.DeleteQueue: manage.delete_queue,
    commands.RemoveConsumer: manage.remove_consumer,
    commands.Attach: manage.attach,
    commands.Purge: manage.purge,
    commands.StopClock: manage.stop_clock,
}
