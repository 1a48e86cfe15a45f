"""Where each message ended, who owns it there, and what each layer proves: emu.trace(id) and emu.report()."""

from __future__ import annotations

import json

from emulator.engine.ledger import message_states as states
from tests.emulator.toolkit.support import account

DAY = 86_400


def fail(_batch):
    raise RuntimeError("thrown by the test")


def one(emu, queue="jobs", body=1):
    return emu.queue(queue).send(body).ids[0]


def prepared(emu, handler=None, **settings):
    emu.create_queue("jobs")
    if handler is not None:
        emu.consume("jobs", handler, max_batch_timeout=0, **settings)


def end_of(emu, id):
    end = emu.trace(id).end
    assert end in emu.report().messages
    return end


def test_waiting_proves_the_first_layer_only():
    with account() as emu:
        prepared(emu)
        end = end_of(emu, one(emu))
        assert (end.state, end.owner) == (states.WAITING, "nobody: jobs has no consumer")
        assert [layer.reached for layer in end.layers] == [True, False, False, False]


def test_acknowledged_is_owned_by_nobody():
    with account() as emu:
        prepared(emu, lambda _batch: None)
        id = one(emu)
        emu.run_until_idle()
        end = end_of(emu, id)
        assert (end.state, end.owner) == (states.ACKNOWLEDGED, "nobody: idempotency and reconciliation")
        assert [layer.reached for layer in end.layers] == [True, True, True, False]
        assert "only once" in end.layers[2].does_not_prove


def test_retrying_is_owned_by_the_consumer():
    with account() as emu:
        prepared(emu, lambda batch: batch.retryAll(delaySeconds=600))
        id = one(emu)
        emu.advance(1)
        end = end_of(emu, id)
        assert (end.state, end.owner, end.attempts) == (states.RETRYING, "the consumer of jobs", 1)


def test_deleted_has_no_owner():
    with account() as emu:
        prepared(emu, fail, max_retries=1)
        id = one(emu)
        emu.run_until_idle()
        end = end_of(emu, id)
        assert (end.state, end.attempts) == (states.DELETED, 2)
        assert end.owner.startswith("nobody: lost")
        assert [layer.reached for layer in end.layers] == [True, True, False, True]


def test_a_dead_letter_is_yours_until_its_queue_has_a_consumer():
    with account() as emu:
        prepared(emu, fail, max_retries=0, dead_letter_queue="jobs-dead")
        id = one(emu)
        emu.run_until_idle()
        end = end_of(emu, id)
        assert (end.state, end.path) == (states.IN_DLQ, ("jobs", "jobs-dead"))
        assert end.owner == "you: jobs-dead has no consumer, deleted after 4 days at most"
        emu.consume("jobs-dead", lambda _batch: None)
        assert end_of(emu, id).owner == "the consumer of jobs-dead"
        emu.run_until_idle()
        assert end_of(emu, id).state == states.ACKNOWLEDGED
        assert "took the dead letter over" in end_of(emu, id).owner


def test_expiry_is_the_fifth_end():
    with account() as emu:
        prepared(emu)
        id = one(emu)
        emu.advance(4 * DAY)
        end = end_of(emu, id)
        assert end.state == states.EXPIRED
        assert "retention" in end.owner


def test_a_purge_is_somebodys_deletion():
    with account() as emu:
        prepared(emu)
        id = one(emu)
        emu.queue("jobs").purge()
        assert end_of(emu, id).state == states.PURGED


def test_a_lost_acknowledgement_is_a_retry():
    with account(faults=__import__("emulator").Faults(duplicates=1.0)) as emu:
        prepared(emu, lambda _batch: None, max_retries=2)
        id = one(emu)
        emu.run_until_idle()
        assert end_of(emu, id).attempts == 3


def test_a_pulled_message_has_a_delivery_too():
    with account() as emu:
        emu.create_queue("jobs")
        emu.consume("jobs", type="http_pull")
        id = one(emu)
        lease = emu.queue("jobs").pull()[0]
        emu.queue("jobs").ack(acks=[lease])
        assert end_of(emu, id).state == states.ACKNOWLEDGED
        assert "delivered" in [layer.name for layer in end_of(emu, id).layers if layer.reached]


def test_the_report_as_tables():
    with account() as emu:
        prepared(emu, fail, max_retries=0, dead_letter_queue="jobs-dead")
        for body in range(25):
            one(emu, body=body)
        emu.run_until_idle()
        text = str(emu.report())
        assert "in dead-letter queue" in text
        assert "… and 5 more" in text
        assert "4 failure destination" in text
        assert emu.report().states == {states.IN_DLQ: 25}


def test_trace_and_report_as_json():
    with account() as emu:
        prepared(emu, lambda _batch: None)
        id = one(emu)
        emu.run_until_idle()
        trace = json.loads(emu.trace(id).to_json())
        assert trace["messages"][0]["state"] == states.ACKNOWLEDGED
        assert [layer["name"] for layer in trace["messages"][0]["layers"]] == [name for name, *_ in states.LAYERS]
        assert [line["what"] for line in trace["lines"]] == ["sent", "delivered", "acked"]
        report = json.loads(emu.report().to_json())
        assert report["messages"] == trace["messages"]
        assert report["queues"]["jobs"]["acked"] == 1
        assert report["states"] == {states.ACKNOWLEDGED: 1}


def test_the_trace_of_one_message_prints_its_state_owner_and_layers():
    with account() as emu:
        prepared(emu, lambda _batch: None)
        id = one(emu)
        emu.run_until_idle()
        text = str(emu.trace(id))
        assert "State: acknowledged. Owner: nobody" in text
        assert "does not prove" in text
        assert emu.trace().end is None
        assert len(emu.trace().ends) == 1
        assert emu.trace("unknown").end is None


def test_only_four_states_and_expiry_are_ends_of_the_documentation():
    assert len({states.ACKNOWLEDGED, states.RETRYING, states.DELETED, states.IN_DLQ, states.EXPIRED}) == 5
