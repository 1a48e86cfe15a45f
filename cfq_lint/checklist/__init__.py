"""The acceptance list before a deploy: ten items, each pass, fail or unknown, with what it rests on.

The first six are about mechanisms and can mostly be read in files and sources; the last four are about operations, and
somebody has to say how it is. An item passes where something shows it, fails where something is certainly wrong, and is
unknown otherwise.
"""

from __future__ import annotations

from cfq_lint.checklist.failing import dead_letters, max_retries
from cfq_lint.checklist.identity import idempotency_key
from cfq_lint.checklist.model import MECHANISM, OPERATION, Answer, Checklist, Item
from cfq_lint.checklist.operating import observability, processing_time, retention
from cfq_lint.checklist.sending import message_size, send_batch, throughput
from cfq_lint.checklist.settling import acknowledgement
from cfq_lint.facts import limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cfq_lint.model.project import Project, Subject

ITEMS: tuple[tuple[str, str, str, str, str, Callable[[Subject, Project], Answer]], ...] = (
    (
        "message-size",
        "Message size",
        f"A body and about {limits.MESSAGE_METADATA_BYTES} bytes of metadata are at most {limits.MESSAGE_SIZE_BYTES:,} bytes.",
        MECHANISM,
        limits.PAGE_LIMITS,
        message_size,
    ),
    (
        "send-batch",
        "Sending together",
        f"One sendBatch() has at most {limits.SEND_BATCH_COUNT_MAX} messages and {limits.SEND_BATCH_SIZE_BYTES:,} bytes.",
        MECHANISM,
        limits.PAGE_LIMITS,
        send_batch,
    ),
    (
        "idempotency-key",
        "Idempotency key",
        "The producer makes a unique id that travels in the message, and the consumer deduplicates by it.",
        MECHANISM,
        limits.PAGE_GUARANTEES,
        idempotency_key,
    ),
    (
        "acknowledgement",
        "Acknowledgement",
        "Each message of a batch is acknowledged on its own, and only after its side effect.",
        MECHANISM,
        limits.PAGE_BATCHING,
        acknowledgement,
    ),
    (
        "max-retries",
        "Retries",
        f"max_retries is set on purpose; {limits.RETRIES_DEFAULT} is the default and {limits.RETRIES_MAX} the most.",
        MECHANISM,
        limits.PAGE_BATCHING,
        max_retries,
    ),
    (
        "dead-letters",
        "Final failure",
        "A dead-letter queue is configured, in the same jurisdiction, with a consumer of whose failures somebody hears.",
        MECHANISM,
        limits.PAGE_DEAD_LETTERS,
        dead_letters,
    ),
    (
        "retention",
        "Retention",
        "It is known how long messages are kept: 24 hours on the Free plan, up to 14 days on the Paid plan.",
        OPERATION,
        limits.PAGE_LIMITS,
        retention,
    ),
    (
        "processing-time",
        "Processing time",
        f"One invocation of the consumer takes at most {limits.CONSUMER_WALL_SECONDS // 60} minutes of wall time.",
        OPERATION,
        limits.PAGE_LIMITS,
        processing_time,
    ),
    (
        "throughput",
        "Throughput",
        f"At most {limits.THROUGHPUT_PER_SECOND:,} messages a second are sent to a queue.",
        OPERATION,
        limits.PAGE_LIMITS,
        throughput,
    ),
    (
        "observability",
        "Observability",
        "At least the depth of the dead-letter queue and the age of the oldest message are watched.",
        OPERATION,
        limits.PAGE_BATCHING,
        observability,
    ),
)
"""Name, title, criterion, kind, page, and what judges it; in the order of the list, from the producer to the last failure."""


def judge(project: Project) -> Checklist:
    """The list for the queues of a project."""
    items = tuple(
        Item(number, name, title, criterion, kind, source, tuple(check(subject, project) for subject in project.subjects))
        for number, (name, title, criterion, kind, source, check) in enumerate(ITEMS, 1)
    )
    queues = tuple(dict.fromkeys(subject.described for subject in project.subjects))
    return Checklist(items, queues, project.files, project.passed_over)
