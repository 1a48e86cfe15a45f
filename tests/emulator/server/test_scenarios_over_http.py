"""Every scenario comes out the same over the REST API, inside a running event loop as well."""

from __future__ import annotations

import asyncio

import pytest

from tests.emulator.random_scenarios import difference
from tests.emulator.random_scenarios import scenario as random_scenario
from tests.emulator.scenario_files import FILES, departures, load
from tests.emulator.server.over_http import OverHTTP, PlayOverHTTP


@pytest.fixture(params=FILES, ids=lambda path: path.name.removesuffix(".scenario.json"))
def scenario(request):
    return load(request.param)


def test_scenario_comes_out_over_http(scenario):
    assert departures(scenario["expect"], OverHTTP(scenario).play()) == []


def test_scenario_comes_out_over_http_inside_a_running_event_loop(scenario):
    async def within():
        return OverHTTP(scenario).play()

    assert departures(scenario["expect"], asyncio.run(within())) == []


def test_scenario_comes_out_over_http_on_postgres(scenario, postgres):
    assert departures(scenario["expect"], OverHTTP(scenario, journal=postgres).play()) == []


@pytest.mark.parametrize("block", range(4))
def test_random_scenarios_come_out_over_http_as_the_model_says(block):
    for seed in range(90_000 + block * 40, 90_040 + block * 40):
        data = random_scenario(seed)
        found = difference(data, lambda data: PlayOverHTTP(data).run())
        assert found is None, f"seed {seed}: {found}\n{data}"
