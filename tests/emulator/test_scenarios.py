"""Every scenario comes out the same over every face of the emulator."""

from __future__ import annotations

import asyncio

import pytest

from tests.emulator.faces import AsyncHandlers, BehindURL, Reopened
from tests.emulator.scenario_files import FILES, Player, departures, load


@pytest.fixture(params=FILES, ids=lambda path: path.name.removesuffix(".scenario.json"))
def scenario(request):
    return load(request.param)


def test_scenario_comes_out_in_process(scenario):
    assert departures(scenario["expect"], Player(scenario).play()) == []


def test_scenario_comes_out_with_async_handlers(scenario):
    assert departures(scenario["expect"], AsyncHandlers(scenario).play()) == []


def test_scenario_comes_out_with_its_handlers_behind_a_url(scenario):
    assert departures(scenario["expect"], BehindURL(scenario).play()) == []


def test_scenario_comes_out_inside_a_running_event_loop(scenario):
    async def within() -> dict:
        return Player(scenario).play()

    assert departures(scenario["expect"], asyncio.run(within())) == []


def test_scenario_comes_out_inside_a_running_event_loop_with_async_handlers(scenario):
    async def within() -> dict:
        return AsyncHandlers(scenario).play()

    assert departures(scenario["expect"], asyncio.run(within())) == []


def test_scenario_comes_out_with_the_store_reopened_between_every_two_steps(scenario, store):
    player = Reopened(scenario, journal=store)
    assert departures(scenario["expect"], player.play()) == []
    assert player.reopened >= len(scenario["steps"])
