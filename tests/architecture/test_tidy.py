"""The packages are tidy: documented, short, without leftovers and without traces of anybody's machine."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(file for package in ("cfq_lint", "emulator") for file in (ROOT / package).rglob("*.py"))
LINE_LENGTH_MAX = 128
FUNCTION_LINES_MAX = 70
ids = [file.relative_to(ROOT).as_posix() for file in MODULES]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def public(tree):
    """Public functions, classes and methods, with the names of what holds them. What is inside a function is nobody's business."""
    waiting = [(node, node.name) for node in tree.body if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    while waiting:
        node, name = waiting.pop()
        if node.name.startswith("_"):
            continue
        yield node, name
        if isinstance(node, ast.ClassDef):
            waiting += [(each, f"{name}.{each.name}") for each in node.body if isinstance(each, (*FUNCTIONS, ast.ClassDef))]


@pytest.mark.parametrize("file", MODULES, ids=ids)
def test_a_module_and_every_public_name_in_it_has_a_docstring(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "the module"
    bare = []
    for node, name in public(tree):
        overloaded = any("overload" in ast.unparse(each) or each_is_setter(each) for each in node.decorator_list)
        if not overloaded and not ast.get_docstring(node):
            bare.append(name)
    # A private class may still be the one that everybody meets; its public methods are read through its docstring.
    assert not bare


def each_is_setter(decorator):
    return isinstance(decorator, ast.Attribute) and decorator.attr == "setter"


@pytest.mark.parametrize("file", MODULES, ids=ids)
def test_lines_and_functions_are_short(file):
    text = file.read_text(encoding="utf-8")
    # What a checker must read on its line does not count.
    lines = [re.sub(r"\s*# (?:noqa|type: ignore).*", "", line) for line in text.splitlines()]
    long = [number for number, line in enumerate(lines, 1) if len(line) > LINE_LENGTH_MAX]
    assert not long
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, FUNCTIONS):
            lines = node.end_lineno - node.lineno + 1
            assert lines <= FUNCTION_LINES_MAX, f"{node.name} has {lines} lines"


@pytest.mark.parametrize("file", MODULES, ids=ids)
def test_nothing_is_left_to_be_done_or_silenced_without_saying_what(file):
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"\b(?:TODO|FIXME|XXX|HACK)\b", text)
    for number, line in enumerate(text.splitlines(), 1):
        assert not re.search(r"#\s*noqa(?!:)", line), f"line {number}: a bare noqa"
        assert not re.search(r"#\s*type:\s*ignore(?!\[)", line), f"line {number}: a bare type: ignore"


KINDS = {".py", ".md", ".toml", ".json", ".jsonc", ".yml", ".yaml", ".cfg", ".txt", ".sh", ""}
SKIPPED = {".git", ".venv", ".bench", ".editor", "site", "node_modules", "__pycache__", "dist", "build", ".hypothesis"}


def texts():
    """Every text file of the repository that people write or read."""
    waiting = [ROOT]
    while waiting:
        for file in sorted(waiting.pop().iterdir()):
            if file.is_dir():
                if file.name not in SKIPPED and not file.name.endswith((".egg-info", "_cache")):
                    waiting.append(file)
            elif file.suffix in KINDS and file.name != ".git":
                yield file


def test_no_file_names_a_place_on_somebody_s_machine():
    places = re.compile(rb"(?<![\w.$})>-])/(?:work|root|home|Users)/\w|\.\./shared\b")
    named = [file.relative_to(ROOT).as_posix() for file in texts() if places.search(file.read_bytes())]
    assert not named


def test_every_docstring_of_a_rule_says_what_is_true_in_its_first_line():
    for file in sorted((ROOT / "cfq_lint" / "rules").glob("cfq*.py")):
        first = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))).split("\n", 1)[0]
        assert first.endswith("."), file.name
        assert not first.startswith(("This ", "Check", "Report", "Rule")), file.name


@pytest.mark.parametrize("package", ["cfq_lint", "emulator"])
def test_no_possessive_quantifier_stands_behind_a_group(package):
    """Before Python 3.11.5 such a quantifier keeps what a failed try has eaten (python/cpython#106052), and Debian 12 has 3.11.2."""
    for file in sorted((ROOT / package).rglob("*.py")):
        for token in tokenize.generate_tokens(io.StringIO(file.read_text(encoding="utf-8")).readline):
            if token.type == tokenize.STRING and not token.string.endswith('"""'):
                assert not re.search(r"(?<!\\)\)[*+?]\+", token.string), f"{file.name}:{token.start[0]}"
