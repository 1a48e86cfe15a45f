"""Which files are modules of their own, and of what kind: wrangler's `rules`, with its defaults behind them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = {
    "ESModule": "esModule", "CommonJS": "commonJsModule", "Text": "text", "Data": "data", "CompiledWasm": "wasm",
    "PythonModule": "pythonModule",
}  # fmt: skip
"""A rule's type, and the member of workerd's `Worker.Module` that it stands for."""
_DEFAULTS = (
    {"type": "Text", "globs": ["**/*.txt", "**/*.html", "**/*.sql"]},
    {"type": "Data", "globs": ["**/*.bin"]},
    {"type": "CompiledWasm", "globs": ["**/*.wasm", "**/*.wasm?module"]},
)
_LOADERS = {"text": "text", "data": "copy", "wasm": "copy"}
"""How esbuild takes them: a text into the bundle, the others as files beside it."""


class Rule(NamedTuple):
    """Files by patterns, and the kind of module that they are."""

    kind: str
    globs: tuple[str, ...]

    def matches(self, path: str) -> bool:
        """Whether the rule is for a file, named from the base folder."""
        return any(_pattern(glob).fullmatch(path) for glob in self.globs)

    def loaders(self) -> Iterator[tuple[str, str]]:
        """The endings of the rule's files with esbuild's loader for each."""
        if self.kind in _LOADERS:
            for glob in self.globs:
                ending = re.search(r"\.[\w.-]+$", glob)
                if ending:
                    yield ending[0], _LOADERS[self.kind]


def rules_of(given: Any) -> tuple[Rule, ...]:
    """The rules of a wrangler file, then the defaults. The first of a type ends it, unless it says `fallthrough`."""
    done, found = set[str](), list[Rule]()
    for row in [*(given if isinstance(given, list) else ()), *_DEFAULTS]:
        if row["type"] not in done and row["type"] in KINDS:
            found.append(Rule(KINDS[row["type"]], tuple(row["globs"])))
            if not row.get("fallthrough"):
                done.add(row["type"])
    return tuple(found)


def kind_of(rules: tuple[Rule, ...], path: str) -> str | None:
    """The kind of module that a file is, by the first rule that is for it."""
    return next((rule.kind for rule in rules if rule.matches(path)), None)


def _pattern(glob: str) -> re.Pattern[str]:
    """A pattern of wrangler's: `**/` is any folders, also none; `*` does not leave its folder; all else stands for itself."""
    text = re.escape(glob).replace(r"\*\*/", "(?:[^/]*/)*").replace(r"\*", "[^/]*")
    return re.compile(text)
