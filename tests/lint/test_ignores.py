"""Inline ignores: where they hold, what they cover, and what is said of those that are of no use."""

from __future__ import annotations

import pytest

from cfq_lint import lint_text

from .support import document_of, run, settled

RULE = "max-batch-size-range"


def lint(text, name="wrangler.jsonc", **options):
    report = lint_text(text, name, select=["CFQ2", "CFQ0", "CFQ1", "dlq-self"], **options)
    return (
        [(f.name, f.line) for f in report.findings if f.name != "unused-ignore"],
        [(f.name, f.line) for f in report.suppressed],
        [(f.line, f.message) for f in report.findings if f.name == "unused-ignore"],
    )


def jsonc(*, above="", block="", line="", top="", rule_line='"max_batch_size": 500'):
    return f"""{top}
{{
  "queues": {{
    {block}
    "consumers": [
      {{
        "queue": "a",
        {above}
        {rule_line}, {line}
        "max_batch_timeout": 90
      }}
    ]
  }}
}}
"""


TOML = """{top}
{block}
[[queues.consumers]]
queue = "a"
{above}
max_batch_size = 500 {line}
max_batch_timeout = 90

[[queues.consumers]]
queue = "b"
max_batch_size = 500
"""


def test_without_ignores_both_findings_are_there():
    left, suppressed, unused = lint(jsonc())
    assert [name for name, _ in left] == [RULE, "max-batch-timeout-range"]
    assert not suppressed
    assert not unused


@pytest.mark.parametrize("key", [RULE, "CFQ201"])
@pytest.mark.parametrize("comment", ["// cfq-lint: ignore[{}] why", "/* cfq-lint: ignore[{}] */", "//cfq-lint:ignore[ {} , CFQ999 ]"])
@pytest.mark.parametrize("where", ["above", "line"])
def test_a_comment_on_the_line_or_above_it_accepts_that_finding_only(key, comment, where):
    left, suppressed, _ = lint(jsonc(**{where: comment.format(key)}))
    assert [name for name, _ in left] == ["max-batch-timeout-range"]
    assert [name for name, _ in suppressed] == [RULE]


def test_a_comment_above_a_block_accepts_within_the_whole_block():
    left, suppressed, unused = lint(jsonc(block=f"// cfq-lint: ignore[{RULE}, max-batch-timeout-range] imported"))
    assert not left
    assert len(suppressed) == 2
    assert not unused


def test_a_comment_above_an_entry_covers_that_entry_and_no_other():
    text = """{ "queues": { "consumers": [
      // cfq-lint: ignore[max-batch-size-range] the first is accepted
      { "queue": "a", "max_batch_size": 500 },
      { "queue": "b", "max_batch_size": 500 }
    ] } }"""
    left, suppressed, _ = lint(text)
    assert left == [(RULE, 4)]
    assert suppressed == [(RULE, 3)]


def test_comments_above_each_other_all_hold_for_what_comes_next():
    text = jsonc(above=f"// cfq-lint: ignore[{RULE}] one\n        // cfq-lint: ignore[wrong-type] two\n        // and prose")
    left, suppressed, unused = lint(text)
    assert suppressed == [(RULE, 11)]
    assert [name for name, _ in left] == ["max-batch-timeout-range"]
    assert len(unused) == 1


def test_a_comment_below_a_value_covers_nothing_above_it():
    left, suppressed, unused = lint('{ "queues": { "consumers": [{ "queue": "a", "max_batch_size": 500\n// cfq-lint: ignore[CFQ201]\n}] } }')
    assert len(left) == 1
    assert not suppressed
    assert len(unused) == 1


@pytest.mark.parametrize("where", ["above", "line", "block", "top"])
def test_toml_comments_hold_for_line_above_table_and_file(where):
    slots = {"above": "", "line": "", "block": "", "top": ""}
    file = "-file" if where == "top" else ""
    slots[where] = f"# cfq-lint: ignore{file}[{RULE}] why"
    left, suppressed, unused = lint(TOML.format(**slots), "wrangler.toml")
    both = 1 if where != "top" else 0
    assert [name for name, _ in left].count(RULE) == both
    assert [name for name, _ in suppressed].count(RULE) == 2 - both
    assert not unused


def test_an_ignore_above_a_toml_header_covers_its_table_and_not_the_next():
    left, suppressed, _ = lint(TOML.format(above="", line="", top="", block="# cfq-lint: ignore[CFQ201, CFQ202] old"), "wrangler.toml")
    assert left == [(RULE, 11)]
    assert [line for _, line in suppressed] == [6, 7]


def test_an_ignore_above_a_plain_toml_table_covers_what_is_below_it():
    text = "# cfq-lint: ignore[CFQ102] we know\n[queues.consumers]\nqueue = 'a'\n"
    left, suppressed, _ = lint(text, "wrangler.toml")
    assert not [name for name, _ in left if name == "queues-list-not-array"]
    assert [name for name, _ in suppressed] == ["queues-list-not-array"]


def test_ignore_file_holds_for_the_whole_file():
    left, suppressed, unused = lint(jsonc(top=f"// cfq-lint: ignore-file[{RULE}, CFQ202] generated"))
    assert not left
    assert len(suppressed) == 2
    assert not unused


def test_ignore_file_behind_the_first_key_is_refused_and_suppresses_nothing_silently():
    _, _, unused = lint(jsonc(above=f"// cfq-lint: ignore-file[{RULE}]"))
    assert len(unused) == 1
    assert "before the first key" in unused[0][1]


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("// cfq-lint: ignore[wrong-type] was wrong once", "suppresses nothing: wrong-type"),
        ("// cfq-lint: ignore[no-such-rule]", "no-such-rule (no such rule)"),
        ("// cfq-lint: ignore[CFQ999]", "CFQ999 (no such rule)"),
        ("// cfq-lint: ignore", "names no rule"),
        ("// cfq-lint: ignore[]", "names no rule"),
        ("// cfq-lint: ignore[ , ]", "names no rule; write ignore[rule-name]"),
        ("// cfq-lint: ignore-file", "ignore-file"),
    ],
)
def test_an_ignore_of_no_use_is_said_at_the_comment(comment, said):
    text = jsonc(above=comment, rule_line='"max_batch_size": 50').replace("90", "9")
    left, suppressed, unused = lint(text)
    assert not left
    assert not suppressed
    [(line, message)] = unused
    assert line == 8
    assert said in message


def test_an_ignore_file_without_names_is_told_how_to_write_it():
    _, _, [(line, message)] = lint('// cfq-lint: ignore-file\n{ "name": "a" }')
    assert line == 1
    assert "write ignore-file[rule-name]" in message


def test_names_are_told_apart_and_only_the_idle_ones_are_said():
    text = jsonc(above=f"// cfq-lint: ignore[wrong-type, {RULE}, nonsense] why")
    _, suppressed, unused = lint(text)
    assert len(suppressed) == 1
    [(_, message)] = unused
    assert message.endswith("wrong-type, nonsense (no such rule)")


def judged(name):
    return lambda text: lint_text(text, name).findings


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ('{\n  // cfq-lint: ignore[wrong-type] old\n  "name": "a"\n}\n', '{\n  "name": "a"\n}\n'),
        ('{\n  "name": "a" // cfq-lint: ignore[wrong-type]\n}\n', '{\n  "name": "a"\n}\n'),
        ('{ /* cfq-lint: ignore[wrong-type] */ "name": "a" }', '{ "name": "a" }'),
        (
            '{ "legacy_env": 1 // cfq-lint: ignore[wrong-type, legacy-env, wrong-encoding] why\n}',
            '{ "legacy_env": 1 // cfq-lint: ignore[legacy-env] why\n}',
        ),
        ('{\r\n  // cfq-lint: ignore[wrong-type]\r\n  "name": "a"\r\n}', '{\r\n  "name": "a"\r\n}'),
    ],
)
def test_the_fix_removes_what_is_idle_and_nothing_else(text, mended):
    assert settled(text, "wrangler.jsonc", judged("wrangler.jsonc"), unsafe=False)[0] == mended


def test_the_fix_of_a_toml_comment():
    text = 'name = "a" # cfq-lint: ignore[wrong-type]\n# cfq-lint: ignore[wrong-encoding]\nmain = "b"\n'
    assert settled(text, "wrangler.toml", judged("wrangler.toml"), unsafe=False)[0] == 'name = "a"\nmain = "b"\n'


@pytest.mark.parametrize(
    ("names", "mended"),
    [
        ("legacy_env", "legacy-env"),
        ("Legacy-Env", "legacy-env"),
        ("legacy-enf", "legacy-env"),
        ("cfq605", "CFQ605"),
        ("legacyenv, wrong-type", "legacy-env"),
        ("legacy-env, LEGACY_ENV", "legacy-env"),
        ("no-such-rule-at-all", "no-such-rule-at-all"),
        ("CFQ999", "CFQ999"),
        ("no-such-rule-at-all, wrong-type", "no-such-rule-at-all"),
    ],
)
def test_the_fix_writes_a_misspelt_name_right_and_keeps_what_nobody_knows(names, mended):
    text = '{{ "legacy_env": true // cfq-lint: ignore[{}] we know\n}}'
    assert settled(text.format(names), "wrangler.jsonc", judged("wrangler.jsonc"), unsafe=False)[0] == text.format(mended)


@pytest.mark.parametrize("comment", ["ignore why", "ignore[] why", "ignore-file"])
def test_a_comment_that_cannot_hold_is_told_and_never_removed(comment):
    text = f'{{ "legacy_env": true // cfq-lint: {comment}\n}}'
    found = [f for f in lint_text(text).findings if f.name == "unused-ignore"]
    assert [f.fix for f in found] == [None]


def test_a_finding_is_not_fixed_that_a_misspelt_ignore_was_meant_to_accept(tmp_path):
    text = '{ "queues": { "consumers": [\n  // cfq-lint: ignore[wrong_type] the API takes it\n  { "queue": "a", "max_retries": "3", "dead_letter_queue": "b" }\n] } }'
    (tmp_path / "wrangler.jsonc").write_text(text, encoding="utf-8")
    done = run("check", "--fix", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "wrangler.jsonc").read_text(encoding="utf-8") == text.replace("wrong_type", "wrong-type")


ACROSS = ["consumer-without-dlq", "dlq-cycle", "dlq-no-consumer", "queue-consumed-by-two-workers", "queue-without-consumer", "queue-name-near-miss"]
FACTS_ALONE = ["queue-not-provisioned", "dlq-jurisdiction-mismatch", "retention-exceeds-plan"]
CODE_ALONE = ["queue-handler-missing"]
ELSEWHERE = ["queue-missing", "consumer-removed-still-attached"]


def idle(folder, *paths, **options):
    from cfq_lint import lint_paths

    return [f.message.rpartition(": ")[2] for f in lint_paths([str(folder / path) for path in paths], **options).findings if f.name == "unused-ignore"]


@pytest.mark.parametrize("name", ACROSS + FACTS_ALONE + CODE_ALONE + ELSEWHERE)
def test_an_ignore_of_a_rule_that_saw_too_little_is_not_called_idle(name, tmp_path):
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "apps" / "api"
    folder.mkdir(parents=True)
    (folder / "wrangler.jsonc").write_text(f'// cfq-lint: ignore-file[{name}]\n{{ "name": "a", "main": "a.js" }}', encoding="utf-8")
    assert not idle(tmp_path, "apps/api/wrangler.jsonc")
    assert not idle(tmp_path, "apps")
    assert idle(tmp_path, ".") == ([name] if name in ACROSS else [])
    (tmp_path / "wrangler.jsonc").write_text("{", encoding="utf-8")
    assert not idle(tmp_path, "."), "a file that does not parse may hold anything"


def test_without_a_repository_the_folder_that_is_linted_is_the_project(tmp_path):
    (tmp_path / "wrangler.jsonc").write_text('{ "name": "a" } // cfq-lint: ignore[dlq-cycle]', encoding="utf-8")
    assert idle(tmp_path, ".") == ["dlq-cycle"]
    assert not idle(tmp_path, "wrangler.jsonc")


def test_an_ignore_of_a_rule_about_facts_is_idle_where_the_facts_are_there(tmp_path):
    (tmp_path / "wrangler.jsonc").write_text('{ "name": "a" } // cfq-lint: ignore[queue-not-provisioned]', encoding="utf-8")
    assert not idle(tmp_path, ".", known_queues=["a"])
    (tmp_path / "cfq-lint.toml").write_text('known-queues = ["a"]\n[queues.a]\ndelivery_delay = 0\n', encoding="utf-8")
    assert idle(tmp_path, ".") == ["queue-not-provisioned"]


def test_an_ignore_of_a_rule_about_code_is_idle_where_the_code_was_read(tmp_path):
    text = '{ "main": "a.js", "queues": { "consumers": [{ "queue": "a", "dead_letter_queue": "b" }] } } // cfq-lint: ignore[queue-handler-missing]'
    (tmp_path / "wrangler.jsonc").write_text(text, encoding="utf-8")
    assert not idle(tmp_path, ".")
    (tmp_path / "a.js").write_text("export default { async queue(batch) {} };", encoding="utf-8")
    assert idle(tmp_path, ".") == ["queue-handler-missing"]


def test_an_ignore_of_a_rule_that_did_not_run_is_not_called_idle():
    text = jsonc(above="// cfq-lint: ignore[wrong-type] why", rule_line='"max_batch_size": 50')
    assert not [f for f in lint_text(text, ignore=["wrong-type"]).findings if f.name == "unused-ignore"]
    assert not [f for f in lint_text(text, select=["CFQ009", "CFQ201"]).findings if f.name == "unused-ignore"]
    assert not [f for f in lint_text(text, env="production").findings if f.name == "unused-ignore"]


def test_an_ignore_in_a_broken_file_is_not_called_idle():
    report = lint_text("{ // cfq-lint: ignore[wrong-type]\n @ }")
    assert "unused-ignore" not in {f.name for f in report.findings}


def test_a_parse_error_cannot_be_ignored_by_accident_but_by_name():
    text = "{ // cfq-lint: ignore[parse-error] known\n  @ }"
    report = lint_text(text)
    assert {f.name for f in [*report.findings, *report.suppressed]} == {"parse-error"}


def test_unused_ignore_can_itself_be_ignored():
    text = '// cfq-lint: ignore-file[unused-ignore]\n{ "name": "a" // cfq-lint: ignore[wrong-type]\n}'
    assert "wrong-type" not in " ".join(f.message for f in lint_text(text).findings) or lint_text(text).findings


def test_a_string_that_looks_like_an_ignore_is_none():
    text = '{ "legacy_env": "// cfq-lint: ignore[legacy-env]" }'
    report = lint_text(text)
    assert [f.name for f in report.findings] == ["legacy-env"]
    assert not report.suppressed


def test_ignores_of_findings_about_the_project_hold_too():
    text = '{ "queues": { "consumers": [\n  // cfq-lint: ignore[consumer-without-dlq] best effort\n  { "queue": "a" }\n] } }'
    report = lint_text(text)
    assert [f.name for f in report.suppressed] == ["consumer-without-dlq"]
    assert not [f for f in report.findings if f.name in {"consumer-without-dlq", "unused-ignore"}]


def test_the_summary_counts_what_was_suppressed(tmp_path):
    text = '{ "legacy_env": 1 // cfq-lint: ignore[legacy-env] old\n}'
    (tmp_path / "wrangler.jsonc").write_text(text, encoding="utf-8")
    done = run("check", "wrangler.jsonc", cwd=tmp_path)
    assert done.returncode == 0
    assert b"1 suppressed" in done.stdout


def test_every_ignore_of_a_document_is_found_in_order():
    from cfq_lint.run.ignores import ignores_of

    text = "// cfq-lint: ignore-file[a]\n{ // cfq-lint: ignore[b]\n /* cfq-lint: ignore[c, d] */ }"
    assert [ignore.names for ignore in ignores_of(document_of(text))] == [("a",), ("b",), ("c", "d")]
