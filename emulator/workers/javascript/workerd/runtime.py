"""Workers in workerd on an account's clock: what the engine's timeline moves, and what it waits for.

Everything happens inside of the timeline's step: a batch is handed over, and what follows from it happens until the handler has
answered or sleeps; then time may move. Code thus runs for one invocation at a time, so that a request of a binding, which says
nothing of its sender, belongs to the invocation whose turn it is.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import msgspec

from emulator.engine.allowance import TooManySubrequests
from emulator.engine.clock import SECOND_US
from emulator.engine.faults import DIED, LIMIT, WorkerCrashed
from emulator.engine.targets import invocation as engine
from emulator.engine.targets.invocation import LOST
from emulator.workers.javascript.invocation import Ended, Invocation, Told, Wait, called
from emulator.workers.javascript.workerd.configuration import files
from emulator.workers.javascript.workerd.process import POOL, Process
from emulator.workers.javascript.workerd.traffic import Gone, Hung, Traffic
from emulator.workers.javascript.workerd.wire import Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from emulator.engine.delivery import Delivery
    from emulator.workers.javascript.workerd.configuration import Script
    from emulator.workers.javascript.workerd.services import Services
    from emulator.workers.javascript.workerd.traffic import Then
    from emulator.workers.javascript.workerd.wire import Connection, Request

CPU_SECONDS = 30.0
"""So long code may run without asking anything of the world: production's limit for a consumer is 30 s of CPU time."""
_MILLISECOND_US = 1_000
_CHANNEL = "cfq"
_BEFORE = 1
EXCEEDED, FAILED = "exceededCpu", "exception"
_LOST = Reply(500, LOST.encode(), (("X-Cfq-Refused", LOST),), LOST)
_MUCH = str(TooManySubrequests())
_TOO_MANY = Reply(500, _MUCH.encode(), (("X-Cfq-Refused", _MUCH), ("CF-Queues-Error-Cause", _MUCH)), _MUCH)
_LET_GO_SECONDS, _REFUSED_MOST = 1.0, 200
"""So long, and with so many questions, what a test left behind may take to its end; then workerd is stopped."""
_COUNTED = frozenset({_CHANNEL, "out"})
"""What isolates count: their own questions, and fetch."""


class Workerd:
    """One workerd for all JavaScript Workers of an account. `services` answer what Workers ask."""

    outside = working = 0
    at_rest = False
    """What its isolates hold cannot be seen from here."""

    def __init__(self, now_us: Callable[[], int], seed: int | None, services: Services) -> None:
        self._now_us, self._seed, self._services = now_us, seed, services
        self.patience_seconds = CPU_SECONDS
        self.workers: tuple[int, ...] = ()
        self.alone = True
        """Whether an answer ends all that its invocation did: one Worker that calls no other and has no objects."""
        self.waits = True
        self._traffic: Traffic | None = None
        self._program: Path | None = None
        self._scripts: tuple[Script, ...] = ()
        self._live: dict[int, Invocation] = {}
        self._after: dict[int, Invocation] = {}
        """Those that have answered, while what they left to waitUntil may go on."""
        self._ended: list[Invocation] = []
        self._waits: list[Wait] = []
        self._waiting: dict[Connection, int] = {}
        self._turn: Invocation | None = None
        self._count = self._refusing = 0

    # --- the process

    def run(self, program: Path, scripts: tuple[Script, ...], *, alone: bool, waits: bool) -> None:
        """Have these Workers run from now on; those that ran are ended. Raises SourceRefused, ToolMissing.

        `waits` tells whether a batch ends when what its handler left to waitUntil has ended.
        """
        self.close()
        self._program, self._scripts, self.alone, self.waits = program, scripts, alone and waits, waits
        self.workers = tuple(range(len(scripts)))
        self._start()

    def _start(self, before: Process | None = None) -> None:
        assert self._program is not None, "somebody has said what to run"
        key = (self._program, self._scripts)
        kept = POOL.take(key) if before is None else None
        process = kept or Process(self._program, files(self._scripts), key, before)
        self._traffic = Traffic(process, self._asked, self._lost, lambda: len(self._waiting), self._services.console)
        try:
            if kept is not None and any(each.durable for each in self._scripts):
                self._call("forget", {"workers": self.workers}, _LET_GO_SECONDS)
                kept.forget_objects()
            self._call("reset", {"workers": self.workers, "seed": self._seed, "again": kept is not None})
        except (Hung, Gone, RuntimeError):
            if kept is None:
                raise
            self._end_process()
            self._start()

    def _call(self, what: str, given: Mapping[str, Any], seconds: float | None = None) -> bytes:
        assert self._traffic is not None, "the process runs"
        return self._traffic.call(what, given, seconds or self.patience_seconds)

    def _end_process(self, *, follows: bool = False) -> None:
        if self._traffic is not None:
            self._traffic.process.end() if follows else self._traffic.process.stop()
            self._traffic.close()
            self._traffic = None
        self._waits.clear()
        self._waiting.clear()

    def _restart(self, outcome: str, why: str) -> None:
        """What ran has no outcome but this one; the next begins in a new process, with what Durable Objects held."""
        before = self._traffic.process if self._traffic is not None else None
        self._end_process(follows=True)
        for invocation in list(self._live.values()):
            invocation.failures.append(why)
            self._end(invocation, Ended(0, [], b"", outcome))
        self._start(before)

    # --- invocations

    def begin(
        self,
        worker: int,
        what: str,
        given: dict[str, Any],
        on_end: Callable[[Invocation], None],
        delivery: Delivery | None = None,
    ) -> Invocation:
        """Have a handler called, and let happen what follows at this moment."""
        invocation = self._new(worker, on_end, delivery)
        body = msgspec.json.encode({**given, **self._turn_of(invocation)})
        return self._run(invocation, lambda traffic: traffic.ask(what, body, self._answer_of(invocation)))

    def fetch(
        self,
        worker: int,
        url: str,
        request: tuple[str, tuple[tuple[str, str], ...], bytes],
        on_end: Callable[[Invocation], None],
    ) -> Invocation:
        """Have a fetch handler called with method, headers and body; likewise."""
        invocation = self._new(worker, on_end, None)
        method, headers, body = request
        given = quote(msgspec.json.encode({"url": url, **self._turn_of(invocation)}).decode())
        rows = (*headers, ("X-Cfq", given))
        return self._run(invocation, lambda traffic: traffic.request(rows, body, method, self._answer_of(invocation)))

    def _new(self, worker: int, on_end: Callable[[Invocation], None], delivery: Delivery | None) -> Invocation:
        self._count += 1
        invocation = self._live[self._count] = Invocation(self._count, worker, delivery, on_end)
        return invocation

    def _turn_of(self, invocation: Invocation) -> dict[str, Any]:
        return {
            "worker": invocation.worker, "id": invocation.id, "now": self._now_us() // _MILLISECOND_US,
            "all": [each for each in self.workers if each != invocation.worker],
        }  # fmt: skip

    def _answer_of(self, invocation: Invocation) -> Then:
        def answered(status: int, pairs: list[tuple[str, str]], body: bytes) -> None:
            self._end(invocation, Ended(status, pairs, body))

        return answered

    def _run(self, invocation: Invocation, begin: Callable[[Traffic], None]) -> Invocation:
        assert self._traffic is not None, "the process runs"
        before, self._turn = self._turn, invocation
        try:
            begin(self._traffic)
        except Gone:
            self._restart(FAILED, self._gone())
        else:
            self._settle(invocation)
        finally:
            self._turn = before
        self.tell()
        return invocation

    def _settle(self, invocation: Invocation | None) -> None:
        """Let happen what happens at this moment; an endless loop is ended."""
        assert self._traffic is not None, "the process runs"

        def enough() -> bool:
            delivery = None if invocation is None else invocation.delivery
            if delivery is None or delivery.cut_off:  # where it is cut off, it may be at work still
                return False
            return self.alone and invocation is not None and invocation.over

        try:
            self._traffic.until_quiet(self.workers, enough, self.patience_seconds, sleeping=lambda: bool(self._waiting))
        except Hung:
            self._restart(EXCEEDED, f"the Worker ran for {self.patience_seconds:g} s without an end")
        except Gone:
            self._restart(FAILED, self._gone())

    def _gone(self) -> str:
        said = self._traffic.process.said() if self._traffic is not None else ""
        return f"workerd ended: {said[-500:] or 'it said nothing'}"

    def _end(self, invocation: Invocation, ended: Ended) -> None:
        if self._live.pop(invocation.id, None) is None:
            return
        invocation.ended = ended
        if invocation.delivery is not None and self.alone:
            self._forget_waits(invocation.id)
        else:
            self._after[invocation.id] = invocation
        self._ended.append(invocation)

    def tell(self) -> None:
        """Tell those who wait how their invocations have ended."""
        if self._after:
            going_on = {wait.by for wait in self._waits}
            self._after = {id: each for id, each in self._after.items() if id in going_on}
        while self._ended:
            invocation = self._ended.pop(0)
            invocation.on_end(invocation)

    def kill(self, invocation: Invocation) -> None:
        """Nothing that it asks is answered any more."""
        invocation.dead = True
        self._live.pop(invocation.id, None)
        self._forget_waits(invocation.id)

    def _forget_waits(self, id: int) -> None:
        for wait in self._waits:
            if wait.by == id:
                self._waiting.pop(wait.connection, None)
        self._waits = [wait for wait in self._waits if wait.by != id]
        heapq.heapify(self._waits)

    # --- what Workers ask

    def _asked(self, request: Request, connection: Connection) -> None:
        if self._refusing:
            self._refuse(connection)
            return
        worker, kind, *identity = request.headers.get("x-cfq", f"0 {_CHANNEL}").split(" ")
        if request.method == "CONNECT":
            self._refuse_socket(request.target, connection)
            return
        query = request.query if kind == _CHANNEL else {}
        id = int(query.get("by", 0))
        by = self._live.get(id) or self._after.get(id) or self._turn
        if kind in _COUNTED:
            self._waiting[connection] = by.id if by is not None else 0
        if by is None or by.dead:
            return  # nobody is left to whom an answer would mean anything
        if kind == _CHANNEL:
            self._channel(int(worker), request, query, by, connection)
            return
        name = unquote(" ".join(identity))
        what = called(kind, name, request)
        self._call_of(by, connection, what, lambda: self._services.answer(int(worker), kind, name, request))

    def _refuse_socket(self, address: str, connection: Connection) -> None:
        """A Worker wants a TCP socket. workerd does not say which Worker: it is that whose turn it is."""
        worker = self._turn.worker if self._turn is not None else 0
        self._reply(connection, self._services.socket_refused(worker, address))

    def _refuse(self, connection: Connection) -> None:
        """Let what is asked by nobody that counts fail; raises Hung where that has no end."""
        self._refusing -= 1
        if not self._refusing or self._traffic is None:
            raise Hung
        self._traffic.give_up(connection)

    def _call_of(self, by: Invocation, connection: Connection, what: tuple[Any, ...], act: Callable[[], Any]) -> None:
        """A call of a binding: by a fault the process dies before it or behind it, or it fails and has acted or not."""
        by.asked += 1
        most = self._services.calls_max
        if most is not None and by.asked > most:
            self._reply(connection, _TOO_MANY)
            return
        delivery, fails, point = by.delivery, what[0] != "send", 0
        if delivery is not None and delivery.active:
            point = delivery.choose(3, "crashes_at_call", what)
            if point == _BEFORE:
                self._crash(by)
                return
            if fails and delivery.choose(2, "failed_calls", what):
                self._reply(connection, _LOST)
                return
        found = _acted(delivery, act)
        if isinstance(found, Reply):
            self._answer(by, connection, what, found, crashes=bool(point))
        else:
            found(lambda reply: self._later(by, lambda: self._answer(by, connection, what, reply, crashes=bool(point))))

    def _answer(self, by: Invocation, connection: Connection, what: tuple[Any, ...], reply: Reply, *, crashes: bool) -> None:
        """A call has acted: what its caller hears of it, by chance."""
        delivery = by.delivery
        if delivery is None or not delivery.active:
            self._reply(connection, reply)
            return
        delivery.deliveries.account.chance.heard(delivery, what)
        if crashes or delivery.choose(2, "crashes_at_await", what):
            self._crash(by)
        elif self._cut(by, what):
            return
        elif what[0] != "send" and delivery.choose(2, "lost_answers", what):
            self._reply(connection, _LOST)
        elif seconds := delivery.seconds("late_answers", what):
            self._wait_for(by, connection, self._now_us() + seconds * SECOND_US, reply)
        else:
            self._reply(connection, reply)

    def _inside_call(self, by: Invocation, connection: Connection, query: dict[str, str], *, before: bool) -> None:
        """A call of an object or of another Worker, which stays inside of workerd: `_call_of` in two parts."""
        what: tuple[Any, ...] = (query["name"], tuple(msgspec.json.decode(query["given"])), {})
        delivery = by.delivery
        if not before:
            self._answer(by, connection, what, Reply(), crashes=by.points.pop(query["call"], 0) > 0)
            return
        if delivery is not None and delivery.active:
            point = by.points[query["call"]] = delivery.choose(3, "crashes_at_call", what)
            if point == _BEFORE:
                self._crash(by)
                return
            if delivery.choose(2, "failed_calls", what):
                self._reply(connection, _LOST)
                return
        self._reply(connection, Reply())

    def _wait_for(self, by: Invocation, connection: Connection, due_us: int, reply: Reply | None = None) -> None:
        self._count += 1
        heapq.heappush(self._waits, Wait(due_us, self._count, connection, by.id, reply))

    def _channel(self, worker: int, request: Request, query: dict[str, str], by: Invocation, connection: Connection) -> None:
        what = request.path
        if request.body:
            told = msgspec.json.decode(request.body, type=Told)
            by.calls += told.calls
            by.failures += [] if told.failure is None else [told.failure]
            self._services.console(told.lines)
            if told.calls and self._cut(by):
                return
        if what == "wait":
            if by.delivery is not None and by.delivery.choose(2, "crashes_at_await"):
                self._crash(by)
                return
            if self._cut(by):
                return
            late = by.delivery.seconds("late_answers") if by.delivery is not None else 0
            self._wait_for(by, connection, self._now_us() + int(query["ms"]) * _MILLISECOND_US + late * SECOND_US)
            return
        if what == "died":
            self._crash(by)
            return
        if what in {"call", "called"}:
            self._inside_call(by, connection, query, before=what == "call")
            return
        self._reply(connection, self._services.asked_itself(worker, what, query))

    def _crash(self, invocation: Invocation) -> None:
        """By a fault, the process is dead from here on."""
        assert invocation.delivery is not None, "faults are drawn for batches"
        invocation.delivery.crashed = True
        invocation.delivery.fail(WorkerCrashed(DIED))
        self._end(invocation, Ended(0, [], b"", FAILED))
        invocation.dead = True

    def _cut(self, by: Invocation, where: Any = None) -> bool:
        """Whether a limit ends the handler here, by a fault: what it has acknowledged holds."""
        delivery = by.delivery
        if delivery is None or not delivery.active or not by.acknowledges or not delivery.choose(2, "cut_off", where):
            return False
        delivery.cut_off = True
        delivery.fail(WorkerCrashed(LIMIT))
        self._end(by, Ended(0, [], b"", EXCEEDED))
        by.dead = True
        return True

    def _reply(self, connection: Connection, reply: Reply) -> None:
        self._waiting.pop(connection, None)
        if self._traffic is not None:
            self._traffic.reply(connection, reply)

    def _later(self, by: Invocation, act: Callable[[], None]) -> None:
        """What a test has awaited is there, and what follows from it happens."""
        if by.dead:
            return
        before, self._turn = self._turn, by
        try:
            self._tell_time()
            act()
            self._settle(by)
        finally:
            self._turn = before
        self.tell()

    def _lost(self, connection: Connection) -> None:
        """A Worker waits for an answer no more."""
        if self._waiting.pop(connection, None) is not None:
            self._waits = [wait for wait in self._waits if wait.connection is not connection]
            heapq.heapify(self._waits)

    # --- time

    def next_wake_us(self) -> int | None:
        """When a Worker has something to do."""
        return self._waits[0].due_us if self._waits else None

    def wake(self, now_us: int) -> None:
        """Let go on what is due, one after another."""
        while self._waits and self._waits[0].due_us <= now_us:
            wait = heapq.heappop(self._waits)
            self._turn = self._live.get(wait.by) or self._after.get(wait.by)
            if len(self.workers) > 1 or wait.reply is not None:
                self._tell_time()
            now = (("X-Cfq-Now", str(now_us // _MILLISECOND_US)),)
            self._reply(wait.connection, wait.reply or Reply(headers=now))
            self._settle(self._turn)
            self._turn = None
            self.tell()

    def _tell_time(self) -> None:
        """Tell every isolate what time it is: an answer to a binding's call does not."""
        self._call("tell", {"all": self.workers, "now": self._now_us() // _MILLISECOND_US})

    @property
    def busy(self) -> bool:
        """Whether something goes on that outlives its batch or its answer."""
        return bool(self._waits)

    def listen(self, on_end: Callable[[], None]) -> None:
        """Nothing ends in real time."""

    def take(self) -> list[Any]:
        """Nothing ends in real time."""
        return []

    def wait(self, seconds: float) -> None:
        """There is nothing to wait for."""

    def close(self) -> None:
        """End what runs. The process is kept for the next who runs the same, if it can be proven that nothing goes on in it."""
        traffic = self._traffic
        if traffic is None:
            return
        idle = not (traffic.unanswered or self._live)
        self._live.clear()
        self._after.clear()
        self._waits.clear()
        self._waiting.clear()
        self._refusing, self._turn = _REFUSED_MOST, None
        try:
            if not idle:
                traffic.abandon()
                never = bool  # is False
                traffic.until_quiet(self.workers, never, _LET_GO_SECONDS, sleeping=lambda: True, counts=False)
            POOL.give(traffic.process)
        except (Hung, Gone):
            traffic.process.stop()
        finally:
            traffic.close()
            self._traffic, self._refusing = None, 0


def _acted(delivery: Delivery | None, act: Callable[[], Any]) -> Any:
    """A call that acts, as one of the handler that has this batch: so its sends are drawn as those of any other."""
    if delivery is None:
        return act()
    token = engine.current.set(engine.Invocation(delivery, calling=True))
    try:
        return act()
    finally:
        engine.current.reset(token)
