"""Fixtures of these tests: load a Worker of fixtures/python_workers, or one that a test writes."""

from __future__ import annotations

import asyncio
import json
import textwrap
from pathlib import Path

import pytest

WORKERS = Path(__file__).parents[3] / "fixtures" / "python_workers"
DATES = {"compatibility_date": "2026-06-01", "compatibility_flags": ["python_workers"]}


@pytest.fixture
def load(emu):
    """Load a fixture by name."""
    return lambda name, env=None, **options: emu.worker(WORKERS / name / "wrangler.jsonc", env, **options)


@pytest.fixture
def write(emu, tmp_path):
    """Write a Worker that consumes `jobs` and has it bound as JOBS, and load it: `write(source, config…)`."""

    def make(source, files=None, options=None, **config):
        number = len(list(tmp_path.iterdir()))
        folder = tmp_path / f"worker{number}"
        for name, text in {"src/entry.py": source, **(files or {})}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
        queues = {
            "producers": [{"binding": "JOBS", "queue": "jobs"}],
            "consumers": [{"queue": "jobs", "max_batch_timeout": 0, "max_retries": 3}],
        }
        body = {"name": f"worker{number}", "main": "src/entry.py", **DATES, "queues": queues, **config}
        (folder / "wrangler.jsonc").write_text(json.dumps(body), encoding="utf-8")
        return emu.worker(folder / "wrangler.jsonc", **(options or {}))

    return make


@pytest.fixture
def run():
    """Await something."""
    async def await_(awaitable):
        return await awaitable

    return lambda awaitable: asyncio.run(await_(awaitable))
