"""The reference names every public name, is made from the code, and is one click away from the quickstart."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import emulator
from emulator.cli import reference

DOCS = Path(__file__).parents[2] / "docs" / "emulator"
PAGE = (DOCS / "reference.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
CLASSES = [thing for part in reference.parts() for thing in part.things.values() if inspect.isclass(thing)]


def test_the_page_is_that_of_the_code():
    assert reference.text() == PAGE, "run python -m emulator.cli.generate"


@pytest.mark.parametrize("name", emulator.__all__)
def test_every_public_name_has_its_section(name):
    assert name in SECTIONS
    assert len(SECTIONS[name].split()) > 5


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_public_member_is_told_with_a_sentence(kind):
    internal = reference._INTERNAL
    for name, value in inspect.getmembers_static(kind):
        own = any(name in vars(base) and base.__module__.startswith("emulator.") for base in kind.__mro__)
        if own and not name.startswith("_") and name not in internal and (callable(value) or isinstance(value, property)):
            assert re.search(rf"^- (fields: .*)?`{name}\b.*(: \S|`)", SECTIONS[kind.__name__], re.MULTILINE), f"{kind.__name__}.{name}"


@pytest.mark.parametrize(
    ("name", "section"),
    [("pause", "Queue"), ("peek", "Queue"), ("redrive", "Emulator"), ("advance_to", "Emulator"), ("errors", "Emulator"),
     ("retryAll", "MessageBatch"), ("attempts", "Message"), ("sendBatch", "Binding"), ("backlogCount", "Metrics")],
)  # fmt: skip
def test_a_newcomer_finds_it_one_click_from_the_quickstart(name, section):
    assert re.search(rf"`{name}\b", SECTIONS[section])
    quickstart = (DOCS / "quickstart.md").read_text(encoding="utf-8")
    assert "(reference.md)" in quickstart
    targets = set(re.findall(r"\(reference\.md#([\w-]+)\)", quickstart))
    anchors = {line.lstrip("# ").lower().replace(" ", "-").replace(",", "") for line in PAGE.splitlines() if line.startswith("##")}
    assert targets <= anchors
    if name in {"pause", "peek", "redrive", "advance_to", "errors"}:
        assert re.search(rf"\b{name}\b", quickstart)
