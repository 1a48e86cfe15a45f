"""A Dask cluster shares the work: a real scheduler and three workers, of which one is killed on the way."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from emulator import explore
from emulator.simulate.sweep import grid, run_all
from tests.emulator.explore import twins
from tests.emulator.explore.twins import charged_once
from tests.emulator.simulation.scenarios import scenario

pytest.importorskip("distributed", reason="needs the extra `cluster`")
ROOT = Path(__file__).resolve().parents[3]
WORKERS = 3
SECONDS = 60


class Cluster:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, stack, folder):
        self.stack = stack
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION": "1.0"}
        self.begin = lambda *command: subprocess.Popen(
            [sys.executable, "-m", *command], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self.scheduler = self.started("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        self.address = re.search(r"tcp://127\.0\.0\.1:\d+", self.line("Scheduler at")).group()
        self.workers = [
            self.started(
                "distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                "--host", "127.0.0.1", "--memory-limit", "0",
            )
            for _ in range(WORKERS)
        ]  # fmt: skip

    def started(self, *command):
        process = self.begin(*command)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        self.stack.callback(process.stderr.close)
        return process

    def line(self, text):
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            line = self.scheduler.stderr.readline()
            if text in line:
                return line
        raise AssertionError(f"the scheduler never said {text!r}")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with contextlib.ExitStack() as stack:
        yield Cluster(stack, tmp_path_factory.mktemp("cluster"))


def test_a_cluster_finds_the_same_and_a_worker_that_is_lost_costs_nothing_but_time(cluster):
    alone = explore(twins.key_of_the_table, charged_once)
    killed = []

    def progress(schedules, _seconds):
        if schedules > 60 and not killed:
            killed.append(cluster.workers[0])
            os.kill(cluster.workers[0].pid, signal.SIGKILL)

    together = explore(twins.key_of_the_table, charged_once, scheduler=cluster.address, progress=progress)
    assert killed
    assert together.as_dict() == alone.as_dict()
    wrong = explore(twins.no_guard, charged_once, scheduler=cluster.address)
    assert wrong.as_dict() == explore(twins.no_guard, charged_once).as_dict()


def test_a_sweep_runs_on_the_same_workers(cluster):
    jobs = grid(scenario(seconds=60, rate=2, failure=0.05), [("max_retries", [0, 1, 2, 3])])
    here = dict(run_all(jobs, None, None, 1))
    there = dict(run_all(jobs, None, None, None, cluster.address))
    assert there == here
