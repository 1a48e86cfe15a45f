"""The invariants that are ready to use: each holds for what is right, and says what is wrong."""

from __future__ import annotations

import asyncio

import pytest

from emulator import explore
from emulator.explore import at_most_once, converges, every_message_ends, in_order, no_message_lost, same_end_state
from tests.emulator.explore.twins import Bank, d1_worker, kv_worker, no_guard, payments


def mailing(emu):
    class Mail:
        async def send(self, to):
            return f"a mail to {to}"

    emu.env.MAIL = Mail()

    async def handle(batch, env):
        for message in batch.messages:
            await env.MAIL.send(message.body["key"])
            message.ack()

    payments(emu, handle)


def harmless(emu):
    def handle(batch):
        for message in batch.messages:
            message.ack()

    payments(emu, handle)
    return []


@pytest.mark.parametrize(("setup", "of", "said"), [
    (kv_worker("guard_after_effect"), "POST /charge", "POST /charge 'k0' (2 times)"),
    (d1_worker("row_then_guard"), "D1 INSERT INTO payments", "D1 INSERT INTO payments (key) VALUES ('k0') (2 times)"),
    (mailing, "MAIL.send", "MAIL.send('k0') (2 times)"),
    (no_guard, lambda bank: bank.charges, "'k0' (2 times)"),
])  # fmt: skip
def test_an_effect_happens_at_most_once(setup, of, said):
    assert str(explore(setup, at_most_once(of)).error) == f"more than once: {said}"


def test_what_happens_once_is_no_fault():
    assert explore(d1_worker("row_with_guard"), at_most_once(lambda rows: rows.charges), max_faults=1).exhaustive


def test_a_message_that_is_deleted_is_lost():
    def setup(emu):
        payments(emu, lambda batch: batch.ackAll(), max_retries=0)

    found = explore(setup, no_message_lost)
    assert str(found.error) == "lost: {'key': 'k0'} (dropped)"


def test_a_message_that_is_dead_lettered_is_not():
    def setup(emu):
        payments(emu, lambda batch: batch.ackAll(), max_retries=0, dead_letter_queue="dead")

    assert explore(setup, [no_message_lost, every_message_ends], max_faults=1).exhaustive


def test_a_message_ends_somewhere():
    def setup(emu):
        payments(emu, lambda batch: batch.ackAll())
        emu.queue("payments").pause()

    assert str(explore(setup, every_message_ends).error).startswith("neither acknowledged nor dead-lettered: {'key': 'k0'} in pay")


def test_messages_of_a_key_are_done_in_order():
    def setup(emu, **settings):
        payments(emu, lambda batch: batch.ackAll(), ("k0", "k1", "k0"), max_batch_size=1, **settings)

    found = explore(setup, in_order("key"))
    assert str(found.error) == "out of order: of 'k0', a message was done after one that was sent later"
    assert explore(lambda emu: payments(emu, lambda batch: batch.ackAll(), ("a", "b")), in_order(lambda body: body["key"]), max_faults=1).exhaustive


def test_the_end_state_is_the_same_as_without_faults():
    def adding(emu):
        total = {}

        def handle(batch):
            for message in batch.messages:
                total[message.body["key"]] = total.get(message.body["key"], 0) + 1

        payments(emu, handle)
        return total

    assert str(explore(adding, same_end_state(dict)).error) == "another end state: {'k0': 2}, and without faults {'k0': 1}"
    assert explore(harmless, same_end_state(list), max_faults=1).exhaustive


def test_all_is_done_some_time_after_the_last_fault():
    def setup(emu):
        payments(emu, lambda batch: batch.ackAll(), retry_delay=300)

    found = explore(setup, converges(60))
    assert str(found.error) == "it took 300 seconds after the last fault, not 60"
    assert explore(setup, converges(1_200), max_faults=1).exhaustive


def test_an_invariant_may_be_asked_after_every_step():
    def setup(emu):
        bank = Bank()

        async def handle(_batch):
            bank.charges += ["reserved"]
            await asyncio.sleep(5)
            bank.charges.remove("reserved")

        payments(emu, handle)
        return bank

    def settled(bank):
        assert bank.charges == []

    assert explore(setup, settled, max_faults=0).exhaustive
    assert explore(setup, settled, max_faults=0, each_step=True).found
