"""The queue names of a Worker, dead-letter queues included, and what a template leaves in their place."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.wrangler import Entry, Field

_ID = re.compile(r"[0-9a-f]{32}")


def names(entry: Entry) -> Iterator[Field]:
    """An entry's `queue` and `dead_letter_queue`, where they are strings, empty ones included."""
    for key in ("queue", "dead_letter_queue"):
        field = entry.field(key)
        if field is not None and field.text is not None and key in entry.keys:
            yield field


def is_id(name: str) -> bool:
    """Whether a name looks like the id that the REST API gives a queue."""
    return _ID.fullmatch(name) is not None


def is_dead_letter_name(name: str) -> bool:
    """Whether a queue calls itself a dead-letter queue: nobody asks for one of its own then."""
    words = re.split(r"[-_]", name.lower())
    return not _DEAD_LETTERS.isdisjoint(words) or "dead-letter" in name.lower()


_DEAD_LETTERS = frozenset({"dlq", "dlqs", "deadletter", "deadletters"})
