"""The story of a schedule: what happened, in the order in which it happened, in lines that a person reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from emulator.core import events as happened
from emulator.engine import bodies
from emulator.engine.delivery import Delivery
from emulator.explore.schedule import LATE_SECONDS

if TYPE_CHECKING:
    from emulator.core.events import Event

_NAMES = ("key", "id", "order", "order_id", "orderId", "task_id", "taskId", "user", "user_id", "userId", "name", "type")
"""Members of a body by which a message may be called; else the first that is a short text."""
_NAME_MAX, _TEXT_MAX = 24, 72
_BEHIND = frozenset({"crashes_at_call", "crashes_at_await"})
_LIBRARIES = ("asyncio", "toolkit")
_READS = ("KV get", "KV list", "D1 SELECT", "metrics", *(f"{name}." for name in _LIBRARIES))
"""Calls that change nothing, and what is between others; a story goes on without them."""
_LINES_MAX = 14
_SPANS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


class Entry(NamedTuple):
    """Something that happened: when, to which messages (ids), in which delivery, in words; `fault`: chance had a hand in it."""

    at_us: int
    ids: tuple[str, ...]
    batch: int | None
    text: str
    fault: bool = False


class Told:
    """Hears what happens in one run."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.names: dict[str, str] = {}
        self.flights: list[tuple[int, int | None, tuple[str, ...], str]] = []
        """Each delivery: when it left, when it ended, its messages, how it ended."""
        self._out: dict[int, int] = {}
        self._again: set[str] = set()
        self._now_us = self._told_us = 0
        self._faulted: set[int] = set()
        self._held: list[tuple[str, int, Any, Delivery]] = []
        self._called: dict[str, int] = {}

    # --- what is heard

    def hear(self, events: tuple[Event, ...]) -> None:
        """Events of the journal."""
        for event in events:
            self._now_us = event.at_us
            if isinstance(event, happened.Sent):
                for id, body, kind in zip(event.ids, event.bodies, event.content_types, strict=True):
                    self._call_it(id, bodies.decode(body, kind))
            elif isinstance(event, happened.Delivered):
                self._delivered(event)
            elif isinstance(event, happened.Settled):
                self._settled(event)
            elif isinstance(event, happened.LeasesLapsed):
                self._tell(event.retried + event.dead + event.dropped, None, "lapses, while its holder works", lead=True)

    def fault(self, label: str, value: int, where: Any) -> None:
        """A choice was taken that is not the ordinary one."""
        delivery, place = where if isinstance(where, tuple) and where and isinstance(where[0], Delivery) else (None, where)
        if delivery is not None and (label == "cut_off" or (label in _BEHIND and value > 1)):
            self._faulted.add(delivery.event.batch)
            self._held.append((label, value, place, delivery))  # it comes about only when the call has acted
            return
        ids = delivery.event.ids if delivery is not None else ()
        batch = delivery.event.batch if delivery is not None else None
        if batch is not None:
            self._faulted.add(batch)
        text = self._fault_text(label, value, place)
        if label == "duplicates":
            ids = (place.id,)
        elif label in {"reorder", "small_batches"}:
            ids = tuple(each.id for each in place)
        if delivery is not None:
            self._now_us = max(self._now_us, delivery.deliveries.account.now_us)
        self.entries.append(Entry(self._now_us, ids, batch, text, fault=True))

    def awaited(self, awaitable: Any) -> Any:
        """What is awaited, if it is a coroutine: its name and what it was given."""
        frame = getattr(awaitable, "cr_frame", None)
        if frame is None:
            return None
        code, values = frame.f_code, dict(frame.f_locals)
        given = [
            values[name] for name in code.co_varnames[: code.co_argcount] if name in values and name not in {"self", "cls"}
        ]
        # A coroutine is told by its name: held any longer than it lives, it would complain that nobody awaits it.
        given = [_Name(each.__qualname__.rpartition(".")[2]) if hasattr(each, "cr_frame") else each for each in given]
        while given and given[-1] is None:
            given.pop()
        path = code.co_filename.replace("\\", "/")
        library = next((f"{name}." for name in _LIBRARIES if f"/{name}/" in path), "")
        return library + awaitable.__qualname__.rpartition("<locals>.")[2], tuple(given), {}

    def call(self, delivery: Delivery, what: Any) -> None:
        """A handler has called something outside, which has acted."""
        said = call_text(what)
        if said.startswith(_READS):
            return
        self._called[said] = self._called.get(said, 0) + 1
        again = " again" if self._called[said] > 1 else ""
        self._now_us = max(self._now_us, delivery.deliveries.account.now_us)
        self.entries.append(Entry(self._now_us, delivery.event.ids, delivery.event.batch, f"{said} succeeds{again}"))

    # --- in words

    def lines(self, error: str) -> list[str]:
        """The story, ending with what does not hold: what happened to the messages that a fault touched."""
        touched = {id for entry in self.entries if entry.fault for id in entry.ids}
        told = [entry for entry in self.entries if entry.fault or not touched or touched.intersection(entry.ids)]
        if len(self.entries) < _LINES_MAX:
            told = self.entries
        last = max((at for at, entry in enumerate(told) if entry.fault), default=-1)
        if len(told) >= _LINES_MAX:  # what comes long after the last fault is the ordinary course
            told = told[: max(last + 6, _LINES_MAX - 1)]
        if len(told) >= _LINES_MAX:
            kept = [entry for entry in told if entry.fault or "deliver" in entry.text or "comes again" in entry.text]
            told = kept if len(kept) < _LINES_MAX else [entry for entry in told if entry.fault]
        texts = [*(entry.text for entry in told), error]
        return [f"{number}. {text}" for number, text in enumerate(texts, 1)]

    def name(self, id: str) -> str:
        """What a message is called."""
        return self.names.get(id, id[:8])

    def _tell(self, ids: tuple[str, ...], batch: int | None, text: str, *, lead: bool = False) -> None:
        if ids:
            self.entries.append(Entry(self._now_us, ids, batch, f"{self._those(ids)} {text}" if lead else text))

    def _delivered(self, event: happened.Delivered) -> None:
        self._out[event.batch] = len(self.flights)
        self.flights.append((event.at_us, None, event.ids, ""))
        again = tuple(id for id, attempt in zip(event.ids, event.attempts, strict=True) if attempt > 1)
        first = tuple(id for id in event.ids if id not in again)
        parts = [f"{self._those(first)} {_verb(first, 'is', 'are')} delivered"] if first else []
        parts += [f"{self._those(again)} {_verb(again, 'comes', 'come')} again"] if again else []
        waited = (event.at_us - self._told_us) // 1_000_000 if self.flights[1:] else 0
        self._told_us = event.at_us
        self._tell(event.ids, event.batch, f"{span(waited)} later " * (waited > 0) + "; ".join(parts))

    def _settled(self, event: happened.Settled) -> None:
        at = self._out.pop(event.batch, None)
        if at is not None:
            left_us, _, ids, _ = self.flights[at]
            self.flights[at] = (left_us, event.at_us, ids, event.outcome)
        for label, value, place, delivery in self._held:
            if delivery.event.batch == event.batch:
                text = self._fault_text(label, value, place) if label != "cut_off" else self._cut_text(event.acked)
                self.entries.append(Entry(event.at_us, delivery.event.ids, event.batch, text, fault=True))
        self._held = [each for each in self._held if each[3].event.batch != event.batch]
        if event.error is not None and event.batch not in self._faulted:
            self._tell(event.retried + event.dead + event.dropped, event.batch, f"the delivery fails: {_short(event.error)}")
        for ids, word in ((event.dropped, "deleted: its attempts are over"), (event.expired, "expired")):
            self._tell(ids, event.batch, f"{_verb(ids, 'is', 'are')} {word}", lead=True)
        self._tell(event.dead, event.batch, f"{_verb(event.dead, 'is', 'are')} dead-lettered to {event.target}", lead=True)

    def _cut_text(self, acked: tuple[str, ...]) -> str:
        said = f"{self._those(acked)} {_verb(acked, 'is', 'are')} acknowledged" if acked else "nothing more is acknowledged"
        return f"a limit ends the Worker: {said}, and the rest is not done"

    def _call_it(self, id: str, body: Any) -> None:
        if id in self.names:
            return
        name = _name_of(body) or f"message {len(self.names) + 1}"
        taken = sum(known == name or known.startswith(f"{name} (") for known in self.names.values())
        self.names[id] = f"{name} ({taken + 1})" if taken else name

    def _those(self, ids: tuple[str, ...]) -> str:
        names = [self.name(id) for id in ids]
        if len(names) > 3:  # noqa: PLR2004 - more would be no line
            return f"{names[0]}, {names[1]} and {len(names) - 2} more"
        return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]

    def _fault_text(self, label: str, value: int, place: Any) -> str:
        where = "" if place is None else call_text(place)
        behind = value > 1
        if label in {"crashes_at_call", "crashes_at_await"}:
            at = where if label == "crashes_at_call" else f"`await {where}`"
            if not where:
                return "the Worker dies while it waits"
            return f"the Worker dies {'right after' if behind else 'before'} {at}"
        if label == "crashes":
            return (
                "the endpoint is not reached" if place is None else f"the Worker dies as it reads {self.name(place[value - 1])}"
            )
        if label in {"late_answers", "slow"}:
            what = "the Worker goes on" if label == "slow" or not where else f"the answer of {where} comes"
            return f"{what} {span(LATE_SECONDS[value])} later"
        if label == "duplicates":
            when = "at once" if value == 1 else "later, when its retries would be over"
            return f"the acknowledgement of {self.name(place.id)} gets lost: it will come again {when}"
        if label == "reorder":
            return f"{self.name(place[value].id)} goes first"
        if label == "queues":
            return f"{place[value]} goes first"
        return {
            "crashes_at_end": "the Worker dies after its last statement, before the queue hears of it",
            "failed_calls": f"{where} fails, and has done nothing",
            "lost_answers": f"{where} has acted, but its answer gets lost",
            "overlaps": "the batch is given out a second time, while the first delivery still runs",
            "small_batches": "a batch leaves with one message",
            "early_batches": "a batch leaves earlier than it must",
            "turns": "another handler goes on first",
            "producer": "the consumers go on before the next message is sent",
            "short_leases": "a lease lapses while its holder works",
            "refused_sends": "a send is refused, and nothing is stored",
            "lost_replies": "a send is stored, but its answer gets lost",
        }.get(label, label)


def call_text(what: Any) -> str:
    """A call in words: `POST /charge`, `KV put 'done:k0'`, `BANK.charge('k0')`."""
    if not isinstance(what, tuple):
        return _short(str(what))
    kind, *rest = what
    if kind == "D1":
        return _short(f"D1 {'; '.join(_sql(*each) for each in rest)}")
    if len(rest) == 2 and isinstance(rest[1], dict):  # noqa: PLR2004 - a call of something of the test's: its arguments
        given = [repr(each) for each in rest[0]] + [f"{name}={value!r}" for name, value in rest[1].items()]
        return _short(f"{kind}({', '.join(given)})")
    detail = str(rest[0]) if rest else ""
    if "://" in detail:
        parts = urlsplit(detail)
        body = rest[1].decode("utf-8", "replace") if len(rest) > 1 else ""
        said = f" {body!r}" if 0 < len(body) <= _NAME_MAX else ""
        return _short(f"{kind} {parts.path or '/'}{'?' + parts.query if parts.query else ''}{said}")
    return _short(f"{kind} {detail!r}")


class _Name(str):
    """A name that is told without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{self}()"


def _sql(text: str, values: tuple[Any, ...]) -> str:
    """A statement with its values, for people."""
    parts = " ".join(text.split()).split("?")
    if len(parts) != len(values) + 1:
        return " ".join(text.split())
    return "".join(f"{part}{value!r}" for part, value in zip(parts, values, strict=False)) + parts[-1]


def deviations(count: int) -> str:
    """`1 deviation`, `2 deviations`."""
    return f"{count} deviation{'' if count == 1 else 's'}"


def span(seconds: int) -> str:
    """`a minute`, `90 seconds`."""
    for length, name in _SPANS:
        if seconds and not seconds % length:
            count = seconds // length
            return f"{'an' if name == 'hour' else 'a'} {name}" if count == 1 else f"{count} {name}s"
    return "no time"


def _name_of(body: Any) -> str | None:
    if isinstance(body, dict):
        for name in _NAMES:
            value = body.get(name)
            if isinstance(value, str) and 0 < len(value) <= _NAME_MAX:
                return value
            if isinstance(value, int) and not isinstance(value, bool):
                return f"{name} {value}"
        return next((value for value in body.values() if isinstance(value, str) and 0 < len(value) <= _NAME_MAX), None)
    if isinstance(body, str) and 0 < len(body) <= _NAME_MAX:
        return body
    return None


def _verb(ids: tuple[str, ...], one: str, several: str) -> str:
    return one if len(ids) == 1 else several


def _short(text: str) -> str:
    return text if len(text) <= _TEXT_MAX else text[: _TEXT_MAX - 1] + "…"
