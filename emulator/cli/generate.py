"""Write what `schemas/` has of the emulator, or with --check say what is stale: `python -m emulator.cli.generate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from emulator.server.operations import OPERATIONS
from emulator.server.wire import openapi
from emulator.simulate import schema

if TYPE_CHECKING:
    from collections.abc import Callable

MADE: dict[str, Callable[[], str]] = {
    "openapi.json": lambda: openapi.text(openapi.document(OPERATIONS)),
    "simulation.schema.json": schema.text,
}
"""By name: the file below `schemas/`, and what makes its text."""


def main(arguments: list[str]) -> int:
    """Write, or check; 1 where a check finds a stale file."""
    found = 0
    for name, make in MADE.items():
        path, made = Path("schemas") / name, make()
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
