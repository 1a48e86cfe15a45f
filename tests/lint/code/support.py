"""Sources for tests: a handler's body in either language, and what is said of it."""

from __future__ import annotations

import json
import textwrap
from typing import Any, NamedTuple

from cfq_lint.checklist.handling import acknowledging
from cfq_lint.model.account_facts import Facts
from cfq_lint.model.consuming import Code, consuming_of, handled_once
from cfq_lint.model.wrangler import Worker
from cfq_lint.source.document import Document
from cfq_lint.worker_code.modules.program import load


class Handled(NamedTuple):
    """What is said of a handler, why nothing is, and what it was read as."""

    remarks: tuple[Any, ...]
    problem: str
    code: Code


def js(body, *, around=""):
    """A JavaScript Worker whose handler has that body."""
    return f"{around}\nexport default {{\n  async queue(batch, env, ctx) {{\n{textwrap.dedent(body)}\n  }},\n}};\n"


def py(body, *, around="", methods=""):
    """A Python Worker whose handler has that body."""
    inside = textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8)
    more = textwrap.indent(textwrap.dedent(methods), " " * 4)
    return (
        f"import asyncio\nfrom workers import WorkerEntrypoint\n{around}\n\nclass Default(WorkerEntrypoint):\n"
        f"    async def queue(self, batch, env=None, ctx=None):\n{inside}\n{more}"
    )


def read(text, name=None, **files):
    """The program of one source, and of others beside it by name (`_` for the dot)."""
    name = name or ("src/entry.py" if "class Default" in text else "src/index.ts")
    sources = {name: text} | {f"src/{each.replace('_', '.')}": body for each, body in files.items()}
    return load(name, sources.get)


def code_of(program, queue="orders", batch_size=10):
    """What a program does with the messages of a queue, as a configuration consumes it."""
    config = {"queues": {"consumers": [{"queue": queue, "max_batch_size": batch_size, "max_retries": 3, "dead_letter_queue": "dead"}]}}
    worker = Worker(Document("wrangler.json", json.dumps(config)), None)
    [environment] = worker.environments
    [consumer] = environment.consumers
    return Code(worker, program, (consuming_of(consumer, environment, handled_once(program, queue), is_dead_letters=False),))


def handled(text, *, queue="orders", batch_size=10, name=None, **files):
    """What is said of a handler."""
    code = code_of(read(text, name, **files), queue, batch_size)
    return Handled(acknowledging(code, Facts()), code.consuming[0].handled.problem, code)


def kinds(*given, **named):
    """Which kinds of remarks there are."""
    return {remark.kind for remark in handled(*given, **named).remarks}
