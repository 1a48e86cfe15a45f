"""`cfq-emulator simulate CONFIG`: what settings do under a load, on virtual time."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from emulator.core.limits import SECOND_US
from emulator.core.refusals import Refused
from emulator.engine.clock import real_seconds
from emulator.simulate import exact_run as exact
from emulator.simulate import units
from emulator.simulate.by_count import run as batched
from emulator.simulate.measured import as_measured, measured_in
from emulator.simulate.output import page, text
from emulator.simulate.output import sweep_table as outline
from emulator.simulate.output.report import BATCHED, EXACT, report
from emulator.simulate.scenario import BATCH, MESSAGE, Load, Scenario
from emulator.simulate.settings import assignment, scenario, sweep, with_value
from emulator.simulate.sweep import grid, method_for, run_all
from emulator.simulate.sweep import simulate as run_one
from emulator.simulate.verify import differences, slice_of
from emulator.workers.config import load as read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cfq_lint.model.measured import Measured
    from emulator.simulate.tally import Tally

_NARROW, _WIDE = 40, 120
_OF_THE_ACCOUNT = ("rate", "duration", "outage", "failure", "size")


def simulate(
    config: Annotated[str, typer.Argument(metavar="CONFIG", help="A wrangler file, or its folder.")],
    rate: Annotated[str | None, typer.Option(metavar="N/T", help="Messages: 500/s, 30000/min, 1M/day.")] = None,
    duration: Annotated[str | None, typer.Option(metavar="T", help="For how long: 90s, 1d. [default: 24h]")] = None,
    outage: Annotated[
        list[str] | None, typer.Option(metavar="T@T", help="All deliveries fail: 2h@6h, two hours from hour six. Repeatable.")
    ] = None,
    failure: Annotated[
        str | None, typer.Option(metavar="P", help="Share of deliveries that fail besides: 3% or 0.03. [default: 0%]")
    ] = None,
    processing: Annotated[str, typer.Option(metavar="T", help="How long a batch takes, also one that fails.")] = "200ms",
    per_message: Annotated[str, typer.Option(metavar="T", help="How much longer for each message in it.")] = "0s",
    failure_mode: Annotated[
        str | None,
        typer.Option(
            metavar="M",
            help="batch: the handler throws, and Cloudflare retries the batch; message: only that message. [default: batch; "
            "message with --from-account]",
        ),
    ] = None,
    dead_letter_failure: Annotated[
        str, typer.Option(metavar="P", help="Share of deliveries that fail in dead-letter queues.")
    ] = "0%",
    size: Annotated[str | None, typer.Option(metavar="B", help="Bytes of a message. [default: 1KB]")] = None,
    from_account: Annotated[
        str | None,
        typer.Option(
            metavar="FACTS",
            help="What the account measured in the place of rate, duration, outages, failure and size: a file of cfq-lint "
            "audit --analytics --write-facts.",
        ),
    ] = None,
    queue: Annotated[list[str] | None, typer.Option(metavar="Q", help="Only this queue. Repeatable.")] = None,
    env: Annotated[str | None, typer.Option(metavar="E", help="An environment of the file.")] = None,
    plan: Annotated[str, typer.Option(metavar="P", help="free or paid.")] = "paid",
    set: Annotated[list[str] | None, typer.Option(metavar="K=V", help="Change a setting: max_retries=10.")] = None,
    compare: Annotated[str | None, typer.Option(metavar="OTHER", help="Another file, side by side.")] = None,
    compare_set: Annotated[
        list[str] | None, typer.Option(metavar="K=V", help="Side by side with this setting changed.")
    ] = None,
    sweep_: Annotated[
        list[str] | None, typer.Option("--sweep", metavar="K=V..V", help="Many runs: max_retries=1..10, =1,3,10, =0..100..10.")
    ] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="F", help="Keep a sweep's results in a file, and go on from it.")
    ] = None,
    workers: Annotated[int | None, typer.Option(metavar="N", min=1, help="Processes of a sweep; all cores.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="URL", help="A Dask scheduler whose workers do a sweep: tcp://….")
    ] = None,
    method: Annotated[str | None, typer.Option(metavar="M", help="exact or batched; by the size of the load.")] = None,
    verify: Annotated[bool, typer.Option(help="Check a batched run against the emulator on a slice.")] = True,
    slice: Annotated[str | None, typer.Option(metavar="T", help="How long that slice is.")] = None,
    drain: Annotated[bool, typer.Option(help="Go on after the last message until nothing is due.")] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="Same seed, same report.")] = 0,
    format: Annotated[str, typer.Option(metavar="F", help="text, json or html.")] = "text",
    output: Annotated[str | None, typer.Option(metavar="F", help="Where to write instead of standard output.")] = None,
) -> None:
    """Simulate a producer and a consumer on the queues of a wrangler file, and say what its settings do."""
    chosen = locals()
    try:
        _simulate(**chosen)
    except (Refused, OSError, ValueError) as error:
        said = error.text if isinstance(error, Refused) else str(error)
        print(f"cfq-emulator: {said}", file=sys.stderr)
        raise typer.Exit(2) from None


def _simulate(*, config: str, format: str, **given: Any) -> None:
    for name, value, allowed in (
        ("format", format, ("text", "json", "html")),
        ("plan", given["plan"], ("free", "paid")),
        ("failure-mode", given["failure_mode"] or BATCH, (BATCH, MESSAGE)),
        ("method", given["method"] or EXACT, (EXACT, BATCHED)),
    ):
        if value not in allowed:
            message = f"{name} {value!r}: expected {' or '.join(allowed)}"
            raise ValueError(message)
    colour = _colour() and given["output"] is None
    measured = None if given["from_account"] is None else measured_in(given["from_account"])
    load = _load(**given)
    first = _scenario(config, load, given, given["set"] or (), measured)
    if given["sweep_"]:
        if given["compare"] or given["compare_set"]:
            raise ValueError("a sweep has its own comparison: leave out --compare and --compare-set")
        made = _swept(first, given, format)
    elif given["compare"] or given["compare_set"]:
        changes = [*(given["set"] or ()), *(given["compare_set"] or ())]
        other = _scenario(given["compare"] or config, load, given, changes, measured)
        reports = [_one(each, given, verify=False) for each in (first, other)]
        made = _shown_beside(reports, format, colour)
    else:
        made = _shown(_one(first, given, verify=given["verify"]), format, colour)
    if given["output"] is None:
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        sys.stdout.write(made)
        return
    with open(given["output"], "w", encoding="utf-8") as file:
        file.write(made)


def _load(**given: Any) -> Load:
    """The load that the options describe. Raises ValueError."""
    measured = given["from_account"] is not None
    if measured and (beside := [f"--{name}" for name in _OF_THE_ACCOUNT if given[name]]):
        message = f"--from-account brings what {', '.join(beside)} would say: leave {'it' if len(beside) == 1 else 'them'} out"
        raise ValueError(message)
    if not measured and given["rate"] is None:
        raise ValueError("what is sent? Give --rate 500/s, or --from-account FACTS")
    duration_us = units.duration_us(given["duration"] or "24h", least_us=SECOND_US)
    return Load(
        rate=units.rate(given["rate"] or "1/s"),
        duration_us=duration_us,
        outages=units.outages(given["outage"] or [], duration_us),
        failure=units.share(given["failure"] or "0%"),
        dead_letter_failure=units.share(given["dead_letter_failure"], "dead-letter-failure"),
        processing_us=units.duration_us(given["processing"], "processing"),
        processing_message_us=units.duration_us(given["per_message"], "per-message"),
        mode=given["failure_mode"] or (MESSAGE if measured else BATCH),
        size_bytes=units.size_bytes(given["size"] or "1KB"),
        seed=given["seed"],
        plan=given["plan"],
        drain=given["drain"],
    )


def _scenario(config: str, load: Load, given: dict[str, Any], changes: Any, measured: Measured | None) -> Scenario:
    changes = list(changes)
    label = ", ".join([config, *([f"env {given['env']}"] if given["env"] else []), *changes])
    file = read(config, given["env"], given["plan"])
    made = scenario(file, load, given["queue"] or (), label)
    if measured is not None:
        made = as_measured(made, measured, file.script)
    for change in changes:
        made = with_value(made, *assignment(change))
    return made


def _one(chosen: Scenario, given: dict[str, Any], *, verify: bool) -> dict[str, Any]:
    """One run and its report, with the check if it was by count; how long each took is said apart from the report."""
    method = method_for(chosen, given["method"])
    if method == EXACT or not verify:
        with _progress(chosen, "simulating") as progress:
            return run_one(chosen, method, progress)
    began = real_seconds()
    with _progress(chosen, "simulating") as progress:
        tallies = batched.run(chosen, progress)
    took = real_seconds() - began
    made = report(chosen, tallies, method)
    part = slice_of(chosen, None if given["slice"] is None else units.duration_us(given["slice"], "slice", least_us=SECOND_US))
    began = real_seconds()
    with _progress(part, "checking a slice") as progress:
        slowly = exact.run(part, progress)
    exact_took = real_seconds() - began
    made["check"] = differences(part, slowly, batched.run(part))
    _say_speed(tallies, took, slowly, exact_took, part)
    return made


def _say_speed(tallies: list[Tally], took: float, slowly: list[Tally], exact_took: float, part: Scenario) -> None:
    """Wall times go to standard error, because a report is the same in every run."""
    deliveries, slice_deliveries = (sum(tally.delivered + tally.sent for tally in each) for each in (tallies, slowly))
    if not deliveries or not slice_deliveries or not took:
        return
    ratio = (deliveries / took) / (slice_deliveries / exact_took)
    print(
        f"cfq-emulator: {tallies_text(tallies)} in {took:.2f} s; {units.span(part.load.duration_us)} of it on the emulator in "
        f"{exact_took:.2f} s: {ratio:,.0f} x as fast as exact emulation of this load",
        file=sys.stderr,
    )


def tallies_text(tallies: list[Tally]) -> str:
    """How much was simulated."""
    sent, delivered = (sum(getattr(tally, name) for tally in tallies) for name in ("sent", "delivered"))
    return f"{units.compact(sent)} messages and {units.compact(delivered)} deliveries"


@contextmanager
def _progress(chosen: Scenario, label: str) -> Iterator[Callable[[int], None] | None]:
    """A bar on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    with typer.progressbar(length=100, label=label, file=sys.stderr) as bar:
        reached = 0

        def move(at_us: int) -> None:
            nonlocal reached
            percent = min(100, at_us * 100 // max(1, chosen.load.duration_us))
            if percent > reached:
                bar.update(percent - reached)
                reached = percent

        yield move


def _swept(first: Scenario, given: dict[str, Any], format: str) -> str:
    axes = [sweep(each) for each in given["sweep_"]]
    if len({key for key, _ in axes}) < len(axes):
        raise ValueError("a setting is swept once: give all its values in one --sweep")
    jobs = grid(first, axes)
    reports: dict[int, dict[str, Any]] = {}
    with typer.progressbar(length=len(jobs), label=f"{len(jobs)} runs", file=sys.stderr) as bar:
        for number, made in run_all(jobs, given["method"], given["resume"], given["workers"], given["scheduler"]):
            reports[number] = made
            bar.update(1)
    rows = [outline.row(chosen, reports[number]) for number, (chosen, _) in enumerate(jobs)]
    whole = {**reports[0], "label": first.label}
    if format == "json":
        return json.dumps(outline.as_dict(rows, whole), indent=2) + "\n"
    if format == "html":
        return page.sweep_page(rows, whole)
    return outline.text(rows, whole, _columns())


def _shown(made: dict[str, Any], format: str, colour: bool) -> str:
    if format == "json":
        return json.dumps(made, indent=2) + "\n"
    if format == "html":
        return page.page([made])
    return text.text(made, width=_columns(), colour=colour)


def _shown_beside(reports: list[dict[str, Any]], format: str, colour: bool) -> str:
    if format == "json":
        return json.dumps({"version": reports[0]["version"], "runs": reports}, indent=2) + "\n"
    if format == "html":
        return page.page(reports)
    return text.beside(reports, width=_columns(), colour=colour)


def _columns() -> int:
    return max(_NARROW, min(_WIDE, shutil.get_terminal_size().columns))


def _colour() -> bool:
    """As https://no-color.org says."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()
