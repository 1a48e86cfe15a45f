"""A workerd process: started in a folder of its own, ready when it has answered, gone with its folder when it is stopped."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from emulator.engine.clock import real_seconds, wait_really
from emulator.workers.javascript.errors import SourceRefused, ToolMissing
from emulator.workers.javascript.workerd.wire import Connection, question

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

START_SECONDS = 30.0
"""So long workerd may take to answer its first request."""
CONFIG, DRIVER, PARENT, SAID = "config.capnp", "driver.sock", "parent.sock", "said"
"""Files of the folder: the configuration, the socket that workerd listens on, ours, and what workerd writes."""
_LOOK_SECONDS = 0.002
_NOISE = ("NOSENTRY", "; stack:", "warning: ", 'Worker "driver"', "does not need to be specified anymore")
_OURS = re.compile(r"service worker\d+: ")
"""What only our own configuration knows."""


class Process:
    """workerd with the `files` of a configuration, and a `key` that is equal for equal files.

    `listener` takes its requests, `connect` is how it is asked.

    Raises ToolMissing where the program does not run, SourceRefused, with what workerd says, where it does not start.
    """

    def __init__(self, program: Path, files: Mapping[str, str | bytes], key: Hashable) -> None:
        self.key = key
        self.folder = Path(tempfile.mkdtemp(prefix="cfq-workerd-"))
        self.listener = socket.socket(socket.AF_UNIX)
        self._child: subprocess.Popen[bytes] | None = None
        self._end = weakref.finalize(self, _stop, os.getpid(), None, self.folder, self.listener)
        try:
            self.listener.bind(str(self.folder / PARENT))
            self.listener.listen(1_024)
            self.listener.setblocking(False)
            for name, content in files.items():
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
            self._start(program)
        except BaseException:
            self.stop()
            raise

    def _start(self, program: Path) -> None:
        command = [str(program), "serve", "--experimental", str(self.folder / CONFIG)]
        with (self.folder / SAID).open("wb") as said:
            try:
                child = subprocess.Popen(  # noqa: S603 - the project's own workerd
                    command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, cwd=self.folder
                )
            except OSError as error:
                raise ToolMissing(f"{program} does not run: {error}") from error
        self._end.detach()
        self._child = child
        self._end = weakref.finalize(self, _stop, os.getpid(), child, self.folder, self.listener)
        self._prove(child)

    def _prove(self, child: subprocess.Popen[bytes]) -> None:
        """Wait until a request has been answered: the socket's file stands before anybody listens."""
        until = real_seconds() + START_SECONDS
        while real_seconds() < until and child.poll() is None:
            with contextlib.suppress(OSError), contextlib.closing(self.connect()) as connection:
                connection.sock.settimeout(max(0.1, until - real_seconds()))
                connection.sock.sendall(question("/cfq/ready", b"{}"))
                if connection.sock.recv(1):
                    return
            wait_really(_LOOK_SECONDS)
        said = self.said()
        if child.poll() is None:
            raise SourceRefused(f"workerd did not answer within {START_SECONDS:g} seconds: {said or 'it said nothing'}")
        raise SourceRefused(said or f"workerd ended with {child.returncode} and said nothing")

    def connect(self) -> Connection:
        """A connection to the driver. Raises OSError."""
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.connect(str(self.folder / DRIVER))
        except OSError:
            sock.close()
            raise
        sock.setblocking(False)
        return Connection(sock)

    def said(self) -> str:
        """What workerd has written, without what only its makers read."""
        with contextlib.suppress(OSError):
            text = (self.folder / SAID).read_text(encoding="utf-8", errors="replace")
            lines = [line for line in text.splitlines() if not any(noise in line for noise in _NOISE)]
            return _OURS.sub("", "\n".join(lines)).strip()
        return ""

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._child is not None and self._child.poll() is None

    @property
    def pid(self) -> int:
        """Its id; 0 where it did not start."""
        return 0 if self._child is None else self._child.pid

    def stop(self) -> None:
        """End it and take its folder away; twice does nothing."""
        self._end()


def _stop(owner: int, child: subprocess.Popen[bytes] | None, folder: Path, listener: socket.socket) -> None:
    listener.close()
    if os.getpid() != owner:  # a fork of ours ends, and what it inherited is not its own
        return
    if child is not None:
        child.kill()
        child.wait()
    shutil.rmtree(folder, ignore_errors=True)


class Pool:
    """Processes that nobody uses now, the latest last, by what they run: the next test with the same Worker takes one over."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._idle: list[Process] = []

    def take(self, key: Hashable) -> Process | None:
        """One that runs this; None where there is none."""
        for place, process in enumerate(self._idle):
            if process.key == key:
                del self._idle[place]
                if process.alive:
                    return process
                process.stop()
        return None

    def give(self, process: Process) -> None:
        """Keep one for the next; those that waited longest end."""
        self._idle.append(process)
        while len(self._idle) > self._most:
            self._idle.pop(0).stop()

    def close(self) -> None:
        """End all."""
        while self._idle:
            self._idle.pop().stop()


IDLE_MOST = 2
"""So many wait for another test: who tests two Workers in turn starts neither twice."""
POOL = Pool(IDLE_MOST)
atexit.register(POOL.close)
