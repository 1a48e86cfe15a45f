"""Projects for tests: written into a folder, and judged as `cfq-lint audit` does."""

from __future__ import annotations

import contextlib
import os

from cfq_lint.checklist import judge
from cfq_lint.estimate.reckoning import estimate
from cfq_lint.model.project import project_of
from cfq_lint.model.wrangler import Worker
from cfq_lint.run.plan import Request, find_settings, plan_of, read_snapshot
from cfq_lint.source.discovery import find
from cfq_lint.source.document import read
from cfq_lint.source.files import Files
from tests.lint.support import FIXTURES

ACCEPTANCE = FIXTURES / "acceptance"


def write(folder, files):
    """Write files below a folder."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def project(folder, *, facts=None, env=None, plan=None):
    """The project in a folder, with paths relative to it."""
    with contextlib.chdir(folder):
        files, problems = find(["."])
        assert not problems
        snapshot = read_snapshot(facts, is_account=True) if facts else None
        made = plan_of(Request(settings=find_settings([os.curdir]), environment=env, plan=plan, snapshot=snapshot))
        return project_of([Worker(read(file), env) for file in files], made.facts, Files())


def checklist(folder, **options):
    """The acceptance list of a folder."""
    return judge(project(folder, **options))


def estimated(folder, given=None, **options):
    """The estimate of a folder."""
    return estimate(project(folder, **options), given)


def verdicts(listed):
    """The ten verdicts, a letter each: p, f or u."""
    return "".join(item.verdict[0] for item in listed.items)


def answer(listed, number, queue):
    """The answer of one item for one queue."""
    (found,) = [each for each in listed.items[number - 1].answers if each.queue == queue]
    return found


CONFIG = """{
  "name": "w", "main": "src/index.ts",
  "queues": {
    "producers": [{ "binding": "Q", "queue": "orders" }],
    "consumers": [{ "queue": "orders", "max_retries": 3, "dead_letter_queue": "orders-dlq" }]
  }
}
"""
SOURCE = """export default {
  async fetch(request, env) { await env.Q.send({ id: crypto.randomUUID() }); },
  async queue(batch, env) {
    for (const m of batch.messages) {
      await env.DB.prepare("INSERT OR IGNORE INTO a (id) VALUES (?)").bind(m.body.id).run();
      m.ack();
    }
  },
};
"""


def declared(folder, text="", config=CONFIG, source=SOURCE, **more):
    """The list for one queue with settings; `more` are files by name, with `_` for the dot."""
    files = {"wrangler.jsonc": config, "src/index.ts": source, "cfq-lint.toml": text}
    return checklist(write(folder, files | {name.replace("_", "."): body for name, body in more.items()}))
