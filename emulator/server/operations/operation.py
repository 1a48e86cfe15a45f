"""What an endpoint is: a row in a table, from which the routes and the OpenAPI document are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.core.refusals import JSONRequestBodyInvalid, QueueNotFound, QueueUnknown
from emulator.server.access import WRITE
from emulator.server.wire.refusals import NoRoute, QueueIDMalformed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import BaseModel

    from emulator.server.directory import Row
    from emulator.server.service import Service
    from emulator.testing.queue import Queue

_ID_LENGTH_MAX = 32


class Call(NamedTuple):
    """One request to an operation. `query` holds every value of every parameter; `body` is validated."""

    service: Service
    params: Mapping[str, str]
    query: Mapping[str, list[str]]
    body: Any
    accept: str = ""

    def row(self, *, data: bool = False) -> Row:
        """The queue that the path names. Refuses with 10107, or 11000 (`data`, for messages: 10104)."""
        id = checked_id(self.params["queue_id"])
        row = self.service.directory.queues.get(id)
        if row is None:
            raise (QueueNotFound if data else QueueUnknown)(f"Queue not found: {id!r}")
        return row

    def queue(self) -> Queue:
        """The face of the queue whose messages the path names."""
        return self.service.queue(self.row(data=True)["core"])


def checked_id(id: str) -> str:
    """An id that has the form of one. Refuses with 10107."""
    if not (0 < len(id) <= _ID_LENGTH_MAX and id.isascii() and id.isalnum()):
        raise QueueIDMalformed
    return id


def number_of(call: Call, name: str, default: int, low: int, high: int) -> int:
    """A whole number in the query. Refuses what is none, or lies outside."""
    given = call.query.get(name)
    if not given:
        return default
    text = given[-1]
    value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else -1  # noqa: PLR2004 - nine digits
    if not low <= value <= high:
        raise JSONRequestBodyInvalid(f"{name} must be a whole number from {low} to {high}")
    return value


def page_of(call: Call, rows: list[Any], per_page: int) -> Page:
    """The page of a list that the query asks for: `page` from 1, `per_page`."""
    size = number_of(call, "per_page", per_page, 1, 1_000)
    page = number_of(call, "page", 1, 1, 10**9 - 1)
    shown = rows[(page - 1) * size : page * size]
    info = {
        "page": page, "per_page": size, "count": len(shown), "total_count": len(rows), "total_pages": -(-len(rows) // size),
    }  # fmt: skip
    return Page(shown, info)


class Page(NamedTuple):
    """A result with its `result_info`."""

    result: list[Any]
    info: dict[str, int]


class Operation(NamedTuple):
    """One endpoint below `/accounts/{account_id}`, or for `bare` ones below nothing. `act` gives the result or a Page."""

    method: str
    path: str
    name: str
    act: Callable[[Call], Any]
    result: str = "Nothing"
    body: type[BaseModel] | None = None
    scope: str = WRITE
    query: tuple[str, ...] = ()
    data: bool = False
    bare: bool = False
    status: int = 200


def missing(what: str) -> NoRoute:
    """The refusal for a consumer or subscription that is not there."""
    return NoRoute(f"{what} not found")
