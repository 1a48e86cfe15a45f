"""Options are spelt alike on every call, in both of JavaScript's and Python's ways; what is meant otherwise is told of."""

from __future__ import annotations

import pytest

from emulator import Emulator

SPELT = [{"delaySeconds": 7, "contentType": "text"}, {"delay_seconds": 7, "content_type": "text"}]
SENDS = {
    "q.send, by keyword": lambda emu, o: emu.queue("jobs").send("x", **o),
    "q.send, as a mapping": lambda emu, o: emu.queue("jobs").send("x", o),
    "env.JOBS.send, by keyword": lambda emu, o: emu.env.JOBS.send("x", **o),
    "env.JOBS.send, as a mapping": lambda emu, o: emu.env.JOBS.send("x", o),
    "q.send_batch, in the message": lambda emu, o: emu.queue("jobs").send_batch([{"body": "x", **o}]),
    "env.JOBS.sendBatch, in the message": lambda emu, o: emu.env.JOBS.sendBatch([{"body": "x", **o}]),
}


@pytest.fixture
def emu():
    emulator = Emulator()
    emulator.create_queue("jobs")
    yield emulator
    emulator.close()


@pytest.mark.parametrize("options", SPELT, ids=["camel", "snake"])
@pytest.mark.parametrize("send", SENDS.values(), ids=SENDS)
def test_both_spellings_mean_the_same(emu, send, options):
    send(emu, options)
    [held] = emu.queue("jobs").messages()
    assert (held.content_type, (held.ready_at - emu.now).total_seconds()) == ("text", 7)


@pytest.mark.parametrize("name", ["delaySeconds", "delay_seconds"])
def test_the_delay_of_a_batch_and_of_a_lease_too(emu, name):
    jobs = emu.queue("jobs")
    jobs.send_batch([{"body": 1}], **{name: 7})
    jobs.send_batch([{"body": 1}], {name: 7})
    emu.env.JOBS.sendBatch([{"body": 1}], **{name: 7})
    emu.env.JOBS.sendBatch([{"body": 1}], {name: 7})
    emu.consume("jobs", type="http_pull")
    emu.advance(7)
    leased = jobs.pull()
    assert len(leased) == 4
    jobs.ack(retries=[{"lease_id": leased[0].lease_id, name: 7}])
    assert [(m.ready_at - emu.now).total_seconds() for m in jobs.messages() if m.state == "delayed"] == [7]


HINTS = {
    "q.send": lambda emu: emu.queue("jobs").send(1, delay=5),
    "q.send_batch": lambda emu: emu.queue("jobs").send_batch([{"body": 1}], delay=5),
    "a message": lambda emu: emu.queue("jobs").send_batch([{"body": 1, "delay": 5}]),
    "env.JOBS.send": lambda emu: emu.env.JOBS.send(1, delay=5),
    "env.JOBS.sendBatch": lambda emu: emu.env.JOBS.sendBatch([{"body": 1}], delay=5),
}


@pytest.mark.parametrize("call", HINTS.values(), ids=HINTS)
def test_delay_is_no_option_and_the_right_one_is_named(emu, call):
    with pytest.raises(TypeError, match=r"'delay' \(did you mean delaySeconds\?\)"):
        call(emu)
    assert emu.queue("jobs").bodies() == []


def test_a_handler_s_call_hints_as_well(emu):
    emu.queue("jobs").send(1)
    emu.consume("jobs", lambda batch: batch.messages[0].retry(delay=5), max_retries=0, max_batch_timeout=0)
    emu.advance(0)
    assert "'delay' (did you mean delaySeconds?): there is only delaySeconds" in emu.deliveries[0].error


@pytest.mark.parametrize(("given", "right"), [("retries", "max_retries"), ("batch_size", "max_batch_size"), ("delay", "retry_delay")])
def test_a_setting_that_is_none_names_the_right_one(emu, given, right):
    with pytest.raises(TypeError, match=rf"unknown setting '{given}' \(did you mean {right}\?\)"):
        emu.consume("jobs", print, **{given: 1})
    emu.consume("jobs", print)
    with pytest.raises(TypeError, match=f"did you mean {right}"):
        emu.update_consumer("jobs", **{given: 1})
