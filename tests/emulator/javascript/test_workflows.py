"""Workflows: miniflare's engine in our workerd, on virtual time."""

from __future__ import annotations

import json

import pytest

from emulator import Emulator
from emulator.workers.javascript import workflows
from emulator.workers.javascript.toolchain import cache_folder
from tests.emulator.javascript.workers import consumes, write

SOURCE = """
import { WorkflowEntrypoint } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";
let tries = 0;
export class Order extends WorkflowEntrypoint {
  async run(event, step) {
    const retries = { limit: 3, delay: "1 minute", backoff: "exponential" };
    const charged = await step.do("charge", { retries }, async () => {
      console.log(`try ${++tries} at ${new Date().toISOString()}`);
      if (event.payload.fails) throw new NonRetryableError("no such card");
      if (tries < 3) throw new Error("the bank is closed");
      return { id: event.payload.id };
    });
    await step.sleep("a day", "1 day");
    const paid = await step.waitForEvent("paid", { type: "paid", timeout: "7 days" });
    await step.do("tell", async () => { await this.env.OTHER.send({ charged, paid: paid.payload, at: Date.now() }); });
    return "done";
  }
}
export default {
  async queue(batch, env) {
    for (const { body } of batch.messages) {
      if (body.start) await env.ORDERS.create({ id: "one", params: body.start });
      const order = await env.ORDERS.get("one");
      if (body.paid) await order.sendEvent({ type: "paid", payload: body.paid });
      const { status, output, error } = await order.status();
      if (body.ask) console.log(JSON.stringify([status, output, error?.message]));
    }
  },
};
"""
WORKFLOWS = [{"name": "orders", "binding": "ORDERS", "class_name": "Order"}]
DAY = 86_400


@pytest.fixture(scope="module")
def config(tools, tmp_path_factory):  # noqa: ARG001 - it is run
    """A project without a miniflare: the cache's engine is taken."""
    return write(tmp_path_factory.mktemp("workflows"), SOURCE, file="src/index.js", queues=consumes(), workflows=WORKFLOWS)


def test_a_workflow_sleeps_retries_and_waits_on_virtual_time(config):
    for _ in range(2):  # the next test's workflow knows nothing of this one's
        with Emulator() as emu:
            worker, jobs = emu.worker(config), emu.queue("jobs")
            jobs.send({"start": {"id": 7}})
            for seconds, body in ((600, {"ask": 1}), (DAY, {"paid": "yes"}), (0, {"ask": 1})):
                emu.advance(seconds)
                jobs.send(body)
                emu.advance(0)
            told = [line.text for line in worker.console]
            assert told == [
                "try 1 at 2026-01-01T00:00:00.000Z", "try 2 at 2026-01-01T00:01:00.000Z", "try 3 at 2026-01-01T00:03:00.000Z",
                '["running",null,null]', '["complete","done",null]',
            ]  # fmt: skip
            at = 1_767_225_600_000 + (DAY + 600) * 1_000
            assert emu.queue("other").bodies() == [{"charged": {"id": 7}, "paid": "yes", "at": at}]
            assert [each.error for each in emu.deliveries] == [None] * 4


def test_a_workflow_that_fails_says_why(config):
    with Emulator() as emu:
        worker = emu.worker(config)
        emu.queue("jobs").send({"start": {"id": 7, "fails": True}})
        emu.advance(0)
        emu.queue("jobs").send({"ask": 1})
        emu.advance(0)
        status, output, error = json.loads(worker.console[-1].text)
        assert (status, output) == ("errored", None)
        assert "NonRetryableError" in error  # the engine does not tell its text


@pytest.mark.usefixtures("tools")
def test_without_miniflare_an_error_names_it(emu, tmp_path, monkeypatch):
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "miniflare").symlink_to(cache_folder() / "node_modules" / "miniflare")
    monkeypatch.setattr(workflows, "cache_folder", lambda: tmp_path / "empty")
    assert workflows.engine_of(tmp_path) is not None  # the project's own
    (tmp_path / "node_modules" / "miniflare").unlink()
    emu.worker(write(tmp_path, SOURCE, file="src/index.js", queues=consumes(max_retries=0), workflows=WORKFLOWS))
    emu.queue("jobs").send({"start": {}})
    emu.run_until_idle()
    (delivery,) = emu.deliveries
    assert "env.ORDERS: workflows run in the engine of miniflare, which this project has not installed" in delivery.error
