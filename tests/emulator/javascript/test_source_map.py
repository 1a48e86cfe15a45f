"""Source maps are read as Node reads them."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.workers.javascript.bundling.source_map import SourceMap, rows

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def encoded(number):
    value, text = (-number << 1) | 1 if number < 0 else number << 1, ""
    while True:
        value, digit = value >> 5, value & 31
        text += DIGITS[digit | (32 if value else 0)]
        if not value:
            return text


def mappings(lines):
    """The text of a map: for each line of the bundle segments (column, source, line, column)."""
    before, text = [0, 0, 0], []
    for line in lines:
        column, parts = 0, []
        for segment in line:
            fields = [segment[0] - column, *(now - then for now, then in zip(segment[1:], before, strict=False))]
            column, before = segment[0], list(segment[1:]) or before
            parts.append("".join(map(encoded, fields)))
        text.append(",".join(parts))
    return ";".join(text)


SOURCED = st.tuples(st.integers(0, 300), st.integers(0, 2), st.integers(0, 2_000), st.integers(0, 300))
LINES = st.lists(st.lists(SOURCED, max_size=6, unique_by=lambda each: each[0]).map(sorted), max_size=8)


@given(st.lists(st.lists(SOURCED | st.tuples(st.integers(0, 2**30)), max_size=6).map(lambda row: sorted(row, key=lambda s: s[0])), max_size=6))
def test_what_is_encoded_is_read(lines):
    assert list(rows(mappings(lines))) == [[each if len(each) > 1 else (each[0], -1, 0, 0) for each in line] for line in lines or [[]]]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_node_finds_the_same_places(tmp_path):
    cases = []

    @settings(max_examples=60)
    @given(LINES)
    def collect(lines):
        cases.append(mappings(lines))

    collect()
    asked = [(line, column) for line in range(1, 9) for column in (1, 2, 50, 150, 301)]
    code = """
    const { SourceMap } = require("module");
    const { cases, asked } = JSON.parse(require("fs").readFileSync(0, "utf8"));
    const place = (map, [line, column]) => {
      const found = map.findEntry(line - 1, column - 1);
      return found.originalSource === undefined || found.generatedLine !== line - 1
        ? null : [found.originalSource, found.originalLine + 1, found.originalColumn + 1];
    };
    console.log(JSON.stringify(cases.map((mappings) => {
      const map = new SourceMap({ version: 3, sources: ["0", "1", "2"], names: [], mappings });
      return asked.map((each) => place(map, each));
    })));
    """
    done = subprocess.run(["node", "-e", code], input=json.dumps({"cases": cases, "asked": asked}), capture_output=True, text=True, check=True)
    for text, expected in zip(cases, json.loads(done.stdout), strict=True):
        file = tmp_path / "map.json"
        file.write_text(json.dumps({"sources": ["0", "1", "2"], "mappings": text}))
        found = [SourceMap(file, tmp_path).find(*each) for each in asked]
        assert [each and list(each) for each in found] == expected


@pytest.mark.parametrize("text", ["AA!A", "AAAg"])
def test_what_is_no_map_is_refused(text):
    with pytest.raises(ValueError, match="source map"):
        list(rows(text))


def test_a_stack_speaks_of_the_sources_and_of_nothing_else(tmp_path):
    (tmp_path / "out").mkdir()
    file = tmp_path / "out" / "index.js.map"
    file.write_text(json.dumps({"sources": ["../src/a.ts", "/elsewhere/b.ts"], "mappings": ";AAQG;ACCA"}))
    stack = "Error: index.js:2:1\n    at f (file:///index.js:2:9)\n    at g (index.js:3:1)\n    at h (lib/index.js:2:1)\n    at i (index.js:1:1)"
    assert SourceMap(file, tmp_path).mapped(stack, "index.js").splitlines()[1:] == [
        "    at f (src/a.ts:9:4)", "    at g (/elsewhere/b.ts:10:4)", "    at h (lib/index.js:2:1)", "    at i (index.js:1:1)",
    ]  # fmt: skip
