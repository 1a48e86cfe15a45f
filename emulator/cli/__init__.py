"""The command line `cfq-emulator`. It alone prints, exits and reads the environment."""

from __future__ import annotations

import sys


def main(argv: list[str] | None = None) -> int:
    """Run the command line; the exit code: 0 done, 1 the server refused, 2 wrong usage or unreadable input."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        from emulator.cli.app import application

        app = application(arguments)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in {"emulator", "cfq_lint"}:
            raise
        print(f"cfq-emulator: {error.name} is missing: pip install 'cfq-lint[server]'", file=sys.stderr)
        return 2
    try:
        app(args=arguments, prog_name="cfq-emulator")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except BrokenPipeError:
        sys.stderr.close()
        return 2
    except KeyboardInterrupt:
        return 130
    return 0
