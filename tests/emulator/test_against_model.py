"""Two people who read the same rules get the same timeline: the emulator against `model.py`, delivery by delivery."""

from __future__ import annotations

import asyncio
import json
import os

import pytest

from tests.emulator.faces import ReopenedPlay
from tests.emulator.random_scenarios import Play, difference, play_model, scenario, shrink

COUNT = int(os.environ.get("EMULATOR_SCENARIOS", "2000"))
CHUNK = 100


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_emulator_and_model_agree_on_every_delivery_and_fate(first):
    for seed in range(first, min(first + CHUNK, COUNT)):
        found = difference(scenario(seed))
        if found:
            small = shrink(scenario(seed))
            pytest.fail(f"seed {seed}: {found}\nsmallest: {difference(small)}\n{json.dumps(small)}")


def takes_time(data):
    consumers = data["consumers"] + [s["consumer"] for s in data["steps"] if s["op"] == "attach"]
    return any(act.get("takes") or act.get("until") for consumer in consumers for act in consumer["script"])


@pytest.mark.parametrize("seed", [seed for seed in range(120) if not takes_time(scenario(seed))][:40])
def test_emulator_and_model_agree_with_the_store_reopened_between_every_two_steps(seed, tmp_path):
    journals = iter(range(10**6))
    assert difference(scenario(seed), lambda data: ReopenedPlay(data, tmp_path / f"{next(journals)}.db").run()) is None


@pytest.mark.parametrize("seed", range(40))
def test_emulator_and_model_agree_with_async_handlers_inside_a_running_loop(seed):
    async def within():
        return difference(scenario(seed), lambda data: Play(data, asynchronous=True).run())

    assert asyncio.run(within()) is None


def test_random_scenarios_reach_everything_that_can_become_of_a_message():
    states, pulls, refused, dead, deep = set(), 0, 0, 0, 0
    for seed in range(200):
        result = play_model(scenario(seed))
        states |= {state for _, _, state, _, _ in result["fates"]}
        pulls += sum(1 for p in result["pulls"] if p and p != "refused")
        refused += result["pulls"].count("refused")
        deep += sum(attempts == 4 for _, _, messages in (d[:3] for d in result["deliveries"]) for _, attempts in messages)
        dead += len(result["fates"]) - len({body for body, *_ in result["fates"]})
    assert states == {"waiting", "acked", "dead-lettered", "dropped", "expired", "purged"}
    assert min(pulls, refused, dead, deep) >= 10
