"""What is found in a Worker's source is the same in every process: no order of a set has a hand in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
SEEDS = ("1", "2", "3")


def test_findings_do_not_depend_on_the_hash_seed():
    command = [sys.executable, "-m", "cfq_lint", "check", "--format", "concise", "consumers", "python_workers", "following", "consumer_code"]
    said = {
        subprocess.run(command, cwd=FIXTURES, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=False).stdout
        for seed in SEEDS
    }
    assert len(said) == 1
    assert "CFQ820" in said.pop()
