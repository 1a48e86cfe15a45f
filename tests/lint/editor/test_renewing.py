"""A key pressed where no answer looked costs no reading of the handler; one pressed where it matters does, and both tell what a run tells."""

from __future__ import annotations

import pytest

from cfq_lint import lint_paths
from cfq_lint.editor.workspace import Workspace
from cfq_lint.model import consuming
from tests.lint.editor.project import write
from tests.lint.editor.test_workspace import said, settled

CONFIG = '{ "name": "jobs", "main": "src/index.ts", "queues": { "consumers": [{ "queue": "orders", "max_retries": 3, "dead_letter_queue": "dlq" }] } }\n'
SOURCE = """import { work } from "./work";
let limit = 3;
function spare(a: number) {
  const cursor = a + 1;
  return () => cursor;
}
async function charge(body, env) {
  await env.DB.prepare("insert into a values (?)").bind(body.id).run();
}
export default {
  async fetch(request, env) {
    return new Response("ok");
  },
  async queue(batch, env) {
    for (const m of batch.messages) {
      if (m.attempts > limit) continue;
      m.ack();
      await charge(m.body, env);
      await work(m.body, env);
    }
  },
};
"""
WORK = "export async function work(body, env) { await fetch(body.url); }\nexport function other() { return 1; }\n"
KEYS = {
    "a comment": ("// here\nfunction spare", "function spare", False),
    "a line above all": ("\nimport", "import", False),
    "inside of what nobody calls": ("a + 100;", "a + 1;", False),
    "inside of another handler": ('"fine"', '"ok"', False),
    "a local of its own": ("const cursor = 1, b", "const cursor", False),
    "what is called": ("insert or ignore into a", "insert into a", True),
    "the handler": ("m.ack(); x();", "m.ack();", True),
    "a parameter": ("spare(a: number, b)", "spare(a: number)", True),
    "one that is async now": ("async function spare", "function spare", True),
    "a name that the handler asks for is given another value": ("limit = 4; return () => cursor", "return () => cursor", True),
    "a name that the handler asks for is declared once more": ("const charge = 1;\n  const cursor", "const cursor", True),
    "a name at the top": ("let limit = 3, more = 1;", "let limit = 3;", True),
    "a number where a truth value was": ("let limit = true;", "let limit = 3;", True),
    "another import": ("import { other as work }", "import { work }", True),
}  # fmt: skip


@pytest.fixture
def typed(tmp_path, monkeypatch):
    """A project in the editor, with the number of readings of its handler."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"wrangler.jsonc": CONFIG, "src/index.ts": SOURCE, "src/work.ts": WORK})
    count, reading = [], consuming.handled
    monkeypatch.setattr(consuming, "handled", lambda program, *given: count.append(not program.problem) or reading(program, *given))
    workspace = Workspace(["."])
    workspace.put("src/index.ts", SOURCE)
    settled(workspace)

    def put(text, name="src/index.ts"):
        count.clear()
        workspace.put(name, text)
        now = said(settled(workspace))
        readings = sum(count)
        (tmp_path / name).write_text(text)
        assert now == said(lint_paths(["."]))
        return readings

    return put


@pytest.mark.parametrize("name", KEYS)
def test_what_is_found_out_holds_on_where_no_answer_can_differ(name, typed):
    new, old, matters = KEYS[name]
    assert old in SOURCE
    text = SOURCE.replace(old, new, 1)
    assert typed(text) == int(matters)
    assert typed(text + "// end\n") == 0
    assert typed(SOURCE) == int(matters)


def test_a_text_that_does_not_parse_between_two_that_do(typed):
    assert typed(SOURCE.replace("a + 1;", "a + (;")) == 0
    assert typed(SOURCE.replace("a + 1;", "a + (2);")) == 0
    assert typed(WORK.replace("return 1", "return 2"), "src/work.ts") == 0
    assert typed(SOURCE.replace("a + 1;", "a + (;")) == 0
    assert typed(WORK.replace("return 1", "return 3"), "src/work.ts") == 0
    assert typed(SOURCE) == 1, "another file changed meanwhile"
    assert typed(WORK.replace("body.url", "body.link"), "src/work.ts") == 1
