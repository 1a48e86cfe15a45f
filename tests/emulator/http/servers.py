"""Servers of their own process on a free loopback port, which tests may stop, kill and start again on the same file."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

import httpx

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 60


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """`cfq-emulator serve` with options, on one port for all its lives."""

    def __init__(self, *options: str, folder: Path, db: str | None = None) -> None:
        self.port, self.folder = free_port(), folder
        self.options = [*options, "--db", db or ":memory:"]
        self.url = f"http://127.0.0.1:{self.port}"
        self.base = f"{self.url}/client/v4"
        self.process: subprocess.Popen | None = None
        self.log = folder / f"server-{self.port}.log"
        self.start()

    def start(self) -> None:
        """Start, and wait until it answers."""
        command = [sys.executable, "-m", "emulator.cli", "serve", "--port", str(self.port), *self.options]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(self.folder)])}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, env=environment)
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.02)
        raise AssertionError(f"the server did not start: {self.log.read_text()}")

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def stop(self) -> int:
        """Ask it to end; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def restart(self) -> None:
        """Kill it, and start it on the same file."""
        self.kill()
        self.start()

    def client(self, **options) -> httpx.Client:
        """A client of one account."""
        return httpx.Client(base_url=f"{self.base}/accounts/a", timeout=30, trust_env=False, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()


def queue_id(client: httpx.Client, name: str, **body) -> str:
    """A new queue's id."""
    answer = client.post("/queues", json={"queue_name": name, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]["queue_id"]


def pull_queue(client: httpx.Client, name: str, **consumer) -> str:
    """A new queue with an http_pull consumer; its id."""
    id = queue_id(client, name)
    answer = client.post(f"/queues/{id}/consumers", json={"type": "http_pull", **consumer})
    assert answer.status_code == 200, answer.text
    return id
