"""Which backlogs an audit asks for: one request a queue, so not those of the whole account."""

from __future__ import annotations

import asyncio
import datetime as dt

from cfq_lint.account.account import IDLE_MAX, read
from cfq_lint.account.payloads import Envelope

QUEUES = {"exports": "exports-failed", "exports-failed": None, "others": "others-failed", "others-failed": None}
IDLE = [f"idle-{number:03}" for number in range(IDLE_MAX + 1)]


class Recorded:
    """An API that lists four queues and notes what else it is asked for."""

    host = "api"
    now = dt.datetime(2026, 1, 5, tzinfo=dt.UTC)

    def __init__(self, idle=()):
        self.asked = set()
        self.idle = [{"queue_id": name, "queue_name": name, "producers": [], "consumers": []} for name in idle]

    async def get(self, *path, **_query):
        if len(path) > 1:
            self.asked.add(path[1])
            return Envelope(success=True, result={"backlog_count": 1})
        rows = [
            {"queue_id": name, "queue_name": name, "producers": [], "consumers": [{"type": "http_pull", "dead_letter_queue": dead or ""}]}
            for name, dead in QUEUES.items()
        ]
        rows += self.idle
        return Envelope(success=True, result=rows, result_info={"total_count": len(rows), "total_pages": 1})


def test_the_backlog_is_read_of_what_the_files_name_and_of_its_dead_letter_queues():
    api = Recorded()
    snapshot = asyncio.run(read(api, {"exports", "nowhere"}, None, lambda *_: None))
    assert api.asked == {"exports", "exports-failed"}
    assert {name for name, queue in snapshot.queues.items() if queue.backlog_count} == api.asked


def test_a_queue_that_nobody_uses_is_looked_into_before_anybody_deletes_it():
    api = Recorded(idle=IDLE)
    snapshot = asyncio.run(read(api, {"exports"}, None, lambda *_: None))
    assert api.asked == {"exports", "exports-failed", *IDLE[:IDLE_MAX]}
    assert snapshot.queues[IDLE[0]].backlog_count == 1
    assert snapshot.queues[IDLE[-1]].backlog_count is None
