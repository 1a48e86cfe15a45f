"""The command line. It alone prints, exits and reads the environment.

`main` answers `cfq-lint check …` itself, from one table of options, without loading Typer, which costs several times as much as
the linting. Whatever that table does not cover (help, typos, the other commands) goes to the Typer application, which is built
from the same table.
"""

from __future__ import annotations

import gc
import os
import sys


def main(argv: list[str] | None = None) -> int:
    """Run the command line; the exit code: 0 nothing at or above `--fail-on`, 1 findings, 2 wrong usage, bad input, a fault.

    Without arguments those of the process are taken, and the process ends here: Python would first free, one by one, all that
    the run has made, which takes a tenth of a short one.
    """
    if argv is not None:
        return _run(argv)
    code = _run(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # that was said already
        pass
    os._exit(code)


def _run(argv: list[str]) -> int:
    # Our values have no cycles and are freed as they go out of use; looking for cycles would cost a third of a large run.
    gc.disable()
    try:
        if argv[:1] == ["check"]:
            from cfq_lint.cli.options import parse  # each way loads only what it needs

            values = parse(argv[1:])
            if values is not None:
                from cfq_lint.cli.check import check

                return check(values)
        from cfq_lint.cli.app import run

        return run(argv)
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; there is nobody left to tell.
        sys.stderr.close()
        return 2
    except OSError as error:
        # The disk behind our output is full, or the like. What is still to be written would only fail again.
        print(f"cfq-lint: {error.filename or 'the output'}: {error.strerror or error}", file=sys.stderr)
        try:  # noqa: SIM105 - contextlib is not worth a cold start
            sys.stdout.close()
        except OSError:
            pass  # that was said already
        return 2
    except Exception:  # noqa: BLE001 - Python would exit with 1, which says that there are findings
        import traceback

        print(f"cfq-lint: this is a fault of cfq-lint, please report it\n{traceback.format_exc()}", end="", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
