"""A sound account with its file, and one seeded defect for each rule of family 9, on queues of its own.

A defect is what it adds to the file and what it adds to the account, as `wrangler queues` commands and a snapshot's queues.
"""

from __future__ import annotations

import json

SHOP = "shop"
FULL = {"max_batch_size": 10, "max_batch_timeout": 5, "max_retries": 3, "retry_delay": 60}


def consumer(queue, **settings):
    """An entry of the file; its dead letters go where somebody pulls them."""
    return {"queue": queue, "dead_letter_queue": "pulled-dlq", **settings}


def attach(queue, *options, script=SHOP, dead="pulled-dlq"):
    """The commands that make a queue and give it a Worker."""
    dead = ("--dead-letter-queue", dead) if dead else ()
    return [("create", queue), ("consumer", "add", queue, script, *dead, *options)]


def pull(queue, *options):
    """The commands that make a queue and let it be pulled from."""
    return [("create", queue), ("consumer", "http", "add", queue, *options)]


class Defect:
    """What seeds one mistake. `queues` are the account's queues that belong to it."""

    def __init__(self, *, consumers=(), producers=(), commands=(), queues=(), messages=()):
        self.consumers = list(consumers)
        self.producers = list(producers)
        self.commands = list(commands)
        self.queues = set(queues) | {each[1] for each in commands if each[0] == "create"}
        self.messages = list(messages)


BASE = Defect(
    consumers=[
        {"queue": "orders", **FULL, "dead_letter_queue": "orders-dlq"},
        {"queue": "orders-dlq"},
        {"queue": "mails", "dead_letter_queue": "pulled-dlq"},
        {"queue": "fresh", "dead_letter_queue": "pulled-dlq"},  # nobody has deployed it yet
    ],
    producers=["exports"],
    commands=[
        *pull("pulled-dlq"),
        *attach("orders-dlq", dead=None),
        *attach("orders", "--batch-size", "10", "--batch-timeout", "5", "--message-retries", "3", "--retry-delay-secs", "60", dead="orders-dlq"),
        *attach("mails"),
        *pull("exports", "--dead-letter-queue", "pulled-dlq"),
        ("create", "fresh"),
        *attach("invoices", script="billing"),  # another project's
    ],
)  # fmt: skip
"""An account in which all is well."""

DEFECTS = {
    "queue-missing": Defect(consumers=[consumer("missing")]),
    "consumer-differs": Defect(
        consumers=[consumer("tuned", max_retries=3)], commands=attach("tuned", "--message-retries", "10")
    ),
    "dlq-missing": Defect(
        consumers=[consumer("lonely", dead_letter_queue="lonely-failed")],
        commands=[("create", "lonely-failed"), *attach("lonely", dead="lonely-failed"), ("delete", "lonely-failed")],
        queues={"lonely"},
    ),
    "dlq-unconsumed": Defect(
        consumers=[consumer("reports", dead_letter_queue="reports-failed")],
        commands=[("create", "reports-failed"), *attach("reports", dead="reports-failed")],
    ),
    "dlq-in-another-jurisdiction": Defect(
        consumers=[consumer("patients", dead_letter_queue="patients-failed")],
        commands=[("create", "patients", "--jurisdiction", "eu"), *pull("patients-failed")],
    ),
    "stale-consumer": Defect(commands=attach("thumbnails")),
    "queue-consumed-elsewhere": Defect(consumers=[consumer("payments")], commands=attach("payments", script="cashier")),
    "pull-consumer-in-the-way": Defect(consumers=[consumer("scans")], commands=pull("scans")),
    "queue-paused": Defect(consumers=[consumer("parcels")], commands=[*attach("parcels"), ("pause-delivery", "parcels")]),
    "retention-too-short": Defect(
        consumers=[consumer("webhooks", max_retries=5, retry_delay=900)],
        commands=[
            ("create", "webhooks", "--message-retention-period-secs", "3600"),
            ("consumer", "add", "webhooks", SHOP, "--message-retries", "5", "--retry-delay-secs", "900", "--dead-letter-queue", "pulled-dlq"),
        ],
    ),
    "oldest-message-expiring": Defect(producers=["uploads"], commands=pull("uploads"), messages=["uploads"]),
    "backlog-near-limit": Defect(producers=["videos"], commands=pull("videos")),
    "dlq-not-empty": Defect(
        consumers=[consumer("clicks", dead_letter_queue="clicks-failed")],
        commands=[*pull("clicks-failed"), *attach("clicks", dead="clicks-failed")],
        messages=["clicks-failed"],
    ),
    "queue-unconsumed": Defect(producers=["events"], commands=[("create", "events")]),
    "queue-unused": Defect(commands=[("create", "attic")]),
    **{
        name: Defect(consumers=[consumer(name)], commands=attach(name, "--batch-size", "10", "--message-retries", "3"))
        for name in ("message-near-limit", "retries-high", "dead-letters-arriving", "lag-above-settings", "concurrency-at-limit", "backlog-outlives-retention")
    },
    "dlq-grows-unread": Defect(
        consumers=[consumer("signups", dead_letter_queue="signups-failed")],
        commands=[*pull("signups-failed"), *attach("signups", dead="signups-failed")],
    ),
}  # fmt: skip
"""By the rule that finds it."""
MEASURED = {
    "message-near-limit": [{"hour": 1, "written": 1, "largest_bytes": 118_000}],
    "retries-high": [{"hour": 1, "delivered": 20, "succeeded": 10, "retries": 1.0}],
    "dead-letters-arriving": [{"hour": 1, "delivered": 4, "dead_lettered": 1, "retries": 0.5}],
    "lag-above-settings": [{"hour": 1, "delivered": 4, "lag_ms": 20_001.0}],
    "concurrency-at-limit": [{"hour": 1, "backlog_messages": 0.0, "concurrency": 1.0}, {"hour": 2, "backlog_messages": 2_501.0, "concurrency": 200.0}],
    "backlog-outlives-retention": [{"hour": 150, "succeeded": 24, "delivered": 24, "backlog_messages": 97.0}],
    "dlq-grows-unread": [{"hour": 1, "written": 3}],
}
"""What is measured of a defect's queue: just enough. Of the retention of four days, 97 messages at one an hour need more."""
NOT_BY_WRANGLER = {"backlog-near-limit", *MEASURED}
"""Nobody sends 20 GB for a test, or for a week: the snapshot is made to say so."""


def file_with(*names):
    """The text of the file with some defects, the sound part first; a line an entry."""
    parts = [BASE, *(DEFECTS[name] for name in names)]
    consumers = [entry for part in parts for entry in part.consumers]
    producers = [queue for part in parts for queue in part.producers]
    lines = [f"      {json.dumps({'binding': queue.upper(), 'queue': queue})}" for queue in producers]
    entries = [f"      {json.dumps(entry)}" for entry in consumers]
    bound, consumed = ",\n".join(lines), ",\n".join(entries)
    return f'{{\n  "name": "{SHOP}",\n  "queues": {{\n    "producers": [\n{bound}\n    ],\n    "consumers": [\n{consumed}\n    ]\n  }}\n}}\n'


def snapshot_with(recorded, *names):
    """The recorded account, with the queues of some defects only."""
    parts = [BASE, *(DEFECTS[name] for name in names)]
    kept = set().union(*(part.queues for part in parts))
    queues = {name: dict(queue) for name, queue in recorded["queues"].items() if name in kept}
    if "backlog-near-limit" in names:
        queues["videos"] |= {"backlog_bytes": 20_000_000_000, "backlog_count": 200_000}
    if "backlog-outlives-retention" in names:
        queues["backlog-outlives-retention"] |= {"backlog_count": 97}
    hours = {name: MEASURED[name] for name in names if name in MEASURED}
    hours = {"signups-failed" if name == "dlq-grows-unread" else name: rows for name, rows in hours.items()}
    measured = {"start": "2025-12-29T00:00:00Z", "end": "2026-01-05T00:00:00Z", "queues": {name: {"id": "1", "hours": rows} for name, rows in hours.items()}}
    return {**recorded, "queues": queues, "measured": measured}
