"""A PostgreSQL server of the tests' own, on loopback, which they may stop, kill and start again."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

from tests.emulator.server.servers import free_port

MISSING = "needs PostgreSQL: Debian's package `postgresql`"


def programs() -> Path | None:
    """The folder of Debian's newest `initdb` and `postgres`, or of those on the PATH; None where there are none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(re.findall(r"\d+", str(path))[0]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).resolve().parent if on_path else None


class PostgresServer:
    """`postgres` on a free port, in a folder that goes with it. Root may not run it: then the package's user does."""

    def __init__(self, *settings: str) -> None:
        self.user = "postgres" if os.getuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="cfq-postgres-"))
        self.port, self.settings, self._numbers = free_port(), settings, count()
        if self.user is not None:
            shutil.chown(self.folder, self.user)
        self.data = self.folder / "data"
        command = [programs() / "initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale", "C"]
        done = subprocess.run(command, user=self.user, capture_output=True, text=True, check=False, cwd=self.folder)
        assert done.returncode == 0, done.stderr
        self.start()

    def start(self) -> None:
        """Start, and wait until it takes connections."""
        import psycopg

        command = [
            programs() / "postgres", "-D", self.data, "-p", str(self.port), "-k", self.folder,
            *(part for each in ("listen_addresses=127.0.0.1", "max_connections=200", *self.settings) for part in ("-c", each)),
        ]  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, user=self.user, stdout=log, stderr=log, cwd=self.folder)
        until = time.monotonic() + 60
        while self.process.poll() is None:
            try:
                psycopg.connect(self._url, connect_timeout=5).close()
            except psycopg.OperationalError:
                assert time.monotonic() < until
                time.sleep(0.02)
            else:
                return
        raise AssertionError((self.folder / "log").read_text())

    @property
    def _url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def new(self) -> str:
        """The URL of an empty schema of its own."""
        import psycopg

        name = f"test_{next(self._numbers)}"
        with psycopg.connect(self._url, autocommit=True) as db:
            db.execute(f"CREATE SCHEMA {name}")
        return f"{self._url}?options=-csearch_path%3D{name}"

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT fast, SIGQUIT at once and without a checkpoint, as a power cut would."""
        self.process.send_signal(how)
        self.process.wait(60)

    def close(self) -> None:
        """End it, and delete everything."""
        if self.process.poll() is None:
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)
