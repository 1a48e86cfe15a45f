"""A workerd process: started in a folder of its own, ready when it has answered, gone with its folder when it is stopped."""

from __future__ import annotations

import atexit
import contextlib
import os
import platform
import re
import shutil
import socket
import subprocess
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from emulator.engine.clock import real_seconds, wait_really
from emulator.workers.javascript.errors import PlatformUnsupported, SourceRefused, ToolMissing
from emulator.workers.javascript.workerd.wire import UPGRADE, Connection

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from io import FileIO

START_SECONDS = 30.0
"""So long workerd may take to answer its first request."""
CONFIG, DRIVER, PARENT, SAID, OBJECTS = "config.capnp", "driver.sock", "parent.sock", "said", "objects"
"""Files of the folder: the configuration, the socket that workerd listens on, ours, what workerd writes, what objects hold."""
_OF_ALL = "metadata."
"""In the folder of a class: what workerd keeps of no single object."""
_LOOK_SECONDS, _CALL_BYTES = 0.002, 16
_WAITS = {"x86_64": (b"232", b"281", b"441"), "aarch64": (b"22", b"441")}.get(platform.machine())
"""The numbers of epoll_wait, epoll_pwait and epoll_pwait2 on this processor; None where they are not known."""
_NOISE = ("NOSENTRY", "; stack:", "warning: ", 'Worker "driver"', "does not need to be specified anymore")
_OURS = re.compile(r"service worker\d+: ")
"""What only our own configuration knows."""


class Process:
    """workerd with the `files` of a configuration, and a `key` that is equal for equal files.

    `listener` takes its requests, `connect` is how it is asked. Where it follows one `before`, which it ends, it has what that
    one's Durable Objects held.

    Raises ToolMissing where the program does not run, SourceRefused, with what workerd says, where it does not start.
    """

    def __init__(self, program: Path, files: Mapping[str, str | bytes], key: Hashable, before: Process | None = None) -> None:
        if not hasattr(socket, "AF_UNIX"):
            raise PlatformUnsupported("JavaScript Workers do not run on Windows itself: run the tests in WSL")
        self.key = key
        self.folder = Path(tempfile.mkdtemp(prefix="cfq-workerd-"))
        self.listener = socket.socket(socket.AF_UNIX)
        self.kept: Connection | None = None
        """A WebSocket to the driver that nobody uses now: to open one costs workerd as much as a batch."""
        self._child: subprocess.Popen[bytes] | None = None
        self._call: FileIO | None = None
        self._end = weakref.finalize(self, _stop, os.getpid(), None, self.folder, self.listener)
        try:
            self.listener.bind(str(self.folder / PARENT))
            self.listener.listen(1_024)
            self.listener.setblocking(False)
            for name, content in files.items():
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
            if before is None:
                (self.folder / OBJECTS).mkdir()
            else:
                before.end()
                (before.folder / OBJECTS).rename(self.folder / OBJECTS)
                before.stop()
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
        with contextlib.suppress(OSError):  # not Linux, or its processes do not tell
            self._call = Path(f"/proc/{child.pid}/syscall").open("rb", buffering=0)  # noqa: SIM115 - looked at until the end

    def _prove(self, child: subprocess.Popen[bytes]) -> None:
        """Wait until a request has been answered: the socket's file stands before anybody listens."""
        until = real_seconds() + START_SECONDS
        while real_seconds() < until and child.poll() is None:
            with contextlib.suppress(OSError):
                self.kept = self.control(max(0.1, until - real_seconds()))
                return
            wait_really(_LOOK_SECONDS)
        said = self.said()
        if child.poll() is None:
            raise SourceRefused(f"workerd did not answer within {START_SECONDS:g} seconds: {said or 'it said nothing'}")
        raise SourceRefused(said or f"workerd ended with {child.returncode} and said nothing")

    def control(self, seconds: float) -> Connection:
        """A WebSocket to the driver, the one that was kept or another. Raises OSError where it does not stand after so long."""
        if self.kept is not None:
            connection, self.kept = self.kept, None
            return connection
        connection = self.connect()
        try:
            connection.sock.settimeout(seconds)
            connection.sock.sendall(UPGRADE)
            found = b""
            while not found.endswith(b"\r\n\r\n"):
                found += connection.sock.recv(4_096) or _closed()
            if b" 101 " not in found:
                _closed()
            connection.sock.setblocking(False)
        except BaseException:
            connection.close()
            raise
        return connection

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
    def idle(self) -> bool | None:
        """Whether the thread that runs all code sleeps until something comes over a socket; None where no system tells.

        Who writes to a socket that it waits for has woken it when the write returns; so it is idle only after it has read that.
        """
        if self._call is None or _WAITS is None:
            return None
        try:
            return os.pread(self._call.fileno(), _CALL_BYTES, 0).split(b" ", 1)[0] in _WAITS
        except OSError:  # it has ended, or is not ours to look at
            self._look_no_more()
            return None

    def _look_no_more(self) -> None:
        if self._call is not None:
            self._call.close()
            self._call = None

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._child is not None and self._child.poll() is None

    @property
    def pid(self) -> int:
        """Its id; 0 where it did not start."""
        return 0 if self._child is None else self._child.pid

    def forget_objects(self) -> None:
        """Take away what Durable Objects have kept, and leave what workerd has open for all. None of them may be there."""
        for each in (self.folder / OBJECTS).glob("*/*"):
            if not each.name.startswith(_OF_ALL):
                each.unlink(missing_ok=True)

    def end(self) -> None:
        """End it, and leave its folder."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()

    def stop(self) -> None:
        """End it and take its folder away; twice does nothing."""
        self._look_no_more()
        if self.kept is not None:
            self.kept.close()
            self.kept = None
        self._end()


def _closed() -> bytes:
    raise ConnectionError("workerd opened no WebSocket")


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

    def forget(self) -> None:
        """Know of none: they are those of the process of which this one is a copy, and go on there."""
        self._idle.clear()

    def close(self) -> None:
        """End all."""
        while self._idle:
            self._idle.pop().stop()


IDLE_MOST = 2
"""So many wait for another test: who tests two Workers in turn starts neither twice."""
POOL = Pool(IDLE_MOST)
atexit.register(POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.forget)
