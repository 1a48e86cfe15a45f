"""The requirements of the three documents, a line each: the feature that meets it, the test that shows it, and how to take it out.

python -m tests.emulator.toolkit.requirements docs/emulator/requirements.md

`feature` is a dotted path that leads to the thing itself. `taken_out(row)` takes it away: a function then raises, a table is empty, a
pattern matches nothing, a number is a thousand times as large, a rule finds nothing. The row's test must fail then; test_requirements.py tries each.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from cfq_lint.facts.record import replace
from tests.emulator.toolkit.rows import ROWS

FOLDER = Path(__file__).parent
TITLES = {
    "A": "A course on retrying tasks",
    "B": "A page on asynq's retries and error handling",
    "C": "A manual on what becomes of failed background tasks",
}


class Row(NamedTuple):
    """One requirement. `test` is file::function beside this file; `feature` a path as module:name or module:Class.name."""

    id: str
    text: str
    feature: str
    test: str
    how: str = "raise"


def rows() -> list[Row]:
    """Every requirement."""
    return [Row(*row) for row in ROWS]


class TakenOut(Exception):  # noqa: N818 - what happened
    """The feature is not there."""


def resolve(feature: str) -> tuple[Any, str, Any]:
    """The owner (a module or a class), the name and the value. Raises AttributeError for a feature that is not there."""
    module, _, path = feature.partition(":")
    owner: Any = importlib.import_module(module)
    *way, name = path.split(".")
    for step in way:
        owner = getattr(owner, step)
    getattr(owner, name)
    return owner, name, vars(owner)[name]


def _gone(*_given: Any, **_named: Any) -> Any:
    raise TakenOut


def _without(value: Any, how: str) -> Any:
    """What stands in for a value that was taken out."""
    if how == "nothing":
        return lambda *_given, **_named: None
    if how == "empty":
        return lambda *_given, **_named: frozenset()
    if how == "silent":
        return replace(value, check=lambda *_given, **_named: iter(()))
    if isinstance(value, property):
        return property(_gone)
    if isinstance(value, re.Pattern):
        return re.compile("(?!)")
    if isinstance(value, str | tuple | frozenset | dict):
        return type(value)()
    if isinstance(value, bool | type(None)):
        return not value
    if isinstance(value, int | float):
        return value * 1_000
    return _gone


@contextlib.contextmanager
def taken_out(row: Row) -> Any:
    """The feature is gone, in every module that had it by its name."""
    owner, name, value = resolve(row.feature)
    other = _without(value, row.how)
    places = [owner]
    if isinstance(owner, type(sys)) and name != "RULE":
        wanted = ("emulator", "cfq_lint", "tests.emulator.toolkit", "fixtures.consumers")
        # Copies and look-ups alone: another thread may be importing.
        places += [m for key, m in sys.modules.copy().items() if key.startswith(wanted) and vars(m).get(name, places) is value]
    for place in places:
        setattr(place, name, other)
    try:
        yield
    finally:
        for place in places:
            setattr(place, name, value)


def function_of(row: Row) -> Any:
    """The test of a row, a function without arguments."""
    file, _, name = row.test.partition("::")
    return getattr(importlib.import_module(f"tests.emulator.toolkit.{file}"), name)


def page() -> str:
    """The table of the documentation."""
    parts = [
        "# What the documents ask for, and what meets it",
        "",
        "Three documents describe what careful people build around a queue. Each line below is one thing that they ask for or claim,",
        "with the feature that meets it and the test that fails when the feature is taken out. The table is generated:",
        "`python -m tests.emulator.toolkit.requirements docs/emulator/requirements.md`; a test holds it fresh, and takes every feature",
        "out to see its test fail.",
    ]
    for letter, title in TITLES.items():
        parts += ["", f"## {letter}. {title}", "", "| # | What | Feature | Test |", "|---|---|---|---|"]
        parts += [
            f"| {row.id} | {row.text} | `{row.feature.replace(':', '.')}` | `toolkit/{row.test.replace('::', '.py::')}` |"
            for row in rows()
            if row.id.startswith(letter)
        ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
