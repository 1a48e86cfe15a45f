"""Which errors are worth another attempt. By our own classes, HTTP status and exception type first; by text only at the end.

A number in a text is a status only where it is used as one: "HTTP 500", "returned 503", "429 Too Many Requests", but not
"500 items". Asynq's two words to its server are here as exceptions: https://pkg.go.dev/github.com/hibiken/asynq#pkg-variables.
"""

from __future__ import annotations

import enum
import errno
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class ErrorClass(enum.StrEnum):
    """What kind of failure it was. Only CLIENT is not worth another attempt; what is UNKNOWN is."""

    NETWORK = "network"
    RATE_LIMIT = "rate limit"
    SERVER = "server"
    CLIENT = "client"
    UNKNOWN = "unknown"


class TaskError(Exception):
    """An error that says itself of which class it is."""

    error_class = ErrorClass.UNKNOWN


class NetworkError(TaskError):
    """The request or its answer got lost."""

    error_class = ErrorClass.NETWORK


class RateLimited(TaskError):  # noqa: N818 - what happened
    """The other side asks to slow down. `retry_after_seconds` is what it asked for, if it did."""

    error_class = ErrorClass.RATE_LIMIT

    def __init__(self, *given: object, retry_after_seconds: int | None = None) -> None:
        super().__init__(*given)
        self.retry_after_seconds = retry_after_seconds


class ServerError(TaskError):
    """The other side failed and may recover."""

    error_class = ErrorClass.SERVER


class ClientError(TaskError):
    """The request itself is wrong: it fails the same way for ever."""

    error_class = ErrorClass.CLIENT


class Busy(TaskError):  # noqa: N818 - what happened
    """Somebody else has the same key in hand at this moment: come back later."""


class DeadlineExceeded(TimeoutError):  # noqa: N818 - asynq's name
    """The time for the whole task is over, not only that of one attempt."""


class SkipRetry(Exception):  # noqa: N818 - asynq's name
    """No attempt will ever work: to the dead letters at once. Raise it, or raise another error `from` it."""


class RevokeTask(Exception):  # noqa: N818 - asynq's name
    """The task is no longer wanted: neither retried nor kept."""


NETWORK_ERRNOS = frozenset({
    errno.ETIMEDOUT, errno.ECONNRESET, errno.ECONNREFUSED, errno.ECONNABORTED, errno.EPIPE, errno.ENETUNREACH,
    errno.EHOSTUNREACH,
})  # fmt: skip
NETWORK_TYPES: tuple[type[BaseException], ...] = (TimeoutError, ConnectionError)
NETWORK_NAMES = frozenset({"TransportError", "Timeout", "ConnectTimeout", "ReadTimeout", "gaierror", "ServerDisconnectedError"})
"""Classes of httpx, requests, socket and aiohttp, by name: they are not imported for the sake of a question."""
CLIENT_TYPES: tuple[type[BaseException], ...] = (json.JSONDecodeError, UnicodeError, PermissionError)
NETWORK_STATUSES = frozenset({408, 425})
RATE_LIMIT_STATUSES = frozenset({429})

NETWORK_TEXT = re.compile(
    r"time(d )?[ -]?out|etimedout|econnreset|econnrefused"
    r"|(connection|socket) (was )?(reset|broken|refused|closed|lost|aborted)|broken pipe|network error|fetch failed"
    r"|socket hang up|network (connection )?lost",
    re.IGNORECASE,
)
RATE_LIMIT_TEXT = re.compile(r"rate[ _-]?limit|too many requests", re.IGNORECASE)
SERVER_TEXT = re.compile(
    r"temporarily unavailable|service unavailable|internal server error|bad gateway|gateway time", re.IGNORECASE
)
CLIENT_TEXT = re.compile(r"invalid format|unsupported|permission denied|bad request|unauthori[sz]ed|forbidden", re.IGNORECASE)
STATUS_TEXT = re.compile(
    r"(?:^\s*[\[(]?|\b(?:api|upstream|server|received|https?(?:/\d(?:\.\d)?)?|status(?:[ _]?code)?|code|error|returned"
    r"|responded(?: with)?|response|replied(?: with)?|answered(?: with)?"
    r"|failed(?: with)?|got(?: an?)?)(?: was| is| of)?\s*[:=(\['\"]?\s*)"
    r"([45]\d\d)"
    r"(?![\w%]|[.,]\d)(?=\s*$|\s*[^\w\s]|\s+(?:internal|bad|service|gateway|too|unauthori[sz]ed|forbidden|error|response"
    r"|returned|temporarily|client|server|payment|method|conflict|gone|unprocessable|request|payload|from|by|at|on|when"
    r"|while|for|after|and|but|because|again|not (?:found|implemented|allowed|acceptable))\b)",
    re.IGNORECASE,
)
"""A status in a text: at its start or after a word that announces one, and not before a word that is counted."""


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was raised `from`, and the members of groups: what Go's `errors.Is` looks through.

    An error that only came up while another was handled (`__context__`) is not its cause, as `%v` is not `%w`.
    """
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
        if one.__cause__ is not None:
            waiting.append(one.__cause__)


def is_error(error: BaseException, kind: type[BaseException] | tuple[type[BaseException], ...]) -> bool:
    """Whether the error, or what it was raised from, is of that kind."""
    return any(isinstance(one, kind) for one in chain(error))


def status_of(error: object) -> int | None:
    """The HTTP status (400 to 599) that an error carries: `status`, `status_code`, `code`, or those of its `response`."""
    for owner in (error, getattr(error, "response", None)):
        for name in ("status", "status_code", "code"):
            value = getattr(owner, name, None)
            if isinstance(value, str) and value.isdecimal():
                value = int(value)
            if isinstance(value, int | float) and not isinstance(value, bool) and 400 <= value <= 599:  # noqa: PLR2004 - HTTP's
                return int(value)
    return None


def status_in(text: str) -> int | None:
    """The HTTP status that a text names; None for a number that counts something."""
    found = STATUS_TEXT.search(text)
    return int(found[1]) if found else None


def class_of_status(status: int) -> ErrorClass:
    """The class of an HTTP status from 400 to 599."""
    if status in RATE_LIMIT_STATUSES:
        return ErrorClass.RATE_LIMIT
    if status in NETWORK_STATUSES:
        return ErrorClass.NETWORK
    return ErrorClass.SERVER if status >= 500 else ErrorClass.CLIENT  # noqa: PLR2004 - HTTP's


def _class_of_type(error: BaseException) -> ErrorClass | None:
    if isinstance(error, TaskError):
        return error.error_class
    if isinstance(error, SkipRetry | RevokeTask):
        return ErrorClass.CLIENT
    status = status_of(error)
    if status is not None:
        return class_of_status(status)
    if isinstance(error, CLIENT_TYPES):
        return ErrorClass.CLIENT
    if isinstance(error, NETWORK_TYPES) or (isinstance(error, OSError) and error.errno in NETWORK_ERRNOS):
        return ErrorClass.NETWORK
    if any(kind.__name__ in NETWORK_NAMES for kind in type(error).__mro__):
        return ErrorClass.NETWORK
    return None


def class_of_text(text: str) -> ErrorClass:
    """The class that a text speaks of, in the order of the course: network, rate limit, server, client."""
    status = status_in(text)
    named = None if status is None else class_of_status(status)
    for kind, words in (
        (ErrorClass.NETWORK, NETWORK_TEXT),
        (ErrorClass.RATE_LIMIT, RATE_LIMIT_TEXT),
        (ErrorClass.SERVER, SERVER_TEXT),
        (ErrorClass.CLIENT, CLIENT_TEXT),
    ):
        if named is kind or (named is None and words.search(text)):
            return kind
    return ErrorClass.UNKNOWN


def classify(error: Any) -> ErrorClass:
    """The class of an error: the first in its chain that has one by type or status; else by the texts of the chain.

    Anything that is not an exception is read as a text.
    """
    if not isinstance(error, BaseException):
        return class_of_text(str(error))
    errors = [one for one in chain(error) if not isinstance(one, BaseExceptionGroup)]
    for one in errors:
        known = _class_of_type(one)
        if known is not None and known is not ErrorClass.UNKNOWN:
            return known
    for one in errors:
        told = class_of_text(str(one))
        if told is not ErrorClass.UNKNOWN:
            return told
    return ErrorClass.UNKNOWN


def is_retryable(error: Any) -> bool:
    """Whether another attempt may help."""
    return classify(error) is not ErrorClass.CLIENT
