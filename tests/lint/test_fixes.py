"""Repairs on many files: nothing raises, twice is once, and no byte outside of an edit changes."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfq_lint import lint_text
from cfq_lint.facts.record import replace
from cfq_lint.model.account_facts import Facts
from cfq_lint.model.finding import Edit, Fix
from cfq_lint.rules.registry import every_rule
from cfq_lint.run.engine import conclude, judge
from cfq_lint.run.fixer import apply
from cfq_lint.run.plan import Plan
from cfq_lint.run.selection import choose
from cfq_lint.source.document import from_bytes

from .strategies import files
from .support import REAL, as_toml, as_toml_tables, comment_texts, document_of, examples, real_text, run, settled

PLAN = Plan(choose(), Facts())


def judged(name):
    """A function from a text to its findings, as a run has them."""

    def findings(text):
        document = document_of(text, name)
        report = conclude([judge(document, PLAN)], PLAN)
        assert not report.crashed, [f.message for f in report.findings if f.code == "CFQ000"]
        return report.findings

    return findings


def check_repairs(text, name):
    """Safe fixes, then all: each settles, twice is once, and comments stay but for ignores that were idle."""
    for unsafe in (False, True):
        mended, _ = settled(text, name, judged(name), unsafe=unsafe)
        assert settled(mended, name, judged(name), unsafe=unsafe) == (mended, 0)
        if "cfq-lint:" not in text and document_of(text, name).whole:
            assert sorted(comment_texts(mended, name)) == sorted(comment_texts(text, name))
    return mended


# --- a thousand mutated configurations

WORDS = [
    '"5"', "500", "-1", "null", "true", "0.5", "1e9", '""', '"My_Queue"', '"<QUEUE>"', '"orders"', "[]", "{}", "'x'", "0x10", "+1", "5000", '"http_pull"',
]  # fmt: skip
KEYS = ["consumer", "producers", "batch_size", "dlq", "maxRetries", "name", "queue_name", "max_wait_time_ms", "visibility_timeout_ms", "delivery_delay", "legacy_env", "jurisdiction"]
PIECES = [",", "}", "]", "{", "[", '"', ":", "\n", "//", "/*", "*/", "#", "=", "\ufeff", "\r\n", "\t", "'", "[[", "queues", " "]


def mutations(text, chance):
    """A text with one to four changes: values, keys, lines and characters, as slips and careless edits make them."""
    for _ in range(chance.randint(1, 4)):
        kind = chance.randrange(6)
        lines = text.split("\n")
        if kind == 0:
            text = swapped(text, chance, r"-?\d+(?:\.\d+)?|\"[^\"\n]*\"|true|false|null", WORDS)
        elif kind == 1:
            text = swapped(text, chance, r"\b[a-z_]{4,}\b", KEYS)
        elif kind == 2 and lines:
            del lines[chance.randrange(len(lines))]
            text = "\n".join(lines)
        elif kind == 3 and lines:
            at = chance.randrange(len(lines))
            lines.insert(at, lines[chance.randrange(len(lines))])
            text = "\n".join(lines)
        else:
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(PIECES) + text[at + chance.choice([0, 0, 1, 5]) :]
    return text


def swapped(text, chance, pattern, words):
    import re

    found = [*re.finditer(pattern, text)]
    if not found:
        return text
    match = chance.choice(found)
    return text[: match.start()] + chance.choice(words) + text[match.end() :]


@pytest.mark.parametrize("part", range(10))
def test_a_thousand_mutated_configurations_are_repaired_without_harm(part):
    chance = random.Random(f"mutants {part}")
    for _ in range(100):
        file = chance.choice(REAL)
        check_repairs(mutations(real_text(file), chance), file.name)


@settings(max_examples=60)
@given(files)
def test_any_configuration_is_repaired_without_harm(value):
    import json

    check_repairs(json.dumps(value, indent=2, ensure_ascii=False), "wrangler.jsonc")
    check_repairs(json.dumps(value), "wrangler.jsonc")
    for text in (as_toml(value), as_toml_tables(value)):
        check_repairs(text, "wrangler.toml")


@pytest.mark.parametrize("file", REAL, ids=[file.name for file in REAL])
def test_real_configurations_are_repaired_without_harm(file):
    mended = check_repairs(real_text(file), file.name)
    before, after = document_of(real_text(file), file.name), document_of(mended, file.name)
    assert len(after.faults) <= len(before.faults)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_the_byte_order_mark_stay(ending, mark):
    for rule in every_rule():
        for example in examples(rule, "Bad"):
            if example.is_named or "\ufeff" in example.text:
                continue
            text = mark + example.text.replace("\n", ending)
            mended = settled(text, example.name, lambda text, name=example.name: [f for f in judged(name)(text) if f.name != "utf8-bom"])[0]
            assert mended.startswith(mark)
            assert mended.count("\n") == mended.count(ending) if ending == "\r\n" else "\r" not in mended


# --- where settings are removed and added

REMOVED = [
    ('{"a": 1, "max_concurrency": null, "b": 2}', '{"a": 1, "b": 2}'),
    ('{"max_concurrency": null, "b": 2}', '{"b": 2}'),
    ('{"a": 1, "max_concurrency": null}', '{"a": 1}'),
    ('{"max_concurrency": null}', "{}"),
    ('{"a": 1, "max_concurrency": null,}', '{"a": 1, }'),
    ('{\n  "a": 1,\n  "max_concurrency": null,\n  "b": 2\n}', '{\n  "a": 1,\n  "b": 2\n}'),
    ('{\n  "a": 1,\n  "max_concurrency": null\n}', '{\n  "a": 1\n}'),
    ('{\n  "a": 1,\n  "max_concurrency": null // why\n}', '{\n  "a": 1\n  // why\n}'),
    ('{\n  "a": 1 // one\n  , "max_concurrency": null\n}', '{\n  "a": 1 // one\n  }'),
]


@pytest.mark.parametrize(("entry", "left"), REMOVED, ids=[entry for entry, _ in REMOVED])
def test_a_removed_setting_takes_its_comma_or_its_line_along_and_nothing_else(entry, left):
    wrap = '{{ "queues": {{ "consumers": [{}] }} }}'
    mended, _ = settled(
        wrap.format(entry), "wrangler.jsonc", lambda text: lint_text(text, select=["max-concurrency-null"]).findings, unsafe=False
    )
    assert document_of(mended).tree.root.plain() == document_of(wrap.format(left)).tree.root.plain()
    assert not document_of(mended).faults
    if "//" not in entry and not entry.endswith(",}"):
        assert mended == wrap.format(left)


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        ('{"a": 1, "max_concurrency" /* k */: null, "b": 2}', '{"a": 1, /* k */ "b": 2}'),
        ('{"a": 1, "max_concurrency" /* k */: null}', '{"a": 1 /* k */}'),
        ('{"a": 1, "max_concurrency": // k\n null,}', '{"a": 1, // k\n}'),
    ],
)
def test_comments_inside_a_removed_setting_stay_and_its_comma_goes(entry, left):
    wrap = '{{ "queues": {{ "consumers": [{}] }} }}'

    def judge_it(text):
        return lint_text(text, select=["max-concurrency-null"]).findings

    assert settled(wrap.format(entry), "wrangler.jsonc", judge_it, unsafe=False)[0] == wrap.format(left)


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ('[[queues.consumers]]\nqueue = "a"\nmax_retries = 5 # five\n', '[[queues.consumers]]\nqueue = "a"\ndead_letter_queue = "a-dlq"\nmax_retries = 5 # five\n'),
        ('[[queues.consumers]]\n  queue = "a" # the a\n', '[[queues.consumers]]\n  queue = "a" # the a\n  dead_letter_queue = "a-dlq"\n'),
        ('queues.consumers = [{ queue = "a" }]\n', 'queues.consumers = [{ queue = "a", dead_letter_queue = "a-dlq" }]\n'),
        ('[[queues.consumers]]\r\nqueue = "a"', '[[queues.consumers]]\r\nqueue = "a"\r\ndead_letter_queue = "a-dlq"'),
    ],
)  # fmt: skip
def test_an_added_setting_is_laid_out_as_its_neighbour_in_toml(text, mended):
    def judge_it(text):
        return lint_text(text, "wrangler.toml", select=["consumer-without-dlq"]).findings

    assert settled(text, "wrangler.toml", judge_it)[0] == mended


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ('{ "queues": { "consumers": [{ "queue": "a" }] } }', '{ "queues": { "consumers": [{ "queue": "a", "dead_letter_queue": "a-dlq" }] } }'),
        (
            '{ "queues": { "consumers": [\n\t{\n\t\t"queue": "a", // the a\n\t\t"max_retries": 5\n\t}] } }',
            '{ "queues": { "consumers": [\n\t{\n\t\t"queue": "a",\n\t\t"dead_letter_queue": "a-dlq", // the a\n\t\t"max_retries": 5\n\t}] } }',
        ),
    ],
)
def test_an_added_setting_is_laid_out_as_its_neighbour_in_jsonc(text, mended):
    def judge_it(text):
        return lint_text(text, select=["consumer-without-dlq"]).findings

    assert settled(text, "wrangler.jsonc", judge_it)[0] == mended


# --- edits that meet


def finding_with(document, *edits, safe=True):
    [finding] = lint_text('{ "legacy_env": 1 }').findings
    made = tuple(Edit(document.place(start, end), text) for start, end, text in edits)
    return replace(finding, fix=Fix("x", made, safe))


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        ([(0, 2, "X")], [(2, 4, "Y")], "XYefgh"),
        ([(0, 3, "X")], [(2, 4, "Y")], "Xdefgh"),
        ([(1, 1, "X")], [(1, 1, "Y")], "aXbcdefgh"),
        ([(1, 3, "X")], [(1, 1, "Y")], "aXdefgh"),
        ([(0, 1, "X"), (6, 7, "Z")], [(6, 8, "Y")], "XbcdefZh"),
        ([(6, 8, "Y")], [(0, 1, "X"), (6, 7, "Z")], "abcdefY"),
        ([(0, 8, "X")], [(3, 4, "Y")], "X"),
    ],
)
def test_a_fix_is_applied_whole_or_waits_for_the_next_round(first, second, result):
    document = document_of("abcdefgh")
    done = apply(document, [finding_with(document, *first), finding_with(document, *second)], unsafe=False)
    assert done.text == result


def test_unsafe_fixes_wait_for_permission():
    document = document_of("abc")
    finding = finding_with(document, (0, 1, "X"), safe=False)
    assert apply(document, [finding], unsafe=False).findings == ()
    assert apply(document, [finding], unsafe=True).text == "Xbc"


def test_a_repaired_file_with_a_byte_order_mark_keeps_its_bytes():
    text = "\ufeff{ 'a': 1 }".encode()
    document = from_bytes("wrangler.jsonc", text)
    findings = [f for f in judge(document, PLAN).findings if f.name == "json5-syntax"]
    assert apply(document, findings, unsafe=False).text.encode() == '\ufeff{ "a": 1 }'.encode()


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4), st.text("XYZ", max_size=2)), max_size=6))
def test_rounds_with_any_edits_change_nothing_outside_of_them(edits):
    text = "abcdefghijkl"
    document = document_of(text)
    findings = [finding_with(document, (start, min(start + length, len(text)), new)) for start, length, new in edits]
    done = apply(document, findings, unsafe=False)
    kept = "".join(done.text.split("X"))
    for each in "YZ":
        kept = "".join(kept.split(each))
    removed = {place for f in done.findings for e in f.fix.edits for place in range(e.place.start, e.place.end)}
    assert kept == "".join(character for index, character in enumerate(text) if index not in removed)


# --- through the command


def test_fix_twice_equals_fix_once_on_disk(tmp_path):
    chance = random.Random("disk")
    for number in range(40):
        file = chance.choice(REAL)
        folder = tmp_path / f"a{number}"
        folder.mkdir()
        (folder / f"wrangler{file.suffix}").write_bytes(mutations(real_text(file), chance).encode("utf-8", "surrogatepass"))
    for option in ("--fix", "--unsafe-fixes"):
        first = run("check", option, "--format", "concise", cwd=tmp_path)
        assert first.returncode in {0, 1}, first.stderr
        once = {path: path.read_bytes() for path in tmp_path.rglob("wrangler.*")}
        second = run("check", option, "--format", "concise", cwd=tmp_path)
        assert {path: path.read_bytes() for path in tmp_path.rglob("wrangler.*")} == once
        assert second.stdout == first.stdout
        assert b"fixed" not in second.stderr
    assert not list(tmp_path.rglob(".cfq-lint-*"))


def test_files_of_one_project_are_repaired_together(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "wrangler.jsonc").write_text('{ "queues": { "consumers": [{ "queue": "jobs", "dead_letter_queue": "order-dlq" }] } }', encoding="utf-8")
    (tmp_path / "b" / "wrangler.toml").write_text('[[queues.consumers]]\nqueue = "orders-dlq"\ndead_letter_queue = "x"\n', encoding="utf-8")
    run("check", "--unsafe-fixes", cwd=tmp_path)
    assert '"dead_letter_queue": "orders-dlq"' in (tmp_path / "a" / "wrangler.jsonc").read_text(encoding="utf-8")


def time_of(consumers):
    text = '{"queues":{"consumers":[' + ",".join(f'{{"queue":"q{i}"}}' for i in range(consumers)) + "]}}"
    begun = time.process_time()
    found = lint_text(text).findings
    assert {each.code for each in found} == {"CFQ301"}
    assert len(found) == consumers
    return time.process_time() - begun


def test_a_file_of_one_long_line_takes_time_by_its_length():
    few, many = (min(time_of(consumers) for _ in range(2)) for consumers in (1_500, 15_000))
    assert many < 40 * few, "ten times as long; by its square it would be a hundred"
