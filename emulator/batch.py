"""What a handler sees: a MessageBatch of Messages. Its calls become a settlement, by workerd's rules and in workerd's words.

The first word on a message or on the batch wins; what is ignored is a warning, never an error. JavaScript's names and their
snake_case twins are the same: `ackAll` and `ack_all`, `retry(delaySeconds=5)`, `retry(delay_seconds=5)` and
`retry({"delaySeconds": 5})`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.bodies import DECODERS
from emulator.clock import moment
from emulator.core import refusals
from emulator.core.commands import Settle
from emulator.core.decide.produce import check_delay
from emulator.options import delay_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from emulator.core.limits import Limits
    from emulator.core.model import Flight
    from emulator.core.model import Message as Stored
    from emulator.metrics import Metrics

_UNDECIDED, _ACKED, _RETRIED = range(3)
_UNREAD = object()


class Message:
    """One message of a batch: `id`, `attempts` (from 1), `timestamp` (aware, UTC), `body` (a copy, made when first read)."""

    __slots__ = ("_batch", "_body", "_delay_seconds", "_stored", "_word", "attempts", "id")

    def __init__(self, stored: Stored, batch: MessageBatch) -> None:
        self.id = stored.id
        self.attempts = stored.attempts
        self._stored = stored
        self._batch = batch
        self._body: Any = _UNREAD
        self._word = _UNDECIDED
        self._delay_seconds: int | None = None

    @property
    def body(self) -> Any:
        """The body, decoded: the handler's own copy."""
        if self._body is _UNREAD:
            crash = self._batch._crash  # noqa: SLF001 - the two classes are one thing
            if crash is not None:
                crash(self.id)
            stored = self._stored
            self._body = DECODERS[stored.content_type](stored.body)
        return self._body

    @property
    def timestamp(self) -> datetime:
        """When the message was sent."""
        return moment(self._stored.timestamp_us)

    def ack(self) -> None:
        """Acknowledge: the message will not come again, whatever else becomes of the batch."""
        batch = self._batch
        if batch._plain:  # noqa: SLF001 - the two classes are one thing
            if self._word != _RETRIED:
                self._word = _ACKED
                return
        elif batch._ignores("ack()", self.id, silent_after_ack_all=True):  # noqa: SLF001 - the two classes are one thing
            return
        if self._word == _RETRIED:
            batch._warn(_on_message("ack()", self.id, "retry()"))  # noqa: SLF001 - the two classes are one thing
        else:
            self._word = _ACKED

    def retry(self, options: Mapping[str, Any] | None = None, **given: Any) -> None:
        """Ask for the message again, after `delaySeconds`, else the defaults. Called again, it replaces the delay.

        Raises TypeError for a delay beyond 32 bits, and Refused (10203) for one outside 0..86400 seconds.
        """
        delay = delay_of(options, given)
        batch = self._batch
        if delay is not None:
            check_delay(delay, batch._limits)  # noqa: SLF001 - the two classes are one thing
        if not batch._plain and batch._ignores("retry()", self.id, silent_after_ack_all=False):  # noqa: SLF001 - as above
            return
        if self._word == _ACKED:
            batch._warn(_on_message("retry()", self.id, "ack()"))  # noqa: SLF001 - the two classes are one thing
            return
        self._word, self._delay_seconds = _RETRIED, delay

    def __repr__(self) -> str:
        return f"Message(id={self.id!r}, attempts={self.attempts}, body={self.body!r})"


class BatchMetadata:
    """What comes with a batch beside its messages: `metrics` of the backlog that remained when it left."""

    __slots__ = ("metrics",)

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics


class MessageBatch:
    """Messages of one queue, delivered together. `queue` is its name."""

    __slots__ = (
        "_ack_all", "_crash", "_late", "_limits", "_plain", "_retry_all", "_retry_all_delay", "_settled", "_warnings",
        "messages", "metadata", "queue",
    )  # fmt: skip

    def __init__(
        self, queue: str, flight: Flight, metrics: Metrics, limits: Limits, late: Callable[[str], None]
    ) -> None:
        self.queue = queue
        self.messages = [Message(stored, self) for stored in flight.messages]
        self.metadata = BatchMetadata(metrics)
        self._limits = limits
        self._late = late
        self._crash: Callable[[str], None] | None = None
        self._plain = True  # nothing has been said about the whole batch, and it is not settled
        self._ack_all = self._retry_all = self._settled = False
        self._retry_all_delay: int | None = None
        self._warnings: list[str] = []

    def ack_all(self) -> None:
        """Acknowledge every message about which nothing has been said, also when the handler fails afterwards."""
        if self._refuses_late("ackAll()"):
            return
        if self._retry_all:
            self._warn(_on_batch("ackAll()", "retryAll()"))
            return
        self._ack_all, self._plain = True, False

    def retry_all(self, options: Mapping[str, Any] | None = None, **given: Any) -> None:
        """Ask for every message again about which nothing has been said. A second call changes the delay only if it names one.

        Raises TypeError for a delay beyond 32 bits, and Refused (10202) for one outside 0..86400 seconds.
        """
        delay = delay_of(options, given)
        if delay is not None:
            check_delay(delay, self._limits, refusals.BatchDelayInvalid)
        if self._refuses_late("retryAll()"):
            return
        if self._ack_all:
            self._warn(_on_batch("retryAll()", "ackAll()"))
            return
        self._retry_all, self._plain = True, False
        if delay is not None:
            self._retry_all_delay = delay

    ackAll, retryAll = ack_all, retry_all  # noqa: N815 - JavaScript's names

    def settlement(self, batch: int, outcome: str, error: str | None, lost: frozenset[str] = frozenset()) -> Settle:
        """What the calls and the handler's end ask for. Later calls are ignored, with a warning."""
        self._settled, self._plain = True, False
        acks, retries = [], []
        for message in self.messages:
            word = message._word  # noqa: SLF001 - the two classes are one thing
            if word == _ACKED:
                acks.append(message.id)
            elif word == _RETRIED:
                retries.append((message.id, message._delay_seconds))  # noqa: SLF001 - the two classes are one thing
        needed = retries or outcome != "ok" or self._retry_all or lost  # else a good end acknowledges everything anyway
        return Settle(
            self.queue, batch, outcome, error, frozenset(acks) if needed else _NONE, tuple(retries), self._ack_all,
            self._retry_all, self._retry_all_delay, lost, tuple(self._warnings),
        )  # fmt: skip

    def forget(self) -> None:
        """Drop what was said: the process that heard it is gone."""
        self._ack_all = self._retry_all = False
        self._retry_all_delay = None
        self._warnings.clear()
        for message in self.messages:
            message._word = _UNDECIDED  # noqa: SLF001 - the two classes are one thing

    def _ignores(self, call: str, id: str, *, silent_after_ack_all: bool) -> bool:
        """Whether a call on a message comes too late to have an effect."""
        if self._refuses_late(f"{call} on message {id}"):
            return True
        if self._ack_all:
            if not silent_after_ack_all:
                self._warn(_on_message(call, id, "ackAll()"))
            return True
        if self._retry_all and call == "ack()":
            self._warn(_on_message(call, id, "retryAll()"))
            return True
        return False

    def _refuses_late(self, call: str) -> bool:
        if self._settled:
            self._late(f"Received a call to {call} after the batch was settled. It has no effect.")
        return self._settled

    def _warn(self, text: str) -> None:
        self._warnings.append(text)


_NONE: frozenset[str] = frozenset()


def _on_message(call: str, id: str, earlier: str) -> str:
    return (
        f"Received a call to {call} on message {id} after {earlier} was already called. "
        f"Calling {call} on a message after calling {earlier} has no effect."
    )


def _on_batch(call: str, earlier: str) -> str:
    return (
        f"Received a call to {call} after {earlier} was already called. "
        f"Calling {call} after calling {earlier} has no effect."
    )
