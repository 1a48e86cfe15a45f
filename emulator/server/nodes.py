"""A server that is one of several on a database: it leads the account, or follows the node that does.

Who leads is a server as any other; its journal refuses what it may not write any more (`emulator.engine.journal.shared`). Who
follows has a copy of the state, which it brings up to date before every answer, and passes on what is no read. When the part
changes, the state goes along: a service is built anew around it, and requests wait until it is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from functools import partial
from typing import TYPE_CHECKING

import psycopg

from emulator.core import events as happened
from emulator.core.refusals import UnknownInternalError
from emulator.engine.clock import real_seconds, wait_really
from emulator.engine.journal import JournalUnwritable
from emulator.engine.journal.shared import BEAT_SECONDS, SharedJournal
from emulator.server.app import create_app
from emulator.server.forward import Forward, Leader
from emulator.server.time import RunningTime, speed_of
from emulator.server.wire import answers
from emulator.server.wire.endpoint import answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Receive, Scope, Send

    from emulator.core.model import State
    from emulator.engine.timeline import Timeline
    from emulator.server.app import Application
    from emulator.server.observe.watch import Watch
    from emulator.server.service import Service

    Running = Callable[[Timeline, str], RunningTime]
    Build = Callable[[SharedJournal, Running, Watch | None], Service]

logger = logging.getLogger("emulator.server")

_LOOK_SECONDS = 0.25
"""Who follows looks so often whether it may lead, and what is new where nothing has told it."""
_PATIENCE_SECONDS = 5.0
"""A request waits so long for this node to have a part."""
_SHAPES = (happened.QueueCreated, happened.QueueDeleted, happened.ConsumerSet, happened.ConsumerRemoved)
"""Events that change what the directory says."""


class LeadersTime(RunningTime):
    """Goes on only while this node is sure to lead."""

    def __init__(self, journal: SharedJournal, timeline: Timeline, mode: str) -> None:
        self._journal = journal
        super().__init__(timeline, mode)

    def catch_up(self) -> None:
        """Bring the clock to the present. Raises StaleWriter where another node leads."""
        self._journal.make_sure()
        super().catch_up()


class FollowersTime(RunningTime):
    """The leader's: nothing happens here, and the clock shows the present beside what the leader has written."""

    def __init__(self, follow: Callable[[], None], timeline: Timeline, mode: str) -> None:
        self._follow = follow
        super().__init__(timeline, mode)

    def catch_up(self) -> None:
        """Take over what is new. Raises JournalUnwritable while the database is away."""
        self._follow()
        if self.speed is not None:
            self.account.clock.move_to(max(self._source.now_us(), self.account.now_us))

    def kick(self) -> None:
        """What is due is the leader's to do."""


def _opened(url: str, account: str) -> SharedJournal:
    """The journal. A database that is just starting, as where everything starts at once, is waited for."""
    until = real_seconds() + _PATIENCE_SECONDS
    while True:
        try:
            return SharedJournal(url, account)
        except JournalUnwritable:
            if real_seconds() > until:
                raise
            wait_really(_LOOK_SECONDS)


class Node:
    """ASGI, and what keeps it going. Raises JournalError for a database that cannot be used.

    `lead` builds the service of a node that leads, `follow` of one that follows, each on a journal, with its own running of
    time, which `mode` names, and with what has watched the account so far. `port` is where this node
    listens, `host` its address; "" for the one that the database sees.
    """

    def __init__(self, url: str, account: str, *, host: str, port: int, mode: str, lead: Build, follow: Build) -> None:
        self._url, self._account, self._lead, self._follow = url, account, lead, follow
        self.real_time = speed_of(mode) == 1
        self._journal: SharedJournal | None = _opened(url, account)
        host = host or self._journal.own_host()
        self.address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        self.app = self
        self._service: Service | None = None
        self._app: Application | None = None
        self._has_part = asyncio.Event()
        self._leader: Leader | None = None
        self._known: tuple[int, State] | None = None
        self._watch: Watch | None = None
        self._changes = -1
        self._pump: asyncio.Task[None] | None = None
        self._leads = self._stopping = False
        self._forward = Forward(lambda: self._leader)

    # --- requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; while the node has no part, it waits."""
        if self._app is None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._has_part.wait(), _PATIENCE_SECONDS)
        if self._app is not None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await answer(send, answers.refusal(UnknownInternalError("the database cannot be reached; nothing was done")))

    def prompt(self, method: str, path: str) -> bool:
        """Whether a request is answered without waiting for anything."""
        return self._app is not None and self._app.prompt(method, path)

    def stop(self) -> None:
        """The end was asked for."""
        self._stopping = True
        if self._service is not None:
            self._service.stopping = True

    # --- the node's life

    async def run(self) -> None:
        """Lead, or follow and see whether to lead, until cancelled. Raises what a configuration cannot be served for."""
        listening = asyncio.create_task(self._listen())
        try:
            while True:
                try:
                    await self._turn()
                except JournalUnwritable as error:
                    logger.warning("%s", error)
                    await self._leave()
                    await asyncio.sleep(_LOOK_SECONDS)
        finally:
            listening.cancel()

    async def _turn(self) -> None:
        """One look. Raises JournalUnwritable where the part or the database is lost."""
        if self._journal is None:
            self._journal = await asyncio.to_thread(SharedJournal, self._url, self._account)
        journal = self._journal
        if self._leads:
            journal.beat()
            await asyncio.sleep(BEAT_SECONDS)
        elif journal.try_to_lead(self.address):
            await self._take_the_lead(journal)
        else:
            if self._service is None:
                await self._begin_to_follow(journal)
            self.catch_up()
            await asyncio.sleep(_LOOK_SECONDS)

    async def _take_the_lead(self, journal: SharedJournal) -> None:
        """Be a server as any other. It beats meanwhile: to load a Worker may take longer than a lease."""
        self._forget()
        journal.go_on_from(self._handed_over())
        building = asyncio.create_task(asyncio.to_thread(self._lead, journal, partial(LeadersTime, journal), self._watch))
        try:
            while not building.done():
                journal.beat()
                await asyncio.wait({building}, timeout=BEAT_SECONDS)
        except JournalUnwritable:
            await asyncio.wait({building})
            if building.exception() is None:
                building.result().close()
            raise
        service = building.result()
        self._leader, self._leads = Leader(self.address, journal.fence), True
        self._enter(service, "leads", None)
        self._pump = asyncio.create_task(service.time.pump())

    async def _begin_to_follow(self, journal: SharedJournal) -> None:
        journal.see()
        journal.go_on_from(self._handed_over())
        service = await asyncio.to_thread(self._follow, journal, partial(FollowersTime, self.catch_up), self._watch)
        self._changes = -1
        self._enter(service, "follows", self._forward)

    def _handed_over(self) -> tuple[int, State] | None:
        """The state of the part before, once: who builds on it changes it, also where that comes to nothing."""
        known, self._known = self._known, None
        return known

    def _enter(self, service: Service, role: str, forward: Forward | None) -> None:
        self._service, service.role, service.stopping = service, role, self._stopping
        self._app = create_app(service, listens=True, forward=forward)
        self._has_part.set()
        logger.warning("this node %s in the account %r", role, self._account)

    def _forget(self) -> None:
        """Answer nothing for now; the state goes along to the next part."""
        service, self._service, self._app, self._leads = self._service, None, None, False
        self._has_part.clear()
        if self._pump is not None:
            self._pump.cancel()
            self._pump = None
        if service is not None:
            service.stopping = True
            with service.account.lock:
                self._known = service.account.sequence, service.account.state
                self._watch = service.watch

    async def _leave(self) -> None:
        """The part or the database is lost: let go of both."""
        service, journal = self._service, self._journal
        self._forget()
        self._journal = self._leader = None
        if journal is not None:
            journal.leads = False
            with contextlib.suppress(JournalUnwritable):
                await asyncio.to_thread(journal.close if service is None else service.close)

    def catch_up(self) -> None:
        """Take over what the leader has written. Raises JournalUnwritable."""
        service, journal = self._service, self._journal
        if service is None or journal is None or journal.leads:
            return
        seen = journal.see()
        self._leader = Leader(seen.address, seen.fence) if seen.address not in {None, self.address} else None
        events = service.account.follow() if seen.length > service.account.sequence else ()
        if seen.directory_changes != self._changes or any(isinstance(event, _SHAPES) for event in events):
            service.directory.load()
            service.directory.reconcile(service.state)
            self._changes = seen.directory_changes

    async def _listen(self) -> None:
        """Hear of appends as they happen."""
        while True:
            journal = self._journal
            with contextlib.suppress(psycopg.Error, JournalUnwritable):
                if journal is not None and not journal.leads:
                    async with await psycopg.AsyncConnection.connect(self._url, autocommit=True, connect_timeout=3) as db:
                        await db.execute(f'LISTEN "{journal.channel}"'.encode())
                        async for _ in db.notifies():
                            if self._journal is not journal or journal.leads:
                                break
                            self.catch_up()
            await asyncio.sleep(_LOOK_SECONDS)

    async def finish(self, grace_seconds: float) -> None:
        """Let what runs end within so many seconds, and close; another node leads at once."""
        service, journal = self._service, self._journal
        with contextlib.suppress(JournalUnwritable):
            if service is not None and journal is not None and self._leads:
                finishing = asyncio.create_task(service.time.finish(grace_seconds))
                while not finishing.done():
                    journal.beat()
                    await asyncio.wait({finishing}, timeout=BEAT_SECONDS)
            if service is not None:
                service.close()
        if journal is not None:
            journal.close()
        await self._forward.close()
