"""Fixtures of the emulator's tests."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from emulator import Emulator
from emulator.workers.javascript.setup import fill
from emulator.workers.javascript.toolchain import find
from tests.emulator.postgres import MISSING, PostgresServer, programs

CACHE = Path(__file__).resolve().parents[2] / ".bench" / "cache"
"""workerd and esbuild of the tests, installed once by npm."""


@pytest.fixture
def emu():
    """A fresh emulator on the Paid plan, closed after the test."""
    emulator = Emulator()
    yield emulator
    emulator.close()


@pytest.fixture
def jobs(emu):
    """Its queue `jobs`, with the defaults."""
    return emu.create_queue("jobs")


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server for the whole session; without fsync, since no test cuts the power."""
    if programs() is None:
        pytest.skip(MISSING)
    server = PostgresServer("fsync=off")
    yield server
    server.close()


@pytest.fixture
def postgres(postgres_server):
    """The URL of an empty database."""
    return postgres_server.new()


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    """Where a journal may be kept: a path and a URL, in turn."""
    return tmp_path / "journal.db" if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture(scope="session")
def tools():
    """The cache's programs; they are also what is found for every project without its own, for the whole session."""
    if shutil.which("npm") is None:
        pytest.skip("needs npm, which brings workerd and esbuild")
    CACHE.mkdir(parents=True, exist_ok=True)
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(CACHE)
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fill(lambda _: None)
    yield find(CACHE)
    del os.environ["XDG_CACHE_HOME"]
    if before is not None:
        os.environ["XDG_CACHE_HOME"] = before
