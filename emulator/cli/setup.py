"""`cfq-emulator setup javascript`."""

from __future__ import annotations

import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from emulator.core.refusals import Refused
from emulator.workers.javascript.setup import fill
from emulator.workers.javascript.toolchain import find

if TYPE_CHECKING:
    from emulator.workers.javascript.toolchain import Toolchain


class Language(StrEnum):
    """Languages whose tools can be installed."""

    JAVASCRIPT = "javascript"


def setup(
    language: Annotated[Language, typer.Argument(help="javascript, which TypeScript needs too.")],
    check: Annotated[bool, typer.Option(help="Install nothing; say what a Worker in the working folder would run in.")] = False,
) -> None:
    """Install what Workers in another language need (workerd, esbuild, miniflare) into the cache, for projects without."""
    del language
    try:
        _show(find(Path.cwd()) if check else fill(_say))
    except (Refused, OSError) as error:
        print(f"cfq-emulator: {error.text if isinstance(error, Refused) else error}", file=sys.stderr)
        raise typer.Exit(1) from None


def _say(line: str) -> None:
    print(f"cfq-emulator: {line}", flush=True)


def _show(tools: Toolchain) -> None:
    """The programs with their versions, which they are asked for: so one that does not run here is known now."""
    for name, program in (("workerd", tools.workerd), ("esbuild", tools.esbuild), ("node", tools.node)):
        if program is not None:
            asked = subprocess.run(  # noqa: S603 - programs of the project or of the cache
                [str(program), "--version"],
                capture_output=True,
                text=True,
                check=False,
            )
            if asked.returncode:
                _say(f"{name}: {program} does not run: {(asked.stderr or asked.stdout).strip()}")
                raise typer.Exit(1)
            _say(f"{name}: {asked.stdout.strip().removeprefix('workerd ')} ({program})")
        else:
            _say(f"{name}: not found; only setup and vitest need it")
