"""Chaos is seeded and off by default: duplicates, shuffled order, crashes, refused sends, slow consumers; same seed, same run."""

from __future__ import annotations

import random

import pytest

from emulator import Emulator, Faults, Refused
from emulator.core import events
from emulator.engine.faults import FAULTS
from tests.emulator.helpers import fates, send, timeline
from tests.emulator.random_scenarios import Play, scenario

KINDS = list(FAULTS)


def run(seed=1, count=200, **faults):
    """A run under chaos: what was refused, and the emulator."""
    emu = Emulator(seed=seed, faults=Faults(**faults))
    emu.create_queue("jobs")
    emu.consume("jobs", lambda batch: [m.body for m in batch.messages] and None, max_batch_size=5, max_retries=5, max_concurrency=1)
    refused = 0
    for n in range(count):
        try:
            emu.queue("jobs").send(n)
        except Refused as error:
            refused += (error.code, error.status) == (10250, 429)
    emu.run_until_idle()
    emu.close()
    return refused, emu


def story(emu):
    return [events.to_json(event) for event in emu.events]


def test_without_faults_there_is_no_chaos():
    refused, emu = run()
    assert refused == 0
    assert [body for _, bodies, _ in timeline(emu) for body in bodies] == [*range(200)]
    assert {d.outcome for d in emu.deliveries} == {"ok"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_makes_the_same_chaos_and_another_one_another(kind):
    chance = {kind: 0.3}
    assert story(run(**chance)[1]) == story(run(**chance)[1])
    assert story(run(**chance)[1]) != story(run(seed=2, **chance)[1])


def test_a_duplicate_comes_again_although_it_was_acknowledged():
    _, emu = run(duplicates=0.3)
    attempts = [n for _, _, all_attempts in timeline(emu) for n in all_attempts]
    assert len(attempts) > 220
    assert fates(emu) == [(n, "acked") for n in range(200)]


def test_shuffled_messages_all_arrive():
    _, emu = run(reorder=1.0)
    bodies = [body for _, bodies, _ in timeline(emu) for body in bodies]
    assert bodies != sorted(bodies)
    assert sorted(bodies) == [*range(200)]


def test_a_crash_in_mid_batch_brings_the_whole_batch_again():
    emu = Emulator(faults=Faults(crashes=0.5), seed=3)
    emu.create_queue("jobs")
    effects = []

    def handler(batch):
        for message in batch.messages:
            effects.append(message.body)
            message.ack()

    emu.consume("jobs", handler, max_batch_size=5, max_retries=20)
    send(emu, "jobs", *range(50))
    emu.run_until_idle()
    assert {state for _, state in fates(emu)} == {"acked"}
    crashed = [d for d in emu.deliveries if d.outcome != "ok"]
    assert crashed
    assert len(effects) > len(set(effects)) == 50
    emu.close()


def test_a_refused_send_has_stored_nothing():
    refused, emu = run(refused_sends=0.3)
    assert 30 < refused < 90
    assert len(emu.fates) == 200 - refused


def test_a_slow_consumer_holds_its_batch_longer():
    _, emu = run(slow=1.0)
    assert timeline(emu)[-1][0] > 40
    assert {d.outcome for d in emu.deliveries} == {"ok"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chance", [-0.1, 1.1])
def test_a_chance_lies_between_nought_and_one(kind, chance):
    with pytest.raises(ValueError, match=kind):
        Emulator(faults=Faults(**{kind: chance}))


class Stormy(Play):
    """A random scenario under every fault at once; a refused send is an end of that send and no more."""

    def open(self):
        chance = random.Random(self.data["seed"])
        faults = Faults(slow_seconds=(1, 20), **{name: chance.choice((0.0, 0.1, 0.5)) for name in FAULTS})
        return Emulator(plan=self.data["plan"], seed=self.data["seed"], faults=faults)

    def step(self, step):
        try:
            super().step(step)
        except Refused as refused:
            if refused.code not in {10250, 15000}:
                raise

    def result(self):
        self.report = self.emu.report()
        return super().result()


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_whatever_chaos_does_every_message_is_somewhere_and_nobody_gets_it_too_often(first):
    for seed in range(first, first + 50):
        play = Stormy(scenario(seed))
        result = play.run()
        total = play.report.total
        assert total.sent + total.received == total.waiting + total.acked + total.dead_lettered + total.dropped + total.expired + total.purged
        assert total.dead_lettered == total.received
        consumers = play.data["consumers"] + [s["consumer"] for s in play.data["steps"] if s["op"] == "attach"]
        for _, queue, messages, _ in result["deliveries"]:
            allowed = 1 + max(consumer["retries"] for consumer in consumers if consumer["queue"] == queue)
            assert max(attempts for _, attempts in messages) <= allowed, (seed, queue)


@pytest.mark.parametrize("seed", range(0, 60, 6))
def test_the_same_storm_leaves_the_same_journal(seed):
    first, second = Stormy(scenario(seed)), Stormy(scenario(seed))
    first.run()
    second.run()
    assert story(first.emu) == story(second.emu)
