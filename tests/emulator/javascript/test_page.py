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


@pytest.mark.usefixtures("tools")
def test_the_page_s_worker_passes_the_page_s_tests(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[3]))
    (pytester.path / "src").mkdir()
    (pytester.path / "src" / "index.ts").write_text(blocks("ts")[0])
    (pytester.path / "wrangler.jsonc").write_text(
        f"""{{ "name": "orders", "main": "src/index.ts", "compatibility_date": "{DATE}", "queues": {{
          {blocks("jsonc")[0]} "producers": [{{ "binding": "MY_QUEUE", "queue": "my-queue" }}] }} }}"""
    )
    pytester.makepyfile(test_retries=blocks("python")[0])
    pytester.runpytest_subprocess(*plugin_options()).assert_outcomes(passed=2)


def test_both_ways_expect_the_same_moments():
    (typescript,) = re.findall(r"toEqual\(\[(\[1, 1\].*?)\]\)", blocks("ts")[1])
    moments = [int(seconds) for seconds, _ in re.findall(r"\[(\d+), (\d)\]", typescript)]
    clock = re.findall(r'"00:(\d\d):(\d\d)"', blocks("python")[0])
    assert moments == [60 * int(minutes) + int(seconds) for minutes, seconds in clock]
