"""A source that is read again after an edit is what it is when it is read anew, node by node and name by name."""

from __future__ import annotations

import random

import pytest

from cfq_lint.worker_code.modules.module import read
from cfq_lint.worker_code.tree import nodes as n

SOURCE = """import { audit } from "./audit";
const LIMIT = 100, list = [];
const short = (e) => e.id, other = (e) => e.id;
function small(a) { return () => a; }
export class Jobs extends Base { constructor(private env) { super(env); this.a = (d) => d; } async run(b = 1, { c, ...d }) { for (const m of b) list.push((e) => e.id); } }
export async function work(m, env) {
  try { await env.JOBS.send({ id: m.id }); } catch (e) { m.retry({ delaySeconds: 2 ** m.attempts }); }
}
export default {
  async fetch(request, env) { return new Response("😀"); },
  async queue(batch, env) { for (const m of batch.messages) { await work(m, env); m.ack(); } },
};
"""
PYTHON = """import json
from workers import WorkerEntrypoint as Base
LIMIT = 100; names = [f for f in (1, 2)]
def small(a): return lambda: a
class Default(Base):
    async def fetch(self, request, *, one=1):
        return "😀"
    async def queue(self, batch, env=None):
        def inner(m):
            from jobs import work
            return work(m)
        for m in batch.messages:
            try:
                await inner(m); m.ack()
            except (ValueError, KeyError) as error:
                names.append(error)
"""
PIECES = ["", " ", "\n", "\r\n", "x", "await f(m);\n", "const a = 1;\n", "(e) => e.id", "// c\n", "/* d */", "😀", "function f(a) { return () => a; }\n"]
PIECES += ["import x from './x';\n", "require('q');", "export default work;\n", "import { Effect } from 'effect';\n", "function small(a) { return () => a; }\n", "}", "="]
PIECES_OF_PYTHON = ["", " ", "\n", "\r\n", "x", "    ", "a = 1\n", "# c\n", "😀", "'é'", "def small(a): return lambda: a\n", "async ", "import os\n", "class A:\n    def b(self): self.c = 1\n", "pass\n", "self."]
SOURCES = {"a.ts": (SOURCE, PIECES), "a.py": (PYTHON, PIECES_OF_PYTHON)}


def told(module):
    """All that a module is, in plain values: nodes in the order of the text, by number where they are named."""
    numbers, found, waiting = {}, [], [module.source.body]
    number = lambda node: numbers.setdefault(id(node), len(numbers))  # noqa: E731
    while waiting:
        node = waiting.pop()
        assert id(node) not in numbers or not any(each[0] == numbers[id(node)] for each in found), "a node stands in two places"
        plain = [value for name in node.__match_args__ if isinstance(value := getattr(node, name), str | int | float | None)]
        found.append((number(node), type(node).__name__, node.at, plain, len(node.parts)))
        scope = node.scope if isinstance(node, n.Name) else None
        while scope is not None:
            names = {name: [value and number(value) for value in values] for name, values in scope.names.items()}
            found.append((number(scope), names))
            scope = scope.outer
        waiting += reversed(node.parts)
    source, names = module.source, module.names
    links = (source.imports, module.exports, source.stars, source.sources, sorted(source.rebound))
    bound = [{name: [number(each) for each in several] for name, several in table.items()} for table in (module.declared, names.bound)]
    return found, links, sorted(names.assigned), sorted(names.replaced), bound, sorted(module.set_later)


@pytest.mark.parametrize("path", SOURCES)
@pytest.mark.parametrize("seed", range(5))
def test_a_source_after_edits_is_the_source_read_anew(seed, path):
    source, pieces = SOURCES[path]
    chance, text, known = random.Random(seed), source, read(path, source)
    for _ in range(60):
        at = chance.randrange(len(text) + 1)
        if chance.random() < 0.3:
            start = chance.randrange(len(text) + 1)
            text = text[:at] + text[start : start + chance.randrange(200)] + text[at:]
        else:
            text = text[:at] + chance.choice(pieces) + text[at + chance.choice([0, 0, 0, 1, 7]) :]
        anew, again = read(path, text), read(path, text, known)
        if isinstance(anew, str):
            assert again == anew
            text = known.text if chance.random() < 0.7 else source
        else:
            assert told(again) == told(anew)
            known = again


def test_functions_that_are_as_they_were_are_taken_over():
    before = read("a.ts", SOURCE)
    work, small = before.once("work"), before.once("small")
    after = read("a.ts", "\n" + SOURCE.replace("return () => a", "return () => b"), before)
    assert after.once("work") is work
    assert after.once("small") is not small
    assert work.at == (6, 7)
    before = read("a.py", PYTHON)
    small = before.once("small")
    after = read("a.py", PYTHON.replace("LIMIT = 100", "LIMIT = (\n100)"), before)
    assert (after.once("small") is small, small.at) == (True, (4, 0))
