"""The members of requests' bodies, checked by msgspec. Unknown members are ignored, as Cloudflare does.

A number may be written 5 or 5.0; a text, a boolean or a fraction is no whole number. Ranges are the core's business, so that
each refusal carries the code that Cloudflare gives it; the document shows them.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta, Struct

from cfq_lint.facts import limits
from emulator.core.limits import QUEUE_NAME

# To msgspec `Integral` is a type that it does not know, so that it asks `whole`.
if TYPE_CHECKING:
    Whole = int
else:
    Whole = Integral

_SAFE_MAX = 2**53
_LONG = 1_024


def whole(_type: type, value: object) -> object:
    """A whole number, for msgspec's `dec_hook`. Raises ValueError."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _SAFE_MAX:
        raise ValueError("a whole number is needed")
    return value


def _span(low: int, high: int) -> Meta:
    return Meta(extra_json_schema={"type": "integer", "minimum": low, "maximum": high})


def _shown(**schema: Any) -> Meta:
    return Meta(extra_json_schema=schema)


Delay = Annotated[Whole, _span(limits.DELAY_SECONDS_MIN, limits.DELAY_SECONDS_MAX)]
Retention = Annotated[Whole, _span(limits.RETENTION_SECONDS_MIN, limits.RETENTION_SECONDS_MAX)]
BatchSize = Annotated[Whole, _span(limits.BATCH_SIZE_MIN, limits.BATCH_SIZE_MAX)]
Retries = Annotated[Whole, _span(limits.RETRIES_MIN, limits.RETRIES_MAX)]
Wait = Annotated[Whole, _span(0, limits.BATCH_TIMEOUT_SECONDS_MAX * 1_000)]
Concurrency = Annotated[Whole, _span(limits.CONCURRENCY_MIN, limits.CONCURRENCY_MAX)]
Visibility = Annotated[Whole, _span(limits.VISIBILITY_TIMEOUT_MS_MIN, limits.VISIBILITY_TIMEOUT_MS_MAX)]
Name = Annotated[str, _shown(pattern=QUEUE_NAME.pattern)]
DeadLetterQueue = Annotated[str, Meta(max_length=_LONG, extra_json_schema={"pattern": f"^$|{QUEUE_NAME.pattern}"})]
Jurisdiction = Annotated[str, _shown(enum=list(limits.JURISDICTIONS))]
Short = Annotated[str, Meta(max_length=_LONG)]
Title = Annotated[str, Meta(min_length=1, max_length=_LONG)]
Titles = Annotated[list[Short], Meta(min_length=1, max_length=_LONG)]


class Body(Struct):
    """A request's body. `schema` is what the document says of it beyond its members."""

    schema: ClassVar[dict[str, Any]] = {}


class QueueSettings(Body):
    """What can be set on a queue."""

    delivery_delay: Delay | None = None
    delivery_paused: bool | None = None
    message_retention_period: Retention | None = None


class LeaseId(Body):
    """A lease."""

    lease_id: Short
