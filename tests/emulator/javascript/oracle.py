"""workerd's own queue Worker (`/workerd/queues.js`, from 1.20261117) on its test clock: a second opinion on our scenarios.

Its clock is moved by order, `POST /clock?advance=ms`, and runs on with the real one; a queue acts on it when it is next asked. So a
scenario is played moment by moment: a little before each at which something happens in our emulator, at it, and in between.
"""

from __future__ import annotations

import json
import subprocess
import time
import urllib.request

from emulator import Emulator
from tests.emulator.scenario_files import Player, decoded, rows_of

CONSUMER = """
const counts = {}, log = [];
const body = ({ body }) => (body instanceof Uint8Array || body instanceof ArrayBuffer ? [...new Uint8Array(body)] : body);
export default {
  async queue(batch, { SCRIPTS }) {
    const { script = [], then = [] } = SCRIPTS[batch.queue] ?? {};
    const count = counts[batch.queue] = (counts[batch.queue] ?? 0) + 1;
    log.push({ queue: batch.queue, bodies: batch.messages.map(body), attempts: batch.messages.map((each) => each.attempts) });
    for (const action of script[count - 1] ?? then) {
      const [word, delay] = action.split("@"), [verb, name] = word.split(":");
      const options = delay === undefined ? undefined : { delaySeconds: Number(delay) };
      if (verb === "throw") throw new Error("the scenario throws");
      if (verb === "ackAll") batch.ackAll();
      if (verb === "retryAll") batch.retryAll(options);
      for (const message of batch.messages)
        if (String(message.body) === name) verb === "ack" ? message.ack() : message.retry(options);
    }
  },
  async fetch(request, env) {
    const { queue, messages, options, metrics } = await request.json();
    try {
      if (metrics) return Response.json([...log, ...(await Promise.all(metrics.map((each) => env[each].metrics())))]);
      await env[queue].sendBatch(messages.map(({ bytes, ...each }) => (bytes ? { ...each, body: new Uint8Array(bytes) } : each)), options);
      return Response.json(null);
    } catch (error) {
      return Response.json(String(error));
    }
  },
};
"""
SETTLE_SECONDS, LOOK_SECONDS = 3.0, 0.003
"""How long what our emulator delivers may take here, and how often to look."""
BEFORE_SECONDS = 0.75
"""So long before a moment nothing of it may have happened. The real clock runs on meanwhile, by less."""


class Observed(Player):
    """A scenario in our emulator, with every moment at which something happens, and how much was delivered before each step."""

    def moments(self):
        """Seconds since the start."""
        steps = {step.get("t", 0) for step in self.scenario["steps"]}
        events = {(event.at_us - self.account_start) / 1_000_000 for event in self.seen}
        return sorted({*steps, *events, *self.scenario.get("looks", ()), self.scenario.get("until", 0)})

    def step(self, step):
        self.before.append(len(self.emu.deliveries))
        super().step(step)

    def open(self):
        self.seen, self.before = [], []
        emu = Emulator()
        self.account_start = emu.account.now_us
        emu.account.listeners.append(self.seen.extend)
        return emu


class Oracle:
    """A workerd process with queues that have the scenario's consumers."""

    def __init__(self, tools, folder, queues, consumers):
        self.queues = queues
        settings = {
            row["queue"]: {"consumer": "CONSUMER", **{camel(key): row[key] for key in row if key not in {"queue", "script", "then"}}}
            for row in consumers
        }
        scripts = {row["queue"]: {key: row[key] for key in ("script", "then") if key in row} for row in consumers}
        bindings = "".join(
            f'(name={json.dumps(name)}, queue=(name="queues", props=(json={json.dumps(json.dumps({"queue": name}))}))), ' for name in queues
        )
        (folder / "consumer.js").write_text(CONSUMER)
        (folder / "disk").mkdir()
        (folder / "c.capnp").write_text(f"""using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name="disk", disk=(path={json.dumps(str(folder / "disk"))}, writable=true)),
    (name="queues", worker=(modules=[(name="q", bundled="/workerd/queues.js")], compatibilityDate="2026-06-01",
      compatibilityFlags=["service_binding_extra_handlers", "rpc"],
      bindings=[(name="SHARD", durableObjectNamespace="QueueShard"), (name="CONSUMERS", json={json.dumps(json.dumps(settings))}),
        (name="TEST_CLOCK", json="true"), (name="CONSUMER", service="consumer")],
      durableObjectNamespaces=[(className="QueueShard", uniqueKey="queues", enableSql=true)], durableObjectStorage=(localDisk="disk"))),
    (name="consumer", worker=(modules=[(name="c", esModule=embed "consumer.js")], compatibilityDate="2026-06-01",
      bindings=[{bindings} (name="SCRIPTS", json={json.dumps(json.dumps(scripts))})]))],
  sockets = [(name="queues", address="127.0.0.1:0", http=(), service="queues"), (name="consumer", address="127.0.0.1:0", http=(), service="consumer")]);
""")
        command = [tools.workerd, "serve", "--experimental", "--control-fd=1", folder / "c.capnp"]
        with (folder / "said").open("wb") as said:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said)
        self.ports = {}
        for _ in range(2):
            line = self.process.stdout.readline()
            assert line, (folder / "said").read_text()
            told = json.loads(line)
            self.ports[told["socket"]] = told["port"]
        self.start_ms = self.clock(0)
        self.t = 0.0

    def ask(self, to, path="/", body=None):
        """One request; its answer."""
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{self.ports[to]}{path}", data, method="POST"), timeout=20) as reply:
            return json.loads(reply.read())

    def clock(self, advance_ms):
        """Move the clock; where it stands."""
        return self.ask("queues", f"/clock?advance={advance_ms}")["now"]

    def go(self, t):
        """Be at a moment, in seconds since the start; the clock may be a little further."""
        now = self.clock(0)
        ahead = self.start_ms + t * 1_000 - now
        if ahead > 0:
            self.clock(ahead)
        self.t = t

    def look(self):
        """Every delivery so far, and the backlog by queue."""
        told = self.ask("consumer", body={"metrics": self.queues})
        log, metrics = told[: len(told) - len(self.queues)], told[len(told) - len(self.queues) :]
        return log, {name: each["backlogCount"] for name, each in zip(self.queues, metrics, strict=True)}

    def left(self, expected):
        """The backlog by queue, when it is as expected or has had its time to become so."""
        until = time.monotonic() + SETTLE_SECONDS
        while True:
            found = self.look()[1]
            if {name: count for name, count in found.items() if count} == expected or time.monotonic() > until:
                return found
            time.sleep(LOOK_SECONDS)

    def close(self):
        """End it."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def camel(name):
    """A setting's name here."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def names_of(scenario):
    """Every queue of a scenario."""
    consumers = scenario.get("consumers", [])
    named = [*scenario.get("queues", {}), *(step["queue"] for step in scenario["steps"]), *(row["queue"] for row in consumers)]
    return list(dict.fromkeys([*named, *(row["dead_letter_queue"] for row in consumers if row.get("dead_letter_queue"))]))


def outcome(deliveries, left, refused):
    """What is compared: who was delivered when, how many are left where, which steps were refused."""
    rows = [(float(each["t"]), each["queue"], [list(b) if isinstance(b, bytes) else b for b in each["bodies"]], each["attempts"]) for each in deliveries]
    return {"deliveries": rows, "left": {name: count for name, count in left.items() if count}, "refused": sorted(refused)}


def ours(scenario):
    """What comes of a scenario in our emulator: the player, and its outcome."""
    player = Observed({**scenario, "expect": {"backlog": dict.fromkeys(names_of(scenario), 0)}})
    result = player.play()
    left = {name: len(bodies) for name, bodies in result["backlog"].items()}
    return player, outcome(result["deliveries"], left, result["step_errors"])


def theirs(tools, folder, scenario, player, expected):
    """What comes of it over workerd's queues: the outcome, and the texts of refusals. So many deliveries as `expected` are waited for."""
    oracle, made, errors = Oracle(tools, folder, names_of(scenario), scenario.get("consumers", [])), [], {}
    before = iter(player.before)
    try:
        for moment in player.moments():
            for t in (moment - BEFORE_SECONDS, moment):
                if t < oracle.t:
                    continue
                oracle.go(t)
                for index, step in enumerate(scenario["steps"]):
                    if step.get("t", 0) == t:
                        made += awaited(oracle, made, next(before))
                        refused = send(oracle, step)
                        if refused is not None:
                            errors[str(index)] = refused
                made += awaited(oracle, made, sum(at <= t for at, *_ in expected["deliveries"]))
        left = oracle.left(expected["left"])
    finally:
        oracle.close()
    return outcome(made, left, errors), set(errors.values())


def awaited(oracle, made, count):
    """What is delivered at this moment; so many deliveries in all are waited for, and a look more for those that are too many."""
    until, looks = time.monotonic() + SETTLE_SECONDS, 0
    while time.monotonic() < until and looks < 2:
        log, _ = oracle.look()
        looks = looks + 1 if len(log) >= count else 0
        time.sleep(LOOK_SECONDS)
    return [{"t": oracle.t, **each} for each in log[len(made) :]]


def send(oracle, step):
    """Carry out a step that sends; what it was refused with."""
    if step["op"] == "send":
        kind = step.get("content_type", "json")
        rows = [{"body": decoded(step["body"], kind) if "body" in step else None, "contentType": kind}]
        if "body_size" in step:
            rows[0]["body"] = "x" * (step["body_size"] - (2 if kind == "json" else 0))
        if "delay_seconds" in step:
            rows[0]["delaySeconds"] = step["delay_seconds"]
    else:
        rows = [{"contentType": "json", **row} for row in rows_of(step)]
    for row in rows:
        if isinstance(row["body"], bytes):
            row["bytes"] = list(row.pop("body"))
    options = {"delaySeconds": step["delay_seconds"]} if step["op"] == "send_batch" and "delay_seconds" in step else None
    return oracle.ask("consumer", body={"queue": step["queue"], "messages": rows, "options": options})
