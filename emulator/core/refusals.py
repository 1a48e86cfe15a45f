"""Every refusal of Cloudflare Queues, once: code, name, HTTP status and text.

Refused
├── client (4xx)   QueueNotFound · Unauthorized · BatchDelayInvalid · MessageMetadataInvalid · MessageSizeOutOfBounds
│                  BatchSizeOutOfBounds · BatchCountOutOfBounds · JSONRequestBodyInvalid · JSONRequestBodyMalformed
├── back off (429) QueueOverloaded · QueueStorageLimitExceeded · QueueDisabled · FreeTierLimitExceeded
├── pull           PullNotEnabled · DeliveryPaused
├── control plane  QueueUnknown · InvalidQueueName · ConsumerExists · QueueNameTaken · InvalidConsumerSettings
│                  InvalidQueueSettings
├── config         ConfigRefused
└── service (500)  UnknownInternalError

Codes and names: https://developers.cloudflare.com/queues/reference/error-codes/. Cloudflare does not document the status of
each code; 403, 409, 429 and 500 are documented, the rest are what the REST API answers. Code 0 stands where Cloudflare's own
answer carries no code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class Refused(Exception):  # noqa: N818 - the contract's name: what was asked was refused, and nothing has changed
    """Cloudflare refuses what was asked, and nothing has changed. `code`, `name` and `status` (HTTP) tell why."""

    code: ClassVar[int] = 0
    name: ClassVar[str] = "Refused"
    status: ClassVar[int] = 400
    cause: ClassVar[str] = "Refused"

    def __init__(self, cause: str = "") -> None:
        self.text = cause or self.cause
        super().__init__(f"{self.text} ({self.code})" if self.code else self.text)

    def __init_subclass__(cls) -> None:
        cls.name = cls.__dict__.get("name", cls.__name__)

    def __reduce__(self) -> tuple[type[Refused], tuple[str]]:
        """Pickle by the cause, so that a refusal survives a process boundary (pytest-xdist)."""
        return type(self), (self.text,)


class QueueNotFound(Refused):
    """A message was sent to a queue that is not there."""

    code, status, cause = 10104, 404, "Queue not found"


class Unauthorized(Refused):
    """The caller may not push to this queue."""

    code, status, cause = 10106, 403, "Unauthorized"


class BatchDelayInvalid(Refused):
    """The delay of a whole batch lies outside 0..86400 seconds."""

    code, cause = 10202, "Batch delay is invalid"


class MessageMetadataInvalid(Refused):
    """A message has a bad content type, or a delay outside 0..86400 seconds."""

    code, cause = 10203, "Message metadata is invalid"


class MessageSizeOutOfBounds(Refused):
    """A message is larger than 128,000 bytes."""

    code, cause = 10204, "Message size is out of bounds"


class BatchSizeOutOfBounds(Refused):
    """The bodies of one batch are larger than 256,000 bytes together."""

    code, cause = 10205, "Batch size is out of bounds"


class BatchCountOutOfBounds(Refused):
    """A batch has more than 100 messages."""

    code, cause = 10206, "Batch count is out of bounds"


class JSONRequestBodyInvalid(Refused):
    """A request does not have the shape that the API asks for."""

    code, cause = 10207, "JSON request body is invalid"


class JSONRequestBodyMalformed(Refused):
    """A request's body is not JSON."""

    code, cause = 10208, "JSON request body is malformed"


class QueueOverloaded(Refused):
    """More than 5,000 messages reached a queue within a second."""

    code, status, cause = 10250, 429, "Too Many Requests"


class QueueStorageLimitExceeded(Refused):
    """The backlog of a queue would exceed 25 GB."""

    code, status, cause = 10251, 429, "Storage Limit Exceeded"


class QueueDisabled(Refused):
    """The queue is disabled."""

    code, status, cause = 10252, 429, "Queue is disabled"


class FreeTierLimitExceeded(Refused):
    """The Free plan's operations of the day are used up."""

    code, status, cause = 10253, 429, "Free tier limit exceeded"


class PullNotEnabled(Refused):
    """Somebody pulls from a queue that has no http_pull consumer; Cloudflare has been seen to answer 405."""

    status, cause = 405, "messages cannot be pulled unless http_pull mode is enabled"


class DeliveryPaused(Refused):
    """Somebody pulls from a paused queue."""

    name, status, cause = "queue_delivery_paused", 409, "queue_delivery_paused"


class QueueUnknown(Refused):
    """No queue of that name exists in the account."""

    code, name, status, cause = 11000, "QueueNotFound", 404, "Queue not found"


class InvalidQueueName(Refused):
    """A queue's name does not match Cloudflare's pattern."""

    code, cause = 11003, "Invalid queue name"


class ConsumerExists(Refused):
    """A queue has one active consumer, and this would be the second."""

    code, status, cause = 11004, 409, "workers.api.error.consumer_exists"


class QueueNameTaken(Refused):
    """A queue of that name exists already."""

    code, status, cause = 11009, 409, "Queue name is already taken"


class InvalidConsumerSettings(Refused):
    """A consumer's settings lie outside what Cloudflare allows."""

    code, cause = 100127, "The specified consumer settings are invalid."


class InvalidQueueSettings(Refused):
    """A queue's settings lie outside what Cloudflare allows."""

    code, cause = 100128, "The specified queue settings are invalid."


class ConfigRefused(Refused):
    """A wrangler file has errors; `findings` are the linter's."""

    cause = "The configuration has errors"

    def __init__(self, cause: str = "", findings: Iterable[object] = ()) -> None:
        super().__init__(cause)
        self.findings = tuple(findings)


class UnknownInternalError(Refused):
    """Cloudflare itself failed."""

    code, status, cause = 15000, 500, "Unknown Internal Error"
