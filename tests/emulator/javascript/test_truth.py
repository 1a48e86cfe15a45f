"""What a Worker writes and throws is told where people look: its console, the report, a failing test."""

from __future__ import annotations

import json

from emulator.testing.failure import story
from tests.emulator.javascript.workers import consumes, write

SOURCE = """
type Order = { id: number };

function check(order: Order): void {
  const held: any = { id: order.id, big: 10n };
  held.self = held;
  console.warn("held", held, new Map([["k", new Set([1])]]), undefined, Symbol("s"), () => 1);
  if (order.id > 1) throw new RangeError(`order ${order.id}`, { cause: new Error("below") });
}

export default {
  async queue(batch: any, env: any, ctx: any) {
    Promise.reject(new Error("nobody waits"));
    setTimeout(() => { throw new TypeError("in a timer"); }, 10);
    await scheduler.wait(20);
    for (const { body } of batch.messages) check(body);
  },
};
"""


def test_what_is_written_and_thrown_is_told_on_the_lines_of_the_source(emu, tmp_path, tools):  # noqa: ARG001
    worker = emu.worker(write(tmp_path, SOURCE, queues=consumes(max_retries=1)))
    emu.queue("jobs").send({"id": 1})
    emu.run_until_idle()
    assert [(each.outcome, each.error) for each in emu.deliveries] == [("ok", None)]
    levels = {line.text.splitlines()[0]: line for line in worker.console}
    held = 'held {"id":1,"big":"10n","self":"[Circular]"} {"k":[1]} undefined Symbol(s) () => 1'
    assert levels[held].level == "warn"
    assert levels["Uncaught (in promise) Error: nobody waits"].text.splitlines()[1].startswith("    at Object.queue (src/index.ts:13:")
    assert "(src/index.ts:14:" in levels["Uncaught TypeError: in a timer"].text or "src/index.ts:14:" in levels["Uncaught TypeError: in a timer"].text
    emu.queue("jobs").send({"id": 2})
    emu.run_until_idle()
    error = emu.deliveries[-1].error
    assert error.splitlines()[:2] == ["RangeError: order 2", "    at check (src/index.ts:8:27)"]
    assert "[cause]: Error: below" in error
    assert "RangeError: order 2" in str(emu.report())
    assert f"Console of {worker!r}" in str(emu.report())
    assert held in str(emu.report())
    assert any(held == text for _, text in json.loads(emu.report().to_json())["consoles"][repr(worker)])
    assert "src/index.ts:8:27" in story(emu)
    assert "Console of" in story(emu)


def test_a_binding_that_is_not_there_is_named(emu, tmp_path, tools):  # noqa: ARG001
    source = "export default { async queue(batch, env) {\n  if (batch.messages[0].body) await env.JOBS.nothing.at;\n  await env.NOPE?.send(1); await env.MAIL.send(1);\n} };"
    worker = emu.worker(write(tmp_path, source, file="src/index.js", queues=consumes(max_retries=0)))
    for body in (0, 1):
        emu.queue("jobs").send(body)
        emu.run_until_idle()
    first, second = [each.error.splitlines()[0] for each in emu.deliveries]
    assert first == "TypeError: Cannot read properties of undefined (reading 'send'): env.MAIL is not there, no binding has that name"
    assert second == "TypeError: Cannot read properties of undefined (reading 'at')"  # JOBS is there
    assert worker.console == []
