"""A command that runs without the others, so that it needs nothing of what they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable


def run_alone(name: str, command: Callable[..., Any], arguments: list[str]) -> int:
    """Run one command on its arguments, those behind its name; the exit code."""
    app = typer.Typer(
        rich_markup_mode=None, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]}
    )
    app.command(name)(command)
    try:
        app(args=arguments, prog_name=f"cfq-emulator {name}", standalone_mode=True)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    return 0
