"""What goes between one workerd and us: requests of Workers in the order in which they were begun, and answers to ours.

workerd opens a connection for each of its requests, because every answer of ours closes it; so the order in which they are
accepted is the order in which they were begun, whatever Node of the event loop was quicker.

**Quiet** means that no code runs in workerd and none will until we answer something. It is proven, not waited for. workerd is
one thread with one event loop, which looks at its sockets only when its queue of events is empty. A ping is a request to every
Worker's isolate. All that could set code going was written before the first ping: so it is read in the same turn as that ping
or in an earlier one, and the second ping is read only when everything that followed from it has been done, as far as that needs
nothing new from a socket. What it wrote is in the kernel by then; after the second answer we take in all that is there, and
anything new means asking again. Two answers with nothing else between them therefore say that nothing is on its way. As the
event loop is not ours, the isolates are also asked how many requests to us they have begun and not seen answered: as many must
be waiting here. What this leaves out is work that workerd does on other threads, such as compiling WebAssembly.
"""

from __future__ import annotations

import selectors
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from emulator.engine.clock import real_seconds
from emulator.workers.javascript.workerd.wire import Connection, Reply, Request, answer, question

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emulator.workers.javascript.workerd.process import Process

SILENT_PINGS = 2
_FIRST_PING_SECONDS, _REACTION_SECONDS = 0.02, 0.001
"""A handler that is at work soon asks or answers; only then is it pinged. Sooner, where it may be waiting for the clock."""
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
        self._ours: dict[Connection, Callable[[str, list[tuple[str, str]], bytes], None] | None] = {}
        """Every connection of ours, and who waits for the answer; None where it is free."""
        self._asked = False
        self._open: int | None = None
        self.pings = self.doubts = 0
        """How often workerd was asked, and how often it said that something was on its way which never came."""

    # --- asking

    def ask(
        self,
        path: str,
        body: bytes,
        then: Callable[[str, list[tuple[str, str]], bytes], None],
        headers: tuple[tuple[str, str], ...] = (),
        method: str = "POST",
    ) -> Connection:
        """Ask the driver; `then` is called with the answer: its first line, its headers, its body. Raises Gone."""
        data = question(path, body, headers, method)
        for connection in [each for each, busy in self._ours.items() if busy is None]:
            if connection.read() or connection.closed:  # it was kept too long
                self._drop(connection)
                continue
            return self._sent(connection, data, then)
        try:
            connection = self.process.connect()
        except OSError as error:
            raise Gone from error
        self._selector.register(connection.sock, selectors.EVENT_READ, connection)
        return self._sent(connection, data, then)

    def _sent(self, connection: Connection, data: bytes, then: Callable[..., None]) -> Connection:
        self._ours[connection] = then
        try:
            connection.write(data)
        except OSError as error:
            self._drop(connection)
            raise Gone from error
        return connection

    def call(self, path: str, given: Any, seconds: float) -> bytes:
        """Ask and wait for the answer's body. Raises Hung, Gone, and RuntimeError for an answer that is an error."""
        found: list[tuple[str, bytes]] = []
        self.ask(path, msgspec.json.encode(given), lambda first, _pairs, body: found.append((first, body)))
        until = real_seconds() + seconds
        while not found:
            self.look(max(0.0, until - real_seconds()))
            if not found and real_seconds() >= until:
                raise Hung
        if " 200 " not in found[0][0]:
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
        moved, answered = False, []
        for key, _ in self._selector.select(seconds):
            connection = key.data
            if connection is None:
                continue
            if connection in self._ours:
                before = len(connection.data)
                moved |= connection.read() > 0 and before > 0  # an answer that comes in parts
                answered.append(connection)
            elif connection not in self._arriving:
                connection.read()
                if connection.closed:
                    moved |= self._lost(connection)
        moved |= self._take_in()
        for connection in answered:
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

    def _answered(self, connection: Connection) -> bool:
        """Hand on an answer of the driver. Raises Gone where the process ended instead."""
        then = self._ours.get(connection)
        found = connection.message()
        if found is None or then is None:
            if connection.closed:
                self._drop(connection)
                if then is not None:
                    raise Gone
            return bool(connection.data)
        self._ours[connection] = None
        then(*found)
        return getattr(then, "func", None) != self._pong

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
        silent, calm, last = 0, False, real_seconds()
        self._open, self._asked = None, False
        while True:
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
                counted = not counts or self._open == self._count_waiting()
                if not counted and silent > _ROUNDS_MAX:
                    self.doubts += 1
                    counted = True
                if silent >= SILENT_PINGS and counted and not self._serve(skipping=True):
                    return
                self._open = None
            elif now - last >= patience_seconds:
                raise Hung
            if not self._asked and not moved:
                self.pings += 1
                self._asked, calm = True, True
                self.ask("/cfq/ping", msgspec.json.encode({"workers": workers}), partial(self._pong, self.pings))

    def _pong(self, number: int, _first: str, _pairs: list[tuple[str, str]], body: bytes) -> None:
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

    def close(self) -> None:
        """Close everything but the process."""
        self.abandon()
        self._selector.close()
