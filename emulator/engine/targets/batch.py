"""What a handler sees: a MessageBatch of Messages. Its calls become a settlement, by workerd's rules and in workerd's words.

The first word on a message or on the batch wins; what is ignored is a warning, never an error. JavaScript's names and their
snake_case twins are the same: `ackAll` and `ack_all`, `retry(delaySeconds=5)`, `retry(delay_seconds=5)` and
`retry({"delaySeconds": 5})`.
Message, batch and what was said stand together, because a call on one is judged by what was said on the other.
"""

from __future__ import annotations

from itertools import count, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from emulator.core.commands import Settle
from emulator.engine.bodies import DECODERS, json_text
from emulator.engine.clock import moment
from emulator.engine.options import bounded_delay, delay_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from emulator.core.limits import Limits
    from emulator.core.messages import Columns
    from emulator.engine.metrics import Metrics

RETRY, RETRY_ALL = "'retry' on 'QueueMessage'", "'retryAll' on 'QueueController'"
"""The two calls that take options, as workerd names them."""
_UNDECIDED, _ACKED, _RETRIED = range(3)
_UNREAD: Any = object()
_WORD = attrgetter("_word")


class Message(msgspec.Struct, gc=False, eq=False):  # made in C; no circle runs through it once its batch is settled
    """One message of a batch: `id`, `attempts` (from 1), `timestamp` (aware, UTC), `body` (decoded, the handler's own)."""

    id: str
    attempts: int
    body: Any
    _said: Any  # of _Said
    _place: int  # in its batch
    _word: int = _UNDECIDED
    _delay_seconds: int | None = None

    @property
    def timestamp(self) -> datetime:
        """When the message was sent."""
        at: datetime = moment(self._said.columns.timestamps_us[self._place])
        return at

    def ack(self) -> None:
        """Acknowledge: the message will not come again, whatever else becomes of the batch."""
        said = self._said
        if said.plain and self._word != _RETRIED:
            self._word = _ACKED
        elif said.plain or not said.ignores("ack()", self.id, silent_after_ack_all=True):
            if self._word == _RETRIED:
                said.warnings.append(_on_message("ack()", self.id, "retry()"))
            else:
                self._word = _ACKED
                if said.after is not None:
                    said.after(self.id)

    def retry(self, options: Mapping[str, Any] | None = None, **given: Any) -> None:
        """Ask for the message again, after `delaySeconds`, else the defaults. Called again, it replaces the delay.

        A delay outside 0..86400 seconds becomes the nearest one inside, with a warning. Raises TypeError beyond 32 bits.
        """
        delay, said = delay_of(RETRY, options, given), self._said
        if delay:
            delay = said.bounded(delay, f"retry() of message {self.id}")
        if not said.plain and said.ignores("retry()", self.id, silent_after_ack_all=False):
            return
        if self._word == _ACKED:
            said.warnings.append(_on_message("retry()", self.id, "ack()"))
            return
        self._word, self._delay_seconds = _RETRIED, delay

    def __repr__(self) -> str:
        return f"Message(id={self.id!r}, attempts={self.attempts}, body={self.body!r})"


class _Unread(Message, gc=False, eq=False):
    """A message whose body is decoded when it is read, or at whose body a fault may strike."""

    @property  # type: ignore[misc] # the field is there all the same, and `_BODY` reads and writes it
    def body(self) -> Any:
        """The body, decoded: the handler's own copy."""
        said = self._said
        if said.crash is not None:
            said.crash(self.id)
        value = _BODY.__get__(self)
        if value is _UNREAD:
            columns, place = said.columns, self._place
            value = DECODERS[columns.content_types[place]](columns.bodies[place])
            _BODY.__set__(self, value)
        return value


_BODY: Any = Message.__dict__["body"]


class BatchMetadata(msgspec.Struct, eq=False):
    """What comes with a batch beside its messages: `metrics` of the backlog that remained when it left."""

    metrics: Any  # Metrics


class MessageBatch:
    """Messages of one queue, delivered together. `queue` is its name, and the list `messages` is the handler's to empty."""

    __slots__ = ("_all", "_columns", "_messages", "_said", "metadata", "queue")

    def __init__(
        self, queue: str, columns: Callable[[], Columns], metrics: Metrics, limits: Limits, late: Callable[[str], None]
    ) -> None:
        self._said = _Said(limits, late)
        self.queue, self._columns = queue, columns
        self._all: list[Message] = []
        self._messages: list[Message] | None = None
        self.metadata = BatchMetadata(metrics)

    @property
    def messages(self) -> list[Message]:
        """The messages, made when they are first asked for: who reads one body reads the others, so they are decoded at once.

        A v8 body is decoded when it is read, as that takes long.
        """
        if self._messages is None:
            said = self._said
            said.columns = columns = self._columns()
            kinds, bodies = columns.content_types, columns.bodies
            kind: type[Message] = Message
            if said.crash is not None or "v8" in kinds:
                kind, values = _Unread, [_UNREAD] * len(kinds)
            elif kinds.count("json") == len(kinds):
                values = json_text.decode_all(bodies)
            else:
                values = [DECODERS[each](body) for each, body in zip(kinds, bodies, strict=True)]
            self._all = list(map(kind, columns.ids, columns.attempts, values, repeat(said), count()))
            self._messages = self._all[:]
        return self._messages

    @messages.setter
    def messages(self, messages: list[Message]) -> None:
        self.messages  # noqa: B018 - what was said of the others holds
        self._messages = messages

    def ack_all(self) -> None:
        """Acknowledge every message about which nothing has been said, also when the handler fails afterwards."""
        said = self._said
        if said.refuses_late("ackAll()"):
            return
        if said.retry_all:
            said.warnings.append(_on_batch("ackAll()", "retryAll()"))
            return
        said.ack_all, said.plain = True, False
        if said.after is not None:
            said.after("")

    def retry_all(self, options: Mapping[str, Any] | None = None, **given: Any) -> None:
        """Ask for every message again about which nothing has been said. A second call changes the delay only if it names one.

        A delay outside 0..86400 seconds becomes the nearest one inside, with a warning. Raises TypeError beyond 32 bits.
        """
        delay, said = delay_of(RETRY_ALL, options, given), self._said
        if delay:
            delay = said.bounded(delay, "retryAll()")
        if said.refuses_late("retryAll()"):
            return
        if said.ack_all:
            said.warnings.append(_on_batch("retryAll()", "ackAll()"))
            return
        said.retry_all, said.plain = True, False
        if delay is not None:
            said.retry_all_delay = delay

    ackAll, retryAll = ack_all, retry_all  # noqa: N815 - JavaScript's names

    def crash_at(self, crash: Callable[[str], None]) -> None:
        """Have `crash` called with the id of each message whose body is read: a fault."""
        self._said.crash = crash

    def after_ack(self, after: Callable[[str], None]) -> None:
        """Have `after` called with the id of each message that is acknowledged, or "" for all: a fault."""
        self._said.after, self._said.plain = after, False

    @property
    def acknowledges(self) -> bool:
        """Whether any message has been acknowledged so far."""
        return self._said.ack_all or _ACKED in map(_WORD, self._all)

    def let_go(self) -> None:
        """Ask no fault any more: the messages, which the collector does not see, may not keep their delivery."""
        self._said.crash = self._said.after = None

    def hear_no_more(self) -> None:
        """What is said from now on comes too late."""
        self._said.settled, self._said.plain = True, False

    def settlement(self, batch: int, outcome: str, error: str | None, lost: frozenset[str] = frozenset()) -> Settle:
        """What the calls and the handler's end ask for. Later calls are ignored, with a warning."""
        said = self._said
        said.settled, said.plain = True, False
        self.let_go()
        words = list(map(_WORD, self._all))
        retries: tuple[tuple[str, int | None], ...] = ()
        acks = _NONE
        if _RETRIED in words:
            retried = [m for m, word in zip(self._all, words, strict=True) if word == _RETRIED]
            retries = tuple([(message.id, message._delay_seconds) for message in retried])  # noqa: SLF001 - as above
        if retries or outcome != "ok" or said.retry_all or lost:  # else a good end acknowledges everything anyway
            acks = frozenset([m.id for m, word in zip(self._all, words, strict=True) if word == _ACKED])
        return Settle(
            self.queue, batch, outcome, error, acks, retries, said.ack_all, said.retry_all, said.retry_all_delay, lost,
            tuple(said.warnings),
        )  # fmt: skip

    def calls(self) -> Settle:
        """What has been said so far, every acknowledgement named; nothing is settled by it."""
        words, said = [(m.id, m._word, m._delay_seconds) for m in self._all], self._said  # noqa: SLF001 - as above
        acks = frozenset([id for id, word, _ in words if word == _ACKED])
        retries = tuple([(id, delay) for id, word, delay in words if word == _RETRIED])
        return Settle(
            self.queue, 0, "ok", None, acks, retries, said.ack_all, said.retry_all, said.retry_all_delay,
            warnings=tuple(said.warnings),
        )  # fmt: skip

    def forget(self) -> None:
        """Drop what was said: the process that heard it is gone."""
        said = self._said
        said.ack_all = said.retry_all = False
        said.retry_all_delay = None
        said.warnings.clear()
        for message in self._all:
            message._word = _UNDECIDED  # noqa: SLF001 - the two classes are one thing


class _Said(msgspec.Struct, eq=False):
    """What has been said about a whole batch. Its messages know this, not the batch: a circle would wait for the collector."""

    limits: Any
    late: Any
    columns: Any = None  # the Columns of the batch, once its messages were asked for
    crash: Any = None
    after: Any = None
    plain: bool = True  # nothing has been said about the whole batch, and it is not settled
    ack_all: bool = False
    retry_all: bool = False
    settled: bool = False
    retry_all_delay: int | None = None
    warnings: list[str] = []

    def bounded(self, delay_seconds: int, call: str) -> int:
        """The delay that a retry gets; one that the service does not take is told of."""
        taken, warning = bounded_delay(delay_seconds, self.limits.delay_seconds, call)
        if warning is not None and not self.settled:
            self.warnings.append(warning)
        return taken

    def ignores(self, call: str, id: str, *, silent_after_ack_all: bool) -> bool:
        """Whether a call on a message comes too late to have an effect."""
        if self.refuses_late(f"{call} on message {id}"):
            return True
        if self.ack_all:
            if not silent_after_ack_all:
                self.warnings.append(_on_message(call, id, "ackAll()"))
            return True
        if self.retry_all and call == "ack()":
            self.warnings.append(_on_message(call, id, "retryAll()"))
            return True
        return False

    def refuses_late(self, call: str) -> bool:
        """Whether the batch is settled; then the call is a warning for the report."""
        if self.settled:
            self.late(f"Received a call to {call} after the batch was settled. It has no effect.")
        return self.settled


_NONE: frozenset[str] = frozenset()


def _on_message(call: str, id: str, earlier: str) -> str:
    return (
        f"Received a call to {call} on message {id} after {earlier} was already called. "
        f"Calling {call} on a message after calling {earlier} has no effect."
    )


def _on_batch(call: str, earlier: str) -> str:
    return (
        f"Received a call to {call} after {earlier} was already called. Calling {call} after calling {earlier} has no effect."
    )
