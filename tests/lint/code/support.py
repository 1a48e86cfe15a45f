"""Sources for tests: a handler's body in either language, and what is said of it."""

from __future__ import annotations

import textwrap

from cfq_lint.worker_code.handling.acknowledging import handling
from cfq_lint.worker_code.modules.program import load


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


def handled(text, *, queue="orders", batch_size=10, name=None, **files):
    """What is said of a handler."""
    return handling(read(text, name, **files), queue, batch_size)


def kinds(*given, **named):
    """Which kinds of remarks there are."""
    return {remark.kind for remark in handled(*given, **named).remarks}
