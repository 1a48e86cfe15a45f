"""Replays `fixtures/recordings/*.json`: what workerd and miniflare did with small scripts, played again by the emulator.

Each file holds JSON lines: the script, then what happened. `Replay` runs the script on virtual time and returns what the emulator
did in the same terms: per queue the sequence of (label, attempts, milliseconds), and the outcome of every call from outside.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from emulator import Emulator, Refused

FOLDER = Path(__file__).parents[2] / "fixtures" / "recordings"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def lines(name: str) -> list[dict]:
    """The lines of a recording; the first is the script."""
    return [json.loads(line) for line in (FOLDER / f"{name}.json").read_text(encoding="utf-8").splitlines()]


def recorded(name: str) -> dict[str, list[tuple[str, int, int]]]:
    """Per queue, what the recording shows: (label, attempts, milliseconds) for each delivered message."""
    seen = defaultdict(list)
    for line in lines(name):
        if line["t"] == "batch":
            seen[line["queue"]] += [(message["m"], message["attempts"], line["at_ms"]) for message in line["messages"]]
    return dict(seen)


def made(body: Any) -> Any:
    """The Python value for a body that the recording's Worker built."""
    if not (isinstance(body, dict) and "gen" in body):
        return body
    circular: dict = {}
    circular["self"] = circular
    return {
        "text": lambda: "x" * body.get("size", 0),
        "bytes": lambda: bytes([1]) * body.get("size", 0),
        "arraybuffer": lambda: memoryview(bytes(body.get("size", 0))),
        "date": lambda: datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
        "map": lambda: {"k": 1},
        "nan": lambda: float("nan"),
        "bigint": lambda: 12,
        "fn": lambda: made,
        "circular": lambda: circular,
        "undefined": lambda: None,
    }[body["gen"]]()


class Replay:
    """One recording's script, played by an emulator."""

    def __init__(self, name: str, emu: Emulator | None = None) -> None:
        self.script = lines(name)[0]
        self.emu = emu or Emulator(flags=self.script["flags"])
        self.start = self.emu.now
        self.seen: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
        self.labels: dict[str, str] = {}
        self.values: dict[str, Any] = {}
        self.ids: dict[str, set[str]] = defaultdict(set)
        self.metrics: list[Any] = []
        self.calls: list[tuple[dict, Any]] = []
        for queue, settings in self.script["queues"].items() if emu is None else ():
            self.emu.create_queue(queue, delivery_delay=settings.get("delivery_delay", 0))
        for queue, settings in self.script["queues"].items():
            if emu is not None:
                self.emu.attach(self.handler(queue), queue=queue)
            elif "consumer" in settings:
                self.emu.consume(queue, self.handler(queue), **settings["consumer"])

    def run(self, until: float = 10.0) -> Replay:
        """Drive the queues at the recorded moments, then let time pass."""
        for drive in self.script["drive"]:
            self.emu.advance(max(0.0, drive["at"] - self.elapsed_ms() / 1000))
            self.calls.append((drive, self.drive(drive)))
            self.emu.advance(0)
        self.emu.advance(until)
        return self

    def elapsed_ms(self) -> int:
        """Virtual milliseconds since the start."""
        return round((self.emu.now - self.start) / timedelta(milliseconds=1))

    def drive(self, drive: dict) -> Any:
        """One call from outside: its result, or the exception that it raised."""
        queue = self.emu.queue(drive["queue"])
        options = drive.get("options", {})
        try:
            if drive["op"] == "metrics":
                return queue.metrics()
            if drive["op"] == "send":
                if drive["body"] == {"gen": "undefined"}:
                    return queue.send()
                kind = {"content_type": options["contentType"]} if "contentType" in options else {}
                return queue.send(made(drive["body"]), delay_seconds=options.get("delaySeconds"), **kind)
            rows = [
                {} if row["body"] == {"gen": "undefined"} else row | {"body": made(row["body"])} for row in drive["messages"]
            ] * drive.get("repeat", 1)
            return queue.send_batch(rows, delay_seconds=options.get("delaySeconds"))
        except (Refused, TypeError, ValueError) as error:
            return error

    def label(self, message: Any) -> str:
        """The recording's name for a message: its body's label, or x and a number in order of first delivery."""
        if message.id not in self.labels:
            body = message.body
            own = body.get("m") if isinstance(body, dict) else body if isinstance(body, str) else None
            known = isinstance(own, str) and own[:1] == "m" and own[1:].isdigit()
            self.labels[message.id] = own if known else f"x{len(self.labels)}"
        return self.labels[message.id]

    def handler(self, queue: str) -> Any:
        """The consumer that the recording's script describes."""
        script = self.script.get("script", {}).get(queue, {"batches": [], "rest": []})
        invocations = iter(range(10**6))

        async def handle(batch: Any, _env: Any, ctx: Any) -> None:
            n = next(invocations)
            at = self.elapsed_ms()
            self.metrics.append(batch.metadata.metrics)
            for message in batch.messages:
                self.seen[queue].append((self.label(message), message.attempts, at))
                self.values[self.label(message)] = message.body
                self.ids[self.label(message)].add((message.id, message.timestamp))
            await self.follow(script["batches"][n] if n < len(script["batches"]) else script["rest"], batch, ctx)

        return handle

    async def follow(self, ops: list[list], batch: Any, ctx: Any) -> None:
        """Carry out ops in a handler."""
        for verb, *rest in ops:
            if verb in ("ack", "retry"):
                for place, message in enumerate(batch.messages):
                    if rest[0] in (place, self.label(message)):
                        message.ack() if verb == "ack" else message.retry(*rest[1:])
            elif verb in ("ackAll", "retryAll"):
                getattr(batch, verb)(*rest)
            elif verb == "throw":
                raise RuntimeError(*rest)
            elif verb == "sleep":
                await asyncio.sleep(rest[0] / 1000)
            elif verb == "waitUntil":
                ctx.waitUntil(self.later(rest, batch, ctx))
            elif verb == "floating":
                self.floating = asyncio.ensure_future(self.later(rest, batch, ctx))
            elif verb == "send":
                await getattr(self.emu.env, rest[0]).send(rest[1]) if hasattr(self.emu.env, rest[0]) else self.emu.queue(rest[0]).send(rest[1])
            elif verb == "never":
                await asyncio.get_running_loop().create_future()

    async def later(self, rest: list, batch: Any, ctx: Any) -> None:
        """Ops that follow after some milliseconds."""
        await asyncio.sleep(rest[0] / 1000)
        await self.follow(rest[1], batch, ctx)
