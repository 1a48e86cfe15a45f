"""What is found is made short: few deviations, few messages, short delays; whatever is written of it is of the short one."""

from __future__ import annotations

import pytest

from emulator import explore
from emulator.explore import no_message_lost, same_end_state
from emulator.explore.schedule import Replay
from emulator.explore.shrink import shrunk
from emulator.explore.world import World
from tests.emulator.explore.twins import charged, charged_once, guard_after_effect, no_guard, payments

MANY = ("a", "b", "twice", "c", "d", "twice", "e")


def only_together(emu):
    """Charges twice what is there twice, where the two come in one batch and the first delivery is lost."""
    charges = []

    def handle(batch):
        for message in batch.messages:
            key = message.body["key"]
            if key not in charges or (key == "twice" and batch.messages[0].attempts > 1 and charges.count(key) < 2):
                charges.append(key)

    payments(emu, handle, MANY)
    return Charges(charges)


class Charges:
    def __init__(self, charges):
        self.charges = charges


def test_messages_that_have_nothing_to_do_with_it_are_left_out():
    found = explore(only_together, charged_once)
    assert str(found.error) == "charged twice: twice"
    assert Replay.of(found.replay).without == (1, 2, 4, 5, 6, 7)
    assert "6 of 7 messages left out" in str(found)
    assert found.story.splitlines()[0] == "1. twice is delivered"
    again = explore(only_together, charged_once, replay=found.replay)
    assert (str(again.error), again.story, again.replay) == (str(found.error), found.story, found.replay)
    assert f"replay={found.replay!r}" in found.test()
    assert found.page().count("<rect") == 2


def test_two_messages_stay_where_it_takes_two():
    """An order is only wrong between two."""

    def setup(emu):
        seen = []
        payments(emu, lambda batch: seen.extend(message.body["key"] for message in batch.messages), MANY, max_batch_size=1)
        return seen

    def c_before_d(seen):
        assert "c" not in seen or "d" not in seen or seen.index("c") < seen.index("d")

    found = explore(setup, c_before_d)
    assert Replay.of(found.replay).without == (1, 2, 3, 6, 7)
    assert found.faults == 1


def test_a_message_that_the_invariant_expects_stays():
    """Without it the invariant is broken, but not by the fault."""

    def setup(emu):
        done = []

        def handle(batch):
            for message in batch.messages:
                message.ack()
                done.append(message.body["key"])

        payments(emu, handle)
        return Charges(done)

    found = explore(setup, charged)
    assert "never charged" in str(found.error)
    assert "without" not in found.replay


def test_at_least_one_message_stays():
    def never(_charges):
        raise AssertionError("never")

    assert explore(no_guard, never).replay == "without=2"


def test_what_is_compared_with_the_ordinary_course_is_compared_with_that_without_the_message():
    def setup(emu):
        total = {}

        def handle(batch):
            for message in batch.messages:
                total[message.body["key"]] = total.get(message.body["key"], 0) + 1

        payments(emu, handle, ("a", "b", "c"))
        return total

    found = explore(setup, same_end_state(dict))
    assert str(found.error) == "another end state: {'a': 2}, and without faults {'a': 1}"
    assert Replay.of(found.replay).without == (2, 3)


def test_messages_of_a_batch_are_left_out_one_by_one():
    def setup(emu):
        jobs = emu.create_queue("jobs")
        emu.consume("jobs", lambda batch: batch.retryAll(), max_batch_timeout=0, max_retries=0)
        jobs.send_batch([{"body": name} for name in ("a", "b", "c")])

    found = explore(setup, no_message_lost)
    assert found.replay in {"without=2+3", ""}  # without a fault the same words have to be said
    world = World(setup, [no_message_lost])
    run = world.run(Replay((), (1, 3)).schedule())
    assert run.emulator.fates[0].body == "b"
    assert (run.schedule.sent, len(run.emulator.fates)) == (3, 1)


def test_a_delay_becomes_as_short_as_it_can_be():
    """A minute late where a second is enough."""

    def in_time(emu):
        assert (emu.now.minute, emu.now.second) == (0, 0), "late"

    world = World(guard_after_effect, [in_time])
    points = world.run(Replay().schedule()).schedule.points
    late = [number for number, _, label in points if label == "late_answers"]
    error = world.run(Replay(((late[0], 2), (late[1], 2))).schedule()).error
    replay, _ = shrunk(world, Replay(((late[0], 2), (late[1], 2))), error)
    assert [value for _, value in replay.deviations] == [1]


@pytest.mark.parametrize("text", ["", "2:3", "2:3,t0:1", "without=1", "4:1,without=1+3", "0:2,t3:1,without=2"])
def test_a_replay_is_read_as_it_was_written(text):
    assert str(Replay.of(text)) == text


@pytest.mark.parametrize("text", ["without=", "without=x", "without=1,without=y", "2", "2:x", "without"])
def test_what_is_no_replay_is_refused(text):
    with pytest.raises(ValueError, match="expected choices and alternatives"):
        Replay.of(text)


def test_a_message_that_nobody_sends_does_not_fit():
    with pytest.raises(ValueError, match="2 messages are sent"):
        explore(no_guard, charged_once, replay="4:1,without=3")
