"""The snippets of docs/emulator/consumers.md run, and what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cfq_lint.rules.registry import BY_KEY
from emulator import toolkit
from emulator.toolkit import Dialect

PAGE = Path(__file__).parents[3] / "docs" / "emulator" / "consumers.md"
TEXT = PAGE.read_text(encoding="utf-8")
SNIPPETS = [(TEXT[: found.start()].count("\n") + 2, found[1]) for found in re.finditer(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)]


@pytest.mark.parametrize(("line", "source"), SNIPPETS, ids=lambda value: f"line{value}" if isinstance(value, int) else "")
def test_snippet_runs(line, source):
    names = {"__name__": "snippet"}
    exec(compile(source, f"{PAGE.name}:{line}", "exec"), names)
    if "emu" in names:
        names["emu"].close()


def test_there_are_snippets():
    assert len(SNIPPETS) >= 6


def test_every_name_of_the_toolkit_that_is_said_exists():
    for name in re.findall(r"`([A-Z][A-Za-z]+)[.(`]", TEXT):
        assert hasattr(toolkit, name) or name == "Faults", name


def test_the_options_of_the_dialect_are_all_told():
    assert set(Dialect.__slots__) == set(re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE)) - {"OnceSQL"} - set(dir(toolkit))


def test_every_rule_that_is_named_exists():
    for code in re.findall(r"CFQ\d{3}", TEXT):
        assert code in BY_KEY
