"""What a queue's calls give back: leased, held and peeked messages, what an acknowledgement did, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime


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


class Acknowledged(NamedTuple):
    """What an `ack` did. `warnings` tell, by lease id, what was ignored and why."""

    ack_count: int
    retry_count: int
    warnings: dict[str, str]


class Settings(NamedTuple):
    """A queue's settings; also by name, `settings["delivery_delay"]`. Seconds; `jurisdiction` None is global."""

    name: str
    delivery_delay: int
    message_retention_period: int
    jurisdiction: str | None
    delivery_paused: bool

    def __getitem__(self, name: Any) -> Any:
        return getattr(self, name) if isinstance(name, str) else tuple.__getitem__(self, name)
