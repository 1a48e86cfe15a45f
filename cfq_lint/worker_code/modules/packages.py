"""Packages of the same repository: npm's and yarn's `workspaces`, pnpm's `pnpm-workspace.yaml`, and `imports` of a package."""

from __future__ import annotations

import os
import re

from cfq_lint.worker_code.modules.paths import behind, join, scripts, upwards
from cfq_lint.worker_code.modules.tsconfig import plain_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_CONDITIONS = ("source", "worker", "workerd", "import", "module", "development", "default", "require", "types")
"""The conditions of `exports` that lead nearest to a source, the best first."""
_DEPTH_MAX = 3
_FOLDERS_MAX = 400
_LIST_ITEM = re.compile(r"^\s*-\s*[\"']?([^\"'#\s]+)", re.MULTILINE)
_NAME = re.compile(r"(@[^/]+/[^/]+|[^@/.][^/]*)(?:/(.*))?")


class Packages:
    """The packages of a workspace, each found when it is asked for."""

    def __init__(
        self, root: str, globs: tuple[str, ...], read: Callable[[str], str | None], listed: Callable[[str], tuple[str, ...]]
    ) -> None:
        self._root = root
        self._globs = globs
        self._read = read
        self._listed = listed
        self._by_name: dict[str, str] | None = None

    def files(self, source: str, folder: str) -> tuple[str, ...]:
        """The files that an import may mean, none where it is no package of the workspace."""
        if source.startswith("#"):
            return self._inner(source, folder)
        name = _NAME.fullmatch(source)
        home = self._packages().get(name[1]) if name is not None else None
        if name is None or home is None:
            return ()
        return _exported(home, name[2] or "", plain_json(self._read(join(home, "package.json")) or ""))

    def _inner(self, source: str, folder: str) -> tuple[str, ...]:
        """`imports` of the package around."""
        for each in upwards(folder):
            text = self._read(join(each, "package.json"))
            if text is not None:
                plain = plain_json(text)
                said = plain.get("imports") if isinstance(plain, dict) else None
                return tuple(_files(each, list(_matched(said, source)))) if isinstance(said, dict) else ()
        return ()

    def _packages(self) -> dict[str, str]:
        if self._by_name is None:
            self._by_name = {}
            for folder in self._homes():
                plain = plain_json(self._read(join(folder, "package.json")) or "")
                if isinstance(plain, dict) and isinstance(plain.get("name"), str):
                    self._by_name.setdefault(plain["name"], folder)
        return self._by_name

    def _homes(self) -> Iterator[str]:
        count = 0
        for glob in self._globs:
            for folder in self._expanded(self._root, glob.strip("/").removeprefix("./").split("/"), _DEPTH_MAX):
                count += 1
                if count > _FOLDERS_MAX:
                    return
                yield folder

    def _expanded(self, folder: str, parts: list[str], depth: int) -> Iterator[str]:
        """The folders that a glob means."""
        if not parts:
            yield folder
            return
        first, *rest = parts
        if "*" not in first:
            yield from self._expanded(join(folder, first), rest, depth)
            return
        if first == "**":
            yield from self._expanded(folder, rest, depth)
            rest = parts if depth > 0 else rest
        pattern = re.compile(".*".join(map(re.escape, first.replace("**", "*").split("*"))))
        for name in [each[:-1] for each in self._listed(folder) if each.endswith("/")]:
            if pattern.fullmatch(name) and not name.startswith(".") and name != "node_modules":
                yield from self._expanded(join(folder, name), rest, depth - 1)


def around(folder: str, read: Callable[[str], str | None], listed: Callable[[str], tuple[str, ...]]) -> Packages | None:
    """The workspace that a folder lies in; without one the package alone."""
    last: str | None = None
    for each in upwards(folder):
        text = read(join(each, "package.json"))
        plain = plain_json(text) if text is not None and '"workspaces"' in text else None
        said = plain.get("workspaces") if isinstance(plain, dict) else None
        named = said.get("packages") if isinstance(said, dict) else said
        globs = [glob for glob in named if isinstance(glob, str)] if isinstance(named, list) else []
        pnpm = read(join(each, "pnpm-workspace.yaml"))
        globs += _pnpm(pnpm) if pnpm is not None else []
        if globs:
            return Packages(each, tuple(glob for glob in globs if not glob.startswith("!")), read, listed)
        last = each if text is not None and last is None else last
    return Packages(last, (), read, listed) if last is not None else None


def _pnpm(text: str) -> list[str]:
    """The list `packages:` of a pnpm-workspace.yaml."""
    found = re.search(r"^packages:[^\S\n]*\n((?:[^\S\n]+.*\n?|[^\S\n]*-.*\n?|\s*#.*\n?|[^\S\n]*\n)*)", text, re.MULTILINE)
    return _LIST_ITEM.findall(found[1]) if found is not None else []


def _exported(home: str, inner: str, plain: Any) -> tuple[str, ...]:
    """The files behind a package's name, or behind a path in it."""
    plain = plain if isinstance(plain, dict) else {}
    said = plain.get("exports")
    targets: list[str] = []
    if isinstance(said, dict) and any(key.startswith(".") for key in said):
        targets += _matched(said, f"./{inner}" if inner else ".")
    elif said is not None and not inner:
        targets += _chosen(said)
    if not inner:
        targets += [plain[key] for key in ("source", "module", "main", "types") if isinstance(plain.get(key), str)]
    found = [*_files(home, targets)]
    for base in (inner, f"src/{inner}") if inner else ("src/index", "index"):
        found += scripts(join(home, base))
    return tuple(dict.fromkeys(each for each in found if not each.endswith(".d.ts")))


def _files(home: str, targets: list[str]) -> Iterator[str]:
    for target in targets:
        path = join(home, target)
        yield from behind(path)
        yield from (scripts(path) if os.path.splitext(path)[1] else ())


def _matched(said: dict[str, Any], name: str) -> Iterator[str]:
    """What `exports` or `imports` say of a name, patterns with `*` included."""
    if name in said:
        yield from _chosen(said[name])
        return
    for key, value in said.items():
        before, star, after = key.partition("*")
        if star and name.startswith(before) and name.endswith(after):
            inner = name[len(before) : len(name) - len(after)]
            yield from (each.replace("*", inner) for each in _chosen(value))


def _chosen(value: Any) -> list[str]:
    """The paths in a target of `exports`, by their conditions."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [path for name in _CONDITIONS if name in value for path in _chosen(value[name])]
    return [path for each in value for path in _chosen(each)] if isinstance(value, list) else []
