"""The format for people: where, what, the line with carets under it, and what to do."""

from __future__ import annotations

import re

import pytest

from cfq_lint import lint_text
from cfq_lint.report.text import WIDTH_MIN, render

from .sample import sample


def carets(text, name="wrangler.jsonc", select=("CFQ2",), width=100):
    """The source lines of a report with what the carets stand under."""
    lines = render(lint_text(text, name, select=select), width=width).splitlines()
    for number, line in enumerate(lines):
        if re.match(r"\s*\d+ \| ", line):
            below = lines[number + 1]
            start = below.index("^")
            yield line, start, len(below) - start


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ('{ "queues": { "consumers": [{ "queue": "a", "max_retries": 1000 }] } }', "1000"),
        ('\t\t{ "queues": { "consumers": [{ "queue": "a",\t"max_retries": 1000 }] } }', "1000"),
    ],
)
def test_carets_stand_under_the_mistake(line, marked):
    [(shown, start, length)] = carets(line)
    assert shown[start : start + length] == marked


def test_wide_characters_take_two_columns_and_combining_ones_none():
    [(shown, start, length)] = carets('{ "name": "日本e\u0301", "queues": { "consumers": [{ "queue": "a", "max_retries": 1000 }] } }')
    assert shown[start - 2 + 1 : start - 2 + 1 + length] == "1000"


@pytest.mark.parametrize("width", [0, 10, 40, 60, 80, 120, 10_000])
def test_lines_keep_to_the_width_except_for_urls_and_places(width):
    for line in render(sample(), width=width).splitlines():
        if len(line) > max(width, WIDTH_MIN):
            assert "http" in line or re.match(r"\S.*:\d+:\d+: ", line) or line.startswith(("  see ", "  fix ", " ")) or " in 7 files" in line
    for line, start, length in carets("{" + '"x": 1, ' * 80 + '"queues": { "consumers": [{ "queue": "a", "max_retries": 1000 }] } }', width=width):
        assert len(line) <= max(width, WIDTH_MIN)
        assert line[start : start + length] == "1000"


def test_a_mark_over_several_lines_is_cut_at_the_first():
    text = '{ "queues": { "consumers": [{\n  "max_batch_size": 5\n}] } }'
    [(line, start, length)] = carets(text, select=["consumer-queue-missing"])
    assert line[start : start + length] == "{"


def test_an_empty_file_has_no_source_line():
    text = render(lint_text(""))
    assert "wrangler.jsonc:1:1: error CFQ001 parse-error" in text
    assert " | " not in text


def test_a_finding_says_where_what_and_how_to_repair_it():
    text = render(lint_text('{ "queues": { "consumers": [{ "queue": "a", "max_retries": "5" }] } }', select=["wrong-type"]))
    first, *rest = text.splitlines()
    assert first == "wrangler.jsonc:1:60: error CFQ109 wrong-type"
    assert any(line.startswith("  fix ") and line.endswith("(--fix)") for line in rest)
    assert any("https://developers.cloudflare.com/" in line for line in rest)


def test_related_places_are_listed():
    text = render(lint_text('{ "a": 1,\n "a": 2 }'))
    assert "see wrangler.jsonc:1:3: first here" in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{ "name": "a" }', "no findings in 1 file"),
        ('{ "legacy_env": 1 }', "1 error in 1 file"),
        ('{ "legacy_env": 1, "legacy_env": 1 }', "2 errors in 1 file"),
        ("{ @ }", "with broken syntax, otherwise unchecked"),
        ("{ 'a': 1 }", "1 error in 1 file (1 fixable with --fix)"),
        ('{ "legacy_env": 1 } // cfq-lint: ignore[legacy-env]', "1 suppressed"),
    ],
)
def test_the_last_line_sums_up(text, said):
    assert said in render(lint_text(text)).splitlines()[-1]


def test_what_cannot_be_printed_is_replaced():
    text = render(lint_text('{ "queues": { "consumers": [{ "queue": "\u202e\u200b", "dead_letter_queue": "x" }] } }'))
    assert "\u202e" not in text
    assert "\\u202e" in text


@pytest.mark.parametrize("text", ["{ \x1b[2J }", '{ "a": "\x9b2J", "a": 1 }', '{ "queues": "\x9b2J" }', '{ "queues": { "\x9b2J": 1 } }', "{ '\x1b': 1 }"])
def test_a_file_cannot_steer_the_terminal(text):
    shown = render(lint_text(text))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)
