"""The files around a configuration, for whoever reads the code behind it. Nothing is written, and nothing is run."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LENGTH_MAX = 2_000_000
"""Sources are sources, not bundles; a longer text is none."""

_OF_PROJECTS = frozenset({"package.json", "src/", "server/", "worker/", "workers/", "app/"})


class Files:
    """Reads sources and folders by their paths as people write them, from the working directory on.

    `source` is the entry that the settings name, None where they name none. `kept` is for what is made of files and used again
    for other configurations of the run.
    """

    __slots__ = ("kept", "source")

    def __init__(self, kept: dict[object, Any] | None = None) -> None:
        self.source: str | None = None
        self.kept: dict[object, Any] = kept if kept is not None else {}

    def read(self, path: str) -> str | None:
        """The text of a source; None where there is none, or where it is too long to be one."""
        return source_at(path)

    def may_build(self, folder: str) -> bool:
        """Whether a folder looks like one whose sources a build turns into an entry."""
        return self.source is not None or not _OF_PROJECTS.isdisjoint(self.listed(folder))

    @staticmethod
    def listed(folder: str) -> tuple[str, ...]:
        """What stands in a folder, folders with a slash at their end; nothing where there is none."""
        try:
            with os.scandir(folder or ".") as entries:
                return tuple(sorted(f"{each.name}/" if each.is_dir() else each.name for each in entries))
        except OSError:
            return ()


def source_at(path: str) -> str | None:
    """The text of a source; None where there is none, or where it is no source but a bundle."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read(LENGTH_MAX + 1)
    except (OSError, ValueError):
        return None
    return text if len(text) <= LENGTH_MAX else None
