"""`cfq-emulator explore MODULE:FUNCTION`: the search for a schedule that breaks a consumer, for people without pytest."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from emulator.cli.searching import Searching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulator.explore.found import Found, Nothing

_INTERRUPTED = 130


def explore(
    function: Annotated[str, typer.Argument(metavar="MODULE:FUNCTION", help="What makes the world; also FILE.py:FUNCTION.")],
    invariant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="What has to hold: a function of the module, MODULE:FUNCTION, or a ready one: no_message_lost, "
            "every_message_ends, at_most_once=CALL, in_order=KEY, converges=SECONDS. Repeatable. [default: invariant of the "
            "module, if there is one; else what the function asserts itself]",
        ),
    ] = None,
    max_faults: Annotated[int, typer.Option(metavar="N", min=0, help="Up to so many deviations at once.")] = 2,
    replay: Annotated[str | None, typer.Option(metavar="S", help="Run this schedule alone: 2:3.")] = None,
    schedules: Annotated[int, typer.Option(metavar="N", min=1, help="At most so many.")] = 20_000,
    seconds: Annotated[float | None, typer.Option(metavar="S", help="At most so long.")] = None,
    each_step: Annotated[bool, typer.Option("--each-step", help="Ask the invariants after every step.")] = False,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="So many processes share the work.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option(metavar="URL", help="A Dask scheduler whose workers share it: tcp://….")
    ] = None,
    html: Annotated[str | None, typer.Option(metavar="F", help="Write a page about what was found.")] = None,
    test: Annotated[str | None, typer.Option(metavar="F", help="Write a pytest test that runs what was found.")] = None,
    format: Annotated[str, typer.Option(metavar="F", help="text or json.")] = "text",
) -> None:
    """Search for a schedule that breaks a consumer: faults few at a time, every way. Exit code 1 with the shortest story."""
    if format not in {"text", "json"}:
        _refuse(f"format {format!r}: expected text or json")
    from emulator.explore.search import explore as run
    from emulator.explore.world import SetupFailed

    sys.path.insert(0, os.getcwd())
    try:
        setup, invariants = _functions(function, invariant or [])
        with _progress() as progress:
            found = run(
                setup, invariants, max_faults, replay, schedules=schedules, seconds=seconds, each_step=each_step,
                workers=workers, scheduler=scheduler, progress=progress,
            )  # fmt: skip
    except KeyboardInterrupt as stop:
        print("\n".join(["interrupted; covered until then:", *getattr(stop, "__notes__", ["nothing"])]), file=sys.stderr)
        raise typer.Exit(_INTERRUPTED) from None
    except SetupFailed as failed:
        cause = failed.__cause__
        _refuse(f"{function} cannot make its world: {type(cause).__name__}: {cause}")
    except (ValueError, TypeError, ImportError, OSError) as error:
        _refuse(str(error))
    _write(found, html, test, format)
    raise typer.Exit(1 if found else 0)


def _refuse(text: str) -> None:
    print(f"cfq-emulator: {text}", file=sys.stderr)
    raise typer.Exit(2)


def _functions(named: str, invariants: list[str]) -> tuple[Callable[..., Any], list[Callable[..., Any]]]:
    """The setup and the invariants. Raises ValueError for names that are not there, ImportError."""
    module_name, _, name = named.rpartition(":")
    if not module_name or not name:
        raise ValueError(f"{named!r}: expected MODULE:FUNCTION, such as tests.worlds:payments, or FILE.py:FUNCTION")
    module = _module(module_name)
    setup = _function(module, name)
    if not invariants:
        own = getattr(module, "invariant", None)
        return setup, [own if callable(own) else _asserts_itself]
    return setup, [_invariant(module, each) for each in invariants]


def _asserts_itself() -> None:
    """What the function asserts on its way is all that has to hold."""


def _module(name: str) -> Any:
    if not name.endswith(".py"):
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(os.path.basename(name).removesuffix(".py"), name)
    if spec is None or spec.loader is None or not os.path.isfile(name):
        raise ValueError(f"there is no file {name!r}")
    sys.path.insert(0, os.path.dirname(os.path.abspath(name)))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _function(module: Any, name: str) -> Callable[..., Any]:
    found = getattr(module, name, None)
    if not callable(found):
        there = sorted(each for each, value in vars(module).items() if callable(value) and not each.startswith("_"))
        message = f"{module.__name__} has no function {name!r} (there are: {', '.join(there) or 'none'})"
        raise ValueError(message)  # noqa: TRY004 - the name is what is wrong
    result: Callable[..., Any] = found
    return result


def _invariant(module: Any, named: str) -> Callable[..., Any]:
    from emulator.explore import invariants as ready

    name, given, argument = named.partition("=")
    if given:
        makers: dict[str, Callable[[str], Any]] = {
            "at_most_once": ready.at_most_once, "in_order": ready.in_order,
            "converges": lambda seconds: ready.converges(float(seconds)),
        }  # fmt: skip
        if name not in makers:
            raise ValueError(f"there is no ready invariant {name!r} that takes a value: there are {', '.join(sorted(makers))}")
        made: Callable[..., Any] = makers[name](argument)
        return made
    if name in {"no_message_lost", "every_message_ends"} and not hasattr(module, name):
        return _function(ready, name)
    if ":" in name:
        other, _, name = name.rpartition(":")
        return _function(_module(other), name)
    return _function(module, name)


@contextmanager
def _progress() -> Iterator[Searching]:
    """What shows how far the search has come."""
    shown = Searching(sys.stderr)
    try:
        yield shown
    finally:
        shown.close()


def _write(found: Found | Nothing, html: str | None, test: str | None, format: str) -> None:
    from emulator.explore.found import Found as Broken

    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    if format == "json":
        print(json.dumps(found.as_dict(), indent=2))
    else:
        print(f"{found}\n\n{found.covered}")
    if isinstance(found, Broken):
        for path, made in ((html, found.page), (test, found.test)):
            if path is not None:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(made())
