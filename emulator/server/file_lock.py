"""One server a file: a lock beside the database, which the system lifts when its process ends, however it ends."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class InUse(Exception):  # noqa: N818 - what is wrong with the file
    """Another server works on this file."""


class FileLock:
    """Holds `PATH.lock` until closed. Raises InUse where somebody else holds it. The file itself is not touched."""

    def __init__(self, path: str) -> None:
        self._file = Path(os.path.realpath(path) + ".lock").open("a+b")  # noqa: SIM115 - held as long as the server runs
        try:
            if fcntl is None:
                import msvcrt

                msvcrt.locking(self._file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            message = f"{path} is in use by another server"
            raise InUse(message) from None

    def close(self) -> None:
        """Let go. The lock file stays: removing it would let two servers hold two locks of one name."""
        self._file.close()
