"""What the pages about the emulator say is so: their snippets run, their tests exist, their links lead somewhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.emulator.helpers import plugin_options

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "emulator").glob("*.md"))
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
OURS = {"quickstart", "time", "pytest", "faults", "fidelity", "explore"}


def snippets():
    for page in PAGES:
        if page.stem not in OURS:
            continue
        text = page.read_text(encoding="utf-8")
        for found in SNIPPET.finditer(text):
            line = text[: found.start()].count("\n") + 2
            yield pytest.param(page, line, found[1], id=f"{page.stem}:{line}")


def goes_on(source):
    """A snippet without an import of its own goes on where the one before it stopped."""
    return "import" not in source.split("\n", 1)[0]


@pytest.mark.parametrize(("page", "line", "source"), [s for s in snippets() if "def test_" not in s.values[2]])
def test_snippet_runs(page, line, source, monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {"__name__": "snippet"}
    before = [s.values for s in snippets() if s.values[0] == page and s.values[1] < line]
    if goes_on(source):
        exec(compile(before[-1][2], f"{page}:{before[-1][1]}", "exec"), names)
    exec(compile(source, f"{page}:{line}", "exec"), names)
    if "emu" in names:
        names["emu"].close()


@pytest.mark.parametrize("source", [pytest.param(s.values[2], id=s.id) for s in snippets() if "def test_" in s.values[2]])
def test_snippet_passes_as_a_test(source, pytester):
    pytester.makepyfile(source)
    pytester.runpytest_subprocess(*plugin_options()).assert_outcomes(passed=1)


def functions_in(name):
    tree = ast.parse((Path(__file__).parent / name).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_test_that_a_page_names_exists():
    named = [m for page in PAGES for m in re.findall(r"`(test_\w+\.py)::(\w+)(\[[^\]]*\])?`", page.read_text(encoding="utf-8"))]
    assert len(named) > 50
    for file, function, _ in named:
        assert function in functions_in(file), f"{file} has no {function}"


def test_every_claim_has_a_page_of_cloudflares():
    text = (ROOT / "docs" / "emulator" / "fidelity.md").read_text(encoding="utf-8")
    claims = text.split("## Where the documentation is silent")[0]
    rows = [line for line in claims.splitlines() if line.startswith("| ") and "`test_" in line]
    assert len(rows) > 40
    for row in rows:
        assert "](https://developers.cloudflare.com/" in row, row


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_to_another_page_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target.partition("#")[0]).exists(), f"{page.name} links to {target}"


def test_the_teams_files_are_yaml_and_their_servers_have_known_options():
    """Every `serve` that the page about a team shows, in a shell line, a compose file or a manifest."""
    import inspect

    import yaml

    from emulator.cli.serving import serve

    text = (ROOT / "docs" / "emulator" / "team.md").read_text(encoding="utf-8")
    files = [list(yaml.safe_load_all(found)) for found in re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]
    assert [[sorted(document) for document in file] for file in files] == [
        [["services", "volumes"]], [["apiVersion", "kind", "metadata", "spec"]] * 2
    ]  # fmt: skip
    known = {f"--{name}" for name in inspect.signature(serve).parameters}
    shown = re.findall(r"cfq-emulator serve (--.*?)(?:\"?$)", text, re.MULTILINE)
    assert len(shown) == 3
    assert {word for line in shown for word in line.split() if word.startswith("--")} <= known
