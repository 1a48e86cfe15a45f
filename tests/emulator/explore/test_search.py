"""The search: few faults first, all of them where it says so, the same wherever it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from emulator import Emulator, explore
from emulator.explore import SetupFailed, no_message_lost
from tests.emulator.explore import twins
from tests.emulator.explore.twins import Bank, charged_once

ROOT = Path(__file__).resolve().parents[3]


def test_a_failure_takes_as_few_faults_as_can_be():
    assert explore(twins.only_after_two, charged_once, max_faults=1).exhaustive
    found = explore(twins.only_after_two, charged_once, max_faults=2)
    assert (found.faults, found.replay.count(":")) == (2, 2)


def test_what_fails_without_any_fault_is_told_so():
    def never(_bank):
        raise AssertionError("never")

    found = explore(twins.only_after_two, never)
    assert (found.replay, found.faults, found.schedules) == ("", 0, 1)
    assert "broken without any fault" in str(found)


def test_all_schedules_are_those_of_every_number_of_deviations():
    """Counted by hand from the choices of every run."""
    from emulator.explore.schedule import Schedule
    from emulator.explore.world import World

    world = World(twins.key_of_the_table, [charged_once])

    def count(prefix, left):
        points = world.run(Schedule(prefix)).schedule.points
        numbers = [number for number, _, _ in points]
        start = numbers.index(prefix[-1][0]) + 1 if prefix else 0
        below = [(number, value) for number, n, _ in points[start:] for value in range(1, n)]
        return 1 + sum(count((*prefix, each), left - 1) for each in below) if left else 1

    for faults in (0, 1, 2):
        nothing = explore(twins.key_of_the_table, charged_once, max_faults=faults)
        assert (nothing.schedules, nothing.exhaustive) == (count((), faults), True)


def test_a_budget_ends_the_search_and_says_that_it_is_not_all():
    nothing = explore(twins.take_then_act, charged_once, schedules=60)
    assert not nothing.exhaustive
    assert 60 <= nothing.schedules <= 150
    assert explore(twins.take_then_act, charged_once, seconds=0.0).exhaustive is False


def test_random_schedules_follow_where_all_are_too_many_and_what_they_find_is_shrunk():
    found = explore(twins.only_after_two, charged_once, schedules=30)
    assert not found.found or found.faults == 2
    many = explore(twins.only_after_two, charged_once, max_faults=2, schedules=400)
    assert many.faults == 2


def test_progress_is_told():
    heard = []
    explore(twins.key_of_the_table, charged_once, progress=lambda schedules, seconds: heard.append((schedules, seconds)))
    assert heard == sorted(heard)
    assert heard[-1][0] >= 200


def test_ctrl_c_says_what_was_covered():
    runs = []

    def setup(emu):
        runs.append(emu)
        if len(runs) == 40:
            raise KeyboardInterrupt
        return twins.key_of_the_table(emu)

    with pytest.raises(KeyboardInterrupt) as stopped:
        explore(setup, charged_once)
    assert "schedules" in stopped.value.__notes__[0]
    assert "crashes_at_end" in stopped.value.__notes__[0]


def test_a_world_that_cannot_be_made_is_no_failure_of_its_consumer():
    with pytest.raises(SetupFailed) as failed:
        explore(lambda emu: emu.queue("nowhere"), charged_once)
    assert "nowhere" in str(failed.value.__cause__)


@pytest.mark.parametrize(("wrong", "said"), [
    ({"max_faults": -1}, "count"), ({"schedules": 0}, "count"), ({"replay": "x"}, "expected choices and alternatives"),
    ({"replay": "999:1"}, "does not fit"),
])  # fmt: skip
def test_arguments_that_do_not_fit_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        explore(twins.only_after_two, charged_once, **wrong)


def test_a_setup_may_make_its_emulator_itself_and_be_async():
    async def setup():
        emu = Emulator(plan="free")
        bank = twins.no_guard(emu)
        return emu, bank

    async def holds(emu, bank):
        assert emu.plan == "free"
        charged_once(bank)

    assert explore(setup, holds).found


def test_processes_find_the_same():
    one = explore(twins.key_of_the_table, charged_once)
    two = explore(twins.key_of_the_table, charged_once, workers=2)
    assert two.as_dict() == one.as_dict()
    broken, again = explore(twins.only_after_two, charged_once), explore(twins.only_after_two, charged_once, workers=2)
    assert again.as_dict() == broken.as_dict()


@pytest.mark.parametrize("hash_seed", ["1", "77"])
def test_a_replay_fails_in_the_same_way_in_another_process(hash_seed):
    broken = {name: explore(TWIN[0], TWIN[2]) for name, TWIN in twins.TWINS.items()}
    code = (
        "from emulator import explore\nfrom tests.emulator.explore.twins import TWINS\nimport sys\n"
        "for name, replay in zip(TWINS, sys.argv[1:], strict=True):\n"
        "    found = explore(TWINS[name][0], TWINS[name][2], replay=replay)\n    print(repr((name, str(found.error), found.story)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *(each.replay for each in broken.values())],
        cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == [repr((name, str(each.error), each.story)) for name, each in broken.items()]


def test_a_handler_that_never_stops_sending_has_no_end():
    def setup(emu):
        loop = emu.create_queue("loop")
        emu.consume("loop", lambda batch: [loop.send(message.body) for message in batch.messages], max_batch_timeout=0)
        loop.send(1)

    found = explore(setup, no_message_lost)
    assert "without end" in str(found.error)


def test_a_user_s_functions_are_as_before_afterwards():
    code = twins.guard_after_effect.__code__, Bank.charge.__code__
    explore(twins.guard_after_effect, charged_once)
    assert (twins.guard_after_effect.__code__, Bank.charge.__code__) == code


def test_a_run_leaves_nothing_behind():
    import gc

    from emulator.testing.emulator import Emulator as Made

    before = sum(type(each) is Made for each in gc.get_objects())
    explore(twins.guard_with_effect, charged_once, max_faults=1)
    explore(twins.check_then_act, charged_once, replay="5:1")
    gc.collect()
    assert sum(type(each) is Made for each in gc.get_objects()) <= before + 1
