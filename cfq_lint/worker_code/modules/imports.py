"""Which file an import means, if it looks like a module of the Worker's own: beside it, by an alias, in a workspace."""

from __future__ import annotations

import os

from cfq_lint.worker_code.modules import packages, tsconfig
from cfq_lint.worker_code.modules.paths import join, parent, scripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ALIASES = ("@/", "~/", "#/")
"""With what paths begin that a bundler leads to the sources, whatever says so; no package has such a name."""


class Imports:
    """The files around an entry, each read once.

    `read` gives a text, `listed` what stands in a folder, folders with a slash at their end; `aliases` are what the
    configuration itself names imports.
    """

    def __init__(
        self, read: Callable[[str], str | None], listed: Callable[[str], tuple[str, ...]], aliases: Mapping[str, str]
    ) -> None:
        self._read = read
        self._texts: dict[str, str | None] = {}
        self._aliases: dict[str, tsconfig.Aliases | None] = {}
        self._workspaces: dict[str, packages.Packages | None] = {}
        self.listed = listed
        self._given = aliases

    def read(self, path: str) -> str | None:
        """The text of a file, None where there is none."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def put(self, path: str, text: str) -> None:
        """Note that the text of a file is another one now."""
        self._texts[path] = text

    def candidates(self, path: str, source: str, entry: str) -> tuple[str, tuple[str, ...]]:
        """How an import of the module at `path` is named to people, and the files that it may mean: none for a package."""
        folder = os.path.dirname(path)
        if path.endswith(".py"):
            paths = _of_python(folder, source, os.path.dirname(entry))
            return (paths[0] if paths else source), paths
        if source.startswith("."):
            paths = scripts(join(folder, source))
            return (paths[0] if paths else source), paths
        if source in self._given:
            return source, scripts(self._given[source])
        aliases = self._aliases_of(folder)
        bases = aliases.bases(source) if aliases is not None else ()
        found = tuple(file for base in bases for file in scripts(base))
        workspace = self._workspace_of(folder)
        found += workspace.files(source, folder) if workspace is not None else ()
        if source.startswith(_ALIASES):
            root, rest = os.path.dirname(entry), source[len(_ALIASES[0]) :]
            found += tuple(file for each in dict.fromkeys((root, parent(root))) for file in scripts(join(each, rest)))
        elif bases and not found_in(self, found):
            found = ()  # what `baseUrl` would lead to and is not there is a package
        return source, found

    def _aliases_of(self, folder: str) -> tsconfig.Aliases | None:
        if folder not in self._aliases:
            self._aliases[folder] = tsconfig.nearest(folder, self.read)
        return self._aliases[folder]

    def _workspace_of(self, folder: str) -> packages.Packages | None:
        if folder not in self._workspaces:
            self._workspaces[folder] = packages.around(folder, self.read, self.listed)
        return self._workspaces[folder]


def found_in(imports: Imports, paths: tuple[str, ...]) -> bool:
    """Whether one of some files is there."""
    return any(imports.read(path) is not None for path in paths)


def _of_python(folder: str, source: str, root: str) -> tuple[str, ...]:
    dots = len(source) - len(source.lstrip("."))
    for _ in range(dots - 1):
        folder = parent(folder)
    name = source.lstrip(".").replace(".", "/")
    folders = (folder,) if dots else tuple(dict.fromkeys((root, folder)))
    bases = [join(each, name) if name else each for each in folders]
    return tuple(
        file for base in bases for file in ((f"{base}.py", join(base, "__init__.py")) if name else (join(base, "__init__.py"),))
    )
