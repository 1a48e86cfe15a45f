"""`make demo`: real mistakes found and repaired, four days of a dead-letter queue in a test, a day with an outage as a chart.

Everything happens in a temporary folder, on copies of real people's configurations from fixtures/wrangler.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REAL = {"threats": "wrangler.017.jsonc", "bulk": "wrangler.033.jsonc"}
"""Two Workers whose queues are not bound at all, or whose deploy stops; the names of the folders are those of their queues."""


def title(text: str) -> None:
    """A headline, in front of what programs print."""
    print(f"\n\x1b[1;36m━━ {text}\x1b[0m", flush=True)


def run(command: str, folder: Path) -> None:
    """Show a command, and run it where the programs of this environment are found first."""
    print(f"\x1b[1m$ {command}\x1b[0m", flush=True)
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": programs, "FORCE_COLOR": "1"}
    done = subprocess.run(shlex.split(command), cwd=folder, env=environment, check=False)  # noqa: S603 - the commands below
    if done.returncode not in {0, 1}:  # findings are what is expected
        sys.exit(done.returncode)


def main() -> None:
    """Show it all."""
    with tempfile.TemporaryDirectory(prefix="cfq-demo-") as name:
        folder = Path(name)
        for worker, file in REAL.items():
            (folder / worker).mkdir()
            shutil.copy(ROOT / "fixtures" / "wrangler" / file, folder / worker / "wrangler.jsonc")
        shutil.copy(ROOT / "demo" / "test_dead_letters.py", folder)
        title("1. Mistakes of real people, found and repaired")
        run("cfq-lint check", folder)
        run("cfq-lint check --fix --diff", folder)
        run("cfq-lint check --fix --statistics", folder)
        title("2. Four days of a dead-letter queue, in a test that takes no time")
        run("python -m pytest -q -s -p no:cacheprovider test_dead_letters.py", folder)
        title("3. A day of one of them with an outage of two hours, on virtual time")
        run("cfq-emulator simulate threats --rate 20/s --outage 2h@6h --failure-mode message --no-verify", folder)


if __name__ == "__main__":
    main()
