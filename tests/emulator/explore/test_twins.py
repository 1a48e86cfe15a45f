"""Consumers that are wrong in one way each are broken, with as few faults as can be; their right twins are not accused."""

from __future__ import annotations

import pytest

from emulator import explore
from tests.emulator.explore.twins import TWINS, Store, charged_once, payments


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


def guard_as_long_as_the_retries(emu):
    """Two faults may make it a minute later each, and no more."""
    store = Store(emu)

    async def handle(batch):
        for message in batch.messages:
            await store.charge_once(message.body["key"], ttl=4 * 300 + 121)
            message.ack()

    payments(emu, handle, ("k0",), retry_delay=300, max_retries=4)
    return store


def test_a_message_comes_again_no_later_than_its_retries_take():
    """Also where its acknowledgement gets lost twice."""
    nothing = explore(guard_as_long_as_the_retries, charged_once)
    assert (nothing.found, nothing.exhaustive) == (False, True)


@pytest.mark.parametrize("name", TWINS)
def test_a_replay_fails_in_the_same_way(name):
    wrong, _, invariant = TWINS[name]
    found = explore(wrong, invariant)
    again = explore(wrong, invariant, replay=found.replay)
    assert (str(again.error), again.replay, again.schedules) == (str(found.error), found.replay, 1)
