"""JavaScript's `URL`, with its `searchParams`."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

from emulator.workers.python.errors import JsException
from emulator.workers.python.javascript.js_values import JsArray
from emulator.workers.python.runtime_names import Partial


class SearchParams(Partial):
    """A URL's query: `get`, `getAll`, `has`."""

    def __init__(self, query: str) -> None:
        self._values = parse_qs(query, keep_blank_values=True)

    def get(self, name: str) -> str | None:
        """The first value of a name; None when there is none."""
        return self._values.get(name, [None])[0]

    def getAll(self, name: str) -> JsArray:  # noqa: N802 - JavaScript's name
        """Every value of a name."""
        return JsArray(self._values.get(name, []))

    def has(self, name: str) -> bool:
        """Whether the name occurs."""
        return name in self._values


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
        self.searchParams = SearchParams(parts.query)

    @classmethod
    def new(cls, url: Any, base: Any = None) -> URL:
        """JavaScript's `new URL(…)`."""
        return cls(url, base)

    def toString(self) -> str:  # noqa: N802 - JavaScript's name
        """The whole URL."""
        return self.href

    __str__ = toString
