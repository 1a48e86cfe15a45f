"""A Terraform plan: every finding at its resource, in the provider's words; what only applying would tell is not guessed."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfq_lint import lint_paths, lint_text
from cfq_lint.model.wrangler import Worker, read_worker
from cfq_lint.run.lint import lint
from cfq_lint.run.plan import Request, read_snapshot
from tests.lint.support import FIXTURES, document_of

PLANS = FIXTURES / "readers" / "plans"
CONSUMER = "cloudflare_queue_consumer"
WANTED = {
    "create.json": {
        ("cloudflare_queue.wrong", "CFQ113", '"Shop_Wrong"'),
        ("cloudflare_queue.wrong", "CFQ206", "90000"),
        ("cloudflare_queue.wrong", "CFQ310", "1209601"),
        (f"{CONSUMER}.orders", "CFQ201", "500"),
        (f"{CONSUMER}.orders", "CFQ202", "90000"),
        (f"{CONSUMER}.orders", "CFQ203", "1000"),
        (f"{CONSUMER}.orders", "CFQ302", '"shop-orders"'),
        (f"{CONSUMER}.orders", "CFQ308", "10800"),
        (f"{CONSUMER}.dlq", "CFQ207", "43200001"),
        ("cloudflare_workers_script.shop", "CFQ116", '"my-queue"'),
    },
    "replace.json": {
        ("cloudflare_queue.mail", "CFQ411", '"cloudflare_queue.mail"'),
        (f"{CONSUMER}.jobs", "CFQ411", f'"{CONSUMER}.jobs"'),
        (f"{CONSUMER}.mail", "CFQ411", f'"{CONSUMER}.mail"'),
        (f"{CONSUMER}.mail", "CFQ301", f'"{CONSUMER}.mail"'),
    },
    "for_each.json": {
        (f'{CONSUMER}.stage["green"]', "CFQ201", "0"),
        (f"{CONSUMER}.dead[0]", "CFQ302", '"stage-dead"'),
        (f"{CONSUMER}.twice", "CFQ402", f'"{CONSUMER}.twice"'),
    },
    "modules.json": {(f'module.consumer["a"].{CONSUMER}.this', "CFQ203", "101")},
}


def plan_of(values, *, unknown=None, expressions=None, kind=CONSUMER, queues=()):
    resources = [
        {"address": f"cloudflare_queue.{name}", "mode": "managed", "type": "cloudflare_queue", "name": name, "values": {"queue_name": name}}
        for name in queues
    ]
    resources.append({"address": f"{kind}.this", "mode": "managed", "type": kind, "name": "this", "values": values})
    declared = {"address": f"{kind}.this", "type": kind, "name": "this", "expressions": expressions or {}}
    return json.dumps({
        "format_version": "1.2",
        "planned_values": {"root_module": {"resources": resources}},
        "resource_changes": [{"address": f"{kind}.this", "change": {"actions": ["create"], "after_unknown": unknown or {}}}],
        "configuration": {"root_module": {"resources": [declared]}},
    })  # fmt: skip


def only(text):
    (consumer,) = Worker(document_of(text, "plan.json")).consumers()
    return {key: field.node.value for key, field in consumer.fields.items()}


@pytest.mark.parametrize("name", sorted(WANTED))
def test_every_error_and_warning_is_at_its_address_and_nothing_else_is_said(name):
    text = (PLANS / name).read_text()
    report = lint_paths([str(PLANS / name)])
    lines = text.splitlines()
    said = {
        (finding.place.address, finding.code, lines[finding.line - 1][finding.column - 1 : finding.end_column - 1])
        for finding in report.findings
        if finding.severity != "info"
    }
    assert said == WANTED[name]
    assert all(finding.message.startswith(f"{finding.place.address}: ") for finding in report.findings)
    assert all(finding.fix is None for finding in report.findings)


def test_the_report_as_json_has_the_address():
    from cfq_lint.report.json import render

    report = json.loads(render(lint_paths([str(PLANS / "modules.json")])))
    assert {each["address"] for each in report["findings"]} == {f'module.consumer["a"].{CONSUMER}.this'}


def test_a_planned_value_counts_before_a_reference():
    expressions = {"queue_id": {"references": ["cloudflare_queue.b.queue_id", "cloudflare_queue.b"]}}
    text = plan_of({"queue_name": "a", "type": "worker"}, expressions=expressions, queues=("a", "b"))
    assert only(text)["queue"] == "a"
    assert only(plan_of({"type": "worker"}, expressions=expressions, queues=("a", "b")))["queue"] == "b"


@pytest.mark.parametrize("references", [[], ["local.queue"], ["var.queue"], ["cloudflare_queue.a", "cloudflare_queue.b"], ["data.x.y.id"], [7], None])
def test_a_reference_that_is_not_certain_is_unknown(references):
    text = plan_of({"type": "worker"}, expressions={"queue_id": {"references": references}}, queues=("a", "b"))
    assert only(text)["queue"] is None


def test_one_for_each_of_other_resources_is_theirs():
    kind, expressions = "cloudflare_queue_consumer", {"queue_id": {"references": ["each.value.queue_id", "each.value"]}}
    queues = [{"address": f'cloudflare_queue.q["{key}"]', "type": "cloudflare_queue", "name": "q", "index": key, "values": {"queue_name": f"q-{key}"}} for key in "ab"]
    consumers = [{"address": f'{kind}.c["{key}"]', "type": kind, "name": "c", "index": key, "values": {"type": "worker", "script_name": "w"}} for key in "ab"]
    declared = {"address": f"{kind}.c", "expressions": expressions, "for_each_expression": {"references": ["cloudflare_queue.q"]}}
    whole = {
        "format_version": "1.2",
        "planned_values": {"root_module": {"resources": queues + consumers}},
        "configuration": {"root_module": {"resources": [declared]}},
    }
    assert [each.queue_name for each in Worker(document_of(json.dumps(whole), "plan.json")).consumers()] == ["q-a", "q-b"]
    declared["for_each_expression"] = {"references": ["local.queues"]}
    assert [each.queue_name for each in Worker(document_of(json.dumps(whole), "plan.json")).consumers()] == ["", ""]


@pytest.mark.parametrize(("consumed", "codes"), [("'other'", ["CFQ404"]), ("process.env.Q", [])])
def test_where_a_consumer_s_queue_is_unknown_nobody_says_that_a_queue_has_none(consumed, codes):
    trigger = f"{{ type: 'queue', name: {consumed}, deadLetterQueue: 'd' }}, {{ type: 'queue', name: 'd' }}"
    text = f"export default {{ worker: {{ name: 'w', triggers: [{trigger}], env: {{ P: {{ type: 'queue', name: 'p' }} }} }} }};"
    assert [each.code for each in lint_text(text, "cloudflare.config.ts", ignore=["CFQ301"]).findings] == codes


def test_in_the_account_only_what_no_plan_makes_is_missing(tmp_path):
    snapshot = tmp_path / "facts.json"
    snapshot.write_text('{"plan": "paid", "queues": {"there": {}}}')
    facts = read_snapshot(str(snapshot), is_account=True)
    worker = {"script_name": "w", "bindings": [{"type": "queue", "name": "A", "queue_name": "made"}, {"type": "queue", "name": "B", "queue_name": "gone"}]}
    text = plan_of(worker, kind="cloudflare_workers_script", queues=("made",))
    report = lint(Request(document=document_of(text, "plan.json"), snapshot=facts, select=("CFQ901",)))
    (found,) = report.findings
    assert found.severity == "error"
    assert "the account has no queue 'gone', so the deploy fails" in found.message


def test_what_was_left_out_is_not_what_is_unknown():
    unknown = {"settings": {"max_retries": True}}
    left_out = plan_of({"settings": {"batch_size": 1}}, unknown=unknown, expressions={"settings": {"constant_value": {"batch_size": 1}}})
    assert "max_retries" not in only(left_out)
    given_by_a_variable = plan_of({"settings": {"batch_size": 1}}, unknown=unknown, expressions={"settings": {"references": ["var.s"]}})
    assert only(given_by_a_variable)["max_retries"] is None


def test_an_unknown_dead_letter_queue_is_not_a_missing_one():
    codes = [finding.code for finding in lint_text(plan_of({"queue_name": "q"}, unknown={"dead_letter_queue": True}), "plan.json").findings]
    assert "CFQ301" not in codes
    assert "CFQ301" in [finding.code for finding in lint_text(plan_of({"queue_name": "q"}), "plan.json").findings]


@pytest.mark.parametrize(("milliseconds", "seconds"), [(0, 0), (1, 1), (1500, 2), (60_000, 60), (60_001, 61)])
def test_a_wait_in_milliseconds_is_judged_as_such(milliseconds, seconds):
    text = plan_of({"queue_name": "q", "dead_letter_queue": "d", "settings": {"max_wait_time_ms": milliseconds}})
    assert only(text)["max_batch_timeout"] == seconds
    codes = [finding.code for finding in lint_text(text, "plan.json").findings if finding.severity == "error"]
    assert codes == (["CFQ202"] if milliseconds > 60_000 else [])


def test_each_worker_is_an_environment_of_its_own():
    worker = read_worker(str(PLANS / "for_each.json"))
    assert [each.script for each in worker.environments] == ["", "stage-blue", "stage-green", "janitor", "other"]


def test_a_plan_of_a_megabyte_and_one_that_is_cut_off():
    whole = json.loads((PLANS / "create.json").read_text())
    resources = whole["planned_values"]["root_module"]["resources"]
    resources += [
        {"address": f"cloudflare_queue.q{n}", "mode": "managed", "type": "cloudflare_queue", "name": f"q{n}", "values": {"queue_name": f"q{n}"}}
        for n in range(8_000)
    ]
    text = json.dumps(whole)
    assert len(text) > 1_000_000
    assert len([each for each in lint_text(text, "plan.json").findings if each.severity == "error"]) == 10
    report = lint_text(text[:500_000], "plan.json")
    assert {finding.code for finding in report.findings} == {"CFQ001"}


def test_a_state_is_told_from_a_plan():
    text = json.dumps({"format_version": "1.0", "terraform_version": "1.11.4", "values": {"root_module": {}}})
    (finding,) = lint_text(text, "state.json").findings
    assert (finding.code, "terraform show -json" in finding.message) == ("CFQ001", True)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["cloudflare_queue", CONSUMER]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["resources", "type", "name", "address", "values", "settings", "child_modules", "references", "index", "expressions", "change",
         "actions", "after_unknown", "bindings", "queue_name", "root_module", "module_calls"]), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(VALUES, VALUES, VALUES)
def test_no_plan_crashes_the_reader(planned, changes, configuration):
    text = json.dumps({"format_version": "1.2", "planned_values": planned, "resource_changes": changes, "configuration": configuration})
    assert not lint_text(text, "plan.json").crashed


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_plan_with_a_value_replaced_crashes_the_reader(data):
    whole = json.loads((PLANS / data.draw(st.sampled_from(sorted(WANTED)))).read_text())
    at = whole
    while True:
        keys = [*at] if isinstance(at, dict) else range(len(at))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(at[key], dict | list) or not at[key] or data.draw(st.integers(0, 4)) == 0:
            break
        at = at[key]
    at[key] = data.draw(VALUES)
    assert not lint_text(json.dumps(whole), "plan.json").crashed
