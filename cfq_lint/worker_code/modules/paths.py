"""Paths as imports write them: joined, upwards, and the files that one without an ending may mean."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPTS = (".ts", ".js", ".mts", ".mjs", ".tsx", ".jsx", ".cjs", ".cts")
_OTHERS = frozenset({".json", ".txt", ".html", ".sql", ".wasm", ".css", ".svg", ".bin", ".md"})
_BUILT = frozenset({"dist", "build", "lib", "out", "output", ".output", "bundle", "es", "esm", "cjs"})
UPWARDS_MAX = 10
"""No project lies that many folders below its root."""


def join(folder: str, name: str) -> str:
    """A path within a folder, with slashes."""
    return os.path.normpath(os.path.join(folder, name)).replace(os.sep, "/")


def parent(folder: str) -> str:
    """The folder around one, also above the working directory."""
    return join(folder or ".", "..")


def upwards(folder: str) -> Iterator[str]:
    """A folder and those around it."""
    for _ in range(UPWARDS_MAX):
        yield folder
        above = parent(folder)
        if above == folder:
            return
        folder = "" if above == "." else above


def scripts(base: str) -> tuple[str, ...]:
    """The files that a path may mean, in the order in which a bundler looks for them."""
    bare, ending = os.path.splitext(base)
    if ending in SCRIPTS:  # TypeScript imports "./x.js" and means x.ts
        return (base, *(bare + each for each in SCRIPTS))
    if ending in _OTHERS:
        return ()
    return (*(base + each for each in SCRIPTS), *(join(base, f"index{each}") for each in SCRIPTS), f"{base}.d.ts")


def behind(built: str) -> tuple[str, ...]:
    """The sources that a built file may have been made of: `dist/index.js` of `src/index.ts`."""
    parts = built.split("/")
    found: list[str] = []
    for number, part in enumerate(parts[:-1]):
        if part in _BUILT:
            before, rest = parts[:number], [each for each in parts[number + 1 :] if each not in _BUILT]
            for middle in (["src"], []):
                bare = os.path.splitext("/".join([*before, *middle, *rest]))[0].removesuffix(".d")
                found += [bare + each for each in SCRIPTS]
            break
    return tuple(found)
