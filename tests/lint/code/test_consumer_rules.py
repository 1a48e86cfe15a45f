"""The rules about a consumer's code: their pages, their pairs, and how their findings reach people."""

from __future__ import annotations

import json
import re

import pytest

from cfq_lint import lint_paths
from cfq_lint.model.finding import Severity
from cfq_lint.rules.registry import every_rule
from cfq_lint.rules.rule import SOURCE_CODE
from tests.lint.support import ROOT, run, sections

RULES = [rule for rule in every_rule() if rule.visit == SOURCE_CODE]
CONFIG = {
    "name": "shop",
    "compatibility_date": "2026-01-15",
    "queues": {
        "producers": [{"binding": "MAILS", "queue": "mails"}],
        "consumers": [{"queue": "orders", "max_retries": 5, "dead_letter_queue": "orders-dlq"}],
    },
}
FENCE = re.compile(r"```(jsonc|ts|py)\n(.*?)```", re.DOTALL)


def shown(rule, heading):
    """The sources in a section of a page, each with the configuration that stands above it."""
    config, found = None, []
    for language, text in FENCE.findall(dict(sections(rule.page))[heading]):
        if language == "jsonc":
            config = json.loads(text)
        else:
            found.append((language, text, config))
    return found


def findings(folder, language, text, config=None, name="index"):
    """The findings of family 82 in one source."""
    folder.mkdir(parents=True, exist_ok=True)
    main = f"src/{name}.{language}"
    (folder / "src").mkdir(exist_ok=True)
    (folder / main).write_text(text, encoding="utf-8")
    flags = {"compatibility_flags": ["python_workers"]} if language == "py" else {}
    (folder / "wrangler.json").write_text(json.dumps({**CONFIG, **(config or {}), **flags, "main": main}), encoding="utf-8")
    report = lint_paths([folder])
    assert not report.crashed, report.findings
    return [each for each in report.findings if each.code.startswith(("CFQ82", "CFQ83"))]


by_name = pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])


def test_what_two_configurations_of_a_worker_come_to_is_said_once(tmp_path):
    text = "export default { async queue(batch) { for (const message of batch.messages) message.retry(60); } };"
    assert [each.code for each in findings(tmp_path, "ts", text)] == ["CFQ828"]
    (tmp_path / "wrangler.second.json").write_text((tmp_path / "wrangler.json").read_text())
    assert [each.code for each in lint_paths([tmp_path]).findings if each.severity is Severity.ERROR] == ["CFQ828"]


def test_what_stands_in_another_file_is_named_with_it(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "work.ts").write_text("export async function work(body) { await fetch('https://a.example', { method: 'POST', body: body.id }); }\n")
    early = "for (const m of batch.messages) { m.ack(); await work(m.body); }"
    [found] = findings(tmp_path, "ts", f"import {{ work }} from './work';\nexport default {{ async queue(batch) {{ {early} }} }};")
    assert (found.code, "src/work.ts:1)" in found.message, found.related[0].place.line) == ("CFQ820", True, 1)


def test_there_are_twenty():
    assert [rule.code for rule in RULES] == [f"CFQ{number}" for number in range(820, 840)]


@by_name
def test_the_bad_examples_of_a_page_fire_and_the_good_are_silent(rule, tmp_path):
    bad, good = shown(rule, "Bad"), shown(rule, "Good")
    assert bad
    assert good
    for number, (language, text, config) in enumerate(bad):
        found = findings(tmp_path / f"bad{number}", language, text, config)
        assert {each.name for each in found if each.severity is not Severity.INFO} | {rule.name} == {rule.name} or rule.severity is Severity.INFO
        mine = [each for each in found if each.name == rule.name]
        assert mine, text
        for each in mine:
            assert each.path.endswith(f"src/index.{language}")
            assert not each.message.endswith((".", "!"))
            assert 20 < len(each.message) < 300
            assert each.place.excerpt == text.splitlines()[each.line - 1]
            assert each.end_column > each.column
    for number, (language, text, config) in enumerate(good):
        assert not findings(tmp_path / f"good{number}", language, text, config), text


@pytest.mark.parametrize(
    ("rule", "handler"),
    [
        ("unguarded-work-in-catch", "try { await store(env, m.body); m.ack(); } catch (e) {\nawait note(env, m.body);\nm.retry({ delaySeconds: 60 }); }"),
        ("batch-fails-together", "\nawait note(env, m.body);\n"),
    ],
)
def test_what_is_shown_is_the_call_in_the_handler(rule, handler, tmp_path):
    helpers = "async function store(env, job) { await env.KV.put(job.id, '1'); }\nasync function note(env, job) { await store(env, { id: `n/${job.id}` }); }\n"
    found = findings(tmp_path, "ts", f"{helpers}export default {{ async queue(batch, env) {{ for (const m of batch.messages) {{ {handler} }} }} }};\n")
    assert [(each.name, each.place.excerpt) for each in found] == [(rule, "await note(env, m.body);")]


NUMBER = """export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.KV.put(message.body.id, "done");
        message.ack();
      } catch {
        message.retry(60);%s
      }
    }
  },
};
"""


def laid_out(folder, text, name="index.ts"):
    (folder / name).write_bytes(text.encode())
    (folder / "wrangler.json").write_text(json.dumps({**CONFIG, "main": name}), encoding="utf-8")


def cli(folder, *arguments):
    done = run("check", *map(str, arguments), ".", cwd=folder)
    return done.stdout.decode(), done.stderr.decode(), done.returncode


def names(folder):
    return [each.name for each in lint_paths([folder]).findings if each.code.startswith(("CFQ82", "CFQ83"))]


IGNORES = {
    "behind": NUMBER % " // cfq-lint: ignore[retry-argument-wrong] the SDK takes it",
    "above": NUMBER.replace("        message.retry", "        // cfq-lint: ignore[CFQ828] the SDK takes it\n        message.retry") % "",
    "above the block": NUMBER.replace("    for (", "    // cfq-lint: ignore[retry-argument-wrong] for now\n    for (") % "",
    "of the file": "// cfq-lint: ignore-file[retry-argument-wrong] for now\n" + NUMBER % "",
}


@pytest.mark.parametrize("text", IGNORES.values(), ids=IGNORES)
def test_a_finding_in_a_source_is_ignored_where_it_stands(text, tmp_path):
    laid_out(tmp_path, NUMBER % "")
    assert names(tmp_path) == ["retry-argument-wrong"]
    laid_out(tmp_path, text)
    report = lint_paths([tmp_path])
    assert not [each for each in report.findings if each.code == "CFQ828" or each.name == "unused-ignore"]
    assert [each.code for each in report.suppressed] == ["CFQ828"]


def test_an_ignore_of_no_use_in_a_source_is_reported_and_removed(tmp_path):
    text = NUMBER.replace("(60)", "({ delaySeconds: 60 })") % " // cfq-lint: ignore[CFQ828] the SDK takes it"
    laid_out(tmp_path, text)
    assert [each.name for each in lint_paths([tmp_path]).findings if each.path.endswith(".ts")] == ["unused-ignore"]
    cli(tmp_path, "--fix")
    assert (tmp_path / "index.ts").read_text() == NUMBER.replace("(60)", "({ delaySeconds: 60 })") % ""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_number_is_written_as_the_runtime_takes_it_and_nothing_else_changes(ends, tmp_path):
    laid_out(tmp_path, (NUMBER % " // soon").replace("\n", ends))
    assert "fixed 1 in 1 file" in cli(tmp_path, "--fix")[1]
    assert (tmp_path / "index.ts").read_bytes() == (NUMBER.replace("(60)", "({ delaySeconds: 60 })") % " // soon").replace("\n", ends).encode()
    assert not names(tmp_path)


def test_every_output_and_a_baseline_take_findings_in_a_source(tmp_path):
    laid_out(tmp_path, NUMBER % "")
    for form in ("text", "concise", "sarif", "github", "gitlab", "junit"):
        assert "index.ts" in cli(tmp_path, "--format", form)[0], form
    cli(tmp_path, "--write-baseline", tmp_path / "baseline.json")
    assert cli(tmp_path, "--baseline", tmp_path / "baseline.json")[2] == 0


def test_what_is_not_followed_is_silent_and_counted(tmp_path):
    laid_out(tmp_path, "import { work } from 'somewhere';\nexport default { async queue(batch, env) { for (const m of batch.messages) await work(m, env); } };\n")
    said, beside, _ = cli(tmp_path, "--show-unknown")
    assert "index.ts:2" in beside
    assert "1 place in the source not followed" in said
    assert not names(tmp_path)


def pairs():
    text = (ROOT / "fixtures" / "consumer_code" / "pairs.txt").read_text(encoding="utf-8")
    for part in f"\n{text}".split("\n=== ")[1:]:
        head, _, body = part.partition("\n")
        name, rule, language = head.split()
        bad, _, good = body.partition("--- good\n")
        yield pytest.param(rule, language, bad, good, id=name)


def lint_source(folder, language, text):
    """The findings of family 82 in a Worker of one or several files."""
    first, *others = text.split("# file ")
    for each in others:
        path, _, content = each.partition("\n")
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    return findings(folder, language, first)


@pytest.mark.parametrize(("rule", "language", "bad", "good"), [*pairs()])
def test_the_first_of_a_pair_earns_the_rule_and_the_second_nothing(rule, language, bad, good, tmp_path):
    found = [each.name for each in lint_source(tmp_path / "bad", language, bad)]
    if rule == "-":
        assert not found
        return
    assert rule in found
    assert not [each.name for each in lint_source(tmp_path / "good", language, good)]
