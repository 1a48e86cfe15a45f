"""What the tests of the toolkit share: a fake message and batch, a way to run a coroutine, an emulator that closes itself."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from datetime import UTC, datetime

from emulator import Emulator

NOW = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


def run(awaitable):
    """The result of a coroutine."""
    return asyncio.run(awaitable)


@contextlib.contextmanager
def account(**options):
    """An emulator."""
    emu = Emulator(**options)
    try:
        yield emu
    finally:
        emu.close()


@contextlib.contextmanager
def database():
    """An empty database in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        yield connection
    finally:
        connection.close()


def clock_of(emu):
    """The emulator's time in seconds since 1970."""
    return lambda: emu.now.timestamp()  # noqa: PLW0108 - the time of each call


class Message:
    """A message that remembers the first word on it."""

    def __init__(self, body, attempts=1, id="m1"):
        self.body, self.attempts, self.id = body, attempts, id
        self.timestamp = datetime.fromtimestamp(NOW, UTC)
        self.word = None

    def ack(self):
        self.word = self.word or "ack"

    def retry(self, delaySeconds=0):  # noqa: N803 - Cloudflare's name
        self.word = self.word or ("retry", delaySeconds)


class Batch:
    """A batch of messages."""

    def __init__(self, *messages, queue="jobs"):
        self.messages, self.queue = list(messages), queue


class Binding:
    """A producer binding that keeps what it was sent, or fails."""

    def __init__(self, error=None):
        self.sent, self.error = [], error

    async def send(self, body, **_options):
        if self.error is not None:
            raise self.error
        self.sent.append(body)


def states(emu, queue):
    """What became of the messages of a queue."""
    return [fate.state for fate in emu.fates if fate.queue == queue]
