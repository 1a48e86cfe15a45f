"""A queue as a test sees it: send, pull, acknowledge, pause, purge, look inside. All of it acts at the present moment.

Everything that a test may ask of a queue is in one class, so that it is found in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.core import commands
from emulator.core.messages import READY
from emulator.core.messages import Message as Stored
from emulator.engine import bodies
from emulator.engine.bodies.undefined import UNDEFINED
from emulator.engine.clock import moment
from emulator.engine.metrics import Metrics
from emulator.engine.options import delay_seconds as whole_seconds
from emulator.engine.options import options_of, unknown
from emulator.workers.bindings import SendReply

if TYPE_CHECKING:
    from datetime import datetime

    from emulator.core.model import QueueConfig, QueueState
    from emulator.engine.account import Account, Settled

_OPTIONS = ("content_type", "delay_seconds")
_MEMBERS = ("body", "contentType", "delaySeconds")
_ROW = frozenset({*_MEMBERS, *_OPTIONS})
_PLACES = ("ready", "delayed", "delivered", "leased")


class Leased(NamedTuple):
    """A pulled message. `body` is as on the wire (text plain, all else base64), `value` decoded, `timestamp_ms` since 1970."""

    id: str
    body: str
    attempts: int
    lease_id: str
    timestamp_ms: int
    metadata: dict[str, str]
    value: Any


class Held(NamedTuple):
    """A message that a queue holds: `state` is ready, delayed, delivered or leased; it may be delivered from `ready_at` on."""

    id: str
    body: Any
    attempts: int
    content_type: str
    timestamp: datetime
    state: str
    ready_at: datetime


class Peeked(NamedTuple):
    """A message that somebody looked at. It is neither leased nor counted; `ref` names it to `purge`."""

    id: str
    ref: str
    body: str
    attempts: int
    timestamp_ms: int
    metadata: dict[str, str]
    value: Any


class Settings(NamedTuple):
    """A queue's settings; also by name, `settings["delivery_delay"]`. Seconds; `jurisdiction` None is global."""

    name: str
    delivery_delay: int
    message_retention_period: int
    jurisdiction: str | None
    delivery_paused: bool

    def __getitem__(self, name: Any) -> Any:
        return getattr(self, name) if isinstance(name, str) else tuple.__getitem__(self, name)


class Queue:
    """One queue of an emulator."""

    def __init__(self, name: str, account: Account, default_content_type: str = "json") -> None:
        self.name, self.default_content_type, self._account = name, default_content_type, account

    # --- producing

    def send(self, body: Any = UNDEFINED, content_type: Any = None, delay_seconds: Any = None, **options: Any) -> SendReply:
        """Send one message. It is stored when this returns, and delivered when time is moved.

        `content_type` is json, text, bytes or v8; a delay of 0 beats the queue's default. JavaScript's names and an options
        mapping work as well: `contentType`, `delaySeconds`. Raises TypeError for a body that does not fit and for an unknown
        option, Refused: 10104, 10203, 10204, 10250, 10251, 10253.
        """
        if options or isinstance(content_type, dict):
            content_type, delay_seconds = _chosen("send()", content_type, delay_seconds, options)
        kind = self.default_content_type if content_type is None else bodies.content_type_of(content_type)
        delay = None if delay_seconds is None else whole_seconds(delay_seconds)
        return self._store((bodies.encode(body, kind),), (kind,), (delay,), None, many=False)

    def send_batch(self, messages: Iterable[Mapping[str, Any]], delay_seconds: Any = None, **options: Any) -> SendReply:
        """Send up to 100 messages together, all or none: each `{"body": …, "contentType": …, "delaySeconds": …}`.

        A message's delay beats the batch's, which beats the queue's. Raises TypeError, or Refused: 10104, 10202 to 10206,
        10250, 10251, 10253.
        """
        if options or isinstance(delay_seconds, dict):
            given = delay_seconds if isinstance(delay_seconds, dict) else {"delay_seconds": delay_seconds}
            delay_seconds = options_of("send_batch()", given, options, ["delay_seconds"]).get("delay_seconds")
        rows, usual = list(messages), self.default_content_type
        batch_delay = None if delay_seconds is None else whole_seconds(delay_seconds)
        plain = [row["body"] for row in rows if type(row) is dict and len(row) == 1 and "body" in row]
        if len(plain) == len(rows) and plain:
            return self.send_columns(plain, (usual,) * len(plain), (None,) * len(plain), delay_seconds)
        encoded: list[bytes] = []
        kinds: list[str] = []
        delays: list[int | None] = []
        for row in rows:
            if not isinstance(row, Mapping):
                message = f"sendBatch() takes mappings such as {{'body': 1}}, not {type(row).__name__}"
                raise TypeError(message)
            if not _ROW.issuperset(row):
                raise TypeError(unknown("a message of send_batch() has", min(row.keys() - _ROW), _MEMBERS))
            given = row.get("contentType", row.get("content_type"))
            kind = usual if given is None else bodies.content_type_of(given, exact=True)
            delay = row.get("delaySeconds", row.get("delay_seconds"))
            encoded.append(bodies.encode(row.get("body", UNDEFINED), kind))
            kinds.append(kind)
            delays.append(None if delay is None else whole_seconds(delay))
        if not encoded:
            raise TypeError("sendBatch() requires at least one message")
        return self._store(tuple(encoded), tuple(kinds), tuple(delays), batch_delay, many=True)

    sendBatch = send_batch  # noqa: N815 - JavaScript's name

    def send_columns(
        self,
        values: list[Any],
        content_types: tuple[str, ...],
        delays_seconds: tuple[int | None, ...],
        delay_seconds: int | None = None,
    ) -> SendReply:
        """`send_batch` for who knows the content types to be such: each column has one entry a message."""
        encoded = tuple(bodies.encode_all(values, content_types))
        if delays_seconds.count(None) != len(delays_seconds):
            delays_seconds = tuple([whole_seconds(delay) for delay in delays_seconds])
        return self._store(encoded, content_types, delays_seconds, whole_seconds(delay_seconds), many=True)

    def _store(
        self,
        encoded: tuple[bytes, ...],
        kinds: tuple[str, ...],
        delays: tuple[int | None, ...],
        delay: int | None,
        *,
        many: bool,
    ) -> SendReply:
        if self._account.chance.searches:
            self._account.chance.before_send(self._account)
        ids = self._account.send(self.name, encoded, kinds, delays, delay, many=many)
        return SendReply(ids, Metrics(self._account.state.queues[self.name]))

    # --- pulling

    def pull(self, batch_size: int = 5, visibility_timeout_ms: int | None = None) -> list[Leased]:
        """Lease up to `batch_size` messages that are ready, for `visibility_timeout_ms` (the consumer's, else 30,000).

        Raises Refused: 11000, 409 where delivery is paused, 10206 for a size over 100, 10207 for a timeout over 12 hours, and
        code 0 where the queue has no http_pull consumer.
        """
        return [_leased(message, lease) for message, lease in self._account.lease(self.name, batch_size, visibility_timeout_ms)]

    def ack(self, acks: Iterable[Any] = (), retries: Iterable[Any] = ()) -> Settled:
        """Settle leases: `acks` are lease ids, `retries` lease ids or (lease id, delay in seconds).

        A late acknowledgement holds; a late retry is a warning, and so is a lease whose message is gone. Raises Refused: 11000,
        10203.
        """
        given = tuple([lease if type(lease) is str else _lease_of(lease)[0] for lease in acks])
        return self._account.ack(self.name, given, tuple([_lease_of(lease) for lease in retries]))

    def extend(self, leases: Iterable[str], visibility_timeout_ms: int | None = None) -> dict[str, str]:
        """Prolong leases from now on; attempts stay. Gives the new lease id for each old one that still held."""
        return self._account.extend(self.name, tuple(leases), visibility_timeout_ms)

    def peek(self, batch_size: int = 5) -> list[Peeked]:
        """Look at messages that are ready, without a lease or an attempt."""
        return [
            Peeked(m.id, m.id, bodies.on_the_wire(m.body, m.content_type), m.attempts, m.timestamp_us // 1_000,
                   {"CF-Content-Type": m.content_type}, bodies.decode(m.body, m.content_type))
            for m in self._account.peek(self.name, batch_size)
        ]  # fmt: skip

    # --- managing

    def pause(self) -> None:
        """Deliver nothing from now on. Sends are stored, retention goes on, a batch that is out may finish."""
        self._account.execute(commands.ChangeQueue(self.name, delivery_paused=True))

    def resume(self) -> None:
        """Deliver again."""
        self._account.execute(commands.ChangeQueue(self.name, delivery_paused=False))

    def purge(self, refs: Iterable[str] | None = None) -> None:
        """Remove stored, delayed and leased messages, or those of `refs`. What a push consumer has in hand may finish."""
        self._account.execute(commands.Purge(self.name, None if refs is None else tuple(refs)))

    @property
    def settings(self) -> Settings:
        """The queue's settings."""
        config: QueueConfig = self._state.config
        return Settings(*config)

    @property
    def consumer(self) -> dict[str, Any] | None:
        """The consumer's settings in Wrangler's names; None when there is none."""
        consumer = self._state.consumer
        return None if consumer is None else consumer._asdict()

    # --- looking

    def messages(self) -> list[Held]:
        """Everything that the queue holds, in order of entry: ready, delayed, delivered and not settled, leased."""
        now_us = self._account.now_us
        return [
            Held(m.id, bodies.decode(m.body, m.content_type), m.attempts, m.content_type, moment(m.timestamp_us),
                 _PLACES[READY if m.ready_us <= now_us and m.place <= 1 else m.place], moment(m.ready_us))
            for m in self._state.messages.values()
        ]  # fmt: skip

    def bodies(self) -> list[Any]:
        """The bodies of everything that the queue holds, decoded, in order of entry."""
        return [bodies.decode(m.body, m.content_type) for m in self._state.messages.values()]

    def metrics(self) -> Metrics:
        """Messages and bytes not acknowledged, and the age of the oldest. Raises Refused (11000) when the queue is gone."""
        return Metrics(self._state)

    @property
    def _state(self) -> QueueState:
        return self._account.queue(self.name)

    def __len__(self) -> int:
        return self._state.count

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Queue {self.name}: {len(self)} messages>"


def _chosen(call: str, content_type: Any, delay_seconds: Any, options: Mapping[str, Any]) -> tuple[Any, Any]:
    """Content type and delay, however they are spelt."""
    given = content_type if isinstance(content_type, dict) else {"content_type": content_type}
    if delay_seconds is not None:
        given = {**given, "delay_seconds": delay_seconds}
    found = options_of(call, given, options, _OPTIONS)
    return found.get("content_type"), found.get("delay_seconds")


def _leased(m: Stored, lease: str) -> Leased:
    return Leased(
        m.id, bodies.on_the_wire(m.body, m.content_type), m.attempts, lease, m.timestamp_us // 1_000,
        {"CF-Content-Type": m.content_type}, bodies.decode(m.body, m.content_type),
    )  # fmt: skip


def _lease_of(given: Any) -> tuple[str, int | None]:
    """A lease id and a delay, from a lease id, a pair, a mapping of the REST API or a pulled message."""
    if isinstance(given, str):
        return given, None
    if isinstance(given, Leased):
        return given.lease_id, None
    if isinstance(given, Mapping):
        return str(given["lease_id"]), whole_seconds(given.get("delay_seconds", given.get("delaySeconds")))
    lease, delay = given
    return str(lease), whole_seconds(delay)
