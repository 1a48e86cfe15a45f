"""The ten items: each passes where something shows it, fails where something is certainly wrong, and is unknown otherwise."""

from __future__ import annotations

import json

import pytest

from cfq_lint.checklist.model import KINDS, NOT_ASKED, VERDICTS

from .support import ACCEPTANCE, CONFIG, SOURCE, answer, checklist, declared, verdicts, write

FIXTURES = {
    # what the manual itself describes: everything left to its default, the 8th of 10 fails, the key made by the consumer
    "source_example": ("upffffuuuu", {}),
    "good": ("pppppppppp", {"facts": "account.json"}),
    "bad": ("ffffffffff", {}),
    "python_worker": ("upppp" + "uuuuu", {}),
    "environments": ("uuuupfuuuu", {}),
    "monorepo": ("upuupuuuuu", {}),
}


@pytest.mark.parametrize(("name", "expected", "options"), [(name, *rest) for name, rest in FIXTURES.items()], ids=FIXTURES)
def test_each_project_has_its_verdicts(name, expected, options):
    assert verdicts(checklist(ACCEPTANCE / name, **options)) == expected


@pytest.mark.parametrize("name", FIXTURES)
def test_every_answer_says_what_it_rests_on_and_what_to_do(name):
    listed = checklist(ACCEPTANCE / name, **FIXTURES[name][1])
    assert [item.number for item in listed.items] == [*range(1, 11)]
    assert [item.kind for item in listed.items] == ["mechanism"] * 6 + ["operation"] * 4
    for item in listed.items:
        assert len(item.answers) >= 1
        for each in item.answers:
            assert each.verdict in VERDICTS
            assert each.said
            assert each.evidence or each.verdict != "pass", f"{item.name} passes without evidence"
            assert each.todo or each.verdict in {"pass", NOT_ASKED}, f"{item.name} is {each.verdict} and says nothing to do"
            for evidence in each.evidence:
                assert evidence.kind in KINDS
                assert evidence.where
            if each.verdict == "fail":
                assert each.evidence, f"{item.name} fails without evidence"


def test_evidence_points_at_the_place(tmp_path):
    listed = declared(tmp_path)
    retries = answer(listed, 5, "orders").evidence[0]
    assert (retries.kind, retries.where) == ("file", "wrangler.jsonc:5:55")
    acknowledged = answer(listed, 4, "orders").evidence[0]
    assert (acknowledged.kind, acknowledged.where) == ("code", "src/index.ts:6:7")


def test_an_item_of_nothing_is_unknown(tmp_path):
    listed = checklist(write(tmp_path, {"wrangler.toml": 'name = "w"\n'}))
    assert verdicts(listed) == "u" * 10
    assert not listed.queues


def declare(tmp_path, text):
    return declared(tmp_path, f"[queues.orders]\n{text}\n")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("", "unknown"),
        ("message_size_bytes = 127_900", "pass"),
        ("message_size_bytes = 127_901", "fail"),
        ("message_size_bytes = 2_000\nmax_message_size_bytes = 128_000", "fail"),
        ("max_message_size_bytes = 0", "pass"),
    ],
)
def test_1_a_message_and_its_metadata_fit(text, verdict, tmp_path):
    assert answer(declare(tmp_path, text), 1, "orders").verdict == verdict


PARTS = "export default { async fetch(r, env) { await env.Q.sendBatch(all.slice(0, COUNT)); } };"


@pytest.mark.parametrize(
    ("text", "source", "verdict"),
    [
        ("", SOURCE, "pass"),
        ("", "export default { async fetch(r, env) { await env.Q.sendBatch(all); } };", "unknown"),
        ("", PARTS.replace("COUNT", "100"), "unknown"),
        ("", PARTS.replace("COUNT", "101"), "fail"),
        ("send_batch_messages = 5", PARTS.replace("COUNT", "101"), "fail"),
        ("message_size_bytes = 2_560", PARTS.replace("COUNT", "100"), "pass"),
        ("message_size_bytes = 2_561", PARTS.replace("COUNT", "100"), "fail"),
        ("message_size_bytes = 100\nmax_message_size_bytes = 100_000", PARTS.replace("COUNT", "100"), "unknown"),
        ("send_batch_messages = 100\nmessage_size_bytes = 2_560", "export default {};", "pass"),
        ("send_batch_messages = 101", "export default {};", "fail"),
        ("send_batch_messages = 0", SOURCE, "pass"),
        ("send_batch_messages = 0", PARTS.replace("COUNT", "10"), "unknown"),
        ("", "export default { async fetch() {} };", "unknown"),
        ("", "export default { async fetch( };", "unknown"),
    ],
)
def test_2_a_send_batch_is_within_both_limits(text, source, verdict, tmp_path):
    listed = declared(tmp_path, f"[queues.orders]\n{text}\n", source=source)
    assert answer(listed, 2, "orders").verdict == verdict


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ("await env.MAILS.sendBatch(all);", "pass"),
        ("const { sendBatch } = env.Q; await sendBatch(all);", "unknown"),
        ("await env.MAILS.sendBatch(all); await helper(env.Q.sendBatch, all);", "unknown"),
    ],
)
def test_2_what_is_sent_together_to_another_queue_is_no_doubt(more, verdict, tmp_path):
    config = CONFIG.replace('"producers": [', '"producers": [{ "binding": "MAILS", "queue": "mails" }, ')
    source = SOURCE.replace("await env.Q.send", f"{more} await env.Q.send")
    found = answer(declared(tmp_path, config=config, source=source), 2, "orders")
    assert found.verdict == verdict
    assert [each.text for each in found.evidence] == ["calls no sendBatch() on Q, nor do the modules that it imports"] * (verdict == "pass")


def test_2_what_a_module_that_is_imported_by_one_name_sends_counts(tmp_path):
    source = f'import * as lib from "./lib";\n{SOURCE}'
    write(tmp_path, {"src/lib.ts": "export const flush = (env) => env.Q.sendBatch(all.slice(0, 101));"})
    assert answer(declared(tmp_path, source=source), 2, "orders").verdict == "fail"


def test_2_what_the_account_knows_of_other_producers_is_a_doubt(tmp_path):
    facts = {"version": 1, "queues": {"orders": {"producers": ["w", "elsewhere"]}}}
    write(tmp_path, {"wrangler.jsonc": CONFIG, "src/index.ts": SOURCE, "facts.json": json.dumps(facts)})
    found = answer(checklist(tmp_path, facts="facts.json"), 2, "orders")
    assert found.verdict == "unknown"
    assert "elsewhere sends as well" in found.todo[0]


@pytest.mark.parametrize(
    ("text", "source", "verdict"),
    [
        ("", SOURCE, "pass"),
        ('idempotency_key = "id"', SOURCE, "pass"),
        ('idempotency_key = "order"', SOURCE, "fail"),
        ("", SOURCE.replace("crypto.randomUUID()", "order.id"), "unknown"),
        ('idempotency_key = "id"', SOURCE.replace("crypto.randomUUID()", "order.id"), "pass"),
        ("", SOURCE.replace("INSERT OR IGNORE", "INSERT"), "unknown"),
        ('deduplication = "a.id is unique"', SOURCE.replace("INSERT OR IGNORE", "INSERT"), "pass"),
        ('deduplication = "a.id is unique"', SOURCE.replace("OR IGNORE ", "").replace("m.body.id", "crypto.randomUUID()"), "fail"),
        ('idempotency_key = "id"\ndeduplication = "a.id is unique"', "export default make();", "pass"),
    ],
)
def test_3_both_sides_of_the_key(text, source, verdict, tmp_path):
    listed = declared(tmp_path, f"[queues.orders]\n{text}\n", source=source)
    assert answer(listed, 3, "orders").verdict == verdict


@pytest.mark.parametrize(
    "more",
    [
        "async function put(queue, body) { await queue.send(body); }",
        "const put = (to) => to.sendBatch(all);",
        "const put = (name, env) => env[name].send({});",
    ],
)
def test_3_what_is_sent_elsewhere_is_a_doubt(more, tmp_path):
    listed = declared(tmp_path, source=SOURCE + more)
    assert answer(listed, 3, "orders").verdict == "unknown"
    assert "which may be any queue" in " ".join(answer(listed, 3, "orders").todo)


@pytest.mark.parametrize(
    ("text", "source", "verdict"),
    [
        ("", SOURCE, "pass"),
        ("", SOURCE.replace("m.ack();", ""), "fail"),
        ('acknowledgement = "looked at on Monday"', SOURCE.replace("m.ack();", ""), "fail"),
        ("", "export default make();", "unknown"),
        ('acknowledgement = "looked at on Monday"', "export default make();", "pass"),
    ],
)
def test_4_the_source_says_how_it_acknowledges(text, source, verdict, tmp_path):
    listed = declared(tmp_path, f"[queues.orders]\n{text}\n", source=source)
    assert answer(listed, 4, "orders").verdict == verdict


@pytest.mark.parametrize(
    ("value", "verdict"),
    [("3", "pass"), ("0", "pass"), ("100", "pass"), ("101", "fail"), ("-1", "fail"), ("1.5", "fail"), ('"3"', "fail"), ("null", "fail")],
)
def test_5_max_retries_is_a_decision(value, verdict, tmp_path):
    assert answer(declared(tmp_path, config=CONFIG.replace(": 3", f": {value}")), 5, "orders").verdict == verdict


@pytest.mark.parametrize("key", ["", '"max_retry": 3, ', '"maxRetries": 3, '])
def test_5_what_is_not_set_fails(key, tmp_path):
    found = answer(declared(tmp_path, config=CONFIG.replace('"max_retries": 3, ', key)), 5, "orders")
    assert found.verdict == "fail"
    assert ("is not read" in found.evidence[0].text) == bool(key)


DEAD = '[queues.orders]\njurisdiction = "eu"\n[queues.orders-dlq]\njurisdiction = "eu"\n'
WITH_CONSUMER = CONFIG.replace(" }]\n  }", ' }, { "queue": "orders-dlq", "max_retries": 3 }]\n  }')


@pytest.mark.parametrize(
    ("text", "config", "verdict", "said"),
    [
        (DEAD + 'alert = "on-call"', WITH_CONSUMER, "pass", "on-call is told"),
        (DEAD, WITH_CONSUMER, "unknown", "whether somebody hears"),
        ('[queues.orders-dlq]\nalert = "on-call"', WITH_CONSUMER, "unknown", "jurisdiction"),
        (DEAD + 'alert = "on-call"', CONFIG, "unknown", "whether somebody consumes"),
        (DEAD.replace('"eu"', '"us"', 1), WITH_CONSUMER, "fail", "another jurisdiction"),
        (DEAD, CONFIG.replace(', "dead_letter_queue": "orders-dlq"', ""), "fail", "deleted for good"),
        (DEAD, CONFIG.replace("orders-dlq", "orders"), "fail", "its own dead-letter queue"),
        (DEAD.replace('"eu"', '"global"'), WITH_CONSUMER, "unknown", "whether somebody hears"),
    ],
)
def test_6_the_four_questions_about_a_dead_letter_queue(text, config, verdict, said, tmp_path):
    found = answer(declared(tmp_path, text, config=config), 6, "orders")
    assert found.verdict == verdict
    assert said in found.said


def account(folder, queues, **files):
    """The list with an account that holds these queues."""
    facts = json.dumps({"version": 1, "plan": "paid", "queues": queues})
    write(folder, {"wrangler.jsonc": CONFIG, "src/index.ts": SOURCE, "facts.json": facts} | {k.replace("_", "."): v for k, v in files.items()})
    return checklist(folder, facts="facts.json")


def test_6_the_account_knows_who_consumes(tmp_path):
    consumed = {"orders": {"jurisdiction": "eu"}, "orders-dlq": {"jurisdiction": "eu", "consumers": [{"script_name": "graves"}]}}
    found = answer(account(tmp_path, consumed), 6, "orders")
    assert found.verdict == "unknown"
    assert found.todo == ("declare `alert` in [tool.cfq-lint.queues.orders-dlq]",)
    empty = {"orders": {}, "orders-dlq": {"consumers": []}}
    found = answer(account(tmp_path, empty), 6, "orders")
    assert found.verdict == "fail"
    assert "deleted after 4 days (345,600 s)" in found.said
    kinds = {each.kind for each in found.evidence}
    assert kinds == {"file", "account"}


def test_6_what_the_account_has_and_the_file_has_not_is_not_certain(tmp_path):
    queues = {"orders": {"consumers": [{"script_name": "w", "dead_letter_queue": "orders-dlq"}]}, "orders-dlq": {"consumers": [{"script_name": "g"}]}}
    found = answer(account(tmp_path, queues, wrangler_jsonc=CONFIG.replace(', "dead_letter_queue": "orders-dlq"', "")), 6, "orders")
    assert found.verdict == "unknown"
    assert "whether a deploy keeps it" in found.said


def test_6_a_queue_that_is_not_there_is_made_beside_its_source(tmp_path):
    found = answer(account(tmp_path, {"orders": {"jurisdiction": "eu", "consumers": []}}), 6, "orders")
    assert any("no queue 'orders-dlq'" in each.text for each in found.evidence)
    assert found.verdict == "fail", "and nobody consumes what does not exist"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("", "unknown"),
        ('plan = "paid"', "pass"),
        ('plan = "free"', "pass"),
        ('plan = "free"\n[queues.orders]\nmessage_retention_period = 86400', "pass"),
        ('plan = "free"\n[queues.orders]\nmessage_retention_period = 86401', "fail"),
        ('plan = "paid"\n[queues.orders]\nmessage_retention_period = 1209600', "pass"),
        ('plan = "paid"\n[queues.orders]\nmessage_retention_period = 1209601', "fail"),
        ('plan = "paid"\n[queues.orders]\nmessage_retention_period = 59', "fail"),
    ],
)
def test_7_the_plan_s_limit_is_known(text, verdict, tmp_path):
    assert answer(declared(tmp_path, text), 7, "orders").verdict == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("", "unknown"),
        ("processing_seconds = 900", "pass"),
        ("processing_seconds = 900.1", "fail"),
        ("processing_seconds = 1\nmax_processing_seconds = 1000", "fail"),
    ],
)
def test_8_an_invocation_ends_in_time(text, verdict, tmp_path):
    assert answer(declare(tmp_path, text), 8, "orders").verdict == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("", "unknown"),
        ("rate_per_second = 5000", "pass"),
        ("rate_per_second = 5000.5", "fail"),
        ("rate_per_second = 10\npeak_rate_per_second = 6000", "fail"),
        ("peak_rate_per_second = 0.1", "pass"),
    ],
)
def test_9_a_queue_takes_so_many(text, verdict, tmp_path):
    assert answer(declare(tmp_path, text), 9, "orders").verdict == verdict


@pytest.mark.parametrize(
    ("text", "verdict", "said"),
    [
        ("", "unknown", "the depth of its dead-letter queue and the age of its oldest message is not known"),
        ('metrics.dead_letter_depth = "here"', "unknown", "the age of its oldest message is not known"),
        ('metrics.dead_letter_depth = "here"\nmetrics.oldest_message_age = "there"', "pass", "the least that is needed"),
        ('metrics.dead_letter_depth = "here"\nmetrics.oldest_message_age = false', "fail", "nobody watches"),
        ('metrics.dead_letter_depth = "a"\nmetrics.oldest_message_age = "b"\nmetrics.retries = "c"\nmetrics.duplicates = "d"', "pass", "and so are"),
    ],
)
def test_10_at_least_two_numbers_are_watched(text, verdict, said, tmp_path):
    found = answer(declare(tmp_path, text), 10, "orders")
    assert found.verdict == verdict
    assert said in found.said


def test_dead_letter_queues_are_asked_what_concerns_them(tmp_path):
    listed = declared(tmp_path, config=WITH_CONSUMER)
    asked = {item.number for item in listed.items for each in item.answers if each.queue == "orders-dlq" and each.verdict != NOT_ASKED}
    assert asked == {4, 5, 7, 8}
    assert listed.queues == ("orders", "orders-dlq")


def test_a_queue_that_is_only_produced_to(tmp_path):
    config = '{ "name": "w", "main": "src/index.ts", "queues": { "producers": [{ "binding": "Q", "queue": "orders" }] } }'
    listed = declared(tmp_path, config=config)
    assert verdicts(listed) == "upuuuuuuuu"
    assert "name the file of orders's consumer" in answer(listed, 4, "orders").todo[0]
    facts = {"orders": {"consumers": [{"type": "http_pull", "dead_letter_queue": "orders-dlq", "settings": {"max_retries": 4}}]}}
    listed = account(tmp_path, facts, wrangler_jsonc=config)
    assert answer(listed, 8, "orders").verdict == NOT_ASKED
    assert answer(listed, 5, "orders").evidence[0].text == "max_retries is 4"
    assert answer(listed, 6, "orders").evidence[0].text == "dead_letter_queue is 'orders-dlq'"


def test_a_file_that_wrangler_never_reads_is_passed_over(tmp_path):
    listed = declared(tmp_path, wrangler_json=CONFIG.replace("orders", "others"))
    assert len(listed.files) == 2
    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.project import project_of
    from cfq_lint.model.wrangler import Worker
    from cfq_lint.source.discovery import Surroundings, survey
    from cfq_lint.source.document import read

    documents = [read(str(tmp_path / name)) for name in ("wrangler.json", "wrangler.jsonc")]
    for document in documents:
        survey(document, document.path, Surroundings())
    project = project_of(map(Worker, documents), Facts(), lambda _: None)
    assert project.passed_over == (documents[1].path,)
    assert {subject.queue for subject in project.subjects} == {"others"}


def test_one_environment_as_it_is_deployed():
    listed = checklist(ACCEPTANCE / "environments", env="production")
    assert listed.queues == ("index (env.production)", "index-dlq (env.production)")
    assert answer(listed, 6, "index (env.production)").verdict == "unknown"


def test_3_a_binding_that_is_handed_on_is_a_doubt(tmp_path):
    listed = declared(tmp_path, source=SOURCE + "const put = (env) => service.put(env.Q, {});")
    for item in (2, 3):
        found = answer(listed, item, "orders")
        assert found.verdict == "unknown"
        assert "hands env.Q on" in " ".join(found.todo)


@pytest.mark.parametrize(
    ("source", "todo"), [(None, "build it, correct `main`, or name its source in the setting `source`, and run again"), ("export default {", "correct it, and run again")]
)
def test_a_source_that_cannot_be_read_says_what_to_do(source, todo, tmp_path):
    listed = declared(tmp_path, source="" if source is None else source)
    if source is None:
        (tmp_path / "src" / "index.ts").unlink()
        listed = checklist(tmp_path)
    assert todo in answer(listed, 4, "orders").todo
