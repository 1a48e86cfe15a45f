"""The source entry behind what a build writes: by its source map, by the build's command, or by a framework's convention.

The first candidate that has a queue handler counts. Nothing is built, and nothing is run.
"""

from __future__ import annotations

import json
import os
import re

from cfq_lint.worker_code.modules.module import is_minified
from cfq_lint.worker_code.modules.paths import SCRIPTS, behind, join
from cfq_lint.worker_code.modules.tsconfig import plain_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_MAP = re.compile(r"//[#@] sourceMappingURL=(\S+)\s*$")
_MARKS = re.compile(
    r"//[#@] sourceMappingURL=|^var __(?:defProp|create|getOwnPropNames|name) = |__webpack_require__\(", re.MULTILINE
)
_MAPPED_MAX = 40
_WORD = re.compile(r"(?<![\w./-])((?:\./)?[\w.-]+(?:/[\w.-]+)*\.[cm]?[jt]sx?)(?![\w/-])")
_ASTRO = re.compile(r"workerEntryPoint\s*:\s*(?:\{[^{}]*?path\s*:\s*)?[\"'`]([^\"'`]+)[\"'`]")
_CONFIGS = tuple(f"astro.config.{each}" for each in ("mjs", "ts", "js", "mts"))
_USUAL = (
    *("src/index", "src/worker", "src/main", "src/server", "src/entry", "src/app", "src/_worker", "src/worker/index"),
    *("worker/index", "worker", "workers/app", "server/index", "server", "app/worker", "index", "custom-worker"),
)
_HOOKS = ("server/plugins", "src/server/plugins", "plugins")
"""Nitro hands a batch to the hook `cloudflare:queue`, in a plugin: https://nitro.build/deploy/providers/cloudflare."""
_MAY_HANDLE = re.compile(r"\bqueue\b")


def is_built(text: str) -> bool:
    """Whether a text is certainly what a build wrote."""
    return _MARKS.search(text) is not None or is_minified(text)


class Sources:
    """Looks for the source of a built entry. `read` gives a text, `listed` what stands in a folder, folders with a slash."""

    def __init__(self, read: Callable[[str], str | None], listed: Callable[[str], tuple[str, ...]]) -> None:
        self.read = read
        self.listed = listed

    def behind(self, entry: str, folder: str, command: str) -> Iterator[str]:
        """The candidates, the most certain first: files that are there, and speak of a queue. `command` is what builds."""
        seen = {entry}
        for path in self._named(entry, folder, command):
            text = self.read(path) if path not in seen else None
            seen.add(path)
            if text is not None and _MAY_HANDLE.search(text) is not None and not is_built(text):
                yield path

    def _named(self, entry: str, folder: str, command: str) -> Iterator[str]:
        yield from self._mapped(entry)
        for words in (command, *self._scripts(folder)):
            yield from (join(folder, each) for each in _WORD.findall(words))
        yield from behind(entry)
        for name in _CONFIGS:
            text = self.read(join(folder, name))
            yield from (join(folder, each) for each in (_ASTRO.findall(text) if text is not None else ()))
        for hooks in _HOOKS:
            at = join(folder, hooks)
            yield from (join(at, name) for name in self.listed(at) if os.path.splitext(name)[1] in SCRIPTS)
        yield from (join(folder, f"{name}{ending}") for name in _USUAL for ending in SCRIPTS)

    def _mapped(self, entry: str) -> Iterator[str]:
        """The sources that the map beside a bundle names, the entry last in it and so first here."""
        text = self.read(entry)
        named = _MAP.search(text[-2_000:].rstrip()) if text is not None else None
        path = join(os.path.dirname(entry), named[1]) if named is not None and ":" not in named[1] else f"{entry}.map"
        found = self.read(path)
        plain: Any = None
        try:
            plain = json.loads(found) if found is not None else None
        except (ValueError, RecursionError):
            plain = None
        plain = plain if isinstance(plain, dict) else {}
        root = plain.get("sourceRoot")
        base = join(os.path.dirname(path), root) if isinstance(root, str) else os.path.dirname(path)
        listed = plain.get("sources")
        listed = listed if isinstance(listed, list) else []
        sources = [each for each in listed if isinstance(each, str) and "node_modules/" not in each]
        yield from (join(base, re.sub(r"^\w+:/+", "", each)) for each in sources[: -_MAPPED_MAX - 1 : -1])

    def _scripts(self, folder: str) -> list[str]:
        """What `package.json` runs."""
        plain = plain_json(self.read(join(folder, "package.json")) or "")
        said = plain.get("scripts") if isinstance(plain, dict) else None
        return [each for each in said.values() if isinstance(each, str)] if isinstance(said, dict) else []
