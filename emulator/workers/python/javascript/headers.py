"""HTTP headers that are both: the SDK's HTTPMessage (items, get) and JavaScript's Headers (append, has, entries)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.workers.python.runtime_names import Partial

if TYPE_CHECKING:
    from collections.abc import Iterator


class Headers(Partial):
    """Names in any case, values as text; a name may occur more than once."""

    def __init__(self, given: Any = None, /) -> None:
        self._rows: list[tuple[str, str]] = []
        if given is None:
            return
        pairs = given.items() if hasattr(given, "items") else given
        for name, value in pairs:
            self.append(name, value)

    @classmethod
    def new(cls, given: Any = None) -> Headers:
        """JavaScript's `new Headers(…)`."""
        return cls(given)

    def append(self, name: str, value: Any) -> None:
        """Add a row."""
        self._rows.append((str(name).lower(), str(value)))

    def set(self, name: str, value: Any) -> None:
        """Put one row in the place of all with that name."""
        self.delete(name)
        self.append(name, value)

    def delete(self, name: str) -> None:
        """Take all rows of that name away."""
        self._rows = [row for row in self._rows if row[0] != name.lower()]

    def get(self, name: str, default: Any = None) -> Any:
        """The values of a name, joined by commas; the default (None) when there is none."""
        found = self.get_all(name)
        return ", ".join(found) if found else default

    def get_all(self, name: str) -> list[str]:
        """Every value of a name."""
        return [value for key, value in self._rows if key == name.lower()]

    def has(self, name: str) -> bool:
        """Whether there is a row of that name."""
        return any(key == name.lower() for key, _ in self._rows)

    def items(self) -> list[tuple[str, str]]:
        """Every row."""
        return list(self._rows)

    def keys(self) -> list[str]:
        """The name of every row."""
        return [name for name, _ in self._rows]

    def values(self) -> list[str]:
        """The value of every row."""
        return [value for _, value in self._rows]

    def getSetCookie(self) -> list[str]:  # noqa: N802 - JavaScript's name
        """Every `Set-Cookie`."""
        return self.get_all("set-cookie")

    entries = raw_items = items
    add_header = append
    __contains__ = has

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, name: str) -> Any:
        return self.get(name)

    __setitem__ = append
    __delitem__ = delete

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Headers) and sorted(self._rows) == sorted(other._rows)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Headers({self._rows!r})"
