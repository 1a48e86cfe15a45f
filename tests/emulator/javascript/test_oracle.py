"""Our scenarios over workerd's own queues: the same deliveries at the same moments, but for what stands in DIFFERENCES.

docs/emulator/fidelity.md shows the table. What workerd's queues do not have at all is not played: pulls, pauses, purges.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulator.scenario_files import FILES, load

from .oracle import ours, theirs

PAGE = Path(__file__).resolve().parents[3] / "docs" / "emulator" / "fidelity.md"
JOBS = {"queue": "jobs", "max_batch_timeout": 0}


def sends(*moments, **options):
    """Steps that send "a", "b" and so on, each at its moment."""
    return [{"t": t, "op": "send", "queue": "jobs", "body": "abcdefgh"[n], **options} for n, t in enumerate(moments)]


OWN = [
    {"id": "retry waits for the batch", "consumers": [{"queue": "jobs", "max_batch_timeout": 5, "script": [["retryAll@10"]]}],
     "steps": sends(0), "looks": [15.5], "until": 60},
    {"id": "a dead letter's age", "consumers": [
        {**JOBS, "max_retries": 1, "dead_letter_queue": "dead", "script": [["retryAll@86400"], ["throw"]]}],
     "steps": sends(0), "until": 4 * 86_400 + 60, "queues": {"dead": {}}},
    {"id": "delays of a batch", "consumers": [JOBS], "until": 60, "steps": [
        {"t": 0, "op": "send_batch", "queue": "jobs", "delay_seconds": 20, "messages": [{"body": "a"}, {"body": "b", "delay_seconds": 3}]}]},
    {"id": "retry of one, throw of the rest", "consumers": [{**JOBS, "retry_delay": 7, "script": [["ack:a", "retry:b@3", "throw"]]}],
     "steps": [{"t": 0, "op": "send_batch", "queue": "jobs", "messages": [{"body": each} for each in "abc"]}], "until": 60},
    {"id": "retryAll after ackAll", "consumers": [{**JOBS, "script": [["ackAll", "retryAll@5"]]}], "steps": sends(0), "until": 60},
    {"id": "ackAll, then throw", "consumers": [{**JOBS, "script": [["ackAll", "throw"]]}], "steps": sends(0), "until": 60},
    {"id": "a dead letter is consumed", "until": 60, "steps": sends(0), "consumers": [
        {**JOBS, "max_retries": 0, "dead_letter_queue": "dead", "then": ["throw"]}, {"queue": "dead", "max_batch_timeout": 2}]},
    {"id": "the wait of the oldest", "consumers": [{"queue": "jobs", "max_batch_size": 3, "max_batch_timeout": 10}],
     "steps": sends(0, 4, 12, 12, 13), "until": 60},
    {"id": "four days and gone", "queues": {"jobs": {}}, "steps": sends(0, 86_400), "until": 4 * 86_400 + 5},
]  # fmt: skip
"""Scenarios beside those of the files, for what these do not ask."""
UNKNOWN_THERE = {
    "C111": "a queue has no settings there, so no delivery delay of its own",
    "C115": "a consumer is attached later, and there the configuration is all there is",
    "C145": "it is about environments of a wrangler file",
}
"""Scenarios that are not played, because workerd's queues do not claim what they are about."""
DIFFERENCES = {
    "retry waits for the batch": {"deliveries": [(5.0, "jobs", ["a"], [1]), (15.5, "jobs", ["a"], [2])]},
    "a dead letter's age": {"left": {}},
}
"""What comes of a scenario there instead. Who is right, and why, stands in the table of the documentation."""
REFUSED_AS = {"C128", "C129"}
"""Scenarios with refusals, which workerd's queues tell without a code."""


def plays(scenario):
    """Whether workerd's queues claim what a scenario is about."""
    pulls = any(row.get("type") == "http_pull" for row in scenario.get("consumers", []))
    return not pulls and scenario["id"] not in UNKNOWN_THERE and {step["op"] for step in scenario["steps"]} <= {"send", "send_batch"}


SCENARIOS = [each for each in [*map(load, FILES), *OWN] if plays(each)]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each["id"])
def test_workerd_s_own_queues_deliver_the_same(tools, tmp_path, scenario):
    player, expected = ours(scenario)
    expected |= DIFFERENCES.get(scenario["id"], {})
    found, errors = theirs(tools, tmp_path, scenario, player, expected)
    assert found == expected
    assert errors == ({"Error: Unknown Internal Error (15000)"} if scenario["id"] in REFUSED_AS else set())


def test_every_difference_is_in_the_documentation():
    table = PAGE.read_text(encoding="utf-8").partition("## Beside workerd's own queues\n")[2].partition("\n## ")[0]
    rows = {name for row in table.splitlines() if row.startswith("| ") for name in row.split(" | ")[0].removeprefix("| ").split(", ")}
    assert rows == {"scenario", *DIFFERENCES, *REFUSED_AS}
    for name, why in UNKNOWN_THERE.items():
        assert f"{name}: {why}" in table
