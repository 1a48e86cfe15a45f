"""The same scenario through a Python handler and a JavaScript one: the same journal, but for ids of what handlers sent."""

from __future__ import annotations

import asyncio

import pytest

from emulator import Emulator, Faults
from emulator.core.events import Settled
from tests.emulator.javascript.workers import write

JAVASCRIPT = """
const wait = (seconds) => scheduler.wait(seconds * 1000);
export default { async queue(batch, env, ctx) {
  for (const message of batch.messages) {
    for (const [what, value] of message.body.steps) {
      if (what === "throw") throw new Error(value);
      if (what === "ack") message.ack();
      if (what === "retry") message.retry(value === null ? {} : { delaySeconds: value });
      if (what === "ackAll") batch.ackAll();
      if (what === "retryAll") batch.retryAll({ delaySeconds: value });
      if (what === "wait") await wait(value);
      if (what === "send") await env.OTHER.send({ attempts: message.attempts, queue: batch.queue, value }, { delaySeconds: value });
      if (what === "later") ctx.waitUntil(wait(value).then(() => env.OTHER.send("later")));
    }
  }
} };
"""


async def python(batch, env, ctx):
    async def later(value):
        await asyncio.sleep(value)
        await env.OTHER.send("later")

    for message in batch.messages:
        for what, value in message.body["steps"]:
            if what == "throw":
                raise type("Error", (Exception,), {})(value)
            if what == "ack":
                message.ack()
            if what == "retry":
                message.retry({} if value is None else {"delaySeconds": value})
            if what == "ackAll":
                batch.ackAll()
            if what == "retryAll":
                batch.retryAll({"delaySeconds": value})
            if what == "wait":
                await asyncio.sleep(value)
            if what == "send":
                body = {"attempts": message.attempts, "queue": batch.queue, "value": value}
                await env.OTHER.send(body, {"delaySeconds": value})
            if what == "later":
                ctx.waitUntil(later(value))


SCENARIOS = {
    "all ends well": [[], [["ack", 0]], [["send", 5]]],
    "a throw in the third of five": [[["ack", 0]], [], [["throw", "no"]], [], [["ack", 0]]],
    "delays": [[["retry", 0]], [["retry", 40]], [["retry", None]], [["ack", 0], ["retry", 9]]],
    "the whole batch": [[["ack", 0]], [["retryAll", 30]], [["retry", 7]]],
    "slow": [[["wait", 20], ["send", 0]], [["wait", 900.5]], [["ack", 0], ["wait", 1000]]],
    "what goes on": [[["later", 12], ["ack", 0]], [["later", 3], ["throw", "x"]]],
    "acknowledged, then thrown": [[["ackAll", 0], ["throw", "late"]], []],
}
FAULTS = [{}, {"duplicates": 0.4, "reorder": 0.5}, {"slow": 0.5, "overlaps": 0.3}, {"crashes_at_end": 0.4, "small_batches": 0.5}]


def journal(tools_config, steps, faults):
    with Emulator.from_wrangler(tools_config, seed=11, faults=Faults(**faults)) as emu:
        yield emu
        for row in steps:
            emu.queue("in").send({"steps": row})
        emu.queue("in").send_batch([{"body": {"steps": row}} for row in steps])
        emu.advance(7 * 86_400)
        told = []
        for event in emu.events:
            if isinstance(event, Settled) and event.error:
                told.append(str(event).replace(repr(event.error), repr(event.error.splitlines()[0])))
            else:
                told.append(str(event))
        yield told


@pytest.fixture(scope="module")
def config(tools, tmp_path_factory):  # noqa: ARG001 - it is run
    queues = {
        "producers": [{"queue": "other", "binding": "OTHER"}],
        "consumers": [
            {"queue": "in", "max_batch_size": 3, "max_batch_timeout": 4, "max_retries": 2, "retry_delay": 15, "dead_letter_queue": "dead", "max_concurrency": 2}
        ],
    }
    return write(tmp_path_factory.mktemp("same"), JAVASCRIPT, file="src/index.js", queues=queues)


@pytest.mark.parametrize("faults", FAULTS, ids=["calm", "repeated", "slow", "dying"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_two_languages_write_one_journal(config, name, faults):
    runs = []
    for attach in (lambda emu: emu.attach(python), lambda emu: emu.worker(config)):
        steps = journal(config, SCENARIOS[name], faults)
        attach(next(steps))
        runs.append(next(steps))
    assert runs[0] == runs[1]
    assert len(runs[0]) > 5
