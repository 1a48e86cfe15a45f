"""The published schemas: legal, fresh, and of one mind with the rules."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cfq_lint import lint_text
from cfq_lint.model.finding import Severity
from cfq_lint.report.json import render
from cfq_lint.report.schemas import DIALECT, SCHEMAS, as_text

from .strategies import consumers, producers, queues
from .support import REAL, ROOT, document_of, examples, real_text, run

QUEUES = json.loads(as_text("wrangler-queues"))
VALIDATOR = jsonschema.Draft202012Validator(QUEUES)
REPORT = jsonschema.Draft202012Validator(json.loads(as_text("report")))


@pytest.mark.parametrize("name", [name for name in SCHEMAS if name != "limits"])
def test_every_schema_is_legal_2020_12_and_described(name):
    schema = json.loads(as_text(name))
    assert schema["$schema"] == DIALECT
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"]


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_published_file_and_the_command_say_the_same(name, tmp_path):
    text = (ROOT / "schemas" / SCHEMAS[name][0]).read_text(encoding="utf-8")
    done = run("schema", name, cwd=tmp_path)
    assert done.stdout.decode() == text == as_text(name)


def test_a_schema_that_does_not_exist_is_exit_2_with_the_names(tmp_path):
    done = run("schema", "wrangler", cwd=tmp_path)
    assert done.returncode == 2
    assert b"wrangler-queues" in done.stderr


# --- the queues block

SHAPE = {f"CFQ{number}" for number in (101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 113, 114, 116)}
RANGES = {f"CFQ{number}" for number in (201, 202, 203, 204, 205, 206, 207, 209)}
MIRRORED = SHAPE | RANGES | {"CFQ601"}
"""The rules that speak of what a schema of one block can see."""


def rules_object(value):
    """Whether a rule that the schema mirrors objects to a queues block."""
    report = lint_text(json.dumps({"queues": value}), select=sorted(MIRRORED))
    assert not report.unparsed
    return sorted({f"{f.code} {f.message}" for f in report.findings})


def entries_of(value):
    """The producers that are objects."""
    listed = value.get("producers") if isinstance(value, dict) else None
    return [entry for entry in (listed if isinstance(listed, list) else []) if isinstance(entry, dict)]


def same_verdict(value):
    text = json.dumps(value)
    # To Python's `$` a line end at the end is nothing, to JavaScript's it is a character.
    assume('\\n"' not in text)
    # A placeholder that is a legal name is a warning, which no schema has.
    assume("your-" not in text)
    # Which characters beyond ASCII make an identifier is told by no pattern that all dialects read.
    assume(not any("\\u" in json.dumps(entry.get("binding")) for entry in entries_of(value)))
    said, errors = rules_object(value), [error.message for error in VALIDATOR.iter_errors({"queues": value})]
    assert bool(said) == bool(errors), (said, errors)


@settings(max_examples=400)
@given(consumers)
@example({"queue": "a", "max_retries": 100.0})
@example({"queue": "a" * 63})
@example({"queue": "a", "max_concurrency": None})
@example({"queue": "a", "dead_letter_queue": ""})
def test_schema_and_rules_agree_on_consumers(entry):
    same_verdict({"consumers": [entry]})


@settings(max_examples=300)
@given(producers)
@example({"binding": "$"})
@example({"binding": "_", "queue": "a", "remote": None})
def test_schema_and_rules_agree_on_producers(entry):
    same_verdict({"producers": [entry]})


@settings(max_examples=300)
@given(queues)
def test_schema_and_rules_agree_on_queues_blocks(value):
    same_verdict(value)


NUMBERS = st.integers(-5, 110) | st.sampled_from([249, 250, 251, 86_399, 86_400, 86_401, 43_199_999, 43_200_000, 43_200_001, 0.5, 60.0])


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from(["max_batch_size", "max_batch_timeout", "max_retries", "max_concurrency", "retry_delay", "visibility_timeout_ms"]), NUMBERS))  # fmt: skip
def test_schema_and_rules_agree_at_every_edge(numbers):
    same_verdict({"consumers": [{"queue": "a", **numbers}]})


def test_the_schema_takes_a_block_alone_and_a_whole_file_with_environments():
    wrong = {"consumers": [{"queue": "a", "max_retries": 1000}]}
    right = {"consumers": [{"queue": "a", "max_retries": 100}]}
    for wrap in (lambda q: q, lambda q: {"queues": q}, lambda q: {"name": "x", "env": {"dev": {"queues": q}}}, lambda q: {"previews": {"queues": q}}):
        assert VALIDATOR.is_valid(wrap(right))
        assert not VALIDATOR.is_valid(wrap(wrong))


@pytest.mark.parametrize("file", REAL, ids=[file.name for file in REAL])
def test_real_configurations_have_the_same_verdict(file):
    document = document_of(real_text(file), file.name)
    if document.faults:
        return
    plain = json.loads(json.dumps(document.tree.root.plain(), default=str))
    report = lint_text(real_text(file), file.name, select=sorted(MIRRORED))
    assert bool(report.findings) == (not VALIDATOR.is_valid({"name": "x", **plain}))


# --- reports and settings


def test_real_reports_are_valid():
    for file in REAL:
        REPORT.validate(json.loads(render(lint_text(real_text(file), file.name, select=["all"]))))


def test_reports_on_every_bad_example_are_valid():
    from cfq_lint.rules.registry import every_rule

    for rule in every_rule():
        for shown in examples(rule, "Bad"):
            report = lint_text(shown.text, shown.name, select=["all"], plan="free", known_queues=["x"])
            REPORT.validate(json.loads(render(report)))


def test_a_report_with_problems_and_a_crash_is_valid(tmp_path, change_rule):
    from cfq_lint import lint_paths

    change_rule("legacy-env", check=lambda *_: 1 / 0)
    (tmp_path / "wrangler.jsonc").write_text('{ "legacy_env": 1 }', encoding="utf-8")
    report = lint_paths([str(tmp_path), str(tmp_path / "gone")])
    assert report.crashed
    assert report.problems
    REPORT.validate(json.loads(render(report)))


def test_the_report_s_schema_refuses_what_is_no_report():
    report = json.loads(render(lint_text('{ "legacy_env": 1 }')))
    for spoil in (lambda r: r.pop("summary"), lambda r: r["findings"][0].update(line=0), lambda r: r["findings"][0].update(severity="fatal"),
                  lambda r: r.update(version=2), lambda r: r["findings"][0].pop("fix")):  # fmt: skip
        spoiled = json.loads(json.dumps(report))
        spoil(spoiled)
        assert not REPORT.is_valid(spoiled)


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ({}, True), ({"plan": "free", "fail-on": "info", "ignore": ["x"]}, True), ({"plan": "gold"}, False), ({"fail_on": "info"}, False),
        ({"queues": {"a": {"jurisdiction": "eu", "message_retention_period": 60}}}, True), ({"queues": {"a": {"retention": 5}}}, False),
    ],
)  # fmt: skip
def test_the_schema_of_settings_has_the_verdict_of_the_settings(value, valid):
    from pydantic import ValidationError

    from cfq_lint.run.settings import Settings

    assert jsonschema.Draft202012Validator(json.loads(as_text("settings"))).is_valid(value) == valid
    try:
        Settings.model_validate(value)
    except ValidationError:
        assert not valid
    else:
        assert valid


def test_severities_of_the_schema_are_those_of_findings():
    schema = json.loads(as_text("report"))
    assert schema["properties"]["findings"]["items"]["properties"]["severity"]["enum"] == [each.value for each in Severity]
