"""`make demo`: what the README says of it, in about two screens."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_demo_finds_repairs_forgets_and_draws():
    done = subprocess.run([sys.executable, "-m", "fixtures.demo"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    first, second, third = re.split(r"^━━ \d\. .*$", said, flags=re.MULTILINE)[1:]
    assert "3 errors, 1 warning in 2 files (3 fixable with --fix)" in first
    assert '+    "producers": [{ "queue": "threats", "binding": "THREATS" }],' in first
    assert "fixed 3 in 2 files" in done.stderr
    assert first.rstrip().endswith("1 warning, 1 info in 2 files"), "no error is left"
    assert re.search(r'^2026-01-05 \S+ +orders-dlq +\S+ +\{"order":7\} +- +expired$', second, re.MULTILINE)
    assert "1 passed" in second
    assert "were\n  dead-lettered to threats-dlq" in third
    assert re.search(r"^  backlog +[▁▂▃▄▅▆▇█]+ up to 18k$", third, re.MULTILINE)
    assert len(said.splitlines()) < 140
