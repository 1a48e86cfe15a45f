"""Consumers that are wrong in one way each are broken, with as few faults as can be; their right twins are not accused."""

from __future__ import annotations

import pytest

from emulator import explore
from tests.emulator.explore.twins import TWINS


@pytest.mark.parametrize("name", TWINS)
def test_the_wrong_one_is_broken_by_one_fault(name):
    wrong, _, invariant = TWINS[name]
    found = explore(wrong, invariant)
    assert found.found
    assert found.replay.count(":") == 1
    assert found.schedules < 100


@pytest.mark.parametrize("name", TWINS)
def test_the_right_one_is_accused_of_nothing(name):
    _, right, invariant = TWINS[name]
    nothing = explore(right, invariant, max_faults=1)
    assert (nothing.found, nothing.exhaustive) == (False, True)


@pytest.mark.parametrize("name", ["guard after effect", "ack before effect, sync"])
def test_nor_is_it_by_two_faults(name):
    _, right, invariant = TWINS[name]
    nothing = explore(right, invariant)
    assert (nothing.found, nothing.exhaustive) == (False, True)


@pytest.mark.parametrize("name", TWINS)
def test_a_replay_fails_in_the_same_way(name):
    wrong, _, invariant = TWINS[name]
    found = explore(wrong, invariant)
    again = explore(wrong, invariant, replay=found.replay)
    assert (str(again.error), again.replay, again.schedules) == (str(found.error), found.replay, 1)
