"""schemathesis goes through the OpenAPI document as anybody would: every check, every phase, more than 1,000 examples, no failure."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.emulator.server.servers import Server

EXAMPLES = 15
"""For each of the 28 operations at least; the phases of coverage and of sequences come on top."""
CONFIG = """
[[operations]]
include-path-regex = "/messages/pull$"
# What Cloudflare answers where a queue has no http_pull consumer, however well the request is formed.
checks.positive_data_acceptance.expected-statuses = ["2xx", 401, 404, 405, 409]
"""


@pytest.mark.slow
@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_schemathesis_finds_nothing(tmp_path, closed):
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    tokens, header = (["--token", "all"], ["--header", "Authorization: Bearer all"]) if closed else ([], [])
    examples, phases = (5, "coverage,fuzzing") if closed else (EXAMPLES, "examples,coverage,fuzzing,stateful")
    with Server("--control", "--log", "json", *tokens, folder=tmp_path) as server:
        command = [
            os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run", f"{server.url}/openapi.json", "--checks", "all",
            "--phases", phases, "--max-examples", str(examples), "--generation-deterministic", "--no-color",
            *header,
        ]  # fmt: skip
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "NO_PROXY": "*"}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=400, check=False)
        log = server.log.read_text()
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
    assert "Tested: 28" in done.stdout
    generated = int(re.search(r"(\d+) generated", done.stdout)[1])
    assert generated > (500 if closed else 1_000), done.stdout[-2_000:]
    assert "Traceback" not in log
    assert '"status": 500' not in log
