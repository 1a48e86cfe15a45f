"""What tests of JavaScript Workers share: the packages that the fixtures import, and a folder in which they are found."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.emulator.conftest import CACHE

PACKAGES = ("@sentry/cloudflare@10.62.0", "drizzle-orm@0.45.2", "hono@4.12.31")
FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "javascript_workers"


@pytest.fixture(scope="session")
def javascript_workers(tools):  # noqa: ARG001 - every Worker needs them
    """A copy of the fixtures beside the packages that they import."""
    room = CACHE / "packages"
    room.mkdir(parents=True, exist_ok=True)
    with (room / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = room / "-".join(each.replace("/", "_") for each in PACKAGES)
        if not done.exists():
            (room / "package.json").write_text("{}", encoding="utf-8")
            command = [shutil.which("npm"), "install", "--no-audit", "--no-fund", "--silent", "--ignore-scripts", *PACKAGES]
            subprocess.run(command, cwd=room, check=True, timeout=300)
            done.touch()
        workers = room / "javascript_workers"
        shutil.copytree(FIXTURES, workers, dirs_exist_ok=True, copy_function=_copy_what_differs)
    return workers


def _copy_what_differs(source, target):
    """A file that stays as it is keeps its bundle."""
    if not Path(target).exists() or Path(source).read_bytes() != Path(target).read_bytes():
        shutil.copyfile(source, target)
    return target
