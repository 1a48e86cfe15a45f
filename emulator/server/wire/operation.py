"""What an endpoint is: a value in a file of its own, from which the routes and the OpenAPI document are made."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.core.refusals import JSONRequestBodyInvalid, QueueNotFound, QueueUnknown
from emulator.server.access import WRITE
from emulator.server.wire.refusals import NoRoute, QueueIDMalformed
from emulator.server.wire.schemas import NOTHING, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emulator.core.refusals import Refused
    from emulator.server.directory import Row
    from emulator.server.service import Service
    from emulator.server.wire.fields import Body

_ID_LENGTH_MAX = 32
_NONE: Mapping[str, Any] = MappingProxyType({})


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

    def core(self) -> str:
        """The core's name of the queue whose messages the path names. Refuses with 10104 or 10107."""
        return str(self.row(data=True)["core"])


class Operation(NamedTuple):
    """One endpoint. `act` does it: its name is the operation's, its first line says what it does, and it gives the result, a
    Page, or an `Answer` without envelope.

    `path`: Cloudflare's stand below `/accounts/{account_id}`, the emulator's own below nothing.
    `body`: what a request must hold; None where nothing is read. `query`: parameters and their schemas. `result`: its shape.
    `data`: about messages, so that refusals carry their codes. `made`: a parameter of paths, and the member that names it.
    `refusals`: what it answers beside the statuses that all of them have. `too_large`: the refusal of a body that is too large.
    `waits`: it may take its time, or answer in a stream. `always`: it answers also where nothing can be kept.
    """  # noqa: D205 - the first sentence needs two lines

    method: str
    path: str
    act: Callable[[Call], Any]
    result: Shape = NOTHING
    body: type[Body] | None = None
    query: Mapping[str, dict[str, Any]] = _NONE
    scope: str = WRITE
    data: bool = False
    made: tuple[str, str] | None = None
    refusals: Mapping[str, str] = _NONE
    too_large: type[Refused] = JSONRequestBodyInvalid
    waits: bool = False
    always: bool = False

    @property
    def name(self) -> str:
        """What it is called: `push`."""
        return self.act.__name__


def gathered(package: str, folders: Iterable[str]) -> tuple[Operation, ...]:
    """The OPERATION of every module of a package, in order of name: an operation is added by adding its file."""
    names = sorted(each.name for each in iter_modules(folders))
    return tuple(import_module(f"{package}.{name}").OPERATION for name in names)


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


class Page(NamedTuple):
    """A result with its `result_info`."""

    result: list[Any]
    info: dict[str, int]


def page_of(call: Call, rows: list[Any], per_page: int) -> Page:
    """The page of a list that the query asks for: `page` from 1, `per_page`."""
    size = number_of(call, "per_page", per_page, 1, 1_000)
    page = number_of(call, "page", 1, 1, 10**9 - 1)
    shown = rows[(page - 1) * size : page * size]
    info = {
        "page": page, "per_page": size, "count": len(shown), "total_count": len(rows), "total_pages": -(-len(rows) // size),
    }  # fmt: skip
    return Page(shown, info)


def missing(what: str) -> NoRoute:
    """The refusal for a consumer or subscription that is not there."""
    return NoRoute(f"{what} not found")
