"""Every format of the sample report, as it was when somebody last looked at it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from cfq_lint import __version__
from cfq_lint.report import COLOURED, FORMATS, renderer, summary
from tests.lint.support import FIXTURES, ROOT

from .sample import clean, crashed, sample

OPTIONS = {
    "text.txt": ("text", {"width": 120}),
    "text-coloured.txt": ("text", {"colour": True, "width": 120}),
    "text-60-columns.txt": ("text", {"width": 60}),
    "concise.txt": ("concise", {}),
    "concise-coloured.txt": ("concise", {"colour": True}),
    "report.json": ("json", {}),
    "report.sarif": ("sarif", {"root": "/project"}),
    "github.txt": ("github", {}),
    "gitlab.json": ("gitlab", {}),
    "junit.xml": ("junit", {}),
}


@pytest.mark.parametrize("file", OPTIONS)
def test_the_sample_report_looks_as_it_did(file, golden):
    name, options = OPTIONS[file]
    golden(f"outputs/{file}", renderer(name)(sample(), **options).replace(f'"{__version__}"', '"VERSION"'))


@pytest.mark.parametrize("name", FORMATS)
def test_a_clean_report_in_every_format(name, golden):
    golden(f"outputs/clean/{name}.txt", renderer(name)(clean()).replace(f'"{__version__}"', '"VERSION"'))


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_about_the_linter_itself_is_shown(name):
    assert "internal-error" in renderer(name)(crashed()) or "CFQ000" in renderer(name)(crashed())


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_a_pure_function_and_ends_its_last_line(name):
    report = sample()
    first, second = renderer(name)(report), renderer(name)(report)
    assert first == second
    assert first.endswith("\n")
    assert "\r" not in first


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_writes_control_characters_of_its_own_or_of_a_file(name):
    text = renderer(name)(sample())
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)


@pytest.mark.parametrize("name", sorted(COLOURED))
def test_colour_changes_nothing_that_is_said(name):
    coloured = renderer(name)(sample(), colour=True, width=100)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == renderer(name)(sample(), width=100)


def test_an_unknown_format_is_a_key_error():
    with pytest.raises(KeyError):
        renderer("html")


def test_the_summary_counts_everything_that_was_found_or_passed_over():
    report = sample()
    counts = summary(report)
    assert counts["files"] == 7
    assert counts["errors"] + counts["warnings"] + counts["infos"] == len(report.findings)
    assert counts["suppressed"] == 1
    assert counts["unparsed"] == 2
    assert counts["problems"] == 1
    assert counts["fixable"] >= 2


def test_golden_files_are_not_renewed_where_ci_is_set():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--update-golden", "-q", "--collect-only", "tests/lint/outputs"],
        cwd=ROOT, env={"CI": "true", "PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 4
    assert "refused where CI is set" in done.stdout + done.stderr


def test_no_golden_file_is_left_over():
    kept = {file.relative_to(FIXTURES / "golden" / "outputs").as_posix() for file in (FIXTURES / "golden" / "outputs").rglob("*.*")}
    assert kept == {*OPTIONS, *(f"clean/{name}.txt" for name in FORMATS)}
