"""Which files a run reads, and which of them wrangler itself would read.

Folders are searched for every file named like a wrangler configuration; `node_modules`, hidden folders and what `.gitignore`
names are passed over, and no link is followed, so that a loop cannot trap the search. Named files are always read.
"""

from __future__ import annotations

import os
import re
import stat
from functools import cache

from cfq_lint.facts.keys import is_placeholder
from cfq_lint.source.document import (
    BESIDE,
    BUILT,
    CONFIG_NAME,
    NAMED,
    NAMES,
    REDIRECT,
    TEMPLATE,
    WITHIN,
    Document,
    Entry,
)
from cfq_lint.source.files import Files
from cfq_lint.source.node import OBJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

FILE_PATTERN = r"(^|/)(wrangler(\.[\w-]+)?\.(jsonc?|toml)|cloudflare\.config\.ts)$"
"""Files that hold a Worker's configuration by their name."""
HOOK_PATTERN = rf"{FILE_PATTERN}|(^|/)cfq-lint\.toml$"
"""Files whose change can bring a finding in a configuration: what a pre-commit hook waits for."""
SOURCE_PATTERN = r"\.(py|[cm]?[jt]sx?)$"
"""Files that can be a part of a Worker's source."""
ENTRY_ENDINGS = (".py", ".js", ".mjs", ".ts", ".mts")
APART_WORDS = frozenset({
    "local", "dev", "test", "tests", "testing", "vitest", "jest", "e2e", "ci", "mock", "bench", "benchmark", "example",
    "examples", "sample", "template", "tmpl", "tpl", "demo", "bak", "backup", "old", "orig", "copy",
})  # fmt: skip
"""A word of these in a file's name, as in `wrangler.local.jsonc`, says that it is not deployed beside the others."""
APART_FOLDERS = frozenset({
    "test", "tests", "__tests__", "e2e", "fixtures", "__fixtures__", "example", "examples", "sample", "samples", "template",
    "templates", "bench", "benchmarks", "vendor",
})  # fmt: skip
"""The same of the folders that lead to a file from the top of its repository."""
BUILD_FOLDERS = frozenset({"dist", "build", "out", "output"})
"""Where builds put what they write: a `wrangler.json`. People's own Workers may well stand in a folder of such a name."""
BUILD_KEYS = frozenset({"configPath", "userConfigPath", "topLevelName", "definedEnvironments", "targetEnvironment"})
"""Keys that only a build writes. https://github.com/cloudflare/workers-sdk (workers-utils, `config.ts`: computed fields)"""
FOLDERS_SKIPPED = frozenset({"node_modules", "__pycache__", "venv"})


def find(paths: Iterable[str], exclude: Iterable[tuple[str, list[str]]] = ()) -> tuple[list[str], list[str]]:
    """The files to read, sorted and each once, and one line for every path that is neither file nor folder.

    Folders that hold nothing to read are told in such a line too: a run on nothing is hardly what was meant.
    `exclude` holds folders, each with globs as in `.gitignore` relative to it; they hold for named files too.
    """
    excluded = tuple(matcher(globs, folder) for folder, globs in exclude if globs)
    found: set[str] = set()
    problems = []
    folders = []
    for path in paths:
        mode = _mode(path)
        if stat.S_ISDIR(mode):  # pathlib costs a cold start more than it serves
            folders.append(path)
            found.update(os.path.normpath(file) for file in _walk(path, excluded))
        elif not mode:
            problems.append(f"{path}: no such file or folder")
        elif not any(matches(path, False) for matches in excluded):
            found.add(os.path.normpath(path))
    if folders and not found and not problems and not any(True for folder in folders for _ in _walk(folder, ())):
        problems.append(f"no wrangler files in {', '.join(folders)}")
    return sorted(found), problems


def is_configuration(path: str) -> bool:
    """Whether a file holds a Worker's configuration, by its name."""
    return re.search(FILE_PATTERN, path.replace(os.sep, "/")) is not None


def _mode(path: str) -> int:
    """What kind of thing stands there; 0 where nothing does."""
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):  # a path with a zero character is a ValueError
        return 0


def _walk(top: str, excluded: tuple[Callable[[str, bool], bool], ...]) -> Iterable[str]:
    matches = re.compile(FILE_PATTERN).search
    waiting = [(top, excluded + _gitignores_above(top))]
    while waiting:
        folder, ignores = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                listed = list(entries)
        except OSError:
            continue  # it vanished, or may not be listed; there is nothing in it for us
        if any(entry.name == ".gitignore" for entry in listed):
            ignores = (*ignores, *_gitignore(folder))
        for entry in listed:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                hidden = name[0] == "." or name in FOLDERS_SKIPPED
                if not hidden and not (ignores and any(ignored(entry.path, True) for ignored in ignores)):
                    waiting.append((entry.path, ignores))
            elif matches(name) and _is_file(entry) and not (ignores and any(ignored(entry.path, False) for ignored in ignores)):
                yield entry.path


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads to itself
        return False


def _gitignores_above(folder: str) -> tuple[Callable[[str, bool], bool], ...]:
    """What `.gitignore` files of the folders above say, up to the top of the repository; nothing outside of one."""
    ignores: tuple[Callable[[str, bool], bool], ...] = ()
    for above in _upwards(os.path.abspath(folder)):
        if above != os.path.abspath(folder):
            # Whoever names an ignored folder wants it searched.
            ignores += tuple(ignored for ignored in _gitignore(above) if not ignored(folder, True))
        if os.path.exists(os.path.join(above, ".git")):
            return ignores
    return ()


def _gitignore(folder: str) -> tuple[Callable[[str, bool], bool], ...]:
    """What the `.gitignore` of a folder says: one matcher, or none where there is no such file."""
    try:
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as file:
            return (matcher(file.read().splitlines(), folder),)
    except OSError:
        return ()


def matcher(lines: list[str], folder: str) -> Callable[[str, bool], bool]:
    """Whether a path below `folder` (a folder: True) is matched by patterns as in `.gitignore`."""
    from pathspec import GitIgnoreSpec  # only where there are patterns

    spec = GitIgnoreSpec.from_lines(lines)

    def matches(path: str, is_folder: bool) -> bool:
        relative = os.path.relpath(path, folder).replace(os.sep, "/")
        return spec.match_file(relative + "/" * is_folder)

    return matches


def is_whole_project(paths: Iterable[str]) -> bool:
    """Whether a run on such paths reads all configurations that there are: a folder, and no repository that it is a part of."""
    return any(
        os.path.isdir(path) and not any(os.path.exists(os.path.join(above, ".git")) for above in _above(os.path.abspath(path)))
        for path in paths
    )


def _above(folder: str) -> Iterable[str]:
    """The folders above one; none where it is the top of a repository itself."""
    if os.path.exists(os.path.join(folder, ".git")):
        return ()
    return (above for above in _upwards(folder) if above != folder)


_QUEUES_KEY = r"""(?m)^[ \t\[]*(?:env\.[\w-]+\.)?queues?\b[^\n]*[=\]]|(?:^[ \t]*|[{,]\s*)"queues?\w*"\s*:"""
"""A key of queues in TOML or JSON that is no comment's; good enough for a file that only stands beside the one to judge."""


class Surroundings:
    """What stands beside and above files, each folder asked once.

    Which names of wrangler's, which redirect is nearest, and which folders lead to it from the top of its repository. `kept` is
    for what is made of sources that several files name. `texts` and `on_disk` are as in `Files`.
    """

    def __init__(self, texts: Mapping[str, str] | None = None, *, on_disk: bool = True) -> None:
        self._folders: dict[str, tuple[dict[str, str], str | None]] = {}
        self._within: dict[str, tuple[str, ...] | None] = {}
        self.kept: dict[object, Any] = {}
        self.texts = texts or {}
        self.on_disk = on_disk
        self._files = self.files()

    def files(self) -> Files:
        """What reads the files around one configuration."""
        return Files(self.kept, self.texts, on_disk=self.on_disk)

    def within(self, folder: str) -> tuple[str, ...]:
        """The names of the folders from the top of the repository to an absolute folder; none outside of one."""
        return self._way_to(folder) or ()

    def _way_to(self, folder: str) -> tuple[str, ...] | None:
        """The same; None outside of a repository."""
        if folder not in self._within:
            above, name = os.path.split(folder)
            if self.on_disk and os.access(f"{folder}/.git", os.F_OK):
                way: tuple[str, ...] | None = ()
            else:
                way = self._way_to(above) if above != folder else None
                way = (*way, name) if way is not None else None
            self._within[folder] = way
        return self._within[folder]

    def of(self, folder: str) -> tuple[dict[str, str], str | None]:
        """Of an absolute folder: the nearest file upwards of each of wrangler's names, the nearest folder with a redirect."""
        known = self._folders.get(folder)
        if known is None:
            above = os.path.dirname(folder)
            names, base = self.of(above) if above != folder else ({}, None)
            own = {name: f"{folder}/{name}" for name in NAMES if self._files.has(f"{folder}/{name}")}
            has_redirect = self._files.has(f"{folder}/{REDIRECT}")
            known = self._folders[folder] = ({**names, **own} if own else names, folder if has_redirect else base)
        return known


def survey(document: Document, path: str, surroundings: Surroundings) -> None:
    """Note on a document what wrangler would do with its file: read another one instead, or be redirected to one.

    A file under another name than wrangler's own is read with `--config` only, and nothing shadows or redirects it.
    """
    folder, name = os.path.split(os.path.abspath(path))
    files = document.files = surroundings.files()
    document.shadowed_by = document.redirect = None
    document.entry = _entry(document, files, folder)
    document.apart = _apart(document, name, path, surroundings.within(folder))
    if name == CONFIG_NAME and any(files.has(f"{folder}/{each}") for each in NAMES):
        document.apart = document.apart or BESIDE
    if name not in NAMES:
        return
    names, base = surroundings.of(folder)
    better = next((names[each] for each in NAMES[: NAMES.index(name)] if each in names), None)
    if better is not None:
        document.shadowed_by = os.path.relpath(better, folder).replace(os.sep, "/")
        document.shadow_has_queues = (
            os.path.dirname(better) == folder and re.search(_QUEUES_KEY, files.read(better) or "") is not None
        )
    if base is not None:
        from cfq_lint.source.redirect import redirect_of  # most projects have none

        document.redirect = redirect_of(base, folder, path)


@cache
def _is_named_apart(name: str) -> bool:
    return not APART_WORDS.isdisjoint(re.split(r"[._-]", name.lower())[1:-1])


def _apart(document: Document, name: str, path: str, folders: Iterable[str]) -> str | None:
    """Why a configuration is deployed with no other: told by its name, its folder, or what it holds."""
    if _is_named_apart(name):
        return NAMED
    given = [] if os.path.isabs(path) else os.path.normpath(os.path.dirname(path)).split(os.sep)
    within = {each.lower() for each in (*folders, *given)}
    if not APART_FOLDERS.isdisjoint(within):
        return WITHIN
    if name == NAMES[0] and not BUILD_FOLDERS.isdisjoint(within):
        return BUILT
    root = document.tree.root
    for member in root.value if root is not None and root.kind == OBJECT else ():
        if member.key in BUILD_KEYS:
            return BUILT
        if member.key == "name" and is_placeholder(str(member.node.value)):
            return TEMPLATE
    return None


def _entry(document: Document, files: Files, folder: str) -> Entry | None:
    """The source that `main` names, if the file configures a consumer and the source can be read. Nothing of it is ever run."""
    root = document.tree.root
    if root is None or root.kind != OBJECT or ("consumers" not in document.text and document.dialect is None):
        return None
    main = next((member.node.value for member in reversed(root.value) if member.key == "main"), None)
    if not isinstance(main, str) or not main.endswith(ENTRY_ENDINGS):
        return None
    file = os.path.join(folder, main)
    text = files.read(file) if files.has(file) else None
    return Entry(main, text) if text is not None else None


def _upwards(folder: str) -> Iterable[str]:
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above
