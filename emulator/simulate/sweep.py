"""Many runs: every combination of the values that are swept, on all cores, with results kept as they come.

Results are lines of JSON in a file, each under a hash of everything that it depends on; a line that was cut off is ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
from importlib.metadata import version as version_of
from itertools import product
from typing import TYPE_CHECKING, Any

from emulator.pool.processes import cores, processes
from emulator.simulate import exact_run as exact
from emulator.simulate.by_count import run as batched
from emulator.simulate.output.report import BATCHED, EXACT, report
from emulator.simulate.settings import with_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from emulator.pool.processes import Pool
    from emulator.simulate.scenario import Scenario
    from emulator.simulate.settings import Value

_ENGINE = 4
"""Raised when the same scenario would give another result."""
EXACT_MESSAGES = 20_000
"""Loads of no more messages than this are run exactly unless somebody says otherwise."""


def method_for(scenario: Scenario, asked: str | None = None) -> str:
    """The method asked for, else by the size of the load."""
    if asked:
        return asked
    return EXACT if scenario.messages <= EXACT_MESSAGES else BATCHED


def simulate(scenario: Scenario, method: str, progress: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Run a scenario; its report. Raises Unfit where the run by count cannot take it."""
    run = exact.run if method == EXACT else batched.run
    return report(scenario, run(scenario, progress), method)


def grid(scenario: Scenario, axes: list[tuple[str, list[Value]]]) -> list[tuple[dict[str, Value], Scenario]]:
    """Every combination of the values, in order. Raises ValueError for a value that does not fit."""
    found = []
    for values in product(*(values for _, values in axes)):
        chosen, changed = {}, scenario
        for (key, _), value in zip(axes, values, strict=True):
            chosen[key] = value
            changed = with_value(changed, key, value)
        found.append((chosen, changed))
    return found


def digest(scenario: Scenario, method: str) -> str:
    """A hash of all that a result depends on: the scenario, the method, and this version."""
    known = [version_of("cfq-lint"), _ENGINE, method, repr(scenario)]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:24]


def slim(whole: dict[str, Any]) -> dict[str, Any]:
    """A report without its course over time: what a sweep keeps."""
    queues = [{name: value for name, value in queue.items() if name != "series"} for queue in whole["queues"]]
    return {**whole, "queues": queues}


def _work(scenario: Scenario, method: str) -> dict[str, Any]:
    return slim(simulate(scenario, method))


def kept(path: str | None) -> dict[str, dict[str, Any]]:
    """What an earlier run has left, by hash. Raises OSError."""
    found: dict[str, dict[str, Any]] = {}
    if path is None or not os.path.exists(path):
        return found
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                row = json.loads(line)
                found[row["key"]] = row["report"]
            except (ValueError, KeyError, TypeError):
                continue
    return found


def _keep(path: str, key: str, result: dict[str, Any]) -> None:
    """Append a line in one write; behind what an interrupted write may have left."""
    line = json.dumps({"key": key, "report": result}, separators=(",", ":")) + "\n"
    with open(path, "ab+") as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            if file.read(1) != b"\n":
                line = "\n" + line
        file.write(line.encode())


def run_all(
    jobs: list[tuple[dict[str, Value], Scenario]],
    method: str | None,
    path: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Run every job that no earlier run has done, on processes here or those of a Dask `scheduler`.

    (number, report) as they are done. Raises Unfit and OSError, ValueError for a scheduler that does not answer.
    """
    known = kept(path)
    waiting = {}
    for number, (_, scenario) in enumerate(jobs):
        chosen = method_for(scenario, method)
        key = digest(scenario, chosen)
        if key in known:
            yield number, known[key]
        else:
            waiting[number] = (scenario, chosen, key)
    count = min(len(waiting), workers or cores())
    if count <= 1 and scheduler is None:
        for number, (scenario, chosen, key) in waiting.items():
            result = _work(scenario, chosen)
            if path is not None:
                _keep(path, key, result)
            yield number, result
        return
    with _pool(count, scheduler) as pool:
        futures = {pool.submit(_work, scenario, chosen): (number, key) for number, (scenario, chosen, key) in waiting.items()}
        for future in pool.as_done(futures):
            number, key = futures[future]
            result = future.result()
            if path is not None:
                _keep(path, key, result)
            yield number, result


def _pool(count: int, scheduler: str | None) -> AbstractContextManager[Pool]:
    if scheduler is None:
        return processes(count)
    from emulator.pool.cluster import cluster

    return cluster(scheduler)
