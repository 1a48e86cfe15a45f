"""The Typer application. A command is loaded when it is the one that runs: none needs or waits for what another imports."""

from __future__ import annotations

from importlib.metadata import version as version_of
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    _Command: TypeAlias = Callable[..., Any]


def _serve() -> _Command:
    from emulator.cli.serving import serve

    return serve


def _create() -> _Command:
    from emulator.cli.manage import create

    return create


def _queues() -> _Command:
    from emulator.cli.manage import queues

    return queues


def _consumers() -> typer.Typer:
    from emulator.cli.manage import consumers

    return consumers


def _send() -> _Command:
    from emulator.cli.client import send

    return send


def _pull() -> _Command:
    from emulator.cli.client import pull

    return pull


def _tail() -> _Command:
    from emulator.cli.client import tail

    return tail


def _redrive() -> _Command:
    from emulator.cli.client import redrive

    return redrive


def _replay() -> _Command:
    from emulator.cli.replay import replay

    return replay


def _simulate() -> _Command:
    from emulator.cli.simulate import simulate

    return simulate


def _explore() -> _Command:
    from emulator.cli.explore import explore

    return explore


def _setup() -> _Command:
    from emulator.cli.setup import setup

    return setup


COMMANDS: dict[str, Callable[[], _Command | typer.Typer]] = {
    "serve": _serve,
    "create": _create,
    "queues": _queues,
    "consumers": _consumers,
    "send": _send,
    "pull": _pull,
    "tail": _tail,
    "redrive": _redrive,
    "replay": _replay,
    "simulate": _simulate,
    "explore": _explore,
    "setup": _setup,
}
"""In the order of the help."""


def application(arguments: list[str]) -> typer.Typer:
    """The application for these arguments: with the command that they name, or with all. Raises what an import raises."""
    named = next((argument for argument in arguments if not argument.startswith("-")), None)
    app = typer.Typer(
        name="cfq-emulator",
        help="Cloudflare Queues on this computer, for clients that change nothing but the base URL.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Exit codes: 0 done, 1 the server refused, 2 wrong usage or unreadable input.",
    )
    app.callback()(_root)
    for name in [named] if named in COMMANDS else COMMANDS:
        found = COMMANDS[name]()
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name)(found)
    return app


def _version(value: bool) -> None:
    if value:
        typer.echo(f"cfq-emulator {version_of('cfq-lint')}")
        raise typer.Exit


def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    del version
