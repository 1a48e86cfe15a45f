"""Write what is generated of the emulator, or with --check say what is stale: `python -m emulator.cli.generate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from emulator.cli import reference
from emulator.engine.faults import FAULTS
from emulator.server.operations import OPERATIONS
from emulator.server.wire import openapi
from emulator.simulate.output import schema

if TYPE_CHECKING:
    from collections.abc import Callable

FAULTS_PAGE = Path("docs/emulator/faults.md")
_BEGIN, _END = "<!-- faults -->\n", "<!-- /faults -->\n"


def faults_page() -> str:
    """The page about faults, with the table of them."""
    rows = ["| fault | what it brings about | not on |", "|---|---|---|"]
    for fault in FAULTS.values():
        besides = "; ".join(f"{target}: {why}" for target, why in fault.why_not)
        rows.append(f"| `{fault.name}` | {fault.doc} | {besides} |")
    before, _, rest = FAULTS_PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    return before + _BEGIN + "\n".join(rows) + "\n" + _END + rest.partition(_END)[2]


MADE: dict[Path, Callable[[], str]] = {
    Path("schemas/openapi.json"): lambda: openapi.text(openapi.document(OPERATIONS)),
    Path("schemas/simulation.schema.json"): schema.text,
    FAULTS_PAGE: faults_page,
    Path("docs/emulator/reference.md"): reference.text,
}
"""What is generated: each file, and what makes its text."""


def main(arguments: list[str]) -> int:
    """Write, or check; 1 where a check finds a stale file."""
    found = 0
    for path, make in MADE.items():
        made = make()
        if path.is_file() and path.read_text(encoding="utf-8") == made:
            continue
        if "--check" in arguments:
            print(f"stale: {path}; run `python -m emulator.cli.generate`")
            found = 1
        else:
            path.write_text(made, encoding="utf-8")
            print(f"wrote {path}")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
