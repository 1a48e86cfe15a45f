"""The command line `cfq-emulator`. It alone prints, exits and reads the environment."""

from __future__ import annotations

import sys


def main(argv: list[str] | None = None) -> int:
    """Run the command line; the exit code: 0 done, 1 the server refused, 2 wrong usage or unreadable input."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        if arguments[:1] == ["simulate"]:  # needs nothing that only the server needs
            from emulator.cli.simulate import run
        elif arguments[:1] == ["explore"]:  # likewise
            from emulator.cli.explore import run
        elif arguments[:1] == ["setup"]:  # likewise
            from emulator.cli.setup import run
        else:
            from emulator.cli.app import run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in {"emulator", "cfq_lint"}:
            raise
        print(f"cfq-emulator: {error.name} is missing: pip install 'cfq-lint[server]'", file=sys.stderr)
        return 2
    try:
        return run(arguments)
    except BrokenPipeError:
        sys.stderr.close()
        return 2
    except KeyboardInterrupt:
        return 130
