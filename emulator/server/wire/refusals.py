"""What only the REST API refuses, in the manner of `emulator.core.refusals`: the border's part of the one table.

Cloudflare documents 10106 and 10107; 10000, 10023 and 7003 are what its API answers. Where no code is known, the nearest of
these stands.
"""

from __future__ import annotations

from emulator.core.refusals import Refused


class Unauthenticated(Refused):
    """No token, or one that is not known."""

    code, name, status, cause = 10000, "AuthenticationError", 401, "Authentication error"


class NotAllowed(Refused):
    """A token that may only read asks for a change of a queue or consumer."""

    code, name, status, cause = 10023, "Unauthorized", 403, "workers.api.error.unauthorized"


class CrossOrigin(Refused):
    """A page of another origin asks through somebody's browser."""

    code, name, status, cause = 10023, "Unauthorized", 403, "requests from pages of another origin are refused"


class QueueIDMalformed(Refused):
    """An id is no text of 1 to 32 letters and digits."""

    code, cause = 10107, "Queue ID is malformed"


class NoRoute(Refused):
    """No such path, account, consumer or subscription."""

    code, name, status, cause = 7003, "NoRoute", 404, "Could not route to this path, perhaps your object identifier is invalid?"


class WorkerFailed(Refused):
    """A Worker's fetch handler raised: https://developers.cloudflare.com/workers/observability/errors/."""

    code, name, status, cause = 1101, "WorkerThrewException", 500, "Worker threw exception"


class MethodNotAllowed(Refused):
    """The path exists, with other methods."""

    code, name, status, cause = 10405, "MethodNotAllowed", 405, "Method not allowed"


class HeadersTooLarge(Refused):
    """More headers, or a longer address, than anybody needs."""

    code, name, status, cause = 10207, "JSONRequestBodyInvalid", 431, "Request header fields are too large"


class TooSlow(Refused):
    """A request did not arrive in time."""

    code, name, status, cause = 10201, "ClientDisconnected", 408, "The request did not arrive in time"


class BadRequest(Refused):
    """What arrived is no HTTP request."""

    code, name, cause = 10208, "JSONRequestBodyMalformed", "Invalid HTTP request"
