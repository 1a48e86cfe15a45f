"""Tests the tests: `python -m tests.mutants` makes one mistake at a time and counts those that nobody notices.

Each mutant is applied to a copy of the repository, and the fast part of the suite runs there until a test fails. Exit 1 when one
survives. Names after the command pick mutants; `--jobs N` runs so many at once.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

from tests.mutants.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
COPIED = ("emulator", "cfq_lint", "tests/emulator", "fixtures", "pyproject.toml", "tests/__init__.py")
SUITE = (
    "tests/emulator/test_scenarios.py", "tests/emulator/test_delivery.py", "tests/emulator/test_refusals.py",
    "tests/emulator/test_against_model.py", "tests/emulator/test_handlers.py", "tests/emulator/test_laws.py",
    "tests/emulator/test_ledger.py", "tests/emulator/test_core_machine.py",
)
LONGEST_SECONDS = 300


def copy_to(folder: Path) -> None:
    """A copy of everything that the fast suite needs."""
    for name in COPIED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)


def run(mutant: Mutant | None) -> tuple[bool, str, float]:
    """Whether the suite notices a mutant (None: the code as it is), the test that did, and the seconds it took."""
    before = perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_to(folder)
        if mutant is not None:
            path = folder / mutant.file
            path.write_text(path.read_text(encoding="utf-8").replace(mutant.old, mutant.new), encoding="utf-8")
        env = os.environ | {"PYTHONPATH": name, "EMULATOR_SCENARIOS": "200", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", *SUITE]
        try:
            done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=LONGEST_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return True, "(runs for ever)", perf_counter() - before
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        noticed = failed[0].split(" ")[1].split(" - ")[0] if failed else done.stdout.strip().splitlines()[-1] if done.stdout else "?"
        return done.returncode != 0, noticed, perf_counter() - before


def main() -> int:
    """Run the mutants and print what became of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="run only these")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2)))
    options = parser.parse_args()
    chosen = [m for m in MUTANTS if not options.names or m.name in options.names]
    broken, noticed, _ = run(None)
    if broken:
        print(f"the suite fails without any mutant: {noticed}")
        return 2
    survivors = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for mutant, (killed, noticed, seconds) in zip(chosen, pool.map(run, chosen), strict=True):
            print(f"{'killed  ' if killed else 'SURVIVED'}  {seconds:5.1f} s  {mutant.name:42} {noticed}", flush=True)
            survivors += [] if killed else [mutant]
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} killed")
    for mutant in survivors:
        print(f"nobody noticed {mutant.name}: {mutant.why}")
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main())
