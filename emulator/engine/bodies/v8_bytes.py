"""What V8's ValueSerializer writes its values with: tags, numbers and texts, one behind the other."""

from __future__ import annotations

from math import copysign
from struct import unpack_from

from emulator.engine.bodies.v8_values import SAFE_MAX


class Bytes:
    """Serialized bytes, and how far they have been read."""

    def __init__(self, body: bytes, start: int) -> None:
        self._body, self._at = body, start

    def take(self, size_bytes: int) -> bytes:
        """The next so many bytes. Raises IndexError where it ends before."""
        end = self._at + size_bytes
        if end > len(self._body):
            raise IndexError("it ends too soon")
        taken = self._body[self._at : end]
        self._at = end
        return taken

    def varint(self) -> int:
        """A whole number, seven bits a byte, the lowest first."""
        number = shift = 0
        while True:
            digit = self._body[self._at]
            self._at += 1
            number |= (digit & 0x7F) << shift
            shift += 7
            if digit < 0x80:  # noqa: PLR2004 - the highest bit says that there are more
                return number

    def next_tag(self) -> int | None:
        """The tag that comes next, behind padding; None at the end."""
        while self._at < len(self._body) and not self._body[self._at]:
            self._at += 1  # padding
        return self._body[self._at] if self._at < len(self._body) else None

    def tag(self) -> int:
        """Take the next tag."""
        tag = self.next_tag()
        self._at += 1
        return self._body[self._at - 1] if tag is not None else self.take(1)[0]

    def double(self) -> float:
        """Eight bytes."""
        (number,) = unpack_from("<d", self.take(8))
        return float(number)

    def int32(self) -> int:
        """A whole number whose sign stands in its lowest bit."""
        folded = self.varint()
        return folded >> 1 ^ -(folded & 1)

    def number(self) -> float:
        """A double; int where it is whole and exact."""
        number = self.double()
        whole = number.is_integer() and abs(number) <= SAFE_MAX and (number != 0 or copysign(1, number) > 0)
        return int(number) if whole else number

    def bigint(self) -> int:
        """A whole number of any size."""
        size = self.varint()
        number = int.from_bytes(self.take(size >> 1), "little")
        return -number if size & 1 else number

    def one_byte(self) -> str:
        """A text of Latin-1."""
        return self.take(self.varint()).decode("latin-1")

    def two_byte(self) -> str:
        """A text of UTF-16."""
        return self.take(self.varint()).decode("utf-16-le", "surrogatepass")

    def utf8(self) -> str:
        """A text of UTF-8."""
        return self.take(self.varint()).decode("utf-8", "replace")
