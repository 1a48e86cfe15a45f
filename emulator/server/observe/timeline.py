"""The timeline of one message, cut out of the journal: only what names it is followed, so that a long journal is read fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.core import events as happened
from emulator.engine.ledger import history

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emulator.core.events import Event
    from emulator.engine.ledger.history import Trace

_ENDS = ("acked", "dead", "dropped", "expired", "repeated")
_SETTLEMENTS = (happened.Settled, happened.LeasesSettled, happened.LeasesLapsed)
_PARALLEL = ("ids", "bodies", "content_types", "ready_us", "attempts", "leases")


def timeline(events: Iterable[Event], id: str) -> tuple[Trace, happened.Sent | None]:
    """The lines of a message, and its first sending, alone; no lines and None where nothing is known of it."""
    about = list(_about(events, id))
    first = next((event for event in about if isinstance(event, happened.Sent)), None)
    return history.trace(about if first is not None else ()), first


def _about(events: Iterable[Event], id: str) -> Iterator[Event]:
    for event in events:
        if isinstance(event, _SETTLEMENTS):
            narrow = _settlement(event, id)
        elif isinstance(event, happened.LeasesExtended):
            continue
        else:
            narrow = _named(event, id)
        if narrow is not None:
            yield narrow


def _named(event: Any, id: str) -> Event | None:
    """An event with `ids` and rows beside it, for this one message."""
    ids = getattr(event, "ids", ())
    if id not in ids:
        return None
    place = ids.index(id)
    narrow: Event = event._replace(
        **{name: (getattr(event, name)[place],) for name in _PARALLEL if isinstance(getattr(event, name, None), tuple)}
    )
    return narrow


def _settlement(event: Any, id: str) -> Event | None:
    fields: dict[str, Any] = {name: (id,) if id in getattr(event, name) else () for name in _ENDS if hasattr(event, name)}
    place = event.retried.index(id) if id in event.retried else None
    if place is None and not any(fields.values()):
        return None
    fields["retried"], fields["ready_us"] = ((), ()) if place is None else ((id,), (event.ready_us[place],))
    narrow: Event = event._replace(**fields)
    return narrow
