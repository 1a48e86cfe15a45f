"""What esbuild says of a source that it cannot bundle, as one message: the place, what is wrong there, the line, what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from emulator.workers.javascript.bundling.node_builtins import BUILTINS

if TYPE_CHECKING:
    from emulator.workers.javascript.bundling.options import BuildOptions

_ERROR = re.compile(
    r"✘ \[ERROR\] (?P<text>.+?)\n\n    (?P<file>[^\n]+):(?P<line>\d+):(?P<column>\d+):\n(?P<source>(?:      [^\n]*\n?)*)",
    re.DOTALL,
)
"""An error of esbuild with its place; lines from 1, columns from 0."""
_UNRESOLVED = re.compile(r'Could not resolve "(?P<module>[^"]+)"')


def message_of(said: str, options: BuildOptions) -> str:
    """One message from what esbuild wrote on standard error."""
    found = list(_ERROR.finditer(said))
    if not found:
        return f"{options.entry} cannot be bundled: {said.strip() or 'esbuild gives no reason'}"
    first = found[0]
    lines = [f"{first['file']}:{first['line']}:{int(first['column']) + 1}: {first['text']}"]
    lines += [line[4:].rstrip() for line in first["source"].splitlines() if line.strip(" ╵")]
    advice = _advice(first["text"], options)
    if advice:
        lines.append(advice)
    if len(found) > 1:
        lines.append(f"({len(found) - 1} more in {', '.join(dict.fromkeys(each['file'] for each in found[1:]))})")
    return "\n".join(lines)


def _advice(text: str, options: BuildOptions) -> str:
    unresolved = _UNRESOLVED.search(text)
    if unresolved is None:
        return ""
    module = unresolved["module"]
    if module.removeprefix("node:") in BUILTINS:
        return f'"{module}" is Node\'s: add "nodejs_compat" to compatibility_flags, with a compatibility_date from 2024-09-23'
    if module.startswith((".", "/")):
        return "there is no such file, with none of the endings .tsx .ts .jsx .js .css .json"
    package = "/".join(module.split("/")[: 2 if module.startswith("@") else 1])
    return f"is it installed? `npm install {package}` in {options.folder}, or `npm install` for all that package.json names"
