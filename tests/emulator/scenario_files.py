"""Plays `fixtures/scenarios/*.scenario.json` in an emulator and says where the outcome departs from what the file expects.

A file names queues, consumers whose handlers follow action lists, steps at moments in seconds, and what must come
of it. `docs/emulator/fidelity.md` names the file behind each claim.
"""

from __future__ import annotations

import base64
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from emulator import Emulator, Refused

FOLDER = Path(__file__).parents[2] / "fixtures" / "scenarios"
FILES = sorted(FOLDER.glob("*.scenario.json"))
CONSUMER_KEYS = ("max_batch_size", "max_batch_timeout", "max_retries", "dead_letter_queue", "retry_delay", "max_concurrency")


def load(path: Path) -> dict:
    """The scenario in that file."""
    return json.loads(path.read_text(encoding="utf-8"))


class Script:
    """A handler that carries out one action list for each invocation, then the last one for ever."""

    def __init__(self, consumer: dict) -> None:
        self.lists: list[list[str]] = consumer.get("script", [])
        self.rest: list[str] = consumer.get("then", [])
        self.invocations = 0

    def __call__(self, batch: Any) -> None:
        """Carry out the list of this invocation."""
        at, self.invocations = self.invocations, self.invocations + 1
        for action in self.lists[at] if at < len(self.lists) else self.rest:
            word, _, delay = action.partition("@")
            verb, _, body = word.partition(":")
            options = {"delaySeconds": int(delay)} if delay else {}
            if verb == "throw":
                raise RuntimeError("the scenario throws")
            if verb == "ackAll":
                batch.ackAll()
            elif verb == "retryAll":
                batch.retryAll(**options)
            for message in batch.messages if body else ():
                if str(message.body) == body:
                    message.ack() if verb == "ack" else message.retry(**options)

    async def asynchronous(self, batch: Any) -> None:
        """The same as a coroutine function's handler."""
        self(batch)


class Player:
    """One scenario in one emulator. Subclasses choose where it lives and what happens between steps."""

    asynchronous = False

    def __init__(self, scenario: dict, folder: Path = FOLDER, journal: Path | str | None = None) -> None:
        self.scenario, self.journal = scenario, journal
        self.folder = folder
        self.plan = scenario.get("plan", "paid")
        self.handlers: dict[str, Any] = {}
        self.leases: dict[str, str] = {}
        self.pulls: dict[str, list] = {}
        self.errors: dict[str, Refused] = {}
        self.emu = self.open()
        self.start = self.emu.now

    def open(self) -> Emulator:
        """The emulator in which everything happens."""
        if "wrangler" in self.scenario:
            file = self.folder / self.scenario["wrangler"]
            return Emulator.from_wrangler(file, env=self.scenario.get("env"), plan=self.plan, journal=self.journal)
        return Emulator(plan=self.plan, journal=self.journal)

    def between(self) -> None:
        """What happens between two steps: nothing."""

    def play(self) -> dict:
        """Carry out the whole scenario."""
        if "wrangler" not in self.scenario:
            self.create_queues()
        for consumer in self.scenario.get("consumers", []):
            self.attach(consumer)
        steps = sorted(enumerate(self.scenario["steps"]), key=lambda pair: (pair[1].get("t", 0), pair[0]))
        moments = [step.get("t", 0) for _, step in steps] + [None]
        for place, (index, step) in enumerate(steps):
            self.between()
            self.emu.advance(max(0, moments[place] - self.elapsed()))
            try:
                self.step(step)
            except Refused as refused:
                self.errors[str(index)] = refused
            if moments[place + 1] != moments[place]:
                self.between()
                self.emu.advance(0)
        self.between()
        self.emu.advance(max(0, self.scenario.get("until", 0) - self.elapsed()))
        self.between()
        result = self.result()
        self.emu.close()
        return result

    def elapsed(self) -> float:
        """Virtual seconds since the start."""
        return (self.emu.now - self.start) / timedelta(seconds=1)

    def create_queues(self) -> None:
        """Every queue that the scenario names, with the defaults where it says nothing about it."""
        attached = [step["consumer"]["queue"] for step in self.scenario["steps"] if step["op"] == "attach"]
        named = [step["queue"] for step in self.scenario["steps"] if "queue" in step]
        consumed = [consumer["queue"] for consumer in self.scenario.get("consumers", [])]
        described = self.scenario.get("queues", {})
        for name in dict.fromkeys([*described, *consumed, *named, *attached]):
            options = described.get(name, {})
            keep = {"message_retention_period": options["retention"]} if "retention" in options and self.plan == "paid" else {}
            self.emu.create_queue(name, delivery_delay=options.get("delivery_delay", 0), **keep)
            if options.get("paused"):
                self.emu.queue(name).pause()

    def attach(self, consumer: dict) -> None:
        """Attach a consumer; where the config has it already, only its handler."""
        name = consumer["queue"]
        settings = {key: consumer[key] for key in CONSUMER_KEYS if key in consumer}
        if consumer.get("type") == "http_pull":
            self.emu.consume(name, type="http_pull", **settings)
            return
        script = Script(consumer)
        self.handlers[name] = script.asynchronous if self.asynchronous else script
        if "wrangler" in self.scenario:
            self.emu.attach(self.handlers[name], queue=name)
        else:
            self.emu.consume(name, self.handlers[name], **settings)

    def step(self, step: dict) -> None:
        """Carry out one step."""
        op = step["op"]
        if op == "attach":
            self.attach(step["consumer"])
            return
        queue = self.emu.queue(step["queue"])
        if op == "send":
            kind = step.get("content_type", "json")
            body = decoded(step["body"], kind) if "body" in step else filler(step["body_size"], kind)
            queue.send(body, content_type=kind, delay_seconds=step.get("delay_seconds"))
        elif op == "send_batch":
            queue.send_batch(rows_of(step), delay_seconds=step.get("delay_seconds"))
        elif op == "pull":
            got = queue.pull(**{key: step[key] for key in ("batch_size", "visibility_timeout_ms") if key in step})
            self.pulls[step["as"]] = [{"body": m.body, "attempts": m.attempts} for m in got]
            self.leases |= {f"{step['as']}.{place}": m.lease_id for place, m in enumerate(got)}
        elif op == "ack":
            retries = [
                (self.leases[r["lease"]], r["delay_seconds"]) if "delay_seconds" in r else self.leases[r["lease"]]
                for r in step.get("retries", [])
            ]
            queue.ack(acks=[self.leases[name] for name in step.get("acks", [])], retries=retries)
        else:
            getattr(queue, op)()

    def result(self) -> dict:
        """Everything that a scenario can have expectations about."""
        states: dict[str, list] = {"dropped": [], "expired": []}
        for fate in self.emu.fates:
            if fate.state in states:
                states[fate.state].append(fate.body)
        deliveries = [
            {
                "t": (d.at - self.start) / timedelta(seconds=1), "queue": d.queue,
                "bodies": [body for _, body, _ in d.messages], "attempts": [attempts for *_, attempts in d.messages],
                "count": len(d.messages),
            }
            for d in self.emu.deliveries
        ]
        backlog = {name: self.emu.queue(name).bodies() for name in self.scenario["expect"].get("backlog", {})}
        return {"deliveries": deliveries, "backlog": backlog, "pulls": self.pulls, "step_errors": self.errors, **states}


def decoded(body: Any, kind: str) -> Any:
    """A body as the handler's side knows it; bytes are written as base64 in the file."""
    return base64.b64decode(body) if kind == "bytes" else body


def filler(size_bytes: int, kind: str = "json") -> str:
    """A string that is so many bytes when serialised."""
    return "x" * (size_bytes - 2 if kind == "json" else size_bytes)


def rows_of(step: dict) -> list[dict]:
    """The messages of a `send_batch` step as sendBatch() takes them."""
    if "messages" not in step:
        return [{"body": filler(step["each_size"]) if "each_size" in step else n} for n in range(step["count"])]
    return [row_of(message) for message in step["messages"]]


def row_of(message: dict) -> dict:
    """One message of a batch, with the options that the file gives."""
    kind = message.get("content_type")
    row = {"body": decoded(message["body"], kind or "json"), "contentType": kind, "delaySeconds": message.get("delay_seconds")}
    return {key: value for key, value in row.items() if value is not None or key == "body"}


def departures(expect: dict, got: dict) -> list[str]:
    """Where an outcome departs from the expectations. What is left, dropped or expired is compared without order."""
    found: list[str] = []
    if "deliveries" in expect:
        if len(expect["deliveries"]) != len(got["deliveries"]):
            found.append(f"{len(expect['deliveries'])} deliveries expected, {len(got['deliveries'])} made: {got['deliveries']}")
        pairs = zip(expect["deliveries"], got["deliveries"], strict=False)
        found += [f"delivery {n}: expected {want}, made {have}" for n, (want, have) in enumerate(pairs) if not is_as(want, have)]
    for name, want in expect.get("backlog", {}).items():
        have = got["backlog"][name]
        if len(have) != want if isinstance(want, int) else unordered(have) != unordered(want):
            found.append(f"left in {name}: expected {want}, there are {have}")
    for key in ("dropped", "expired"):
        if key in expect and unordered(expect[key]) != unordered(got[key]):
            found.append(f"{key}: expected {expect[key]}, got {got[key]}")
    if "step_errors" in expect and set(expect["step_errors"]) != set(got["step_errors"]):
        found.append(f"refused steps: expected {expect['step_errors']}, got {got['step_errors']}")
    return found + [
        f"pull {name}: expected {want}, got {got['pulls'].get(name)}"
        for name, want in expect.get("pulls", {}).items() if got["pulls"].get(name) != want
    ]


def is_as(want: dict, have: dict) -> bool:
    """Whether a delivery is what is expected, as far as the file says what it expects."""
    in_time = abs(want["t"] - have["t"]) <= want.get("tol", 0) + 1e-6
    return in_time and all(want[key] == have[key] for key in ("queue", "bodies", "attempts", "count") if key in want)


def unordered(bodies: list) -> list[str]:
    """Bodies of any kind in an order that does not matter."""
    return sorted(json.dumps(body, sort_keys=True, default=str) for body in bodies)
