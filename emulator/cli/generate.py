"""Write `schemas/openapi.json` from the table of operations, or with --check say whether it is stale."""

from __future__ import annotations

import sys
from pathlib import Path

from emulator.http.app import OPERATIONS
from emulator.http.openapi import text


def main(arguments: list[str]) -> int:
    """Write, or check; 1 where a check finds a stale file."""
    path = Path("schemas") / "openapi.json"
    made = text(OPERATIONS)
    if path.is_file() and path.read_text(encoding="utf-8") == made:
        return 0
    if "--check" in arguments:
        print(f"stale: {path}; run `python -m emulator.cli.generate`")
        return 1
    path.write_text(made, encoding="utf-8")
    print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
