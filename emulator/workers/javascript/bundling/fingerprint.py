"""What a bundle was made of, by content, so that it is made anew exactly when something of that has changed."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_ABSENT = ""


def fingerprint(inputs: Iterable[Path]) -> dict[str, str]:
    """Digests by path: of every input; of what stands in the folders of the project's own inputs, where a new file may take an
    old one's place; of the package.json and tsconfig files above them, that are there or may come.
    """  # noqa: D205 - the first sentence needs two lines
    files = {str(each) for each in inputs}
    folders = {os.path.dirname(each) for each in files}
    own = {each for each in folders if "node_modules" not in each.split(os.sep)}
    above = {str(parent) for each in folders for parent in (Path(each), *Path(each).parents)}
    files |= {os.path.join(each, "package.json") for each in above}
    for each in own | {str(parent) for folder in own for parent in Path(folder).parents}:
        files |= {os.path.join(each, "tsconfig.json"), *(each + os.sep + name for name in _names(each) if _is_tsconfig(name))}
    return {each: _digest(each) for each in sorted(files)} | {each: _listing(each) for each in sorted(own)}


def is_fresh(known: dict[str, str]) -> bool:
    """Whether everything is still as it was."""
    return all((_listing(each) if os.path.isdir(each) else _digest(each)) == digest for each, digest in known.items())


def _is_tsconfig(name: str) -> bool:
    return name.startswith("tsconfig") and name.endswith(".json")


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _digest(file: str) -> str:
    try:
        with open(file, "rb") as stream:
            return blake2b(stream.read(), digest_size=16).hexdigest()
    except OSError:
        return _ABSENT


def _listing(folder: str) -> str:
    return blake2b("\0".join(_names(folder)).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
