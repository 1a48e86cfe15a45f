"""CONTRIBUTING's second half, followed to the letter in a scratch copy: a fault and a target are added."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def snippets(title):
    """The blocks of code below a heading, as they are to be written."""
    section = PAGE.partition(f"### {title}\n")[2].partition("\n### ")[0]
    return [textwrap.dedent(block) for block in re.findall(r"^ *```python\n(.*?)^ *```", section, re.DOTALL | re.MULTILINE)]


@pytest.fixture
def copy(tmp_path):
    """The repository, as far as these tests need it."""
    for folder in ("cfq_lint", "emulator", "docs", "schemas"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    ignored = shutil.ignore_patterns("__pycache__", "lint", "bench")
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def put(path, anchor, text):
    """Write lines behind the line that begins with an anchor, indented as they have to be."""
    lines = path.read_text(encoding="utf-8").split("\n")
    (at,) = [n for n, line in enumerate(lines) if line.lstrip().startswith(anchor)]
    indent = re.match(r" *", lines[at]).group(0) if not lines[at].endswith("(") else " " * 4
    lines[at + 1 : at + 1] = textwrap.indent(text.rstrip("\n"), indent).split("\n")
    path.write_text("\n".join(lines), encoding="utf-8")


def run(folder, *command):
    done = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def contract(folder, *more):
    return run(folder, "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *more)


def test_a_fault_fails_until_it_acts_everywhere(copy):
    row, question = snippets("A new fault")
    put(copy / "emulator/engine/faults.py", "_ROWS = (", row)
    tests = ("tests/emulator/test_faults.py", "-k", "half_batches")
    code, said = contract(copy, *tests)
    assert code == 1
    for name in ("test_a_fault_acts_on_every_target_that_it_names", "test_a_row_is_bounded_documented_and_settable"):
        assert name in said
    put(copy / "emulator/engine/account.py", "chosen = self._reordered(queue, consumer", question)
    assert run(copy, "emulator.cli.generate")[0] == 0
    code, said = contract(copy, *tests)
    assert code == 0, said


def test_a_target_is_taken_through_every_fault(copy):
    (source,) = snippets("A new target")
    (copy / "emulator/engine/targets/callback.py").write_text(source, encoding="utf-8")
    faults = copy / "emulator/engine/faults.py"
    text = faults.read_text(encoding="utf-8")
    text = text.replace("TARGETS = (PYTHON, THREAD, URL, WORKERD)", 'TARGETS = (PYTHON, THREAD, URL, WORKERD, "callback")')
    ours = "_OURS, _URL = (PYTHON, THREAD, WORKERD), ("
    text = text.replace(ours, ours + '("callback", "it awaits nothing and has no bindings"), ')
    faults.write_text(text, encoding="utf-8")
    tests = copy / "tests/emulator/test_faults.py"
    code, _ = contract(copy, "tests/emulator/test_faults.py", "-k", "one_of_every_target")
    assert code == 1
    text = tests.read_text(encoding="utf-8")
    maker = (
        "def by_callback(_stack, _emu):\n    from emulator.engine.targets.callback import CallbackTarget\n\n"
        "    return CallbackTarget(RealTime(), lambda batch: [message.body for message in batch.messages] and batch.ackAll())\n\n\n"
    )
    text = text.replace("MAKERS = {", maker + 'MAKERS = {"callback": by_callback, ')
    tests.write_text(text, encoding="utf-8")
    assert run(copy, "emulator.cli.generate")[0] == 0
    code, said = contract(copy, "tests/emulator/test_faults.py", "-k", "callback or one_of_every_target or where_it_acts")
    assert code == 0, said
