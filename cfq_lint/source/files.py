"""The files around a configuration, for whoever reads the code behind it. Nothing is written, and nothing is run."""

from __future__ import annotations

import os
from types import MappingProxyType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LENGTH_MAX = 2_000_000
"""Sources are sources, not bundles; a longer text is none."""

_OF_PROJECTS = frozenset({"package.json", "src/", "server/", "worker/", "workers/", "app/"})


_NO_TEXTS: Mapping[str, str] = MappingProxyType({})


class Files:
    """Reads sources and folders by their paths as people write them, from the working directory on.

    `texts`, by absolute path, count before what is on disk, as the open buffers of an editor do; where `on_disk` is False there
    is nothing else. `source` is the entry that the settings name, None where they name none. `kept` is for what is made of
    files and used again for other configurations of the run. `asked` are the absolute paths that were asked for, there or not.
    """

    __slots__ = ("asked", "kept", "on_disk", "source", "texts")

    def __init__(
        self, kept: dict[object, Any] | None = None, texts: Mapping[str, str] = _NO_TEXTS, *, on_disk: bool = True
    ) -> None:
        self.source: str | None = None
        self.kept: dict[object, Any] = kept if kept is not None else {}
        self.texts = texts
        self.on_disk = on_disk
        self.asked: set[str] = set()

    def read(self, path: str) -> str | None:
        """The text of a source; None where there is none, or where it is too long to be one."""
        absolute = os.path.abspath(path)
        self.asked.add(absolute)
        text = self.texts.get(absolute)
        if text is not None:
            return text if len(text) <= LENGTH_MAX else None
        return source_at(path) if self.on_disk else None

    def has(self, path: str) -> bool:
        """Whether a file is there. Most are not, and to be told so without an exception is several times as quick."""
        if path in self.texts:
            return True
        try:
            return self.on_disk and os.access(path, os.F_OK) and os.path.isfile(path)
        except ValueError:  # a path with a zero character
            return False

    def may_build(self, folder: str) -> bool:
        """Whether a folder looks like one whose sources a build turns into an entry."""
        return self.source is not None or not _OF_PROJECTS.isdisjoint(self.listed(folder))

    def listed(self, folder: str) -> tuple[str, ...]:
        """What stands in a folder, folders with a slash at their end; nothing where there is none."""
        absolute = os.path.abspath(folder)
        self.asked.add(absolute)
        start = os.path.join(absolute, "")
        below = (path[len(start) :].replace(os.sep, "/") for path in self.texts if path.startswith(start))
        names = {f"{top}/" if rest else top for top, rest in ((path.split("/", 1)[0], "/" in path) for path in below)}
        if self.on_disk:
            try:
                with os.scandir(folder or ".") as entries:
                    names.update(f"{each.name}/" if each.is_dir() else each.name for each in entries)
            except OSError:
                pass
        return tuple(sorted(names))


def source_at(path: str) -> str | None:
    """The text of a source; None where there is none, or where it is no source but a bundle."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read(LENGTH_MAX + 1)
    except (OSError, ValueError):
        return None
    return text if len(text) <= LENGTH_MAX else None
