"""The four misreadings of a queue go wrong on the emulator, and the right form of the same consumer holds.

One: the producer got its answer, so the work is done. Two: three retries make it succeed. Three: with a dead-letter queue
nothing is lost. Four: at least once is about once.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from emulator import Emulator
from fixtures.consumers.backoff import delay_seconds, is_permanent
from fixtures.consumers.email import DeadMail, Mail, Signup
from fixtures.consumers.email_misread import (
    MailThatAcknowledgesFirst,
    MailThatBelievesInThreeRetries,
    MailThatSwallowsErrors,
    SignupThatBelievesSend,
)
from fixtures.consumers.payment import Ledger, Payments, Shop
from fixtures.consumers.payment_misread import PaymentsWithKeyOfTheirOwn, PaymentsWithoutKey, Till

HOUR = 3600
DAY = 86_400


class Provider:
    """A mail provider that is down until a moment, refuses some addresses, and knows keys."""

    def __init__(self, emu, up_after=0, refuses=()):
        self.emu, self.start, self.up_after, self.refuses = emu, emu.now, up_after, refuses
        self.sent: list[str] = []
        self.keys: set[str] = set()

    async def send(self, to, key):
        if (self.emu.now - self.start).total_seconds() < self.up_after:
            raise ConnectionError("503 temporarily unavailable")
        if to in self.refuses:
            raise ValueError("400 invalid format")
        if key is None or key not in self.keys:
            self.sent.append(to)
            self.keys.add(key)


@pytest.fixture
def emu():
    emulator = Emulator()
    yield emulator
    emulator.close()


def crash_once():
    """What happens once, between the effect and the ack()."""
    crashed = []

    def crash(message):
        if not crashed:
            crashed.append(message.id)
            raise RuntimeError("the Worker died here")

    return crash


def states(emu, queue):
    return [fate.state for fate in emu.fates if fate.queue == queue]


# --- one: the producer got its answer, so the work is done


def test_misreading_one_a_mail_is_called_sent_that_nobody_ever_sent(emu):
    provider, records = Provider(emu, up_after=30 * DAY), {}
    mail = emu.create_queue("mail")
    emu.consume("mail", MailThatBelievesInThreeRetries(provider).queue)
    SignupThatBelievesSend(mail, records).welcome("ann@example.com")
    emu.run_until_idle()
    assert records == {"ann@example.com": "sent"}
    assert provider.sent == []
    assert states(emu, "mail") == ["dropped"]


def test_right_form_of_one_records_what_each_step_proves(emu):
    provider, records = Provider(emu, up_after=HOUR), {}
    signup = Signup(emu.create_queue("mail"), records)
    emu.consume("mail", Mail(provider, records).queue, max_retries=8)
    signup.welcome("ann@example.com")
    assert records == {"ann@example.com": "queued"}
    emu.advance(60)
    assert signup.not_sent() == ["ann@example.com"]
    emu.run_until_idle()
    assert records == {"ann@example.com": "sent"}
    assert signup.not_sent() == []


def test_an_error_that_is_swallowed_counts_as_success(emu):
    consumer = MailThatSwallowsErrors(Provider(emu, up_after=HOUR))
    emu.create_queue("mail").send({"to": "ann@example.com"})
    emu.consume("mail", consumer.queue)
    emu.run_until_idle()
    assert consumer.log == ["503 temporarily unavailable"]
    assert consumer.provider.sent == []
    assert states(emu, "mail") == ["acked"]


# --- two: three retries make it succeed


def test_misreading_two_four_attempts_are_over_before_the_provider_is_back(emu):
    provider = Provider(emu, up_after=HOUR)
    emu.create_queue("mail").send({"to": "ann@example.com"})
    emu.consume("mail", MailThatBelievesInThreeRetries(provider).queue)
    emu.advance(2 * HOUR)
    assert [messages[0][2] for messages in (d.messages for d in emu.deliveries)] == [1, 2, 3, 4]
    assert (emu.deliveries[-1].at - provider.start).total_seconds() == 20
    assert provider.sent == []
    assert states(emu, "mail") == ["dropped"]


def test_right_form_of_two_waits_longer_each_time_and_keeps_what_still_failed(emu):
    provider, records = Provider(emu, up_after=HOUR), {}
    mail = emu.create_queue("mail")
    emu.consume("mail", Mail(provider, records).queue, max_retries=8, max_batch_timeout=0, dead_letter_queue="mail-dead")
    Signup(mail, records).welcome("ann@example.com")
    emu.run_until_idle()
    moments = [round((d.at - provider.start).total_seconds()) for d in emu.deliveries]
    assert moments == [0, 30, 90, 210, 450, 930, 1890, 3810]
    assert provider.sent == ["ann@example.com"]


def test_what_can_never_work_is_not_tried_again(emu):
    provider, records = Provider(emu, refuses=("nobody",)), {}
    mail = emu.create_queue("mail")
    emu.consume("mail", Mail(provider, records).queue)
    Signup(mail, records).welcome("nobody")
    emu.run_until_idle()
    assert len(emu.deliveries) == 1
    assert records == {"nobody": "refused: 400 invalid format"}


# --- three: with a dead-letter queue nothing is lost


@pytest.mark.parametrize(("plan", "days"), [("paid", 4), ("free", 1)])
def test_misreading_three_a_dead_letter_queue_that_nobody_reads_forgets(plan, days):
    emu = Emulator(plan=plan)
    emu.create_queue("mail").send({"to": "ann@example.com"})
    emu.consume(
        "mail", MailThatBelievesInThreeRetries(Provider(emu, up_after=30 * DAY)).queue,
        max_batch_timeout=0, dead_letter_queue="mail-dead",
    )
    emu.advance(days * DAY - 1)
    assert emu.queue("mail-dead").bodies() == [{"to": "ann@example.com"}]
    emu.advance(1)
    assert emu.queue("mail-dead").bodies() == []
    assert states(emu, "mail") == ["dead-lettered"]
    assert states(emu, "mail-dead") == ["expired"]
    emu.close()


def test_right_form_of_three_gives_the_dead_letter_queue_a_consumer_that_tells_somebody(emu):
    provider, records, alarms = Provider(emu, up_after=30 * DAY), {}, []
    dead = DeadMail(records, alarms)
    mail = emu.create_queue("mail")
    emu.consume("mail", Mail(provider, records).queue, max_retries=2, dead_letter_queue="mail-dead")
    emu.consume("mail-dead", dead.queue)
    Signup(mail, records).welcome("ann@example.com")
    emu.advance(30 * DAY)
    assert alarms == ["mail to ann@example.com was given up"]
    assert records == {"ann@example.com": "given up"}
    mail.send(dead.kept.pop())
    emu.advance(5)
    assert records == {"ann@example.com": "sent"}


# --- four: at least once is about once


@pytest.mark.parametrize("kind", [PaymentsWithoutKey, PaymentsWithKeyOfTheirOwn])
def test_misreading_four_a_crash_after_the_charge_charges_twice(emu, kind):
    till = Till()
    shop = Shop(emu.create_queue("payments"))
    emu.consume("payments", kind(till, crash_once()).queue)
    shop.order("ann", 30)
    emu.run_until_idle()
    assert till.taken == {"ann": 60}


def test_right_form_of_four_charges_once_for_the_producers_key(emu):
    ledger = Ledger()
    shop = Shop(emu.create_queue("payments"))
    emu.consume("payments", Payments(ledger, crash_once()).queue)
    shop.order("ann", 30)
    shop.order("ann", 12)
    emu.run_until_idle()
    assert ledger.charged("ann") == 42
    assert ledger.duplicates == 1
    ledger.close()


# --- where the ack() stands


def failing_eighth(provider):
    """A provider that fails once, at the eighth address."""
    send, failed = provider.send, []

    async def once(to, key):
        if to == "user7" and not failed:
            failed.append(to)
            raise ConnectionError("timeout")
        await send(to, key)

    provider.send = once
    return provider


def test_when_the_eighth_of_ten_fails_and_nothing_is_acknowledged_seven_people_get_two_mails(emu):
    provider = failing_eighth(Provider(emu))
    emu.create_queue("mail").send_batch([{"body": {"to": f"user{n}"}} for n in range(10)])
    emu.consume("mail", MailThatBelievesInThreeRetries(provider).queue)
    emu.run_until_idle()
    assert [len(d.messages) for d in emu.deliveries] == [10, 10]
    assert sorted(provider.sent) == sorted([f"user{n}" for n in range(10)] + [f"user{n}" for n in range(7)])


def test_with_an_ack_after_each_mail_only_the_eighth_comes_back(emu):
    provider, records = failing_eighth(Provider(emu)), {}
    signup = Signup(emu.create_queue("mail"), records)
    emu.consume("mail", Mail(provider, records).queue)
    for n in range(10):
        signup.welcome(f"user{n}")
    emu.run_until_idle()
    assert [len(d.messages) for d in emu.deliveries] == [10, 1]
    assert sorted(provider.sent) == [f"user{n}" for n in range(10)]


def test_an_ack_before_the_mail_loses_the_mail(emu):
    provider = failing_eighth(Provider(emu))
    emu.create_queue("mail").send_batch([{"body": {"to": f"user{n}"}} for n in range(10)])
    emu.consume("mail", MailThatAcknowledgesFirst(provider).queue)
    emu.run_until_idle()
    assert "user7" not in provider.sent
    assert states(emu, "mail") == ["acked"] * 10


# --- backoff


def test_delays_double_spread_and_end_at_a_day():
    timeout = ConnectionError("timeout")
    assert [delay_seconds(attempts, timeout) for attempts in (1, 2, 3, 4)] == [30, 60, 120, 240]
    assert delay_seconds(1, ConnectionError("429 Too Many Requests")) == 60
    assert delay_seconds(30, timeout) == DAY
    chance = random.Random(0)
    spread = {delay_seconds(1, timeout, chance=chance) for _ in range(200)}
    assert len(spread) > 5
    assert 22 <= min(spread) <= max(spread) <= 38


@pytest.mark.parametrize("text", ["400 Bad Request", "404", "unsupported media", "Invalid format"])
def test_a_clients_error_is_permanent(text):
    assert is_permanent(ValueError(text))
    assert not is_permanent(ConnectionError("500 Internal Server Error"))


def test_the_examples_wrangler_file_builds_their_queues():
    emu = Emulator.from_wrangler(Path(__file__).parents[2] / "fixtures" / "consumers" / "wrangler.jsonc")
    records, alarms = {}, []
    emu.attach(Mail(Provider(emu, up_after=DAY), records).queue, queue="mail")
    emu.attach(DeadMail(records, alarms).queue, queue="mail-dead")
    emu.queue("mail").send({"key": "k", "to": "ann@example.com"})
    emu.run_until_idle()
    assert alarms == ["mail to ann@example.com was given up"]
    emu.close()
