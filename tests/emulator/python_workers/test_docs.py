"""What the page about Python Workers says is so: its snippets run, and its table of names is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from emulator import Emulator

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "emulator" / "python-workers.md"
TEXT = PAGE.read_text(encoding="utf-8")
SNIPPETS = [
    pytest.param(found[1], TEXT[: found.start()].count("\n") + 2, id=f"line{TEXT[: found.start()].count(chr(10)) + 2}")
    for found in re.finditer(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
]


@pytest.mark.parametrize(("source", "line"), SNIPPETS)
def test_snippet_runs(source, line, monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {"__name__": "snippet"}
    exec(compile("\n" * (line - 1) + source, str(PAGE), "exec"), names)
    names["emu"].close()


def test_the_table_of_imports_names_everything_there_is(write):
    module = write("import workers, js, pyodide.ffi, asgi\n", queues={}).module
    stand_ins = {"workers": module.workers, "js": module.js, "pyodide.ffi": module.pyodide.ffi, "asgi": module.asgi}
    rows = dict(re.findall(r"^\| `([\w.]+)` \| (.*) \|$", TEXT.partition("## What can be imported")[2], re.MULTILINE))
    for name, stand_in in stand_ins.items():
        assert sorted(re.findall(r"`(\w+)(?:\(.*?\))?`", rows[name])) == sorted(stand_in.__all__), name


def test_the_page_names_every_attribute_of_a_worker():
    with Emulator() as emu:
        worker = emu.worker(ROOT / "fixtures" / "python_workers" / "single_file" / "worker.py")
        public = {name for name in {*vars(worker), *vars(type(worker))} if not name.startswith("_")} - {"queue", "held"}
        assert public == set(re.findall(r"`(?:await )?worker\.(\w+)", TEXT.partition("## Which handler")[0]))
