"""What holds for every rule at once, so that a new rule is held to it the moment it is listed."""

from __future__ import annotations

import ast
import datetime as dt
import json
import re
import tomllib

import pytest
from hypothesis import example as such_as
from hypothesis import given, settings
from hypothesis import strategies as st

from cfq_lint.facts.keys import CONSUMER_KEYS, PRODUCER_KEYS
from cfq_lint.facts.limits import LIMITS
from cfq_lint.model.account_facts import ConsumerFacts, Facts, QueueFacts
from cfq_lint.model.finding import Severity
from cfq_lint.model.topology import Links, Topology, links_of
from cfq_lint.model.wrangler import Worker
from cfq_lint.rules import signs
from cfq_lint.rules.registry import BY_KEY, INDEX, every_rule, load
from cfq_lint.rules.rule import CODE, DIFF, FACTS, FAMILIES, FILE, LIVE, PROJECT, RUN, SAFE, SOURCE_CODE, UNSAFE
from cfq_lint.rules.signs import signs_of
from cfq_lint.run.engine import CRASH_CODE, conclude, judge, visit, visits_of
from cfq_lint.run.plan import Plan
from cfq_lint.run.selection import choose

from .strategies import files
from .support import (
    DATE,
    REAL,
    ROOT,
    Example,
    as_toml,
    as_toml_tables,
    comment_texts,
    document_of,
    examples,
    keys_of,
    projects,
    real_text,
    report_on,
    sections,
    settled,
    walk,
)

RULES = every_rule()
by_name = [rule.name for rule in RULES]
ALL = tuple(INDEX)
PROSE = {"wrong-encoding", "shadowed-config", "redirected-config", "broken-redirect", "queue-handler-missing", "consumer-removed-still-attached", "feedback-loop"}
"""Rules about bytes and neighbours on disk: no fenced text can show them. test_discovery.py, test_entry.py and test_changes.py do."""
NOT_CLOUDFLARE = {"unused-ignore"}
"""Rules about this linter's own comments rest on no page."""
HEADINGS = ["What it does", "Why it matters", "Bad", "Good"]

rules = pytest.mark.parametrize("rule", RULES, ids=by_name)
SHOWN = [rule for rule in RULES if rule.name not in PROSE and rule.visit != SOURCE_CODE]
"""The pages of rules about a consumer's code show sources: code/test_consumer_rules.py runs them."""
shown_rules = pytest.mark.parametrize("rule", SHOWN, ids=[rule.name for rule in SHOWN])
fixable_rules = pytest.mark.parametrize("rule", [r for r in SHOWN if r.fix], ids=[r.name for r in SHOWN if r.fix])


# --- names and pages


def test_codes_and_names_belong_to_one_rule_each():
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)
    assert [rule.code for rule in RULES] == sorted(rule.code for rule in RULES)


def test_every_rule_file_is_listed_and_every_listed_rule_is_a_file():
    files = {file.stem for file in (ROOT / "cfq_lint" / "rules").glob("cfq*.py")}
    assert files == set(INDEX)


@rules
def test_code_name_and_file_agree(rule):
    module = BY_KEY[rule.code]
    assert module == BY_KEY[rule.name]
    assert module == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
    assert (INDEX[module].code, INDEX[module].name) == (rule.code, rule.name)
    assert load(module) is rule
    assert re.fullmatch(r"CFQ\d{3}", rule.code)
    assert rule.code[3] in FAMILIES
    assert rule.family == FAMILIES[rule.code[3]]


@rules
def test_metadata_are_whole(rule):
    assert isinstance(rule.severity, Severity)
    assert rule.fix in {None, SAFE, UNSAFE}
    assert rule.needs in {FILE, PROJECT, FACTS, CODE, DIFF, LIVE}
    assert rule.visit in {*visits_of(Worker(document_of("{}"))), RUN}
    named = {value for name, value in vars(signs).items() if name.isupper() and isinstance(value, str)}
    ranged = {key.name for keys in (CONSUMER_KEYS, PRODUCER_KEYS) for key in keys.values() if key.minimum is not None}
    assert set(rule.signs) <= named | ranged
    assert rule.superseded_by is None or load(BY_KEY[rule.superseded_by]).needs == LIVE
    assert set(rule.limits) <= {limit.id for limit in LIMITS}


@rules
def test_the_source_is_a_page_of_cloudflare_and_the_day_is_a_day(rule):
    if rule.name not in NOT_CLOUDFLARE:
        assert re.match(r"https://(developers\.cloudflare\.com|github\.com/cloudflare)/", rule.source)
    day = dt.date.fromisoformat(rule.checked)
    assert dt.date(2026, 1, 1) <= day <= dt.date.fromisoformat(max(limit.checked for limit in LIMITS))


@rules
def test_the_page_has_its_headings_in_order(rule):
    headings = [heading for heading, _ in sections(rule.page)]
    assert headings == HEADINGS + (["Fix"] if rule.fix else [])
    assert all(body.strip() for _, body in sections(rule.page))
    assert rule.page.split("\n")[1] == ""
    assert rule.summary
    assert not rule.summary.endswith(".")


@rules
def test_a_page_about_a_repair_says_first_whether_it_is_safe(rule):
    if rule.fix:
        body = dict(sections(rule.page))["Fix"].strip()
        assert body.startswith("Safe" if rule.fix == SAFE else "Unsafe")


@rules
def test_limits_on_the_page_are_those_of_cloudflare(rule):
    """Numbers above 999 in a rule's prose are limits, or stand in an example."""
    known = {str(limit.value) for limit in LIMITS} | {"11000", "11001", "11003", "11004", "100127"}
    prose = re.sub(r"```.*?```|`[^`]*`", "", rule.page, flags=re.DOTALL)
    for number in re.findall(r"(?<![\w.,-])\d{4,}(?![\w.,-]\d)", prose):
        assert number in known or re.fullmatch(r"20\d\d", number), number


@rules
def test_the_code_of_a_rule_spells_out_no_number_of_cloudflare(rule):
    """Every number above 100 in a rule comes from `limits`; a few belong to units and to the catalogue itself."""
    units = {1000, 3_600, 86_400, 4_300}
    file = ROOT / "cfq_lint" / "rules" / f"{BY_KEY[rule.code]}.py"
    tree = ast.parse(file.read_text(encoding="utf-8"))
    numbers = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) in {int, float}]
    assert not [number for number in numbers if number > 100 and number not in units]


@pytest.mark.parametrize("name", sorted(PROSE))
def test_rules_without_a_fenced_example_are_the_known_few(name):
    rule = load(BY_KEY[name])
    assert not examples(rule, "Bad")
    assert not examples(rule, "Good")


# --- examples


def alone(rule):
    """What to run to see one rule. Only when all rules have run is it known which ignores were of use."""
    return ALL if rule.name == "unused-ignore" else (BY_KEY[rule.code],)


def found_by(rule, project):
    """The findings of one rule on examples that are linted together."""
    return [finding for finding in report_on(project, alone(rule)).findings if finding.code == rule.code]


@shown_rules
def test_the_bad_example_fires(rule):
    assert projects(rule, "Bad")
    for project in projects(rule, "Bad"):
        assert found_by(rule, project), project


@shown_rules
def test_the_good_example_is_silent(rule):
    assert projects(rule, "Good")
    for project in projects(rule, "Good"):
        assert not found_by(rule, project), project


@shown_rules
def test_examples_parse_unless_syntax_is_the_subject(rule):
    for example in [*examples(rule, "Bad"), *examples(rule, "Good")]:
        if rule.code not in {"CFQ001", "CFQ002"}:
            assert not document_of(example.text, example.name).faults
    for example in examples(rule, "Good"):
        document = document_of(example.text, example.name)
        if document.dialect is not None:
            continue  # its tree is that of the wrangler file which would mean the same
        plain = document.tree.root.plain()
        assert plain == (tomllib.loads(example.text) if example.name.endswith("toml") else json.loads(example.text))


@shown_rules
def test_the_good_example_has_no_finding_above_info(rule):
    """What a page recommends is clean by every other rule as well."""
    for project in projects(rule, "Good"):
        report = report_on(project)
        assert not [f"{f.name}: {f.message}" for f in report.findings if f.severity is not Severity.INFO]


@shown_rules
def test_the_bad_example_shows_one_mistake(rule):
    """One bad value gives one finding: no other rule that is on by default speaks of it above info."""
    for project in projects(rule, "Bad"):
        others = {f.name for f in report_on(project).findings if f.severity is not Severity.INFO and f.code != rule.code}
        assert others <= TOGETHER.get(rule.name, set()), others


TOGETHER = {
    # Without a dead-letter queue there are two things to say, as the catalogue has it.
    "no-retries-no-dlq": {"consumer-without-dlq"},
    "env-dlq-missing": {"consumer-without-dlq"},
    # The queue that is meant looks like an ordinary one as long as its name is misspelt.
    "dlq-name-near-miss": {"consumer-without-dlq"},
}


@shown_rules
def test_a_message_is_one_short_line_about_a_place(rule):
    for project in projects(rule, "Bad"):
        texts = {example.name: example.text.removeprefix("\ufeff") for example in project} | {"account": "\n"}
        for finding in found_by(rule, project):
            assert not finding.message.endswith((".", "!")), finding.message
            assert "\n" not in finding.message
            assert "please" not in finding.message.lower()
            assert 20 < len(finding.message) < 400
            assert finding.url == rule.source
            assert 0 <= finding.place.start <= finding.place.end <= len(texts[finding.path])
            assert finding.place.excerpt == texts[finding.path].splitlines()[finding.line - 1]
            for related in finding.related:
                assert related.place.excerpt == texts[related.place.path].splitlines()[related.place.line - 1]


# --- repairs


def judge_with(example, modules):
    """A function from a text to its findings, under what the example declares."""

    def judged(text):
        document = document_of(text, example.name)
        plan = Plan(modules, example.facts, example.environment)
        return conclude([judge(document, plan)], plan).findings

    return judged


@fixable_rules
def test_the_declared_fix_is_the_one_that_is_offered(rule):
    offered = [finding.fix for project in projects(rule, "Bad") for finding in found_by(rule, project)]
    assert any(fix is not None for fix in offered)
    assert {fix.safe for fix in offered if fix is not None} == {rule.fix == SAFE}


@rules
def test_no_rule_offers_a_fix_that_it_does_not_declare(rule):
    for other in RULES:
        for project in projects(other, "Bad"):
            for finding in found_by(rule, project):
                if rule.fix is None:
                    assert finding.fix is None
                elif finding.fix is not None:
                    assert finding.fix.safe == (rule.fix == SAFE)
                    assert finding.fix.edits
                    assert finding.fix.title


def commented(text, name):
    """The text with a comment beside everything that can have one."""
    document = document_of(text, name)
    text = document.text
    if name.endswith(".toml"):
        lines = text.split("\n")
        return "\n".join(f"{line} # c{n}" if line.strip() and '"""' not in text else line for n, line in enumerate(lines))
    places = set()
    for node, member in walk(document.tree.root):
        places |= {node.start, node.end} | ({member.start, member.end} if member else set())
    for number, place in enumerate(sorted(places, reverse=True)):
        text = f"{text[:place]}/* c{number} */{text[place:]}"
    return text


def spread(text, name):
    """The text of a JSONC example with each member on a line of its own, a comment behind it."""
    plain = document_of(text, name).tree.root.plain()
    lines = json.dumps(plain, indent="\t", ensure_ascii=False).split("\n")
    return "\r\n".join(f"{line} // c{number}" for number, line in enumerate(lines))


def in_toml(text, name):
    """The text of a JSONC example as TOML, inline and with tables."""
    plain = document_of(text, name).tree.root.plain()
    return as_toml(plain), as_toml_tables(plain)


def shapes(rule):
    """Bad examples of a rule that is judged by one file, and the same with comments everywhere, other line ends, and in TOML."""
    for example in examples(rule, "Bad"):
        if example.is_named:
            continue
        text, name = example.text, example.name
        yield example, name, text
        yield example, name, text.replace("\n", "\r\n")
        if not document_of(text, name).faults and "cfq-lint:" not in text:
            yield example, name, commented(text, name)
            if name.endswith(".jsonc") and "\ufeff" not in text and rule.name != "duplicate-key":
                yield example, name, spread(text, name)
                for written in in_toml(text, name):
                    yield example, "wrangler.toml", written
                    yield example, "wrangler.toml", commented(written, "wrangler.toml")


def named(example, name):
    """The example under another name, as its rewriting in another language has."""
    other = Example("jsonc", "", "")
    other.name, other.facts, other.environment = name, example.facts, example.environment
    return other


@fixable_rules
def test_the_fix_settles_removes_the_finding_and_leaves_every_comment(rule):
    seen = 0
    for example, name, text in shapes(rule):
        judged = judge_with(named(example, name), alone(rule))
        if not any(finding.fix for finding in judged(text) if finding.code == rule.code):
            continue
        seen += 1
        mended, rounds = settled(text, name, judged)
        assert rounds
        assert not [finding for finding in judged(mended) if finding.code == rule.code], mended
        if rule.code != "CFQ002":
            assert not document_of(mended, name).faults
        if rule.name != "unused-ignore":
            assert comment_texts(mended, name) == comment_texts(text, name), mended
        if "\r\n" in text:
            assert mended.count("\n") == mended.count("\r\n"), "a line end of the other kind came in"
    assert seen


@fixable_rules
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_all_fixes_together_settle_on_every_bad_example(rule, unsafe):
    for example, name, text in shapes(rule):
        judged = judge_with(named(example, name), choose())
        mended, _ = settled(text, name, judged, unsafe=unsafe)
        assert settled(mended, name, judged, unsafe=unsafe) == (mended, 0)


# --- any document


def texts_of(value):
    """A plain value as a file in each language and style."""
    yield "wrangler.jsonc", json.dumps(value, ensure_ascii=False, indent=1)
    yield "wrangler.toml", as_toml(value)
    yield "wrangler.toml", as_toml_tables(value)


FACT_SETS = (
    Facts(),
    Facts("free", {"orders": QueueFacts("eu", 60, 0), "orders-dlq": QueueFacts("us", 1_209_600, 5)}, frozenset({"orders", "jobs"})),
    Facts("paid", {"jobs": QueueFacts(None, 10, 86_400)}, frozenset()),
    Facts(None, {}, frozenset(), "in the account", is_account=True),
    Facts(
        None,
        {
            "orders": QueueFacts(),
            "orders-dlq": QueueFacts("global", 0, 0, False, (ConsumerFacts("strange"), ConsumerFacts("worker")), (), 0, 0, 0),
            "jobs": QueueFacts("eu", None, None, None, (ConsumerFacts("worker", "", None, {"max_retries": None}),), None, None, None, 5),
            "declared": QueueFacts("us", 60),
        },
        frozenset({"orders", "orders-dlq", "jobs"}),
        "in the account",
        is_account=True,
    ),
    Facts(
        "paid",
        {
            "orders": QueueFacts(
                "eu", 60, 60, True, (ConsumerFacts("worker", "shop", "nowhere", {"max_retries": 7, "retry_delay": 60}),), ("shop",),
                1, 10**12, 10**6,
            ),
            "orders-dlq": QueueFacts("us", 1_209_600, 5, True, (), (), 3, 5, 1_100_000),
            "order-dlq": QueueFacts("eu", 3_600, 5, False, (ConsumerFacts("http_pull", None, "order-dlq", {"retry_delay": 50, "max_retries": 90}),), ()),
            "q": QueueFacts("eu", 3_600, 0, False, (ConsumerFacts("worker", "shop-staging", "q", {"batch_size": 1}), ConsumerFacts("http_pull"))),
            "jobs": QueueFacts("eu", 3_600, 0, False, (), ()),
            "job": QueueFacts("eu", 3_600, 0, False, (), ("shop",), 1),
        },
        frozenset({"orders", "orders-dlq", "order-dlq", "q", "jobs", "job"}),
        "in the account",
        is_account=True,
    ),
)


def judged_without_signs(document, facts, environment=None):
    """What all rules say when none of them waits for its sign."""
    worker = Worker(document, environment)
    found = []
    topology = Topology([links_of(worker) if document.whole else Links(is_whole=False)])
    targets = visits_of(worker) | {RUN: [topology]}
    for rule in RULES:
        if document.dialect is not None and document.dialect.skips(rule.check.__module__.rpartition(".")[2]):
            continue
        if rule.visit == RUN or document.whole or rule.code.startswith("CFQ0"):
            found += visit(rule, targets, facts, document.top)
    return sorted((f.code, f.place.line, f.place.column, f.message) for f in found)


def judged_with_signs(document, facts, environment=None):
    plan = Plan(ALL, facts, environment)
    report = conclude([judge(document, plan)], plan)
    crashes = [finding.message for finding in report.findings if finding.code == CRASH_CODE]
    assert not crashes, crashes
    return sorted((f.code, f.line, f.column, f.message) for f in report.findings if f.name != "unused-ignore")


def hold_to_signs(document, facts=FACT_SETS[0], environment=None):
    """No rule raises, and none says anything that its sign would have kept from us."""
    heard, all_there_is = judged_with_signs(document, facts, environment), judged_without_signs(document, facts, environment)
    hidden = [finding for finding in all_there_is if finding not in heard]
    assert heard == all_there_is, f"hidden: {hidden}, environment {environment!r}, in\n{document.text}"


@settings(max_examples=250)
@such_as({"previews": {"main": "src/entry.py", "queues": {"producers": [{"queue": "a"}]}}}, FACT_SETS[0], None)
@such_as({"previews": {"queues": {"producers": [{"queue": "a"}], "consumers": [{"queue": "a"}, {"queue": "a"}]}}}, FACT_SETS[0], None)
@such_as({"queues": {"consumers": [{"queue": DATE, "dead_letter_queue": "a"}]}}, FACT_SETS[0], None)
@given(files, st.sampled_from(FACT_SETS), st.sampled_from([None, None, "staging", "nowhere"]))
def test_no_rule_raises_and_signs_hide_nothing_on_any_configuration(value, facts, environment):
    for name, text in texts_of(value):
        document = document_of(text, name)
        assert not document.faults or name.endswith("toml"), document.faults
        hold_to_signs(document, facts, environment)


@settings(max_examples=150)
@given(st.lists(files, min_size=2, max_size=3), st.sampled_from(FACT_SETS), st.sampled_from([None, None, "staging"]))
def test_signs_of_single_files_hide_nothing_of_the_project(values, facts, environment):
    documents = [document_of(json.dumps(value), f"{number}/wrangler.jsonc") for number, value in enumerate(values)]
    plan = Plan(ALL, facts, environment)
    report = conclude([judge(document, plan) for document in documents], plan)
    topology = Topology([links_of(Worker(document, environment)) for document in documents])
    wanted = sorted((f.code, f.path, f.line, f.column, f.message) for rule in RULES if rule.visit == RUN for f in rule.check(topology, facts))
    project = {rule.code for rule in RULES if rule.visit == RUN}
    assert sorted((f.code, f.path, f.line, f.column, f.message) for f in report.findings if f.code in project) == wanted


@settings(max_examples=100)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["queues", "env", "previews", "consumers", "producers", "queue", "x"]), inner, max_size=4), max_leaves=15))  # fmt: skip
def test_no_rule_raises_on_any_json_at_all(value):
    hold_to_signs(document_of(json.dumps(value)))


PIECES = [
    '"', "{", "}", "[", "]", ",", ":", "'", "#", "//", "/*", "*/", "\n", "=", ".", "null", "true", "-1", "1e400", "0x1F", "1000", '"x": 1,', '"queue"',
    "[[queues.consumers]]\n", 'queue = "x"\n', "[env.dev]\n", '"queues": {}', '""', "\\", "\ufeff", "\u2028", "é", "+5", "nan", "2020-01-01", "\t",
]  # fmt: skip
edits = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 30), st.sampled_from(["", "", *PIECES])), min_size=1, max_size=4
)


def mutated(text, changes):
    """The text with some stretches cut out or replaced."""
    for where, length, piece in changes:
        at = int(where * len(text))
        text = text[:at] + piece + text[at + length :]
    return text


@settings(max_examples=300)
@given(st.sampled_from(REAL), edits, st.sampled_from(FACT_SETS))
def test_no_rule_raises_and_signs_hide_nothing_on_broken_real_files(file, changes, facts):
    hold_to_signs(document_of(mutated(real_text(file), changes), file.name), facts)


@pytest.mark.parametrize("file", REAL, ids=[file.name for file in REAL])
def test_signs_hide_nothing_on_real_files(file):
    for facts in FACT_SETS:
        hold_to_signs(document_of(real_text(file), file.name), facts)


@shown_rules
def test_signs_hide_nothing_on_examples(rule):
    for heading in ("Bad", "Good"):
        for example in examples(rule, heading):
            document = document_of(example.text, example.name)
            for facts in (example.facts, *FACT_SETS):
                for environment in (None, example.environment, "staging", "production"):
                    hold_to_signs(document, facts, environment)


def test_a_clean_file_loads_next_to_no_rule():
    text = """{ "name": "shop", "main": "src/index.ts", "compatibility_date": "2026-01-15",
      "queues": { "producers": [{ "binding": "MAIL", "queue": "mail" }],
                  "consumers": [{ "queue": "orders", "max_retries": 3, "dead_letter_queue": "orders-dlq" }, { "queue": "orders-dlq" }] } }"""
    shown = signs_of(Worker(document_of(text)))
    assert len([module for module in ALL if not shown.isdisjoint(INDEX[module].signs)]) <= 5


def test_rules_that_are_off_run_only_when_selected():
    assert set(choose()) == {module for module in INDEX if load(module).default}
    assert set(choose(["all"])) == set(INDEX)


def test_a_report_does_not_depend_on_the_order_in_which_rules_run():
    for rule in RULES:
        for project in projects(rule, "Bad"):
            assert keys_of(report_on(project, ALL)) == keys_of(report_on(project, ALL[::-1]))


def test_a_report_does_not_depend_on_the_order_of_files():
    for rule in RULES:
        for project in projects(rule, "Bad"):
            assert keys_of(report_on(project, ALL)) == keys_of(report_on(project[::-1], ALL))
