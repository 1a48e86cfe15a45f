"""Reads an account: its queues, their consumers and producers, and the backlog of those that the files name or nobody uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfq_lint.account.analytics import measure
from cfq_lint.account.errors import Incomplete, NoEnd, NotFound, Refused
from cfq_lint.account.payloads import ConsumerPayload, MetricsPayload, ProducerPayload, QueuePayload, QueueSettings, read_as
from cfq_lint.facts import limits
from cfq_lint.model.facts_file import Snapshot, SnapshotConsumer, SnapshotQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cfq_lint.account.api import Api
    from cfq_lint.account.payloads import Envelope

    Told = Callable[[str, int, int | None], None]
    """Hears what is being read, how much of it was, and of how much where that is known."""

PER_PAGE = 100
PAGES_MAX = 500
"""The most that an account can have, twenty a page: the server may give fewer than it is asked for."""
IDLE_MAX = 100
"""Of how many queues without producer and consumer the backlog is read: it tells a leftover from one that holds messages."""
_BAD_REQUEST = 400


async def read(api: Api, names: Iterable[str], plan: str | None, told: Told, window_seconds: int | None = None) -> Snapshot:
    """The account; the backlog of the queues that have these names, of their dead-letter queues, and of idle ones.

    With a window also what was measured in it of those named, and of the Workers that consume them. Raises AccountError.
    """
    rows = {row.queue_name: row for row in await _list(api, told)}
    consumers: dict[str, list[ConsumerPayload] | None] = {}
    short = [row for row in rows.values() if _lacks(row)]
    for number, row in enumerate(short):
        told("consumers", number, len(short))
        consumers[row.queue_name] = await _consumers(api, row)
    wanted = set(names)
    for name in wanted & rows.keys():
        there = consumers.get(name, rows[name].consumers) or []
        wanted = wanted | {each.dead_letter_queue for each in there if each.dead_letter_queue}
    idle = [
        name for name, row in sorted(rows.items()) if name not in wanted and _is_idle(row, consumers.get(name, row.consumers))
    ]
    named = sorted(rows.keys() & wanted) + idle[:IDLE_MAX]
    metrics: dict[str, MetricsPayload] = {}
    for number, name in enumerate(named):
        told("backlogs", number, len(named))
        metrics[name] = await _metrics(api, rows[name])
    queues = {
        name: _queue(row, consumers.get(name, row.consumers), metrics.get(name, MetricsPayload()))
        for name, row in sorted(rows.items())
    }
    taken_at = api.now.replace(microsecond=0)
    measured = None
    if window_seconds is not None:
        ids = {name: rows[name].queue_id for name in rows.keys() & wanted}
        scripts = {each.script_name for name in ids for each in queues[name].consumers or () if each.script_name}
        measured = await measure(api, ids, sorted(scripts), window_seconds, told)
    return Snapshot.model_validate({"taken_at": taken_at, "plan": plan, "queues": queues, "measured": measured})


async def _list(api: Api, told: Told) -> list[QueuePayload]:
    """All queues. What the answers say of their number is held against what they list; nothing of it is taken on trust."""
    found: dict[str, QueuePayload] = {}
    ids: list[str] = []
    total: int | None = None
    for page in range(1, PAGES_MAX + 1):
        told("queues", len(found), total)
        answer = await _page(api, page)
        rows = read_as(list[QueuePayload], answer.result, api.host, "result")
        before, last_ids, ids = len(found), ids, [row.queue_id for row in rows]
        found |= dict(zip(ids, rows, strict=True))
        info = answer.result_info
        total = info.total_count if info else None
        pages = info.total_pages if info else None
        if max(len(found), total or 0) > limits.QUEUES_PER_ACCOUNT:
            raise NoEnd(api.host, f"more than the {limits.QUEUES_PER_ACCOUNT:,} that an account can have")
        if total is None and pages is None:
            # Whoever tells nothing of further pages may not know pages at all, and give all queues for each, as the official
            # SDK has it; that a page is full to the brim and repeated is another matter.
            is_last = ids == last_ids and len(rows) != PER_PAGE
        else:
            is_last = page >= pages if pages is not None else len(found) >= (total or 0)
        if is_last or not rows:
            if len(found) < (total or 0):
                raise Incomplete(api.host, total or 0, len(found))
            return [*found.values()]
        if len(found) == before:
            raise NoEnd(api.host, f"page {page} repeats queues of the pages before, and more should follow")
    raise NoEnd(api.host, f"{PAGES_MAX:,} pages, and more should follow")


async def _page(api: Api, page: int) -> Envelope:
    try:
        return await api.get("queues", page=page, per_page=PER_PAGE)
    except Refused as error:
        if error.status != _BAD_REQUEST:
            raise
    return await api.get("queues", page=page)  # no page of the documentation says how many may be asked for


def _lacks(row: QueuePayload) -> bool:
    """Whether the list shows fewer consumers than there are."""
    if row.consumers is None:
        return row.consumers_total_count != 0
    return len(row.consumers) < (row.consumers_total_count or 0)


async def _consumers(api: Api, row: QueuePayload) -> list[ConsumerPayload] | None:
    try:
        answer = await api.get("queues", row.queue_id, "consumers")
    except NotFound:
        return row.consumers  # the queue was deleted just now
    return read_as(list[ConsumerPayload], answer.result, api.host, "result")


async def _metrics(api: Api, row: QueuePayload) -> MetricsPayload:
    try:
        answer = await api.get("queues", row.queue_id, "metrics")
    except NotFound:
        return MetricsPayload()
    return read_as(MetricsPayload, answer.result, api.host, "result")


def _producers(row: QueuePayload) -> list[ProducerPayload] | None:
    """Who sends to a queue; None where there are some, and nothing tells which, or where that is not known."""
    producers = row.producers if row.producers is not None or row.producers_total_count != 0 else []
    return None if not producers and row.producers_total_count else producers


def _is_idle(row: QueuePayload, consumers: list[ConsumerPayload] | None) -> bool:
    """Whether the account knows of nobody who produces to a queue or consumes it."""
    return not consumers and (consumers is not None or row.consumers_total_count == 0) and _producers(row) == []


def _queue(row: QueuePayload, consumers: list[ConsumerPayload] | None, metrics: MetricsPayload) -> SnapshotQueue:
    settings = row.settings or QueueSettings()
    if consumers is None and row.consumers_total_count == 0:
        consumers = []
    producers = _producers(row)
    return SnapshotQueue(
        message_retention_period=settings.message_retention_period,
        jurisdiction=(row.jurisdiction or "").lower() or None,
        delivery_delay=settings.delivery_delay,
        delivery_paused=settings.delivery_paused,
        consumers=None if consumers is None else [_consumer(each) for each in consumers],
        producers=None if producers is None else [_producer(each) for each in producers],
        backlog_count=metrics.backlog_count,
        backlog_bytes=metrics.backlog_bytes,
        oldest_message_timestamp_ms=metrics.oldest_message_timestamp_ms,
    )


def _consumer(payload: ConsumerPayload) -> SnapshotConsumer:
    settings = {} if payload.settings is None else payload.settings.model_dump(exclude_none=True)
    return SnapshotConsumer(
        type=payload.type or ("http_pull" if "visibility_timeout_ms" in settings else "worker"),
        script_name=payload.script_name or payload.script or payload.service or None,
        dead_letter_queue=payload.dead_letter_queue or None,
        settings=settings,
    )


def _producer(payload: ProducerPayload) -> str:
    if payload.bucket_name:
        return f"R2 bucket {payload.bucket_name}"
    return payload.script_name or payload.script or payload.service or payload.type or "unknown"
