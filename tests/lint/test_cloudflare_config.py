"""`cloudflare.config.ts`: every finding at its line, in the file's own words; what only running it would tell is not guessed."""

import json
import re
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfq_lint import lint_paths, lint_text
from cfq_lint.model.wrangler import Worker, read_worker
from tests.lint.support import FIXTURES, document_of

READERS = FIXTURES / "readers"
CONFIGS = sorted(READERS.rglob("cloudflare.config.ts"))
HEAD = 'import { bindings, defineConfig, triggers } from "cf/config";\n'


def told(report):
    return {(finding.line, finding.code) for finding in report.findings if finding.severity != "info"}


def config(triggers, before="", env="{}"):
    return f"{HEAD}{before}\nexport default defineConfig({{ worker: {{ name: 'w', triggers: {triggers}, env: {env} }} }});\n"


def consumers(text):
    worker = Worker(document_of(text, "cloudflare.config.ts"))
    return [{key: field.node.value for key, field in each.fields.items()} for each in worker.consumers()]


@pytest.mark.parametrize("file", CONFIGS, ids=lambda file: file.relative_to(READERS).parts[0])
def test_every_error_and_warning_is_at_its_line_and_nothing_else_is_said(file, tmp_path):
    wanted = {
        (number, code)
        for number, line in enumerate(file.read_text().splitlines(), 1)
        for code in (re.findall(r"CFQ\d{3}", line.split("// expect", 1)[1]) if "// expect" in line else ())
    }
    project = READERS / file.relative_to(READERS).parts[0]
    shutil.copytree(project, tmp_path / "project")  # what lies below `fixtures` is deployed by nobody
    report = lint_paths([str(tmp_path / "project" / file.relative_to(project))])
    assert told(report) == wanted
    assert not report.problems
    assert not report.crashed


def test_there_are_six_projects():
    assert len(CONFIGS) >= 6


def test_messages_speak_in_the_keys_of_the_file():
    report = lint_paths([str(READERS)])
    for finding in report.findings:
        if finding.path.endswith(".ts") and "no key 'max_retries'" not in finding.message:
            assert not re.search(r"max_batch|max_retries|retry_delay|dead_letter_queue|queues\.|\ue000|env\.", finding.message)


def test_what_is_unknown_is_counted_and_never_judged():
    report = lint_paths([str(READERS / "computed" / "cloudflare.config.ts")])
    assert report.unknown > 5
    assert lint_paths([str(READERS / "clean")]).unknown == 0


@pytest.mark.parametrize(
    ("before", "value", "meant"),
    [
        ("", "60 * 5", 300),
        ("const A = 0x10;", "A + 1", 17),
        ("const A = { b: { c: 7 } };", "A.b['c']", 7),
        ("const A = [1, 2];", "A[1]", 2),
        ("const { a = 4, b: c } = { b: 5 };", "a + c", 9),
        ("", "true ? 1 : 2", 1),
        ("", "null ?? 3", 3),
        ("", "(3 as number)!", 3),
        ("", "Math.random()", None),
        ("", "process.env.X ? 1 : 2", None),
        ("", "process.env.X ? 2 : 2", 2),
        ("let a = 1; a = 2;", "a", None),
        ("const a = b; const b = a;", "a", None),
        ("const [a, b] = [1, 2];", "b", None),
        ("const f = ([, b]: number[]) => b;", "f([1, 2])", None),
        ("const f = ([a, b]: number[]) => b;", "f([1, 2])", 2),
        ("const o = { x: 4, y: 5 };", "Object.values(o)[1]", 5),
        ("function f(n: number) { if (n > 1) { return n * 2; } return 0; }", "f(4)", 8),
    ],
)
def test_literals_are_followed_and_the_rest_is_unknown(before, value, meant):
    (entry,) = consumers(config(f"[triggers.queue({{ name: 'q', retryDelay: {value} }})]", before))
    assert entry == {"queue": "q", "retry_delay": meant}


def test_a_spread_that_is_unknown_may_bring_every_key_and_change_those_before_it():
    (entry,) = consumers(config("[triggers.queue({ name: 'q', maxRetries: 1000, ...other(), maxBatchSize: 7 })]"))
    assert entry["max_batch_size"] == 7
    assert {entry[key] for key in ("queue", "max_retries", "dead_letter_queue", "retry_delay")} == {None}


def test_what_an_unknown_condition_brings_is_unknown_and_not_absent():
    text = config("[triggers.queue({ name: 'q', ...(process.env.X ? { deadLetterQueue: 'd' } : {}) })]")
    assert "CFQ301" not in {finding.code for finding in lint_text(text, "cloudflare.config.ts").findings}


def test_a_list_that_is_pushed_to_is_unknown():
    text = config("list", "const list = [];\nlist.push(triggers.queue({ name: 'q' }));")
    worker = Worker(document_of(text, "cloudflare.config.ts"))
    assert not worker.top.list_field("consumers").items
    assert worker.top.list_field("consumers").kind == "broken"


def test_consumers_made_of_the_entries_of_an_object_are_read():
    made = "Object.entries(all).map(([name, options]) => triggers.queue({ name, ...options }))"
    text = config(f"[...{made}]", "const all = { a: { maxRetries: 101 }, b: { maxRetries: 2 } };")
    assert consumers(text) == [{"queue": "a", "max_retries": 101}, {"queue": "b", "max_retries": 2}]


def test_modes_are_environments():
    worker = read_worker(str(READERS / "older_form"))
    assert [(each.name, each.script) for each in worker.environments] == [
        (None, "billing-local"),
        ("production", "billing"),
        ("staging", "billing-staging"),
    ]
    (finding,) = [each for each in lint_paths([str(READERS / "older_form")], env="staging").findings if each.severity == "error"]
    assert (finding.code, finding.environment) == ("CFQ302", "staging")


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("mode === 'staging' ? 'w-staging' : 'w'", [("staging", "mode 'staging' consumes 'q', which any other mode consumes already")]),
        ("mode === 'staging' ? 'w' : 'w'", []),  # one Worker
        ("mode === 'staging' ? process.env.W : 'w'", []),
        ("mode === 'production' ? 'w' : 'w-dev'", []),
        ("mode === 'development' ? 'w-a' : 'w'", []),
    ],
)
def test_two_modes_that_are_deployed_as_two_workers_cannot_consume_one_queue(name, at):
    text = f"export default ({{ mode }}) => ({{ worker: {{ name: {name}, triggers: [{{ type: 'queue', name: 'q', deadLetterQueue: 'd' }}] }} }});"
    report = lint_text(text, "cloudflare.config.ts")
    assert [(each.environment, each.message.partition(";")[0]) for each in report.findings if each.code == "CFQ402"] == at


def test_a_mode_inherits_nothing():
    text = "export default ({ mode }) => mode === 'b' ? { worker: { name: x() } } : { worker: { name: 'w', compatibilityDate: '2026-01-01' } };"
    _, mode = Worker(document_of(text, "cloudflare.config.ts")).every_environment
    assert (mode.script, mode.inherited("compatibility_date")) == ("", None)


def test_only_a_number_that_stands_there_is_fixed():
    text = config("[triggers.queue({ name: 'q', deadLetterQueue: 'd', maxRetries: 101, maxBatchSize: N })]", "const N = 101;")
    fixes = {finding.code: finding.fix for finding in lint_text(text, "cloudflare.config.ts").findings}
    assert fixes["CFQ203"].edits[0].text == "100"
    assert fixes["CFQ201"] is None
    assert lint_text(config("[triggers.queue({ name: 'q' })]"), "cloudflare.config.ts").findings[0].fix is None


def test_positions_count_code_points():
    text = "// 🎉 é 你\n" + config("[triggers.queue({ name: 'q', deadLetterQueue: 'd',\n /* 🎉 */ maxRetries: 101 })]")
    (finding,) = [each for each in lint_text(text, "cloudflare.config.ts").findings if each.code == "CFQ203"]
    assert (finding.line, finding.column, finding.end_column) == (5, 22, 25)


def test_an_ignore_is_a_comment_as_in_other_files():
    text = config("[\n// cfq-lint: ignore[max-retries-range] - on purpose\ntriggers.queue({ name: 'q', deadLetterQueue: 'd', maxRetries: 101 })]")
    report = lint_text(text, "cloudflare.config.ts")
    assert "CFQ203" not in {finding.code for finding in report.findings}
    assert [finding.code for finding in report.suppressed] == ["CFQ203"]


@pytest.mark.parametrize("text", ["", "const a = 1;", "export default defineConfig({ worker: {", "export default {{{", "}"])
def test_a_file_that_is_no_configuration_is_said_to_be_none(text):
    report = lint_text(text, "cloudflare.config.ts")
    assert [finding.code for finding in report.findings] == ["CFQ001"]
    assert report.unparsed


@pytest.mark.parametrize("text", ["(" * 30_000, "export default " + "[" * 5_000, "export default " + "!" * 5_000 + "1", "\ud800", "\0"])
def test_odd_texts_do_not_crash(text):
    assert not lint_text(text, "cloudflare.config.ts").crashed


def test_it_is_found_in_folders_and_stands_apart_beside_a_wrangler_file(tmp_path):
    text = config("[triggers.queue({ name: 'q', deadLetterQueue: 'd' })]").replace("'w'", "'other'")
    (tmp_path / "cloudflare.config.ts").write_text(text)
    assert [*lint_paths([str(tmp_path)]).files] == [str(tmp_path / "cloudflare.config.ts")]
    queues = {"consumers": [{"queue": "q", "dead_letter_queue": "d"}]}
    (tmp_path / "wrangler.json").write_text(json.dumps({"name": "w", "queues": queues}))
    report = lint_paths([str(tmp_path)])
    assert len(report.files) == 2
    assert "CFQ403" not in {finding.code for finding in report.findings}


WORDS = st.sampled_from([
    *"{}[]()`'\".,:;?!=><+-*/&|\n ", "...", "=>", "triggers", ".queue(", "name", "export default ", "defineConfig(", "worker", "mode",
    "const ", "a", "if ", "switch ", "case ", "return ", "function ", "1", "null", "é", "import ", "from ", "${", "async ", "as const",
])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(), st.lists(WORDS, max_size=60).map("".join)))
def test_no_text_crashes_the_reader(text):
    report = lint_text(text, "cloudflare.config.ts")
    assert not report.crashed
    for finding in report.findings:
        assert 1 <= finding.line <= text.count("\n") + text.count("\r") + 1


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2000), st.text(max_size=3))
def test_no_change_of_a_real_one_crashes_it(at, new):
    text = (READERS / "helpers" / "cloudflare.config.ts").read_text()
    assert not lint_text(text[:at] + new + text[at + len(new) + 1 :], "cloudflare.config.ts").crashed


def test_the_tree_is_what_the_real_package_converts_to():
    """`converted.json` is what `convertToWranglerConfig` of `@cloudflare/config` 0.4.0 gave on Node 22 for each mode."""
    wanted = json.loads((READERS / "older_form" / "converted.json").read_text())
    worker = read_worker(str(READERS / "older_form"))
    root = worker.document.tree.root.plain()
    assert {mode: root["env"][mode] for mode in wanted} == wanted
