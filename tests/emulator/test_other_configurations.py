"""The emulator on a `cloudflare.config.ts` and on a Terraform plan: the same queues and consumers as from a wrangler file."""

import json

import pytest

from emulator import Emulator
from emulator.workers.config import ConfigRefused, load
from tests.lint.support import FIXTURES

READERS = FIXTURES / "readers"


def test_a_cloudflare_config_gives_its_consumers_and_bindings():
    with Emulator.from_wrangler(READERS / "clean" / "cloudflare.config.ts") as emu:
        got = []
        emu.attach(lambda batch: got.extend(message.body for message in batch.messages), queue="events-in")
        emu.queue("events-in").send("a")
        emu.run_until_idle()
        assert got == ["a"]
    config = load(READERS / "clean", None, "paid")
    assert config.consumers["events-in"].dead_letter_queue == "events-dlq"
    assert (config.bindings, config.d1[0].binding) == ({"IN": "events-in"}, "DB")


def test_the_mode_is_the_environment():
    with pytest.raises(ConfigRefused, match="CFQ203"):
        load(READERS / "older_form", "production", "paid")


def test_a_plan_gives_the_consumers_of_all_its_workers_or_of_one():
    plan = READERS / "plans" / "replace.json"
    assert {*load(plan, None, "paid").consumers} == {"jobs", "mail"}
    assert load(plan, "worker", "paid").consumers["jobs"].max_batch_timeout == 2
    with Emulator.from_wrangler(plan) as emu:
        assert emu.queue("jobs").settings.name == "jobs"


def test_a_queue_whose_name_is_unknown_is_none(tmp_path):
    text = 'export default { worker: { name: "w", triggers: [{ type: "queue", name: process.env.Q, deadLetterQueue: "d" }] } };'
    (tmp_path / "cloudflare.config.ts").write_text(text)
    assert load(tmp_path, None, "paid").consumers == {}


def test_what_is_neither_is_said(tmp_path):
    (tmp_path / "plan.json").write_text(json.dumps({"format_version": "1.2", "planned_values": 3})[:-1])
    with pytest.raises(ConfigRefused, match="CFQ001"):
        load(tmp_path / "plan.json", None, "paid")
