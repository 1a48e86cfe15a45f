"""What goes between one workerd and us: requests of Workers in the order in which they were begun, and answers to ours.

Batches, alarms and pings go over one WebSocket, which costs workerd a fraction of what a request of HTTP does; what is asked of
a Worker's `fetch` is such a request. workerd opens a connection for each of its own requests, because every answer of ours
closes it; so the order in which they are accepted is the order in which they were begun.

**Quiet** means that no code runs in workerd and none will until we answer something. It is proven, not waited for. workerd is
one thread with one event loop. Linux tells whether that thread sleeps until something comes over a socket, and who writes to
such a socket has woken it by then: so it has nothing left to do when it sleeps, has answered a ping, and, looked at once more,
has said nothing else before it slept. What this leaves out is work that workerd does on other threads, such as compiling
WebAssembly.

A system that does not tell is asked by pings alone, requests that go through every Worker's isolate, which takes turns among
those who want to run in it. What follows from an answer of ours shows on our side: its connection ends as soon as workerd has
read it, and a new one begins with the next request. So it is not quiet while one of them is open, or has brought no whole
request; when there is none, several pings in a row without anything else between them say that nothing is on its way. There
the isolates are also asked how many requests to us they have begun and not seen answered: as many must be waiting here.
"""

from __future__ import annotations

import selectors
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from emulator.engine.clock import real_seconds
from emulator.workers.javascript.workerd.process import START_SECONDS
from emulator.workers.javascript.workerd.wire import Connection, Reply, Request, answer, frames, question

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emulator.workers.javascript.workerd.process import Process

    Then = Callable[[int, list[tuple[str, str]], bytes], None]
    """Given an answer: its status, its headers, its body."""

SILENT_PINGS = 6
_OK = 200
_FIRST_PING_SECONDS, _REACTION_SECONDS = 0.02, 0.001
"""A handler that is at work soon asks or answers; only then is it pinged. Sooner, where it may be waiting for the clock."""
_WORK_SECONDS, _WORK_SECONDS_MAX = 0.000_2, 0.003_2
"""So long workerd is left to its work before it is looked at again, where the system tells whether it has any; then twice as
long each time."""
_LOOKS, _LOOK_SECONDS = 20, 0.000_02
"""So often and so far apart workerd is looked at, which goes to sleep as soon as it has answered a ping."""
_ROUNDS_MAX = 50
"""So often workerd is asked again while it says that something is on its way which never comes."""


class Hung(Exception):  # noqa: N818 - what workerd is
    """workerd has said nothing for as long as code may run."""


class Gone(Exception):  # noqa: N818 - what workerd is
    """The process has ended."""


class Traffic:
    """The sockets of one process.

    `on_request(request, connection)` is called for each request, in order; it answers with `reply`, now or later. `on_lost` is
    called when a Worker has given up one that was not answered. `count_waiting` tells how many of those that isolates count are
    not answered, `on_lines` what they had to say.
    """

    def __init__(
        self,
        process: Process,
        on_request: Callable[[Request, Connection], None],
        on_lost: Callable[[Connection], None],
        count_waiting: Callable[[], int],
        on_lines: Callable[[Any], None],
    ) -> None:
        self.process = process
        self._on_request, self._on_lost, self._count_waiting, self._on_lines = on_request, on_lost, count_waiting, on_lines
        self._selector = selectors.DefaultSelector()
        self._selector.register(process.listener, selectors.EVENT_READ)
        self._arriving: deque[Connection] = deque()
        self._theirs: dict[Connection, bool] = {}
        """Every connection of workerd's, and whether it has been answered."""
        self._ours: dict[Connection, Then | None] = {}
        """Every connection of ours for requests, and who waits for the answer; None where it is free."""
        self._control: Connection | None = None
        self._told: dict[int, Then] = {}
        """What was asked over the control connection, by number, and who waits for the answer."""
        self._number = 0
        self._asked = False
        self._open: int | None = None
        self.pings = self.doubts = 0
        """How often workerd was asked, and how often it said that something was on its way which never came."""

    # --- asking

    def ask(self, what: str, given: bytes, then: Then) -> None:
        """Ask the driver, whose answers come in any order. Raises Gone."""
        self._number += 1
        self._told[self._number] = then
        try:
            if self._control is None:
                self._control = self.process.control(START_SECONDS)
                self._selector.register(self._control.sock, selectors.EVENT_READ, self._control)
            self._control.write(frames(b"%d %s %s" % (self._number, what.encode(), given)))
        except OSError as error:
            raise Gone from error

    def request(self, headers: tuple[tuple[str, str], ...], body: bytes, method: str, then: Then) -> None:
        """Have a Worker answer a request of HTTP. Raises Gone."""
        data = question("/", body, headers, method)
        for connection in [each for each, busy in self._ours.items() if busy is None]:
            if connection.read() or connection.closed:  # it was kept too long
                self._drop(connection)
                continue
            self._sent(connection, data, then)
            return
        try:
            connection = self.process.connect()
        except OSError as error:
            raise Gone from error
        self._selector.register(connection.sock, selectors.EVENT_READ, connection)
        self._sent(connection, data, then)

    def _sent(self, connection: Connection, data: bytes, then: Then) -> None:
        self._ours[connection] = then
        try:
            connection.write(data)
        except OSError as error:
            self._drop(connection)
            raise Gone from error

    def call(self, what: str, given: Any, seconds: float) -> bytes:
        """Ask and wait for the answer's body. Raises Hung, Gone, and RuntimeError for an answer that is an error."""
        found: list[tuple[int, bytes]] = []
        self.ask(what, msgspec.json.encode(given), lambda status, _pairs, body: found.append((status, body)))
        until = real_seconds() + seconds
        while not found:
            self.look(max(0.0, until - real_seconds()))
            if not found and real_seconds() >= until:
                raise Hung
        if found[0][0] != _OK:
            message = f"workerd answered {found[0][0]}: {found[0][1].decode(errors='replace')}"
            raise RuntimeError(message)
        return found[0][1]

    # --- answering

    def reply(self, connection: Connection, given: Reply) -> None:
        """Answer a request; nothing where the other side is gone."""
        if connection not in self._theirs:
            return
        self._theirs[connection] = True
        try:
            connection.write(answer(given))
        except OSError:
            self._drop(connection)

    @property
    def unanswered(self) -> list[Connection]:
        """The requests that nobody has answered."""
        return [connection for connection, answered in self._theirs.items() if not answered]

    # --- looking

    def look(self, seconds: float) -> bool:
        """Take in what has come, waiting no longer than that, and have it handled. Whether it was more than a ping's answer.

        Requests that were written before an answer are handled before it.
        """
        moved, answered = False, list[Connection]()
        for key, _ in self._selector.select(seconds):
            connection = key.data
            if connection is None:
                continue
            if connection in self._ours or connection is self._control:
                before = len(connection.data)
                moved |= connection.read() > 0 and before > 0  # an answer that comes in parts
                answered.append(connection)
            elif connection not in self._arriving:
                connection.read()
                if connection.closed:
                    moved |= self._lost(connection)
        moved |= self._take_in()
        for connection in answered:
            if connection is self._control:
                moved |= self._heard(connection)
            else:
                moved |= self._answered(connection)
        return moved

    def _take_in(self) -> bool:
        """Accept and read all that is there; have whole requests handled, in the order of their connections."""
        moved = False
        while True:
            try:
                sock, _ = self.process.listener.accept()
            except OSError:
                break
            sock.setblocking(False)
            connection = Connection(sock)
            self._theirs[connection] = False
            self._arriving.append(connection)
            self._selector.register(sock, selectors.EVENT_READ, connection)
            moved = True
        for connection in self._arriving:
            moved |= connection.read() > 0
        return self._serve() or moved

    def _serve(self, *, skipping: bool = False) -> bool:
        """Have requests handled; one that is not whole holds up those behind it, unless nothing more will come of it."""
        moved = False
        for _ in range(len(self._arriving)):
            connection = self._arriving[0]
            request = connection.request()
            if request is None and not connection.closed:
                if not skipping:
                    break
                self._arriving.rotate(-1)
                continue
            self._arriving.popleft()
            moved = True
            if request is None:
                self._drop(connection)
            else:
                self._on_request(request, connection)
        return moved

    def _heard(self, connection: Connection) -> bool:
        """Hand on what the driver has answered. Raises Gone where the process ended instead."""
        moved = False
        while (text := connection.frame()) is not None:
            number, status, body = text.split(b" ", 2)
            then = self._told.pop(int(number))
            then(int(status), [], body)
            moved |= getattr(then, "func", None) != self._pong
        if connection.closed:
            raise Gone
        return moved or bool(connection.data)

    def _answered(self, connection: Connection) -> bool:
        """Hand on the answer to a request. Raises Gone where the process ended instead."""
        then = self._ours.get(connection)
        found = connection.message()
        if found is None or then is None:
            if connection.closed:
                self._drop(connection)
                if then is not None:
                    raise Gone
            return bool(connection.data)
        self._ours[connection] = None
        first, pairs, body = found
        then(int(first.split(" ", 2)[1]), pairs, body)
        return True

    def _lost(self, connection: Connection) -> bool:
        """The other side has closed: after an answer that is how it ends, before it a Worker has given up."""
        was_answered = self._theirs.get(connection, True)
        self._drop(connection)
        if not was_answered:
            self._on_lost(connection)
        return not was_answered

    def _drop(self, connection: Connection) -> None:
        self._theirs.pop(connection, None)
        self._ours.pop(connection, None)
        self._selector.unregister(connection.sock)
        connection.close()

    # --- being sure

    def until_quiet(
        self,
        workers: Sequence[int],
        enough: Callable[[], bool],
        patience_seconds: float,
        *,
        sleeping: Callable[[], bool],
        counts: bool = True,
    ) -> None:
        """Until nothing runs and nothing is on its way (the module's docstring says why), or it is `enough`.

        `sleeping` tells whether a handler may be waiting for the clock, so that asking is worth it. Without `counts` isolates
        are not believed: what they have begun for somebody who is gone never ends. Raises Hung, Gone.
        """
        silent, calm, last, known, work = 0, False, real_seconds(), self.process.idle is not None, _WORK_SECONDS
        self._open, self._asked = None, False
        while True:
            if known:
                first, work = (0.0, work) if self.process.idle else (work, min(2 * work, _WORK_SECONDS_MAX))
            else:
                first = _REACTION_SECONDS if sleeping() else _FIRST_PING_SECONDS
            moved = self.look(patience_seconds if self._asked else first)
            if enough():
                return
            now = real_seconds()
            if moved:
                silent, calm, last = 0, False, now
            if self._open is not None:
                self._asked, last = False, now
                silent = silent + 1 if calm else 0
                if known and calm and self._sleeps():
                    self._serve(skipping=True)
                    return
                counted = not self._on_its_way() and (not counts or self._open == self._count_waiting())
                if not counted and silent > _ROUNDS_MAX:
                    self.doubts += 1
                    counted = True
                if not known and silent >= SILENT_PINGS and counted and not self._serve(skipping=True):
                    return
                self._open = None
            elif now - last >= patience_seconds:
                raise Hung
            if not self._asked and not moved and self.process.idle is not False:
                self.pings += 1
                self._asked, calm = True, True
                self.ask("ping", msgspec.json.encode({"workers": workers}), partial(self._pong, self.pings))

    def _sleeps(self) -> bool:
        """Whether workerd waits for its sockets, and has said nothing more before it did."""
        for _ in range(_LOOKS):
            if self.process.idle:
                return not self.look(0)
            if self.look(_LOOK_SECONDS):
                return False
        return False

    def _on_its_way(self) -> bool:
        """Whether a request is not whole, or an answer was not taken: workerd closes its connection when it has read one."""
        return any(answered or connection in self._arriving for connection, answered in self._theirs.items())

    def _pong(self, number: int, _status: int, _pairs: list[tuple[str, str]], body: bytes) -> None:
        """The answer to a ping. One that was asked before somebody had heard enough says nothing of now."""
        told = msgspec.json.decode(body)
        for _, lines in told:
            self._on_lines(lines)
        if number == self.pings:
            self._open = sum(begun for begun, _ in told)

    def give_up(self, connection: Connection) -> None:
        """Close a connection of workerd's without an answer."""
        if connection in self._theirs:
            self._drop(connection)

    def abandon(self) -> None:
        """Close every connection: whoever waits for anything in workerd waits in vain."""
        self._arriving.clear()
        for connection in [*self._theirs, *self._ours]:
            self._drop(connection)
        if self._control is not None:
            self._drop(self._control)
            self._control = None
            self._told.clear()

    def close(self) -> None:
        """Close everything but the process, and what the next who uses it can go on with."""
        control = self._control
        if control is not None and self.process.alive and not (self._told or control.data or control.closed):
            self._selector.unregister(control.sock)
            self.process.kept, self._control = control, None
        self.abandon()
        self._selector.close()
