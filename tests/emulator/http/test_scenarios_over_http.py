"""Every scenario comes out the same over the REST API, inside a running event loop as well."""

from __future__ import annotations

import asyncio

import pytest

from tests.emulator.http.over_http import OverHTTP
from tests.emulator.scenario_files import FILES, departures, load


@pytest.fixture(params=FILES, ids=lambda path: path.name.removesuffix(".scenario.json"))
def scenario(request):
    return load(request.param)


def test_scenario_comes_out_over_http(scenario):
    assert departures(scenario["expect"], OverHTTP(scenario).play()) == []


def test_scenario_comes_out_over_http_inside_a_running_event_loop(scenario):
    async def within():
        return OverHTTP(scenario).play()

    assert departures(scenario["expect"], asyncio.run(within())) == []
