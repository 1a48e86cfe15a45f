"""The Typer application: every command and its options."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from typing import Annotated

import typer

from emulator.cli import client, explore, replay, serving, setup, simulate

app = typer.Typer(
    name="cfq-emulator",
    help="Cloudflare Queues on this computer, for clients that change nothing but the base URL.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 the server refused, 2 wrong usage or unreadable input.",
)


def run(argv: list[str]) -> int:
    """Run the application on arguments; the exit code."""
    try:
        result = app(args=argv, prog_name="cfq-emulator", standalone_mode=True)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    return result if isinstance(result, int) else 0


def _version(value: bool) -> None:
    if value:
        typer.echo(f"cfq-emulator {version_of('cfq-lint')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    del version


app.command("serve")(serving.serve)
app.command("send")(client.send)
app.command("pull")(client.pull)
app.command("tail")(client.tail)
app.command("redrive")(client.redrive)
app.command("replay")(replay.replay)
app.command("simulate")(simulate.simulate)
app.command("explore")(explore.explore)
app.command("setup")(setup.setup)

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
