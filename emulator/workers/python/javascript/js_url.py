"""JavaScript's `URL` and `URLSearchParams`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from emulator.workers.python.errors import JsException
from emulator.workers.python.javascript.js_values import JsArray
from emulator.workers.python.runtime_names import Partial

if TYPE_CHECKING:
    from collections.abc import Iterator


class URLSearchParams(Partial):
    """A query: `get`, `getAll`, `has`, `append`, `set`, `delete`, `toString`; pairs when it is iterated."""

    def __init__(self, given: Any = "") -> None:
        if isinstance(given, str):
            self._rows = parse_qsl(given.removeprefix("?"), keep_blank_values=True)
        else:
            self._rows = [(str(name), str(value)) for name, value in (given.items() if hasattr(given, "items") else given)]

    @classmethod
    def new(cls, given: Any = "") -> URLSearchParams:
        """Of a text, an object or pairs."""
        return cls(given)

    @property
    def size(self) -> int:
        """How many pairs it has."""
        return len(self._rows)

    def get(self, name: str) -> str | None:
        """The first value of a name; None when there is none."""
        return next((value for key, value in self._rows if key == name), None)

    def getAll(self, name: str) -> JsArray:  # noqa: N802 - JavaScript's name
        """Every value of a name."""
        return JsArray(value for key, value in self._rows if key == name)

    def has(self, name: str) -> bool:
        """Whether the name occurs."""
        return any(key == name for key, _ in self._rows)

    def append(self, name: str, value: Any) -> None:
        """Add a pair."""
        self._rows.append((str(name), str(value)))

    def set(self, name: str, value: Any) -> None:
        """Put one pair in the place of all with that name."""
        place = next((place for place, (key, _) in enumerate(self._rows) if key == name), len(self._rows))
        self.delete(name)
        self._rows.insert(place, (str(name), str(value)))

    def delete(self, name: str) -> None:
        """Take all pairs of that name away."""
        self._rows = [row for row in self._rows if row[0] != name]

    def sort(self) -> None:
        """Order the pairs by name."""
        self._rows.sort(key=lambda row: row[0])

    def entries(self) -> JsArray:
        """The pairs."""
        return JsArray(JsArray(row) for row in self._rows)

    def keys(self) -> JsArray:
        """The name of each pair."""
        return JsArray(name for name, _ in self._rows)

    def values(self) -> JsArray:
        """The value of each pair."""
        return JsArray(value for _, value in self._rows)

    def toString(self) -> str:  # noqa: N802 - JavaScript's name
        """The query without its question mark."""
        return urlencode(self._rows, safe="*")

    def __iter__(self) -> Iterator[JsArray]:
        return iter(self.entries())

    __str__ = toString


class URL(Partial):
    """A URL's parts, under JavaScript's names. Raises JsException (TypeError) for one that is not absolute."""

    def __init__(self, url: Any, base: Any = None) -> None:
        self.href = str(url) if base is None else urljoin(str(base), str(url))
        parts = urlsplit(self.href)
        if not parts.scheme or not parts.netloc:
            raise JsException("Invalid URL string.", "TypeError")
        self.protocol, self.host, self.hostname = f"{parts.scheme}:", parts.netloc, parts.hostname or ""
        self.port = str(parts.port or "")
        self.pathname = parts.path or "/"
        self.search = f"?{parts.query}" if parts.query else ""
        self.hash = f"#{parts.fragment}" if parts.fragment else ""
        self.origin = f"{self.protocol}//{self.host}"
        self.searchParams = URLSearchParams(parts.query)

    @classmethod
    def new(cls, url: Any, base: Any = None) -> URL:
        """JavaScript's `new URL(…)`."""
        return cls(url, base)

    def toString(self) -> str:  # noqa: N802 - JavaScript's name
        """The whole URL."""
        return self.href

    __str__ = toString
