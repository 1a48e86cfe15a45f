"""What `tsconfig.json` says of imports: `paths`, `baseUrl`, with `extends` and `references`.

https://www.typescriptlang.org/tsconfig/#paths; JSON with comments, as everywhere.
"""

from __future__ import annotations

import os

from cfq_lint.facts.record import record
from cfq_lint.worker_code.modules.paths import join, upwards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_NAMES = ("tsconfig.json", "jsconfig.json")
_EXTENDED_MAX = 8


@record
class Aliases:
    """Patterns with the paths that they lead to, and the folder that all else is looked for in, "" where there is none."""

    patterns: tuple[tuple[str, tuple[str, ...]], ...]
    base_url: str | None

    def bases(self, source: str) -> tuple[str, ...]:
        """The paths that an import may mean; the pattern with the longest beginning counts."""
        best: tuple[int, tuple[str, ...], str] | None = None
        for pattern, targets in self.patterns:
            before, star, after = pattern.partition("*")
            is_match = source.startswith(before) and source.endswith(after) if star else source == pattern
            if is_match and (best is None or len(before) > best[0]):
                best = (len(before), targets, source[len(before) : len(source) - len(after)] if star else "")
        if best is not None:
            return tuple(os.path.normpath(target.replace("*", best[2], 1)).replace(os.sep, "/") for target in best[1])
        return (join(self.base_url, source),) if self.base_url is not None else ()


def nearest(folder: str, read: Callable[[str], str | None]) -> Aliases | None:
    """The aliases of the nearest configuration upwards that names any; None where there is none."""
    for each in upwards(folder):
        for name in _NAMES:
            path = join(each, name)
            if read(path) is not None:
                found = _merged(path, read)
                if found is not None:
                    return found
    return None


def _merged(path: str, read: Callable[[str], str | None]) -> Aliases | None:
    """What a configuration says itself, else what it extends, else what it refers to."""
    patterns: dict[str, tuple[str, ...]] = {}
    base_url: str | None = None
    for at, plain in _chain(path, read):
        options = plain.get("compilerOptions")
        options = options if isinstance(options, dict) else {}
        folder, given = os.path.dirname(at), options.get("baseUrl")
        base = join(folder, given) if isinstance(given, str) else folder
        base_url = base if isinstance(given, str) and base_url is None else base_url
        said = options.get("paths")
        for pattern, targets in said.items() if isinstance(said, dict) and not patterns else ():
            listed = targets if isinstance(targets, list) else []
            patterns[pattern] = tuple(join(base, each) for each in listed if isinstance(each, str))
    return Aliases(tuple(patterns.items()), base_url) if patterns or base_url is not None else None


def _chain(path: str, read: Callable[[str], str | None]) -> Iterator[tuple[str, dict[str, Any]]]:
    waiting, seen = [path], set[str]()
    while waiting and len(seen) < _EXTENDED_MAX:
        at = waiting.pop(0)
        text = read(at)
        if at in seen or text is None:
            continue
        seen.add(at)
        plain = plain_json(text)
        if not isinstance(plain, dict):
            continue
        yield at, plain
        extended = plain.get("extends")
        listed = [extended] if isinstance(extended, str) else extended if isinstance(extended, list) else []
        references = plain.get("references")
        listed += [each.get("path") for each in references if isinstance(each, dict)] if isinstance(references, list) else []
        waiting += [file for each in listed if isinstance(each, str) for file in _files(os.path.dirname(at), each)]


def _files(folder: str, name: str) -> tuple[str, ...]:
    """The file that `extends` or a reference names: beside, or of a package that is installed."""
    bases = (
        [join(folder, name)]
        if name.startswith((".", "/"))
        else [join(each, f"node_modules/{name}") for each in upwards(folder)]
    )
    return tuple(
        file for base in bases for file in ((base,) if base.endswith(".json") else (f"{base}.json", f"{base}/tsconfig.json"))
    )


def plain_json(text: str) -> Any:
    """The value of a text in JSON with comments; None where it is broken."""
    from cfq_lint.source.jsonc import parse  # a Worker without aliases needs no reader

    tree = parse(text.removeprefix("\ufeff"))
    return tree.root.plain() if tree.root is not None and not tree.faults else None
