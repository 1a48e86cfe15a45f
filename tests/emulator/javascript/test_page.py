"""docs/emulator/javascript-workers.md is so: its Worker, its configuration and its pytest file, in a folder of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.emulator.helpers import plugin_options

from .workers import DATE

pytest_plugins = ["pytester"]

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "emulator" / "javascript-workers.md").read_text(encoding="utf-8")


def blocks(language):
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(tools, pytester, monkeypatch):
    """A folder with what the page says; its source may be changed."""
    del tools
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[3]))
    (pytester.path / "src").mkdir()
    (pytester.path / "src" / "index.ts").write_text(blocks("ts")[0])
    (pytester.path / "wrangler.jsonc").write_text(
        f"""{{ "name": "orders", "main": "src/index.ts", "compatibility_date": "{DATE}", "queues": {{
          {blocks("jsonc")[0]} "producers": [{{ "binding": "MY_QUEUE", "queue": "my-queue" }}] }} }}"""
    )
    pytester.makepyfile(test_retries=blocks("python")[0])
    return pytester


def test_the_page_s_worker_passes_the_page_s_tests(project):
    project.runpytest_subprocess(*plugin_options()).assert_outcomes(passed=2)


def test_a_mistake_in_the_source_is_all_that_a_failing_test_shows(project):
    source = project.path / "src" / "index.ts"
    source.write_text(source.read_text().replace("if (!answer.ok)", "if (!answer.ok"))
    result = project.runpytest_subprocess("-k", "fourth", *plugin_options())
    result.assert_outcomes(errors=1)
    lines = [line for line in result.outlines if ("index.ts:" in line or ".py:" in line) and not line.startswith("ERROR")]
    assert lines == ['src/index.ts:9:22: Expected ")" but found "message"']


def test_both_ways_expect_the_same_moments():
    (typescript,) = re.findall(r"toEqual\(\[(\[1, 1\].*?)\]\)", blocks("ts")[1])
    moments = [int(seconds) for seconds, _ in re.findall(r"\[(\d+), (\d)\]", typescript)]
    clock = re.findall(r'"00:(\d\d):(\d\d)"', blocks("python")[0])
    assert moments == [60 * int(minutes) + int(seconds) for minutes, seconds in clock]
