"""`cfq-lint audit --checklist` and `--estimate`: what an audit knows, as the acceptance list, or as time and money."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from cfq_lint.checklist import html as checklist_html
from cfq_lint.checklist import json as checklist_json
from cfq_lint.checklist import judge
from cfq_lint.checklist import text as checklist_text
from cfq_lint.checklist.model import FAIL
from cfq_lint.cli.check import CLEAN, FAILED, FOUND, say, show, terminal_width, use_colour
from cfq_lint.estimate import html as estimate_html
from cfq_lint.estimate import json as estimate_json
from cfq_lint.estimate import text as estimate_text
from cfq_lint.estimate.reckoning import estimate
from cfq_lint.facts import quantities
from cfq_lint.facts.errors import Usage, WrongQuantity
from cfq_lint.model.account_facts import DeclaredLoad
from cfq_lint.model.project import project_of
from cfq_lint.report.numbers import explained
from cfq_lint.source.files import Files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Worker
    from cfq_lint.run.engine import Report

FORMATS = ("text", "json", "html")
_LOADS = {
    "rate": ("rate_per_second", quantities.rate),
    "size": ("message_size_bytes", quantities.size),
    "failure": ("failure_share", quantities.share),
    "processing": ("processing_seconds", quantities.duration),
    "per-message": ("processing_message_seconds", quantities.duration),
}


def is_asked(values: dict[str, Any]) -> bool:
    """Whether one of the two is asked for. Raises Usage for options that do not go together."""
    if values["checklist"] and values["estimate"]:
        raise Usage("--checklist and --estimate are two reports; ask for one at a time")
    asked = bool(values["checklist"] or values["estimate"])
    if values["from_account"] and not values["estimate"]:
        raise Usage("--from-account is for --estimate")
    if asked and values["format"] not in FORMATS:
        raise Usage(f"--checklist and --estimate are shown as {', '.join(FORMATS)}, not as {values['format']}")
    given = [name for name in _LOADS if values[name.replace("-", "_")] is not None]
    if given and not values["estimate"]:
        raise Usage(f"--{given[0]} is for --estimate")
    if asked:
        given_load(values)
    return asked


def given_load(values: dict[str, Any]) -> DeclaredLoad:
    """What the options declare for every queue. Raises Usage."""
    said: dict[str, Any] = {}
    for name, (field, read) in _LOADS.items():
        text = values[name.replace("-", "_")]
        if text is not None:
            try:
                value = read(text)
            except WrongQuantity as error:
                raise Usage(f"--{name}: {error}") from error
            said[field] = value if isinstance(value, int) else float(value)
    return DeclaredLoad(**said)


def accept(
    report: Report, workers: Iterable[Worker], facts: Facts, values: dict[str, Any], clean: Callable[[str], str] = str
) -> int:
    """Show what is asked for; the exit code: 1 where an item of the list fails, 2 where a file could not be judged."""
    problems = [*report.problems, *(f"{path}: does not parse; `cfq-lint check` says where" for path in report.unparsed)]
    for problem in problems:
        say(clean(problem))
    if facts.measured is None and values["from_account"]:
        raise Usage("--from-account needs what the account measured: read the account, or name --facts that hold it")
    project = project_of(workers, facts, Files())
    said = tuple(clean(problem) for problem in problems)
    failed = False
    if values["checklist"]:
        checklist = judge(project)
        failed = any(item.verdict == FAIL for item in checklist.items)
        text = _rendered(values, checklist, said, (checklist_text, checklist_json, checklist_html))
    else:
        known = estimate(project, given_load(values), facts.measured if values["from_account"] else None)
        text = _rendered(values, known, said, (estimate_text, estimate_json, estimate_html))
    show(clean(text), values)
    if values["explain_numbers"]:
        explain(facts, clean)
    return FAILED if problems or report.crashed else FOUND if failed else CLEAN


def explain(facts: Facts, clean: Callable[[str], str] = str) -> None:
    """Say beside the report of each number that was measured how it was reckoned, and how to ask for it. Raises Usage."""
    if facts.measured is None:
        raise Usage("--explain-numbers needs what the account measured: read the account, or name --facts that hold it")
    print(clean(explained(facts, facts.measured)), end="", file=sys.stderr)


def _rendered(values: dict[str, Any], what: Any, problems: tuple[str, ...], outputs: tuple[Any, Any, Any]) -> str:
    """What is asked for in the format that is asked for; `outputs` are those of FORMATS."""
    text, json, html = outputs
    name = values["format"]
    if name == "json":
        return str(json.render(what, problems=problems))
    if name == "html":
        return str(html.render(what))
    colour = not values["output"] and use_colour(sys.stdout)
    return str(text.render(what, colour=colour, width=terminal_width()))
