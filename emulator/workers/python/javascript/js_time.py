"""JavaScript's Date, as the runtime gives it to Python: a datetime without a zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Self

from emulator.workers.python.errors import NoSuchMember


class JsTime(datetime):
    """A Date as a datetime without a zone, which is UTC, in whole milliseconds; it also has JavaScript's methods."""

    def __getattr__(self, name: str) -> Any:
        raise NoSuchMember(f"Date.{name}") if name.startswith(("get", "set", "to")) else AttributeError(name)

    @classmethod
    def at(cls, moment: datetime) -> Self:
        """The same moment, aware or without a zone (UTC), cut to milliseconds."""
        utc = moment.astimezone(UTC) if moment.tzinfo is not None else moment
        micro = utc.microsecond // 1_000 * 1_000
        return cls(utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, micro)

    @classmethod
    def of_ms(cls, milliseconds: float) -> Self:
        """The moment that is so many milliseconds after 1970."""
        return cls.at(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(milliseconds)))

    def timestamp(self) -> float:
        """Seconds since 1970."""
        return self.replace(tzinfo=UTC).timestamp() if self.tzinfo is None else super().timestamp()

    def astimezone(self, tz: tzinfo | None = None) -> Self:
        """The same moment in another zone; without a zone it is UTC."""
        return super(JsTime, self.replace(tzinfo=UTC) if self.tzinfo is None else self).astimezone(tz)

    def getTime(self) -> int:  # noqa: N802 - JavaScript's name
        """Milliseconds since 1970."""
        return round(self.timestamp() * 1_000)

    def valueOf(self) -> int:  # noqa: N802 - JavaScript's name
        """`getTime()`."""
        return self.getTime()

    def toISOString(self) -> str:  # noqa: N802 - JavaScript's name
        """As JSON has it: `2026-01-01T00:00:00.000Z`."""
        return self.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"

    def toJSON(self) -> str:  # noqa: N802 - JavaScript's name
        """`toISOString()`."""
        return self.toISOString()

    def toString(self) -> str:  # noqa: N802 - JavaScript's name
        """`toISOString()`, which is easier to read than JavaScript's own form."""
        return self.toISOString()

    def to_py(self, **_options: Any) -> datetime:
        """A plain datetime without a zone."""
        return datetime(self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond, self.tzinfo)
