"""Small Workers that tests write: a wrangler file and its source in a folder."""

from __future__ import annotations

import json

DATE = "2026-06-01"


def write(folder, source, *, name="w", file="src/index.ts", **settings):
    """Write a Worker; the path of its wrangler file. `settings` are the file's keys."""
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(source, encoding="utf-8")
    config = {"name": name, "main": file, "compatibility_date": DATE, **settings}
    path = folder / "wrangler.jsonc"
    path.write_text(json.dumps(config, indent=2), encoding="utf-8")
    return path


def consumes(queue="jobs", **settings):
    """The `queues` of a Worker that consumes one queue at once, one message at a time, and sends to it and to `other`."""
    producers = [{"queue": queue, "binding": "JOBS"}, {"queue": "other", "binding": "OTHER"}]
    return {"producers": producers, "consumers": [{"queue": queue, "max_batch_size": 1, "max_batch_timeout": 0, **settings}]}
