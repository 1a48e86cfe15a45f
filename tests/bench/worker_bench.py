"""A JavaScript Worker in the emulator beside miniflare's `getWorker().queue()`, in one interleaved run: `python tests/bench/worker_bench.py`.

Installs Node 22 and miniflare into `.bench/`, workerd and esbuild into its cache (npm must be there); prints messages a second and ratios of
the best rounds. What miniflare is spared: it stores, schedules and settles nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from emulator import Emulator  # noqa: E402 - from the checkout
from emulator.workers.javascript.setup import fill  # noqa: E402 - likewise
from tests.bench.emulator_bench import Peer  # noqa: E402 - likewise

GOAL = 3.0
"""So many times the messages a second of miniflare, at every size of a batch."""
SIZES = {1: 300, 10: 150, 100: 50}
"""Batches of a round, by size."""
SOURCE = "export default { async queue(batch) { for (const message of batch.messages) if (message.body.total > 0) message.ack(); } };"
START_MS_MAX, RESIDENT_MB_MAX = 400, 120


def ours(emu: Emulator, size: int, count: int) -> float:
    """Seconds for `count` batches through the emulator, sends not counted."""
    emu.update_consumer("in", max_batch_size=size)
    queue = emu.queue("in")
    for _ in range(count * size // 100 or 1):
        queue.send_batch([{"body": {"id": n, "kind": "order", "total": 12.5}} for n in range(min(100, count * size))])
    sent = queue.metrics().backlog_count
    before = time.perf_counter()
    emu.run_until_idle()
    seconds = time.perf_counter() - before
    assert queue.messages() == []
    return seconds / sent


def main() -> int:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / ".bench", help="where Node and miniflare are installed")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    os.environ["XDG_CACHE_HOME"] = str(options.folder / "cache")
    fill(lambda _: None)
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "worker.js").write_text(SOURCE, encoding="utf-8")
        peer = Peer(options.folder, "miniflare_worker_driver.mjs", str(Path(folder) / "worker.js"))
        started = []
        for _ in range(options.rounds):
            before = time.perf_counter()
            with Emulator(limits="relaxed") as emu:
                emu.create_queue("in")
                emu.consume("in", lambda _: None, max_batch_timeout=0, max_concurrency=1)
                emu.attach(emu.worker(Path(folder) / "worker.js"), "in")
                emu.queue("in").send({"total": 1})
                emu.run_until_idle()
                started.append((time.perf_counter() - before) * 1e3)
        print(f"start to first delivery: {started[0]:.0f} ms cold (goal 1500), {min(started):.0f} ms in a process that runs (goal {START_MS_MAX})")
        with Emulator(limits="relaxed") as emu:
            emu.create_queue("in")
            emu.consume("in", lambda _: None, max_batch_timeout=0, max_concurrency=1)
            emu.attach(emu.worker(Path(folder) / "worker.js"), "in")
            for size, count in SIZES.items():
                took: dict[str, list[float]] = {"ours": [], "miniflare": []}
                for _ in range(options.rounds):
                    took["ours"].append(ours(emu, size, count))
                    took["miniflare"].append(peer.do("batches", count, size=size) / (count * size))
                best = {name: min(each) for name, each in took.items()}
                ratio = best["miniflare"] / best["ours"]
                missed += [f"batches of {size}"] if ratio < GOAL else []
                print(
                    f"batches of {size:3}: {1 / best['ours']:>9,.0f} messages/s against {1 / best['miniflare']:>9,.0f}, "
                    f"{ratio:5.1f} x (goal {GOAL:g})"
                )
            status = Path(f"/proc/{emu.timeline.deliveries.runtimes[-1]._traffic.process.pid}/status")
            if status.exists():
                (line,) = [each for each in status.read_text(encoding="utf-8").splitlines() if each.startswith("VmRSS")]
                resident = int(line.split()[1]) / 1_000
                missed += ["memory"] if resident > RESIDENT_MB_MAX else []
                print(f"workerd is {resident:.0f} MB (goal under {RESIDENT_MB_MAX})")
        peer.close()
    if missed:
        print("goals missed:", ", ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
