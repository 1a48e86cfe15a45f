"""The Typer application: help, messages about wrong usage, and all commands but the everyday way of `check`."""

from __future__ import annotations

import inspect
import os
import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cfq_lint import __version__
from cfq_lint.cli.check import check, fail
from cfq_lint.cli.options import AUDIT, CHECK, FLAG, LIST, Option, complete
from cfq_lint.facts.errors import LinterError, UnknownRule
from cfq_lint.source.discovery import FILE_PATTERN

if TYPE_CHECKING:
    from collections.abc import Callable

app = typer.Typer(
    name="cfq-lint",
    help="Find out what is wrong with the Cloudflare Queues in wrangler files.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage, unreadable input or a fault of cfq-lint.",
)


_AUDIT_HELP = """Lint files, and hold them against the account that they are deployed to.

The account is read through Cloudflare's API, with GET alone: set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID. Or it is a
snapshot (--facts). Without either all other rules run, and those about the account are counted as skipped.
"""


def run(argv: list[str]) -> int:
    """Run the application on arguments; the exit code."""
    first = argv[0] if argv else ""
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    if first and first not in commands and first[0] != "-" and (os.path.exists(first) or re.search(FILE_PATTERN, first)):
        return fail(f"no command {first!r}; did you mean `cfq-lint check {' '.join(argv)}`?")
    code: object = 0
    try:
        code = app(args=argv, prog_name="cfq-lint", standalone_mode=True) or 0
    except SystemExit as stop:
        code = stop.code or 0
    if not sys.stdout.closed:  # as a server leaves it
        sys.stdout.flush()  # what is left over would fail where nobody catches it any more
    return code if isinstance(code, int) else 2


_LISTINGS = ("text", "json")
_Listing = Annotated[str, typer.Option("--format", metavar="[text|json]", help="How to show it.")]


def _one_of(name: str, value: str | None, choices: tuple[str, ...]) -> None:
    """Refuse what is none of the choices, in our own words."""
    if value is not None and value not in choices:
        from difflib import get_close_matches  # only a typo needs it

        near = get_close_matches(value, choices, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise typer.Exit(fail(f"--{name} is one of {', '.join(choices)}, not {value!r}{meant}"))


def _version(value: bool) -> None:
    if value:
        typer.echo(f"cfq-lint {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    del version


def _command(name: str, help: str, paths_help: str, options: tuple[Option, ...], act: Callable[[dict[str, Any]], int]) -> None:
    """A command whose options stand in a table."""

    def command(**values: Any) -> None:
        paths = values.pop("paths") or []
        for option in options:
            if option.choices:
                _one_of(option.name, values[option.key], option.choices)
        raise typer.Exit(act(complete(values, paths, options)))

    signature = _signature(paths_help, options)
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    app.command(name, help=help)(command)


def _signature(paths_help: str, options: tuple[Option, ...]) -> inspect.Signature:
    """The parameters of a command, made from a table."""
    positional = Annotated[list[str] | None, typer.Argument(metavar="PATHS", help=paths_help)]
    parameters = [inspect.Parameter("paths", inspect.Parameter.KEYWORD_ONLY, annotation=positional, default=None)]
    for option in options:
        kind: Any = str | None
        default: Any = option.default
        if option.kind == FLAG:
            kind, default = bool, False
        elif option.kind == LIST:
            kind = list[str] | None
        given = typer.Option(
            f"--{option.name}",
            help=option.help,
            metavar=f"[{'|'.join(option.choices)}]" if option.choices else option.metavar or None,
            show_default=default is not None and option.kind != FLAG,
        )
        parameters.append(
            inspect.Parameter(option.key, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[kind, given], default=default)
        )
    return inspect.Signature(parameters)


def _check(values: dict[str, Any]) -> int:
    return check(values)


def _audit(values: dict[str, Any]) -> int:
    from cfq_lint.cli.audit import audit  # loads httpx and pydantic

    return audit(values)


_command(
    "check",
    "Lint files, and folders with all wrangler files below them.",
    "Files and folders; - is standard input.",
    CHECK,
    _check,
)
_command("audit", _AUDIT_HELP, "Files and folders.", AUDIT, _audit)


@app.command()
def rules(format: _Listing = "text") -> None:
    """List all rules."""
    from cfq_lint.report.pages import rules_as_json, rules_as_text

    _one_of("format", format, _LISTINGS)
    sys.stdout.write(rules_as_json() if format == "json" else rules_as_text())


@app.command()
def explain(rule: Annotated[str, typer.Argument(help="A rule's name or code, the start of a code, or a word.")]) -> None:
    """Explain a rule: what it finds, why it matters, what is right, and the limits it rests on; a word lists what it means."""
    from cfq_lint.report.pages import explanation, rules_about, rules_as_text
    from cfq_lint.rules.registry import load
    from cfq_lint.run.selection import matching

    try:
        modules = matching(rule)
    except UnknownRule as error:
        about = rules_about(rule)
        if not about:
            raise typer.Exit(fail(str(error))) from error
        sys.stdout.write(rules_as_text(about))
        return
    sys.stdout.write("\n".join(explanation(load(module)) for module in modules))


@app.command()
def server(
    check: Annotated[bool, typer.Option("--check", help="Only say whether it could be started.")] = False,
) -> None:
    """Serve an editor on standard input and output, in the Language Server Protocol. Needs the extra `editor`."""
    try:
        from cfq_lint.editor.server import make_server
    except ImportError as error:
        raise typer.Exit(fail(f"the server needs {error.name}: pip install 'cfq-lint[editor]'")) from error
    if check:
        return
    started = make_server(__version__)
    started.start_io()
    if not started.is_shut_down:
        raise typer.Exit(1)


@app.command()
def limits(format: _Listing = "text") -> None:
    """List every limit of Cloudflare Queues with its page and the day it was checked."""
    from cfq_lint.report.pages import limits_as_json, limits_as_text

    _one_of("format", format, _LISTINGS)
    sys.stdout.write(limits_as_json() if format == "json" else limits_as_text())


@app.command()
def schema(
    name: Annotated[str, typer.Argument(help="limits, wrangler-queues, settings, facts, report, checklist or estimate.")],
) -> None:
    """Print a JSON Schema, or the limits as JSON."""
    from cfq_lint.report.schemas import SCHEMAS, as_text

    if name not in SCHEMAS:
        raise typer.Exit(fail(f"no schema {name!r}; there are {', '.join(SCHEMAS)}"))
    sys.stdout.write(as_text(name))


@app.command()
def diff(
    old: Annotated[str, typer.Argument(help="What is deployed: a file, a folder or a git revision.")],
    new: Annotated[str, typer.Argument(help="What is to be deployed: a file, a folder or a git revision.")],
    format: _Listing = "text",
) -> None:
    """Show what a deploy would change for queues, and what it would leave behind."""
    from cfq_lint.cli.compare import diff as compare

    _one_of("format", format, _LISTINGS)
    try:
        code = compare(old, new, as_json=format == "json")
    except LinterError as error:
        code = fail(str(error))
    raise typer.Exit(code)
