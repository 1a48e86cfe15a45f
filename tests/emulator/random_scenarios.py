"""Random scenarios, played by the model and by the emulator, and cut down to a minimum where the two disagree.

A scenario is plain data and can be printed, pasted and replayed. Handlers that take virtual time end at odd milliseconds, so
that no end falls on another deadline; which of two things at one moment comes first is then always laid down.
"""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from emulator import Emulator, Refused
from tests.emulator.model import SECOND, Consumer, Model

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ("a", "b", "c", "d")
MANAGING = ("pause", "resume", "resume", "purge")
MILLISECOND = timedelta(milliseconds=1)


def scenario(seed: int) -> dict:
    """The scenario of that seed."""
    rng = random.Random(seed)
    names = NAMES[: rng.randint(1, 4)]
    slow = rng.random() < 0.4
    queues = {name: _queue(rng) for name in names}
    consumers = [_consumer(rng, name, names, slow) for name in names if rng.random() < 0.85]
    idle = [name for name in names if name not in {c["queue"] for c in consumers}]
    pulled = [c["queue"] for c in consumers if c["type"] == "http_pull"]
    steps: list[dict] = []
    label = 0
    for _ in range(rng.randint(4, 24)):
        steps.append({"op": "wait", "seconds": rng.choice((0, 0, 1, 1, 2, 4, 5, 7, 10, 30, 31, 60, 120, 900, 3600, 86_400, 345_600))})
        kind = rng.random()
        name = rng.choice(names)
        if kind < 0.5:
            count = rng.choice((1, 1, 2, 3, 3, 5, 8, 12))
            bodies = list(range(label, label + count))
            label += count
            delays = [rng.choice((None, None, None, None, 0, 1, 5, 60, 90, 86_400)) for _ in bodies]
            steps.append({"op": "send", "queue": name, "bodies": bodies, "delays": delays, "delay": rng.choice((None, None, None, 0, 3))})
        elif kind < 0.6:
            steps.append({"op": rng.choice(("pause", "pause", "resume", "resume", "resume", "purge")), "queue": name})
        elif kind < 0.63:
            steps.append({"op": "change", "queue": name, "retention": rng.choice((60, 90, 3600, 345_600))})
        elif kind < 0.65 and name not in idle:
            steps.append({"op": "remove", "queue": name})
            idle.append(name)
        elif kind < 0.70 and idle:
            steps.append({"op": "attach", "consumer": _consumer(rng, idle.pop(), names, slow)})
            if steps[-1]["consumer"]["type"] == "http_pull":
                pulled.append(steps[-1]["consumer"]["queue"])
        elif pulled:
            name = rng.choice(pulled)
            if rng.random() < 0.55:
                steps.append({"op": "pull", "queue": name, "size": rng.randint(1, 6), "visibility": rng.choice((1, 5, 10, 30, 60, 43_200))})
            else:
                leases = [[rng.randint(0, 5), rng.randint(0, 5)] for _ in range(rng.randint(1, 5))]
                cut = rng.randint(0, len(leases))
                steps.append({
                    "op": "ack", "queue": name, "acks": leases[:cut],
                    "retries": [[lease, rng.choice((None, None, 0, 4, 60))] for lease in leases[cut:]],
                })
    steps.append({"op": "wait", "seconds": rng.choice((0, 10, 1000, 90_000, 1_300_000))})
    return {"seed": seed, "plan": "free" if rng.random() < 0.2 else "paid", "queues": queues, "consumers": consumers, "steps": steps}


def _queue(rng: random.Random) -> dict:
    return {"delay": rng.choice((0, 0, 0, 2, 30)), "retention": rng.choice((None, None, None, 60, 61, 120, 3600, 1_209_600))}


def _consumer(rng: random.Random, name: str, names: tuple[str, ...], slow: bool) -> dict:
    others = [n for n in (*names, "graveyard") if n != name]
    return {
        "queue": name, "type": "http_pull" if rng.random() < 0.25 else "worker", "size": rng.choice((1, 2, 3, 3, 5, 10, 100)),
        "timeout": rng.choice((0, 0, 1, 5, 5, 7, 60)), "retries": rng.choice((0, 1, 1, 2, 3)),
        "dead": rng.choice(others) if rng.random() < 0.6 else None, "delay": rng.choice((0, 0, 0, 5, 45)),
        "slots": rng.choice((None, None, 1, 2, 3)),
        "script": [_act(rng, names, slow) for _ in range(rng.randint(0, 14))],
    }


def _act(rng: random.Random, names: tuple[str, ...], slow: bool) -> dict:
    calls: list[list] = []
    for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
        verb = rng.choice((*("ack", "retry") * 6, "ackAll", "ackAll", "retryAll", "retryAll", "send", "send", rng.choice(MANAGING)))
        if verb == "ack":
            calls.append(["ack", rng.randint(0, 4)])
        elif verb == "retry":
            calls.append(["retry", rng.randint(0, 4), rng.choice((None, None, 0, 3, 5, 100))])
        elif verb == "retryAll":
            calls.append(["retryAll", rng.choice((None, None, 0, 4, 50))])
        elif verb == "ackAll":
            calls.append(["ackAll"])
        elif verb in MANAGING:
            calls.append([verb, rng.choice(names)])
        else:
            calls.append(["send", rng.choice(names), f"s{rng.getrandbits(40)}", rng.choice((None, 0, 6))])
    act: dict[str, Any] = {"calls": calls, "throws": rng.random() < 0.45}
    if slow and rng.random() < 0.7:
        act["takes"] = rng.choice((0, 1, 2, 5, 9, 17, 40, 898, 905)) * SECOND + rng.randint(1, 996)
        act["late"] = rng.random() < 0.5
    if slow and rng.random() < 0.25:
        act["until"] = rng.choice((0, 1, 6, 30, 904)) * SECOND + rng.randint(1, 996)
    return act


def play_model(data: dict) -> dict:
    """What the model makes of a scenario."""
    model = Model(data["plan"])
    for name, queue in data["queues"].items():
        model.create(name, queue["delay"], queue["retention"])
    pulls: list[list | str] = []
    leases: list[list[str]] = []

    def attach(c: dict) -> None:
        model.consume(c["queue"], Consumer(
            c["type"] == "http_pull", c["size"], c["timeout"] * SECOND, c["retries"], c["dead"], c["delay"] * SECOND,
            c["slots"], c["script"],
        ))

    for consumer in data["consumers"]:
        attach(consumer)
    for step in data["steps"]:
        match step["op"]:
            case "wait":
                model.advance(step["seconds"] * SECOND)
            case "send":
                model.send(step["queue"], step["bodies"], step["delays"], step["delay"])
            case "attach":
                attach(step["consumer"])
            case "change":
                model.change(step["queue"], step["retention"])
            case "pull":
                got = model.pull(step["queue"], step["size"], step["visibility"] * SECOND)
                pulls.append("refused" if got is None else [(body, attempts) for _, body, attempts in got])
                leases.append([lease for lease, _, _ in got or []])
            case "ack":
                acks, retries = _leases_of(step, leases)
                model.settle(step["queue"], acks, retries)
            case verb:
                getattr(model, verb)(step["queue"])
    fates = [(f["body"], f["queue"], f["state"], f["attempts"], f["at"]) for f in model.fates()]
    deliveries = [(d["at"], d["queue"], d["messages"], d["returned"]) for d in model.deliveries]
    return {"pulls": pulls, "deliveries": deliveries, "fates": fates}


def _leases_of(step: dict, leases: list[list]) -> tuple[list, list]:
    """The leases that an `ack` step names as (pull, place); those that no pull has given are left out, and no lease comes twice."""
    seen: set = set()

    def find(pull: int, place: int) -> list:
        if pull < len(leases) and place < len(leases[pull]) and (pull, place) not in seen:
            seen.add((pull, place))
            return [leases[pull][place]]
        return []

    acks = [lease for pull, place in step["acks"] for lease in find(pull, place)]
    return acks, [(lease, delay) for (pull, place), delay in step["retries"] for lease in find(pull, place)]


def handler_of(where: Callable[[], Emulator], script: list[dict], asynchronous: bool) -> Any:
    """A handler that follows the script, one entry for each invocation."""
    invoked = iter(range(10**9))

    def follow(batch: Any, act: dict) -> None:
        for verb, *rest in act.get("calls", []):
            if verb == "send":
                where().queue(rest[0]).send(rest[1], delay_seconds=rest[2])
            elif verb in MANAGING:
                getattr(where().queue(rest[0]), verb)()
            elif verb == "ackAll":
                batch.ackAll()
            elif verb == "retryAll":
                batch.retryAll(**({} if rest[0] is None else {"delaySeconds": rest[0]}))
            elif rest[0] < len(batch.messages):
                message = batch.messages[rest[0]]
                if verb == "ack":
                    message.ack()
                else:
                    message.retry(**({} if rest[1] is None else {"delaySeconds": rest[1]}))

    def current() -> dict:
        n = next(invoked)
        return script[n] if n < len(script) else {}

    def promise(ctx: Any, act: dict) -> None:
        if act.get("until"):
            ctx.waitUntil(asyncio.sleep(act["until"] / SECOND))

    def handler(batch: Any, _env: Any, ctx: Any) -> None:
        act = current()
        follow(batch, act)
        promise(ctx, act)
        if act.get("throws"):
            raise RuntimeError("as the script says")

    async def slow_handler(batch: Any, _env: Any, ctx: Any) -> None:
        act = current()
        promise(ctx, act)
        if not act.get("late"):
            follow(batch, act)
        if act.get("takes"):
            await asyncio.sleep(act["takes"] / SECOND)
        if act.get("late"):
            follow(batch, act)
        if act.get("throws"):
            raise RuntimeError("as the script says")

    return slow_handler if asynchronous else handler


class Play:
    """A scenario in the emulator; a subclass says where the emulator lives and what happens between two steps."""

    def __init__(self, data: dict, *, asynchronous: bool | None = None) -> None:
        self.data = data
        self.handlers: dict[str, Any] = {}
        self.asynchronous = asynchronous
        self.emu = self.open()
        self.start = self.emu.now

    def open(self) -> Emulator:
        """The emulator to play in."""
        return Emulator(plan=self.data["plan"])

    def between(self) -> None:
        """Between two steps nothing happens."""

    def run(self) -> dict:
        """What the emulator makes of the scenario."""
        for name, queue in self.data["queues"].items():
            keep = {} if queue["retention"] is None or self.data["plan"] == "free" else {"message_retention_period": queue["retention"]}
            self.emu.create_queue(name, delivery_delay=queue["delay"], **keep)
        for consumer in self.data["consumers"]:
            self.attach(consumer)
        self.pulls: list = []
        self.leases: list[list[str]] = []
        for step in self.data["steps"]:
            self.between()
            self.step(step)
        result = self.result()
        self.emu.close()
        return result

    def attach(self, c: dict) -> None:
        """Attach a consumer, with the handler that follows its script."""
        settings = {"max_retries": c["retries"], "retry_delay": c["delay"]}
        if c["dead"]:
            settings["dead_letter_queue"] = c["dead"]
        if c["type"] == "http_pull":
            self.emu.consume(c["queue"], type="http_pull", **settings)
        else:
            slow = any(act.get("takes") for act in c["script"]) if self.asynchronous is None else self.asynchronous
            self.handlers[c["queue"]] = handler = handler_of(lambda: self.emu, c["script"], slow)
            self.emu.consume(
                c["queue"], handler, max_batch_size=c["size"], max_batch_timeout=c["timeout"], max_concurrency=c["slots"], **settings,
            )

    def step(self, step: dict) -> None:
        """Carry out one step."""
        match step["op"]:
            case "wait":
                self.emu.advance(step["seconds"])
            case "send":
                rows = [{"body": b} | ({} if d is None else {"delaySeconds": d}) for b, d in zip(step["bodies"], step["delays"], strict=True)]
                self.emu.queue(step["queue"]).send_batch(rows, delay_seconds=step["delay"])
            case "attach":
                self.attach(step["consumer"])
            case "change":
                if self.data["plan"] != "free":
                    self.emu.update_queue(step["queue"], message_retention_period=step["retention"])
            case "remove":
                self.emu.remove_consumer(step["queue"])
                self.handlers.pop(step["queue"], None)
            case "pull":
                try:
                    got = self.emu.queue(step["queue"]).pull(batch_size=step["size"], visibility_timeout_ms=step["visibility"] * SECOND)
                except Refused as refused:
                    self.pulls.append("refused" if refused.status == 409 or "http_pull" in str(refused) else repr(refused))
                    self.leases.append([])
                else:
                    self.pulls.append([(m.value, m.attempts) for m in got])
                    self.leases.append([m.lease_id for m in got])
            case "ack":
                acks, retries = _leases_of(step, self.leases)
                plain = [lease if delay is None else (lease, delay) for lease, delay in retries]
                self.emu.queue(step["queue"]).ack(acks=acks, retries=plain)
            case verb:
                getattr(self.emu.queue(step["queue"]), verb)()

    def result(self) -> dict:
        """Pulls, deliveries and fates, in the model's terms."""
        deliveries = [
            (self._ms(d.at), d.queue, [(body, attempts) for _, body, attempts in d.messages], d.outcome) for d in self.emu.deliveries
        ]
        fates = [
            (f.body, f.queue, f.state, f.attempts, None if f.state == "waiting" else self._ms(f.at)) for f in self.emu.fates
        ]
        return {"pulls": self.pulls, "deliveries": deliveries, "fates": fates}

    def _ms(self, moment: Any) -> int:
        return round((moment - self.start) / MILLISECOND)


def play_emulator(data: dict) -> dict:
    """What the emulator makes of a scenario, in process."""
    return Play(data).run()


def difference(data: dict, play: Any = play_emulator) -> str | None:
    """The first thing in which emulator and model disagree about a scenario; None where they agree."""
    want, got = play_model(data), play(data)
    want_deliveries = [d[:3] for d in want["deliveries"]]
    got_deliveries = [d[:3] for d in got["deliveries"]]
    for key, mine, theirs in (
        ("pulls", want["pulls"], got["pulls"]),
        ("deliveries", want_deliveries, got_deliveries),
        ("fates", want["fates"], got["fates"]),
    ):
        for place, (w, g) in enumerate(zip(mine, theirs, strict=False)):
            if w != g:
                return f"{key}[{place}]: the model says {w}, the emulator {g}"
        if len(mine) != len(theirs):
            longer = mine if len(mine) > len(theirs) else theirs
            whose = "the model" if longer is mine else "the emulator"
            return f"{key}: only {whose} has {longer[min(len(mine), len(theirs))]}"
    for (w, g) in zip(want["deliveries"], got["deliveries"], strict=True):
        if w[3] is not None and w[3] != (g[3] == "ok"):
            return f"outcome of {g}: the model says {'ok' if w[3] else 'not ok'}"
    return None


def shrink(data: dict, play: Any = play_emulator) -> dict:
    """The same disagreement in fewer steps, acts and messages."""

    def fails(candidate: dict) -> bool:
        try:
            return difference(candidate, play) is not None
        except Exception:  # noqa: BLE001 - a scenario that cannot be played is not a smaller one
            return False

    changed = True
    while changed:
        changed = False
        for candidate in _smaller(data):
            if fails(candidate):
                data, changed = candidate, True
                break
    return data


def _smaller(data: dict) -> Any:
    for at in range(len(data["steps"])):
        yield data | {"steps": data["steps"][:at] + data["steps"][at + 1 :]}
    for at, step in enumerate(data["steps"]):
        if step["op"] == "send" and len(step["bodies"]) > 1:
            half = {k: v[: len(v) // 2] if k in ("bodies", "delays") else v for k, v in step.items()}
            less = {k: v[:-1] if k in ("bodies", "delays") else v for k, v in step.items()}
            for small in (half, less):
                yield data | {"steps": [*data["steps"][:at], step | small, *data["steps"][at + 1 :]]}
        if step["op"] == "send" and any(d is not None for d in step["delays"]):
            yield data | {"steps": [*data["steps"][:at], step | {"delays": [None] * len(step["bodies"])}, *data["steps"][at + 1 :]]}
    for at, consumer in enumerate(data["consumers"]):
        yield data | {"consumers": data["consumers"][:at] + data["consumers"][at + 1 :]}
        yield from (_with(data, at, consumer | {"script": s}) for s in _shorter(consumer["script"]))
        if consumer["dead"]:
            yield _with(data, at, consumer | {"dead": None})
        for key, plain in (("delay", 0), ("timeout", 0)):
            if consumer[key] != plain:
                yield _with(data, at, consumer | {key: plain})


def _with(data: dict, at: int, consumer: dict) -> dict:
    return data | {"consumers": [*data["consumers"][:at], consumer, *data["consumers"][at + 1 :]]}


def _shorter(script: list[dict]) -> Any:
    for at, act in enumerate(script):
        if at == len(script) - 1:
            yield script[:-1]
        for call in range(len(act.get("calls", []))):
            yield [*script[:at], act | {"calls": act["calls"][:call] + act["calls"][call + 1 :]}, *script[at + 1 :]]
        if act.get("throws"):
            yield [*script[:at], act | {"throws": False}, *script[at + 1 :]]
        if act.get("takes") or act.get("until"):
            yield [*script[:at], {k: v for k, v in act.items() if k not in ("takes", "late", "until")}, *script[at + 1 :]]
