"""A second, slow reading of how Cloudflare Queues delivers, to hold the emulator against.

Written from the documented rules alone: it shares no code with the package, keeps every message that ever was, scans all of
them for every question, and counts whole milliseconds. What a handler does is data (`Call`s and how long it takes), because
the same script must run here and in the emulator.

The order of things at one moment: handlers that end, expiries, lapsed leases, batches; queue by queue in order of name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SECOND = 1000
DAY = 86_400 * SECOND
FOUR_DAYS = 4 * DAY
WALL = 900 * SECOND
LIVE = ("waiting", "leased", "out")


@dataclass
class Held:
    """One message in one queue; a dead-lettered message is held a second time, in the other queue."""

    body: Any
    queue: str
    number: int
    ready: int
    arrived: int
    buried: bool = False
    attempts: int = 0
    state: str = "waiting"
    ended: int | None = None
    lease: str | None = None
    lapses: int | None = None


@dataclass
class Consumer:
    """A consumer's settings, and the script that its handler follows: one entry for each invocation."""

    pull: bool = False
    size: int = 10
    timeout: int = 5 * SECOND
    retries: int = 3
    dead: str | None = None
    delay: int = 0
    slots: int | None = None
    script: list[dict] = field(default_factory=list)
    invoked: int = 0


@dataclass
class Line:
    """A queue: settings, its consumer, whether it is paused; and what the autoscaler remembers of it."""

    name: str
    delay: int = 0
    retention: int = FOUR_DAYS
    paused: bool = False
    consumer: Consumer | None = None
    slots: int = 1
    backlog: int | None = None
    failing: int = 0


@dataclass
class Running:
    """A batch whose handler, or a promise of its, has not ended; a handler may speak late, at its own end."""

    queue: str
    messages: list[Held]
    ends: int
    act: dict
    delivery: dict
    calls: Calls
    consumer: Consumer
    speaks: int | None = None


class Calls:
    """What a handler said about its batch, by the rule that the first word wins."""

    def __init__(self, count: int) -> None:
        self.acked: set[int] = set()
        self.retried: dict[int, int | None] = {}
        self.ack_all = False
        self.retry_all = False
        self.retry_all_delay: int | None = None
        self.count = count

    def say(self, call: list) -> None:
        """Take one call: `["ack", i]`, `["retry", i, delay]`, `["ackAll"]` or `["retryAll", delay]`."""
        verb, *rest = call
        at = rest[0] if verb in ("ack", "retry") else None
        if at is not None and at >= self.count:
            return
        if verb == "ack" and not (self.ack_all or self.retry_all or at in self.retried):
            self.acked.add(at)
        elif verb == "retry" and not (self.ack_all or at in self.acked):
            self.retried[at] = rest[1]
        elif verb == "ackAll" and not self.retry_all:
            self.ack_all = True
        elif verb == "retryAll" and not self.ack_all:
            self.retry_all = True
            if rest[0] is not None:
                self.retry_all_delay = rest[0]

    def verdict(self, at: int, returned: bool) -> tuple[str, int | None]:
        """Whether message `at` is gone or comes back, and after which delay in seconds (None: the consumer's)."""
        if at in self.retried:
            own = self.retried[at]
            return "retry", self.retry_all_delay if own is None else own
        if at in self.acked or self.ack_all:
            return "ack", None
        if self.retry_all:
            return "retry", self.retry_all_delay
        return ("ack", None) if returned else ("retry", None)


class Model:
    """All queues of one account on one plan, at one moment of virtual time."""

    def __init__(self, plan: str = "paid") -> None:
        self.plan = plan
        self.now = 0
        self.lines: dict[str, Line] = {}
        self.held: list[Held] = []
        self.running: list[Running] = []
        self.deliveries: list[dict] = []
        self.numbers = 0
        self.leases: dict[str, tuple[Held, int]] = {}

    # --- what somebody asks for

    def create(self, name: str, delay: int = 0, retention: int | None = None) -> None:
        """A queue. On the Free plan every queue keeps its messages for a day."""
        keep = DAY if self.plan == "free" else FOUR_DAYS if retention is None else retention * SECOND
        self.lines.setdefault(name, Line(name, delay * SECOND, keep))

    def consume(self, name: str, consumer: Consumer) -> None:
        """Attach a consumer; its dead-letter queue comes into being with it."""
        self.lines[name].consumer = consumer
        if consumer.dead:
            self.create(consumer.dead)

    def send(self, name: str, bodies: list, delays: list[int | None], batch_delay: int | None = None) -> None:
        """Store messages: the message's delay beats the batch's, which beats the queue's."""
        line = self.lines[name]
        for body, own in zip(bodies, delays, strict=True):
            given = own if own is not None else batch_delay
            self._enter(line, body, self.now + (line.delay if given is None else given * SECOND))

    def pull(self, name: str, size: int, visibility: int) -> list[tuple[str, Any, int]] | None:
        """Lease the first ready messages: (lease, body, attempts) each. None where the queue is paused or has no pull consumer."""
        line = self.lines[name]
        if line.paused or line.consumer is None or not line.consumer.pull:
            return None
        taken = self._ready(name)[:size]
        for message in taken:
            message.attempts += 1
            message.state = "leased"
            message.lapses = self.now + visibility
            message.lease = f"{len(self.leases)}"
            self.leases[message.lease] = (message, len(self.leases))
        return [(m.lease, m.body, m.attempts) for m in taken]

    def settle(self, name: str, acks: list[str], retries: list[tuple[str, int | None]]) -> None:
        """An ack is good whenever the message is in the queue; a retry only while its lease is the message's lease."""
        line = self.lines[name]
        for lease in acks:
            for message in self._of(name, *LIVE):
                if message.body == self.leases[lease][0].body:
                    self._end(message, "acked")
        for lease, delay in retries:
            message = self.leases[lease][0]
            if message.queue == name and message.state == "leased" and message.lease == lease:
                consumer = line.consumer or Consumer()
                self._fail(consumer, message, consumer.delay if delay is None else delay * SECOND)

    def pause(self, name: str) -> None:
        """Deliver nothing more; go on storing."""
        self.lines[name].paused = True

    def resume(self, name: str) -> None:
        """Deliver again."""
        self.lines[name].paused = False

    def change(self, name: str, retention: int) -> None:
        """Another retention, for what is there as well. The Free plan's stays."""
        if self.plan != "free":
            self.lines[name].retention = retention * SECOND

    def remove(self, name: str) -> None:
        """Take the consumer away; a batch that is out still ends under its settings, a lease under the defaults."""
        self.lines[name].consumer = None

    def purge(self, name: str) -> None:
        """Remove what is stored, delayed or leased; a batch that is out may finish."""
        for message in self._of(name, "waiting", "leased"):
            self._end(message, "purged")

    def advance(self, span: int) -> None:
        """Let `span` milliseconds pass; everything due happens at its own moment."""
        goal = self.now + span
        while (moment := self._next()) <= goal:
            self.now = moment
            self._happen()
        self.now = goal

    # --- what is due

    def _next(self) -> float:
        due: list[float] = [float("inf")]
        due += [batch.ends for batch in self.running]
        due += [batch.speaks for batch in self.running if batch.speaks is not None]
        due += [self._expires(m) for m in self.held if m.state == "waiting"]
        due += [m.lapses for m in self.held if m.state == "leased"]
        due += [self._leaves(line) for line in self.lines.values()]
        return max(min(due), self.now)

    def _leaves(self, line: Line) -> float:
        """The moment at which the queue's next batch leaves, as things stand."""
        consumer = line.consumer
        if consumer is None or consumer.pull or line.paused:
            return float("inf")
        if sum(batch.queue == line.name for batch in self.running) >= (consumer.slots or line.slots):
            return float("inf")
        readies = sorted(m.ready for m in self._of(line.name, "waiting"))
        if not readies:
            return float("inf")
        full = readies[consumer.size - 1] if len(readies) >= consumer.size else float("inf")
        return max(min(full, readies[0] + consumer.timeout), self.now)

    def _happen(self) -> None:
        for batch in [b for b in self.running if b.speaks is not None and b.speaks <= self.now]:
            batch.speaks = None
            self._follow(batch)
        for batch in [b for b in self.running if b.ends <= self.now]:
            self.running.remove(batch)
            self._finish(batch)
        for name in sorted(self.lines):
            for message in self._of(name, "waiting"):
                if self._expires(message) <= self.now:
                    self._end(message, "expired")
        for name in sorted(self.lines):
            for message in sorted(self._of(name, "leased"), key=lambda m: self.leases[m.lease][1]):
                if message.lapses <= self.now:
                    self._fail(self.lines[name].consumer or Consumer(), message, 0)
        for name in sorted(self.lines):
            while self._leaves(self.lines[name]) <= self.now:
                self._deliver(self.lines[name])

    def _deliver(self, line: Line) -> None:
        consumer = line.consumer
        taken = self._ready(line.name)[: consumer.size]
        for message in taken:
            message.attempts += 1
            message.state = "out"
        if line.backlog is None:
            line.backlog = len(self._ready(line.name))
        act = consumer.script[consumer.invoked] if consumer.invoked < len(consumer.script) else {}
        consumer.invoked += 1
        delivery = {
            "at": self.now, "queue": line.name, "messages": [(m.body, m.attempts) for m in taken], "returned": None,
        }
        self.deliveries.append(delivery)
        takes = max(act.get("takes", 0), act.get("until", 0))
        batch = Running(line.name, taken, self.now + min(takes, WALL), act, delivery, Calls(len(taken)), consumer)
        if not act.get("late"):
            self._follow(batch)
        elif act["takes"] <= WALL:
            batch.speaks = self.now + act["takes"]
        if takes == 0:
            self._finish(batch)
        else:
            self.running.append(batch)

    def _follow(self, batch: Running) -> None:
        for call in batch.act.get("calls", []):
            if call[0] == "send":
                self.send(call[1], [call[2]], [call[3]])
            elif call[0] in ("pause", "resume", "purge"):
                getattr(self, call[0])(call[1])
            else:
                batch.calls.say(call)

    def _finish(self, batch: Running) -> None:
        overran = max(batch.act.get("takes", 0), batch.act.get("until", 0)) > WALL
        returned = not batch.act.get("throws") and not overran
        batch.delivery["returned"] = returned
        line = self.lines[batch.queue]
        waiting, back = len(self._ready(line.name)), self.numbers
        for at, message in enumerate(batch.messages):
            verdict, delay = batch.calls.verdict(at, returned)
            if verdict == "ack":
                self._end(message, "acked")
            else:
                self._fail(batch.consumer, message, batch.consumer.delay if delay is None else delay * SECOND)
        returning = sum(m.state == "waiting" and m.number > back for m in batch.messages)
        if batch.consumer.slots is None:
            self._scale(line, batch.consumer, returned, waiting + returning)

    def _scale(self, line: Line, consumer: Consumer, returned: bool, backlog: int) -> None:
        """The autoscaler as `docs/emulator/time.md` states it."""
        line.failing = (3 * line.failing + (0 if returned else 1000)) // 4
        if line.failing > 500:
            line.slots = max(1, line.slots // 2)
        elif backlog < consumer.size:
            line.slots = max(1, line.slots - 1)
        elif backlog > line.backlog or backlog >= 10 * line.slots * consumer.size:
            line.slots = min(250, line.slots + 1)
        line.backlog = backlog

    # --- what becomes of a message

    def _enter(self, line: Line, body: Any, ready: int, buried: bool = False) -> None:
        self.numbers += 1
        self.held.append(Held(body, line.name, self.numbers, ready, self.now, buried))

    def _end(self, message: Held, state: str) -> None:
        message.state, message.ended, message.lapses = state, self.now, None

    def _fail(self, consumer: Consumer, message: Held, delay: int) -> None:
        if self._expires(message) <= self.now:
            self._end(message, "expired")
        elif message.attempts <= consumer.retries:
            self.numbers += 1
            message.state, message.number, message.ready, message.lapses = "waiting", self.numbers, self.now + delay, None
        elif consumer.dead:
            self._end(message, "dead-lettered")
            target = self.lines[consumer.dead]
            self._enter(target, message.body, self.now + target.delay, buried=True)
        else:
            self._end(message, "dropped")

    # --- questions

    def _expires(self, message: Held) -> int:
        line = self.lines[message.queue]
        keep = line.retention
        if message.buried and line.consumer is None:
            keep = min(keep, FOUR_DAYS)
        return message.arrived + keep

    def _of(self, name: str, *states: str) -> list[Held]:
        return [m for m in self.held if m.queue == name and m.state in states]

    def _ready(self, name: str) -> list[Held]:
        return sorted((m for m in self._of(name, "waiting") if m.ready <= self.now), key=lambda m: (m.ready, m.number))

    def fates(self) -> list[dict]:
        """What became of each message in each queue that it entered, in order of entry."""
        return [
            {"body": m.body, "queue": m.queue, "state": "waiting" if m.state in LIVE else m.state, "attempts": m.attempts,
             "at": m.ended}
            for m in self.held
        ]
