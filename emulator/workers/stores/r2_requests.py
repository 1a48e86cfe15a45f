"""What is asked of an R2 bucket beside a key: metadata, a range, a condition; and its refusal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_ONE_RANGE = re.compile(r"\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*", re.IGNORECASE)
_LATIN_1_END = 256


class R2Refused(Exception):  # noqa: N818 - what was asked was refused
    """R2 refuses: HTTP `status`, R2's `code`, `message`; `object` is the one that a condition did not hold for."""

    def __init__(self, status: int, code: int, message: str, object: Any = None) -> None:
        super().__init__(f"{message} ({code})")
        self.status, self.code, self.message, self.object = status, code, message, object


class Metadata(NamedTuple):
    """`http` by the names of R2HTTPMetadata (contentType, cacheExpiry in milliseconds, …), `custom` by one's own."""

    http: Mapping[str, Any]
    custom: Mapping[str, str]
    storage_class: str = "Standard"

    def check(self, bytes_max: int) -> None:
        """Refuse custom metadata that is too large; a text beyond Latin-1 counts two bytes a character."""
        size = sum(
            len(text) * (1 if all(ord(each) < _LATIN_1_END for each in text) else 2)
            for pair in self.custom.items()
            for text in pair
        )
        if size > bytes_max:
            raise R2Refused(400, 10012, "Your metadata headers exceed the maximum allowed metadata size.")


class Range(NamedTuple):
    """A part of an object: by `offset` and `length`, the last `suffix` bytes, or as a Range `header` says it."""

    offset: int | None = None
    length: int | None = None
    suffix: int | None = None
    header: str | None = None

    def within(self, size: int) -> tuple[int, int]:
        """First byte, and the one behind the last. Refused (10039) outside; a header that is no single range means all."""
        if self.header is not None:
            return _header_within(self.header, size)
        if self.suffix is not None:
            if self.suffix <= 0:
                raise _no_range()
            return max(0, size - self.suffix), size
        offset = self.offset or 0
        length = size - offset if self.length is None else self.length
        if offset < 0 or offset > size or length <= 0:
            raise _no_range()
        return offset, min(offset + length, size)


class Condition(NamedTuple):
    """When to act, as RFC 7232 has it. Etags are (kind, value): strong, weak or wildcard; None where nothing is asked.

    Times are in milliseconds; with `whole_seconds` they are compared without their fraction.
    """

    matches: tuple[tuple[str, str], ...] | None = None
    matches_not: tuple[tuple[str, str], ...] | None = None
    before_ms: int | None = None
    after_ms: int | None = None
    whole_seconds: bool = False

    def check(self, etag: str, uploaded_ms: int, object: Any) -> None:
        """Refuse (10031) if it does not hold for an object; `object` goes along."""
        same = self.matches is not None and any(
            kind == "wildcard" or (kind, value) == ("strong", etag) for kind, value in self.matches
        )
        other = self.matches_not is not None and not any(
            kind == "wildcard" or value == etag for kind, value in self.matches_not
        )
        unit = 1_000 if self.whole_seconds else 1
        uploaded = uploaded_ms // unit
        # By RFC 7232 a time counts only where no etag of its kind has spoken.
        holds = (
            (self.matches is None or same)
            and (self.matches_not is None or other)
            and (self.after_ms is None or self.after_ms // unit < uploaded or other)
            and (self.before_ms is None or uploaded < self.before_ms // unit or same)
        )
        if not holds:
            raise _precondition(object)

    def check_absent(self) -> None:
        """Refuse (10031) if it asks for an object, and there is none."""
        if self.matches is not None or self.after_ms is not None:
            raise _precondition(None)


NO_CONDITION = Condition()


def _precondition(object: Any) -> R2Refused:
    return R2Refused(412, 10031, "At least one of the pre-conditions you specified did not hold.", object)


def _no_range() -> R2Refused:
    return R2Refused(416, 10039, "The requested range is not satisfiable")


def _header_within(header: str, size: int) -> tuple[int, int]:
    found = _ONE_RANGE.fullmatch(header)
    if found is None or not (found[1] or found[2]):
        return 0, size
    if not found[1]:
        suffix = int(found[2])
        return (max(0, size - suffix), size) if suffix else (0, size)
    start, last = int(found[1]), int(found[2]) if found[2] else size - 1
    return (start, min(last + 1, size)) if start <= last and start < size else (0, size)
