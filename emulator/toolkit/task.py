"""A task: a message seen by the code that does its work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import ClientError


class MissingKey(ClientError):  # noqa: N818 - what is wrong
    """The message carries no key. One made on arrival would be new at every delivery, and so tell nothing."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a handler knows of its task, as asynq's context tells it.

    `id` is the message's; `attempt` counts deliveries from 1; `retried` the retries that counted; `sent_at` seconds since 1970.
    """

    id: str
    queue: str
    type: str | None
    payload: Any
    attempt: int = 1
    retried: int = 0
    max_retries: int = 3
    sent_at: float = 0.0
    deadline_at: float | None = None
    message: Any = None
    env: Any = None

    @property
    def body(self) -> Any:
        """The payload, by the queue's name for it."""
        return self.payload

    def key(self, *names: str) -> str:
        """The producer's key: the first of these fields of the body ("key", "taskId", "task_id", "id" if none are named).

        Raises MissingKey where the body has none: it is made when the message is sent, and travels with it.
        """
        for name in names or ("key", "taskId", "task_id", "id"):
            value = field_of(self.payload, name)
            if value is not None and value != "":
                return str(value)
        raise MissingKey(f"message {self.id} carries no key ({', '.join(names) or 'key, taskId, id'}): make it where you send")


def field_of(body: Any, name: str) -> Any:
    """A field of a body: a mapping's entry, else an attribute; None where there is none."""
    if isinstance(body, Mapping):
        return body.get(name)
    return getattr(body, name, None) if not isinstance(body, str | bytes | int | float | list | None) else None
