"""The toolkit stands alone: copied elsewhere, under any name, it works with nothing but Python."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import emulator.toolkit
from tests.emulator.toolkit.support import account

FOLDER = Path(emulator.toolkit.__file__).parent
TEXT = """
import asyncio, sys
sys.path.insert(0, {folder!r})
import {name} as toolkit

assert not any(name.split(".")[0] in {{"emulator", "cfq_lint", "pydantic", "sqlite3"}} - {{{name!r}.split(".")[0]}} for name in sys.modules)
assert toolkit.course(seed=1)(0) in range(23, 38)
assert not toolkit.decide_retry(ValueError("invalid format"), 0).retry

@toolkit.settle()
async def handle(task):
    print(task.body)

class Message:
    id, attempts, timestamp, body = "m", 1, 0, "alone"
    def ack(self):
        print("acknowledged")

class Batch:
    queue, messages = "jobs", [Message()]

asyncio.run(handle(Batch()))
"""


@pytest.mark.parametrize("name", ["toolkit", "retrying", "emulator.toolkit"])
def test_it_runs_in_an_empty_folder_under_any_name(tmp_path, name):
    shutil.copytree(FOLDER, tmp_path / name.replace(".", "/"), ignore=shutil.ignore_patterns("__pycache__"))
    text = TEXT.format(folder=str(tmp_path), name=name)
    run = subprocess.run([sys.executable, "-I", "-S", "-W", "error", "-c", text], capture_output=True, text=True, cwd=tmp_path)  # noqa: PLW1510
    assert run.stderr == ""
    assert run.stdout == "alone\nacknowledged\n"


def test_it_imports_only_the_standard_library_and_itself():
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            for name in names:
                assert name.split(".")[0] in sys.stdlib_module_names, f"{path.name} imports {name}"


def test_it_is_small_enough_to_be_carried_along():
    assert sum(path.stat().st_size for path in FOLDER.glob("*.py")) < 100_000


def test_it_draws_nothing_while_it_is_loaded():
    """A Python Worker may not draw random numbers at its top level."""
    text = "import random, sys; random.Random = None; sys.path.insert(0, sys.argv[1]); import toolkit; toolkit.course_policies()"
    subprocess.run([sys.executable, "-I", "-S", "-c", text, str(FOLDER.parent)], check=True)


WORKER = """
from workers import WorkerEntrypoint
from retrying import RetryPolicy, fixed, settle


class Default(WorkerEntrypoint):
    @settle(RetryPolicy(backoff=fixed(30)))
    async def queue(self, task):
        if task.attempt == 1:
            raise TimeoutError
        self.env.DONE.append(task.body["n"])
"""
CONFIG = """{"name": "w", "main": "src/worker.py", "compatibility_date": "2026-06-01", "compatibility_flags": ["python_workers"],
"queues": {"consumers": [{"queue": "jobs", "dead_letter_queue": "jobs-dead"}]}}"""


def test_a_python_worker_carries_it_along(tmp_path):
    (tmp_path / "src").mkdir()
    shutil.copytree(FOLDER, tmp_path / "src" / "retrying", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "src" / "worker.py").write_text(WORKER, encoding="utf-8")
    (tmp_path / "wrangler.jsonc").write_text(CONFIG, encoding="utf-8")
    done = []
    with account() as emu:
        emu.worker(tmp_path / "wrangler.jsonc", bindings={"DONE": done})
        emu.queue("jobs").send({"n": 1})
        emu.run_until_idle()
        assert [d.messages[0][2] for d in emu.deliveries] == [1, 2]
    assert done == [1]
    assert "retrying" not in sys.modules
