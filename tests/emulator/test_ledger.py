"""The ledger: one fold, read piece by piece or at once, whose views agree, cost what is new, and outlive their queues."""

from __future__ import annotations

from contextlib import suppress

import pytest

from emulator import Emulator, Faults, Refused
from emulator.core import commands
from emulator.engine.faults import FAULTS
from emulator.engine.ledger import message_states
from emulator.engine.ledger.ledger import Ledger
from emulator.engine.ledger.steps import DELIVERIES, ENDS, ENTRIES, RETURNS, Kind, steps
from emulator.engine.ledger.trace import Trace, timeline
from tests.emulator.helpers import calls_in
from tests.emulator.random_scenarios import Play, scenario
from tests.emulator.test_core_machine import Play as Random

SEEDS = range(3, 400, 18)


def fail(_batch):
    raise LookupError("no such customer")


def everything(ledger):
    """All that a ledger tells."""
    trace = Trace(ledger)
    return {
        "fates": ledger.records.fates(), "deliveries": ledger.records.deliveries(), "lines": list(trace), "ends": trace.ends,
        "warnings": ledger.records.warnings,
        "counts": {name: (tally.counts(name), tally.billed(), tally.retries, tally.ended) for name, tally in ledger.tallies.items()},
    }  # fmt: skip


class Asking(Play):
    """Asks for everything between two steps."""

    def step(self, step):
        super().step(step)
        self.asked = everything(self.emu.account.ledger)


# --- one fold


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_asked_for_between_all_steps_is_what_one_reading_tells(seed):
    play = Asking(scenario(seed))
    play.run()
    assert everything(play.emu.account.ledger) == everything(Ledger().follow(play.emu.events))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_ledger_that_forgets_counts_the_same(seed):
    play = Play(scenario(seed))
    play.run()
    kept, forgetful = Ledger().follow(play.emu.events), Ledger(keeps=False).follow(play.emu.events)
    for name, tally in kept.tallies.items():
        assert all(getattr(tally, field) == getattr(forgetful.tallies[name], field) for field in tally.__slots__)
    assert kept.origins == forgetful.origins
    assert not forgetful.records.rows
    assert not forgetful.records.histories
    for name, tally in forgetful.tallies.items():  # of what has ended nothing is left
        living = set(play.emu.account.state.queues[name].messages)
        assert set(tally.attempts) | set(tally.large) | tally.repeated <= living


@pytest.mark.parametrize("seed", SEEDS)
def test_the_lines_of_a_message_cut_out_of_a_journal_are_those_of_its_trace(seed):
    play = Play(scenario(seed))
    play.run()
    for fate in play.emu.fates[::7]:
        lines, first = timeline(play.emu.events, fate.id)
        assert lines == list(play.emu.trace(fate.id))
        assert first.kind is Kind.SENT


def test_nothing_is_folded_while_nobody_asks(monkeypatch):
    taken = []
    monkeypatch.setattr(Ledger, "take", lambda _ledger, event: taken.append(event))
    emu = Emulator()
    emu.create_queue("jobs").send(1)
    emu.consume("jobs", fail, max_batch_timeout=0, max_retries=0)
    emu.run_until_idle()
    emu.close()
    assert not taken


# --- law 6, and counts that go by name


@pytest.mark.parametrize("seed", range(30))
def test_every_message_that_entered_is_there_or_has_ended_once(seed):
    """Commands at random, with queues that are deleted and made anew, purged, pulled from and paused."""
    play = Random(seed, "paid")
    for name in ("a", "b", "c"):
        if name not in play.state.queues:
            play.step(commands.CreateQueue(name))
    for number in range(200):
        play.step(play.command())
        if number % 40 == 39:
            play.step(commands.DeleteQueue("a"))
            play.step(commands.CreateQueue("a"))
    ledger = Ledger().follow(play.events)
    fates = ledger.records.fates()
    counts = {name: tally.counts(name) for name, tally in ledger.tallies.items()}
    for name, row in counts.items():
        there = play.state.queues.get(name)
        assert row.waiting == (0 if there is None else len(there.messages)), name
        states = [fate.state for fate in fates if fate.queue == name]
        assert row.sent + row.received == len(states)
        assert row.waiting == states.count("waiting")
        for kind in ENDS:
            assert getattr(row, kind.name.lower()) == states.count(str(kind))
    assert sum(row.dead_lettered + row.redriven for row in counts.values()) == sum(row.received for row in counts.values()), "law 6"
    for entry in ledger.records.entries:
        kinds = [ledger.records.rows[number].step.kind for number in entry]
        assert kinds[0] in ENTRIES
        assert not ENTRIES & set(kinds[1:])
        assert not ENDS & set(kinds[:-1])


@pytest.mark.parametrize("seed", range(6))
def test_under_every_fault_what_entered_is_there_or_has_ended_once(seed):
    emu = Emulator(seed=seed, faults=Faults(**dict.fromkeys(FAULTS, 0.2)), limits="relaxed")
    pushed, pulled = emu.create_queue("pushed"), emu.create_queue("pulled")
    emu.consume("pushed", lambda batch: [m.retry() if m.body % 5 == 0 else m.ack() for m in batch.messages], max_retries=2, dead_letter_queue="dead")
    emu.consume("pulled", type="http_pull", max_retries=2, dead_letter_queue="dead")
    for number in range(40):
        for queue in (pushed, pulled):
            with suppress(Refused):
                queue.send(number)
        emu.advance(3)
        pulled.ack(acks=[m.lease_id for m in pulled.pull(visibility_timeout_ms=2_000)])
    emu.advance(600)
    report = emu.report()
    for name, row in report.queues.items():
        states = [fate.state for fate in emu.fates if fate.queue == name]
        assert row.sent + row.received == len(states)
        assert row.waiting == states.count("waiting") == len(emu.queue(name))
        steps_there = [record.step.kind for record in emu.account.ledger.records.rows if record.step.queue == name]
        assert row.retried == sum(kind in RETURNS for kind in steps_there)
        assert row.delivered == sum(kind in DELIVERIES for kind in steps_there)
    assert sum(row.dead_lettered for row in report.queues.values()) == report["dead"].received
    assert len(report.messages) == report["pushed"].sent + report["pulled"].sent
    assert {each.fault for each in report.faults if each.acted} >= {"duplicates", "crashes", "slow", "overlaps", "lost_replies", "short_leases"}
    assert all(delivery.outcome for delivery in emu.deliveries)
    assert everything(emu.account.ledger) == everything(Ledger().follow(emu.events))
    emu.close()


def test_counts_go_by_name_over_deletion_and_creation_anew():
    emu = Emulator()
    emu.create_queue("q").send(1)
    emu.delete_queue("q")
    assert (emu.report()["q"].sent, emu.report()["q"].purged, emu.report()["q"].waiting) == (1, 1, 0)
    emu.create_queue("q").send(2)
    row = emu.report()["q"]
    assert (row.sent, row.purged, row.waiting) == (2, 1, 1)
    assert [(fate.state, fate.body) for fate in emu.fates] == [("purged", 1), ("waiting", 2)]


# --- what is told


def test_a_report_and_a_trace_are_of_their_moment():
    emu = Emulator()
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", fail, max_retries=0, dead_letter_queue="dead", max_batch_timeout=0)
    id = jobs.send(1).ids[0]
    report, trace = emu.report(), emu.trace(id)
    jobs.send(2)
    emu.run_until_idle()
    emu.consume("dead", lambda _batch: None)
    assert len(emu.fates) == 4  # so that the ledger has gone on
    assert report.states == {message_states.WAITING: 1}
    assert (trace.end.state, [line.what for line in trace]) == (message_states.WAITING, ["sent"])
    assert report["jobs"].sent == 1
    assert emu.report().states == {message_states.IN_DLQ: 2}
    assert emu.report().messages[0].owner == "the consumer of dead"


def test_a_dead_letter_that_was_sent_back_waits_in_its_queue_again():
    emu = Emulator()
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", fail, max_retries=0, dead_letter_queue="dead", max_batch_timeout=0)
    id = jobs.send("x" * 70_000, content_type="text").ids[0]
    emu.run_until_idle()
    emu.account.execute(commands.Redrive("dead", "jobs", (id,)))
    end = emu.trace(id).end
    assert (end.state, end.queue, end.path, end.owner) == (message_states.WAITING, "jobs", ("jobs", "dead", "jobs"), "the consumer of jobs")
    assert [fate.state for fate in emu.fates] == ["dead-lettered", "redriven", "waiting"]
    assert [(line.what, line.attempt) for line in emu.trace(id)][-3:] == [
        ("arrived from jobs", 0), ("redriven to jobs", 0), ("redriven from dead", 0)
    ]  # fmt: skip
    assert (emu.report()["dead"].purged, emu.report()["dead"].redriven, emu.report()["jobs"].received) == (0, 1, 1)
    emu.attach(lambda _batch: None, queue="jobs")
    emu.run_until_idle()
    assert emu.trace(id).end.state == message_states.ACKNOWLEDGED
    assert emu.report().operations == {"jobs": (4, 4, 2), "dead": (2, 2, 2)}  # twice 64 KB


def test_a_lapsed_lease_is_the_reason_of_a_dead_letter():
    emu = Emulator()
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", type="http_pull", max_retries=0, dead_letter_queue="dead")
    jobs.send(1)
    jobs.pull(visibility_timeout_ms=1_000)
    emu.advance(1)
    assert [line.what for line in emu.trace()] == ["sent", "leased", "dead-lettered: its lease lapsed", "arrived from jobs"]


def test_bodies_are_decoded_once_and_lists_are_ones_own():
    emu = Emulator()
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0)
    jobs.send({"n": 1})
    emu.run_until_idle()
    emu.fates.clear()
    assert emu.fates[0].body is emu.fates[0].body
    assert emu.deliveries[0].messages[0][1] is emu.fates[0].body
    assert emu.deliveries[0].outcome == "ok"


def test_the_report_tells_which_faults_were_switched_on_and_how_often_they_acted():
    emu = Emulator(faults=Faults(duplicates=1.0, slow=1.0, refused_sends=0.001))
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", lambda _batch: None, max_retries=1, max_batch_timeout=0)
    jobs.send(1)
    emu.run_until_idle()
    report = emu.report()
    assert [(each.fault, each.chance) for each in report.faults] == [("duplicates", 1.0), ("slow", 1.0), ("refused_sends", 0.001)]
    assert [each.acted for each in report.faults][1:] == [2, 0]
    assert "slow           1       2" in str(report)
    assert report.as_dict()["faults"][1] == {"fault": "slow", "chance": 1.0, "acted": 2}
    assert Emulator().report().faults == []
    assert "Faults" not in str(Emulator().report())


def test_every_kind_of_step_is_told_of():
    """Each kind happens in some event, and the kinds are those that the counts, the ends and the trace know."""
    emu = Emulator(faults=Faults(duplicates=1.0))
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", lambda _batch: None, max_retries=1, max_batch_timeout=0)
    jobs.send(1)
    emu.run_until_idle()
    pulled = emu.create_queue("pulled")
    emu.consume("pulled", type="http_pull", max_retries=2, dead_letter_queue="dead")
    pulled.send(1)
    pulled.extend([pulled.pull(visibility_timeout_ms=1_000)[0].lease_id], 2_000)
    emu.advance(3)
    pulled.ack(retries=[pulled.pull()[0].lease_id])
    pulled.ack(retries=[pulled.pull()[0].lease_id])
    emu.create_queue("none").send(1)
    emu.advance(345_600)
    emu.create_queue("failing").send(1)
    emu.consume("failing", fail, max_retries=0, max_batch_timeout=0)
    emu.run_until_idle()
    jobs.send(1)
    jobs.purge()
    emu.queue("none").send(1)
    emu.redrive("none", to="jobs")
    assert {step.kind for event in emu.events for step in steps(event)} == set(Kind)


# --- costs


def calls_of(rounds, look):
    """How many functions are called for so many rounds of a send, a step of time and a look."""
    emu = Emulator(limits="relaxed")
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0)

    def work():
        for number in range(rounds):
            jobs.send(number)
            emu.advance(1)
            look(emu)

    return calls_in(work)


@pytest.mark.parametrize(
    "look",
    [lambda emu: emu.fates[-1], lambda emu: emu.deliveries[-1], lambda emu: emu.trace()[-1], lambda emu: emu.report()["jobs"],
     lambda emu: emu.trace(emu.fates[-1].id).end, lambda emu: emu.report().operations],
    ids=["fates", "deliveries", "trace", "report", "trace of one", "operations"],
)  # fmt: skip
def test_looking_after_every_message_costs_what_is_new(look):
    assert calls_of(400, look) < 4.4 * calls_of(100, look)
