"""Servers of their own process on a free loopback port, which tests may stop, kill and start again on the same file."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 60


PORTS = range(20_000, 32_000)
"""Below those that the system gives to clients. A client that calls a dead server's port may get that very port for itself, is
then connected to itself, and the next server cannot have the port for a minute."""


def free_port() -> int:
    """A port that nobody has, nor will get by chance."""
    for port in random.SystemRandom().sample(PORTS, 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


class Server:
    """`cfq-emulator serve` with options, on one port for all its lives."""

    def __init__(self, *options: str, folder: Path, db: str | None = None, code: str | None = None) -> None:
        self.port, self.folder, self.code = free_port(), folder, code
        self.options = [*options, "--db", db or ":memory:"]
        self.url = f"http://127.0.0.1:{self.port}"
        self.base = f"{self.url}/client/v4"
        self.process: subprocess.Popen | None = None
        self.log = folder / f"server-{self.port}.log"
        self.start()

    def start(self) -> None:
        """Start, and wait until it answers."""
        program = ["-m", "emulator.cli"] if self.code is None else ["-c", self.code]
        command = [sys.executable, *program, "serve", "--port", str(self.port), *self.options]
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

    def client(self, timeout_seconds: float = 30, **options) -> httpx.Client:
        """A client of one account."""
        options |= {"timeout": timeout_seconds, "trust_env": False, "verify": False}  # certificates take longer to load than a test
        return httpx.Client(base_url=f"{self.base}/accounts/a", **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()


_NURSERY = """
import importlib.util, json, os, signal, sys
import emulator.engine.account, emulator.cli.serving, emulator.engine.journal.sqlite
from emulator.cli import main
if importlib.util.find_spec("psycopg"):
    import emulator.server.nodes
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    log, settings, arguments = json.loads(line)
    pid = os.fork()
    if not pid:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for module, name, value in settings:
            setattr(importlib.import_module(module), name, value)
        for stream in (1, 2):
            os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), stream)
        sys.argv[1:] = arguments
        os._exit(main())
    print(pid, flush=True)
"""


Setting = tuple[str, str, float]
"""A constant that is another one in a server: module, name, value."""
OFTEN: tuple[Setting, ...] = (
    ("emulator.engine.account", "_SNAPSHOT_EVENTS", 50), ("emulator.engine.journal.sqlite", "_CHECKPOINT_PAGES", 50),
)  # fmt: skip
"""A snapshot after so many events, a checkpoint after so many pages of the log."""


class Nursery:
    """A process that has imported everything and forks servers, so that one is there in a tenth of a second."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _NURSERY], cwd=folder, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def fork(self, log: Path, settings: Iterable[Setting], arguments: list[str]) -> int:
        """The process id of a new server."""
        self.process.stdin.write(json.dumps([str(log), list(settings), arguments]) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self) -> None:
        """No more servers."""
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


class Forked(Server):
    """A server that is forked, from a nursery of its own or from one that several share."""

    def __init__(
        self, *options: str, folder: Path, db: str, settings: Iterable[Setting] = OFTEN, nursery: Nursery | None = None
    ) -> None:
        self.nursery, self.settings, self.pid = nursery or Nursery(folder), settings, 0
        super().__init__(*options, folder=folder, db=db)

    def launch(self) -> None:
        """Start, and wait for nothing."""
        self.pid = self.nursery.fork(self.log, self.settings, ["serve", "--port", str(self.port), *self.options])

    def start(self) -> None:
        """Start, and wait until it answers."""
        self.launch()
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self.alive():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.005)
        raise AssertionError(f"the server did not start: {self.log.read_text()}")

    def alive(self) -> bool:
        """Whether the process is there."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, 0)
            return True
        return False

    def kill(self) -> None:
        """End it as a power cut would, if it is there."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        until = time.monotonic() + 30
        while self.alive():
            assert time.monotonic() < until
            time.sleep(0.001)

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.nursery.close()


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
