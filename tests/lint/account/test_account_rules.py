"""Each defect of an account is found once and by its own rule; the account is the one that wrangler made, recorded."""

from __future__ import annotations

import json
from itertools import combinations

import pytest

from cfq_lint.report import FORMATS, renderer
from cfq_lint.rules.registry import BY_KEY, INDEX, every_rule
from cfq_lint.run.engine import conclude, judge
from cfq_lint.run.plan import Plan
from cfq_lint.run.selection import able, choose
from tests.lint.support import FIXTURES, account_of, document_of, keys_of

from .defects import DEFECTS, file_with, snapshot_with

RECORDED = json.loads((FIXTURES / "golden" / "account.json").read_text(encoding="utf-8"))
LIVE = [rule for rule in every_rule() if rule.needs == "live"]


def report(files, account, *, env=None, modules=None, plan=None):
    """The report on files (a text, or texts by path), held against an account as a snapshot has it."""
    facts = account_of({**account, "plan": plan} if plan else account)
    chosen, skipped = able(choose() if modules is None else modules, facts)
    texts = {"wrangler.jsonc": files} if isinstance(files, str) else files
    plan = Plan(chosen, facts, env, skipped=skipped)
    return conclude([judge(document_of(text, path), plan) for path, text in texts.items()], plan)


def said(files, account, **options):
    """What is said of the account, and of all else above info."""
    found = report(files, account, **options).findings
    return sorted(f.name for f in found if f.code.startswith("CFQ9") or f.severity.value != "info")


def one(files, account, name, **options):
    """The only finding, of that rule."""
    (finding,) = [f for f in report(files, account, **options).findings if f.code.startswith("CFQ9")]
    assert finding.name == name
    return finding


def shop(*consumers, producers=(), name="shop", **more):
    """A file of one Worker."""
    bound = [{"binding": queue.upper().replace("-", "_"), "queue": queue} for queue in producers]
    return json.dumps({"name": name, "queues": {"producers": bound, "consumers": list(consumers)}, **more})


def queues(**by_name):
    """An account; names with `_` for `-`."""
    return {"taken_at": "2026-01-05T00:00:00Z", "queues": {name.replace("_", "-"): queue for name, queue in by_name.items()}}


def by(script="shop", dead=None, **settings):
    """A Worker's consumer in the account."""
    made = {"type": "worker", "script_name": script, "settings": settings}
    return made | ({"dead_letter_queue": dead} if dead else {})


PULLED = {"consumers": [{"type": "http_pull"}], "producers": []}


# --- the matrix


def test_every_rule_about_the_account_has_a_defect():
    assert {rule.name for rule in LIVE} == {*DEFECTS, "operations-over-plan"}  # of another plan: test_measured.py


def test_a_sound_account_gives_no_finding():
    assert not report(file_with(), snapshot_with(RECORDED)).findings


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_alone_gives_its_own_finding_and_nothing_else(name):
    assert [f.name for f in report(file_with(name), snapshot_with(RECORDED, name)).findings] == [name]


def test_two_defects_give_two_findings():
    for pair in combinations(DEFECTS, 2):
        assert sorted(f.name for f in report(file_with(*pair), snapshot_with(RECORDED, *pair)).findings) == sorted(pair)


def test_all_defects_together_give_each_once():
    found = report(file_with(*DEFECTS), snapshot_with(RECORDED, *DEFECTS)).findings
    assert sorted(f.name for f in found) == sorted(DEFECTS)


def test_without_an_account_the_rules_are_skipped_and_counted():
    modules, skipped = able(choose(), account_of({"queues": {}}).__class__())
    assert list(skipped) == [rule.code for rule in LIVE]
    assert not {BY_KEY[rule.code] for rule in LIVE} & set(modules)


def test_rules_that_guess_give_way_only_where_the_account_is_known():
    modules, _ = able(choose(), account_of({"queues": {}}))
    guesses = {module for module, row in INDEX.items() if row.superseded_by is not None}
    assert guesses
    assert not guesses & set(modules)
    assert {INDEX[BY_KEY[INDEX[module].superseded_by]].code[:4] for module in guesses} == {"CFQ9"}


def test_a_report_does_not_depend_on_the_order_of_files_or_rules():
    files = {"b/wrangler.jsonc": file_with(*DEFECTS), "a/wrangler.jsonc": shop({"queue": "invoices"}, name="billing")}
    account = snapshot_with(RECORDED, *DEFECTS)
    keys = keys_of(report(files, account))
    assert keys == keys_of(report(dict(reversed(files.items())), account)) == keys_of(report(files, account, modules=choose()[::-1]))


@pytest.mark.parametrize("name", FORMATS)
def test_every_output_shows_what_stands_in_no_file(name):
    text = renderer(name)(report(file_with("queue-unused"), snapshot_with(RECORDED, "queue-unused")))
    assert "account" in text
    assert "wrangler queues delete attic" in " ".join(text.split())


# --- each rule more closely


def test_queue_missing_fails_the_deploy_unless_the_worker_produces_to_it():
    account = queues(dlq=PULLED)
    consumed = shop({"queue": "jobs", "dead_letter_queue": "dlq"})
    both = shop({"queue": "jobs", "dead_letter_queue": "dlq"}, producers=["jobs"])
    assert one(consumed, account, "queue-missing").severity == "error"
    assert one(both, account, "queue-missing").severity == "warning"
    assert one(shop(producers=["jobs"]), account, "queue-missing").severity == "warning"
    # Another Worker's producer does not make it.
    files = {"a/wrangler.jsonc": shop(producers=["jobs"], name="front"), "b/wrangler.jsonc": consumed}
    finding = one(files, account, "queue-missing")
    assert (finding.path, finding.severity, len(finding.related)) == ("b/wrangler.jsonc", "error", 1)


def test_a_misspelt_queue_is_one_finding_with_the_name_that_is_meant():
    account = queues(orders={"consumers": [by(dead="dlq")], "producers": []}, dlq=PULLED)
    finding = one(shop({"queue": "order", "dead_letter_queue": "dlq"}), account, "queue-missing")
    assert "did you mean 'orders'" in finding.message
    bare = queues(orders={"consumers": [], "producers": []}, dlq=PULLED)
    assert said(shop({"queue": "order", "dead_letter_queue": "dlq"}), bare) == ["queue-missing"]
    assert said(shop({"queue": "order", "dead_letter_queue": "dlq"}, producers=["orders"]), bare) == ["queue-missing"]


def test_a_misspelt_dead_letter_queue_is_one_finding():
    account = queues(orders={"consumers": [by(dead="orders-dlq")], "producers": []}, orders_dlq={"consumers": [by()], "producers": []})
    file = shop({"queue": "orders", "dead_letter_queue": "order-dlq"}, {"queue": "orders-dlq"})
    assert "did you mean 'orders-dlq'" in one(file, account, "dlq-missing").message
    assert said(file, account) == ["dlq-missing"]


def test_names_that_other_rules_refuse_are_not_missing():
    for name in ("<QUEUE>", "Bad_Name", "your-queue", "4f1c0a9be2d34756a8b9c0d1e2f3a4b5"):
        assert "queue-missing" not in said(shop({"queue": name, "dead_letter_queue": "dlq"}), queues(dlq=PULLED))


@pytest.mark.parametrize(
    ("setting", "value", "in_account", "words"),
    [
        ("max_batch_size", 20, {"batch_size": 50}, "max_batch_size is 50 in the account; the deploy overwrites it with 20"),
        ("max_batch_timeout", 2, {"max_wait_time_ms": 2500}, "max_batch_timeout is 2.5 in the account; the deploy overwrites it with 2"),
        ("max_retries", 3, {"max_retries": 10}, "max_retries is 10"),
        ("max_concurrency", 5, {"max_retries": 3}, "max_concurrency is unset (automatic) in the account; the deploy overwrites it with 5"),
        ("max_concurrency", 5, {"max_concurrency": 2}, "max_concurrency is 2"),
        ("retry_delay", 60, {"max_retries": 3}, "retry_delay is 0"),
        ("retry_delay", 60, {"retry_delay": None}, "retry_delay is 0"),
        ("max_batch_size", None, {"batch_size": 50}, "left out here; whether the deploy keeps it or takes the default, 10, is not documented"),
        ("max_batch_timeout", None, {"max_wait_time_ms": 0}, "takes the default, 5,"),
        ("max_concurrency", None, {"max_concurrency": 2}, "the deploy removes the cap"),
        ("retry_delay", None, {"retry_delay": 30}, "takes the default, 0,"),
    ],
)  # fmt: skip
def test_each_setting_that_differs_is_said(setting, value, in_account, words):
    account = queues(orders={"consumers": [by(dead="dlq", **in_account)], "producers": []}, dlq=PULLED)
    entry = {"queue": "orders", "dead_letter_queue": "dlq"} | ({setting: value} if value is not None else {})
    finding = one(shop(entry), account, "consumer-differs")
    assert words in finding.message
    where = finding.place.lines.text[finding.place.start : finding.place.end]
    assert where == (str(value) if value is not None else '"orders"')


def test_equal_settings_unknown_ones_and_those_that_the_file_has_wrong_are_not_different():
    for known, entry in [
        ({"batch_size": 10, "max_wait_time_ms": 5000, "max_retries": 3, "retry_delay": 0}, {}),
        ({}, {"max_retries": 7}),
        ({"max_retries": 7}, {"max_retries": 500}),
        ({"max_retries": 7}, {"max_retrys": 5}),
        ({"max_retries": 7}, {"maxRetries": 7}),
        ({"max_concurrency": None, "batch_size": 10}, {"max_batch_size": 10.0}),
    ]:
        account = queues(orders={"consumers": [by(dead="dlq", **known)], "producers": []}, dlq=PULLED)
        file = shop({"queue": "orders", "dead_letter_queue": "dlq", **entry})
        assert "consumer-differs" not in said(file, account), (known, entry)


def test_dead_letter_queues_that_differ_are_said_once():
    account = queues(orders={"consumers": [by(dead="dlq")], "producers": []}, dlq=PULLED, other=PULLED)
    assert said(shop({"queue": "orders", "dead_letter_queue": "other"}), account) == ["consumer-differs"]
    assert said(shop({"queue": "orders"}), account) == ["consumer-differs"]  # and not consumer-without-dlq
    retried = queues(orders={"consumers": [by(dead="dlq", max_retries=3)], "producers": []}, dlq=PULLED)
    assert said(shop({"queue": "orders", "max_retries": 0}), retried) == ["consumer-differs", "consumer-differs"]  # and not no-retries-no-dlq
    assert said(shop({"queue": "orders", "dead_letter_queue": "nowhere"}), account) == ["dlq-missing"]
    without = queues(orders={"consumers": [by()], "producers": []}, dlq=PULLED)
    assert "is not set in the account" in one(shop({"queue": "orders", "dead_letter_queue": "dlq"}), without, "consumer-differs").message
    assert said(shop({"queue": "orders"}), without) == ["consumer-without-dlq"]
    elsewhere = queues(orders={"jurisdiction": "eu", "consumers": [by()], "producers": []}, dlq=PULLED)
    assert said(shop({"queue": "orders", "dead_letter_queue": "dlq"}), elsewhere) == ["dlq-in-another-jurisdiction"]


def test_environments_are_workers_of_their_own():
    entry = {"dead_letter_queue": "dlq"}
    file = shop(
        {"queue": "orders", **entry},
        env={"staging": {"queues": {"consumers": [{"queue": "orders-staging", "max_retries": 5, **entry}]}}, "dev": {"queues": {}}},
    )
    account = queues(
        orders={"consumers": [by(dead="dlq", max_retries=3)], "producers": []},
        orders_staging={"consumers": [by("shop-staging", dead="dlq", max_retries=4)], "producers": []},
        orders_dev={"consumers": [by("shop-dev", dead="dlq")], "producers": []},
        dlq=PULLED,
    )
    found = {(f.name, f.environment) for f in report(file, account).findings if f.code.startswith("CFQ9")}
    assert found == {("consumer-differs", "staging"), ("stale-consumer", "dev")}
    assert {f.name for f in report(file, account, env="staging").findings if f.code.startswith("CFQ9")} == {"consumer-differs"}
    assert one(file, account, "stale-consumer", env="dev").environment == "dev"


def test_a_worker_without_a_queues_block_may_still_consume():
    account = queues(orders={"consumers": [by()], "producers": []})
    finding = one('{ "name": "shop", "main": "src/index.ts" }', account, "stale-consumer")
    assert finding.place.lines.text[finding.place.start : finding.place.end] == '"shop"'
    assert "wrangler queues consumer remove orders shop" in finding.message


@pytest.mark.parametrize(
    "broken",
    [
        {"name": "shop", "queues": {"consumer": [{"queue": "orders"}]}},
        {"name": "shop", "queues": {"consumers": [{"name": "orders"}]}},
        {"name": "shop", "queues": {"consumers": {"queue": "orders"}}},
        {"name": "shop", "queues": []},
        {"queues": {}},
    ],
    ids=str,
)
def test_nothing_is_stale_where_the_file_does_not_tell_all_its_consumers(broken):
    account = queues(orders={"consumers": [by()], "producers": []})
    assert "stale-consumer" not in said(json.dumps(broken), account)


def test_an_environment_that_forgot_its_queues_is_no_second_finding():
    file = shop({"queue": "orders", "dead_letter_queue": "dlq"}, env={"staging": {"vars": {"A": "b"}}})
    account = queues(
        orders={"consumers": [by(dead="dlq")], "producers": []},
        orders_staging={"consumers": [by("shop-staging", dead="dlq")], "producers": []},
        dlq=PULLED,
    )
    assert said(file, account) == ["env-queues-not-inherited"]


def test_a_file_that_does_not_parse_may_consume_anything():
    account = queues(orders={"consumers": [by()], "producers": []}, idle={"consumers": [], "producers": []})
    assert said({"wrangler.jsonc": '{ "name": "shop", "queues": { "consumers": [', "b/wrangler.jsonc": '{ "name": "shop" }'}, account) == [
        "parse-error"
    ]


def test_two_files_of_one_worker_consume_together():
    account = queues(orders={"consumers": [by()], "producers": []}, jobs={"consumers": [by()], "producers": []}, dlq=PULLED)
    files = {"a.jsonc": shop({"queue": "orders", "dead_letter_queue": "dlq"}), "b.jsonc": shop({"queue": "jobs", "dead_letter_queue": "dlq"})}
    assert "stale-consumer" not in said(files, account)


def test_a_consumer_that_moves_to_another_worker_of_the_run_is_one_finding():
    account = queues(orders={"consumers": [by("front")], "producers": []}, dlq=PULLED)
    files = {"a.jsonc": shop(producers=["orders"], name="front"), "b.jsonc": shop({"queue": "orders", "dead_letter_queue": "dlq"})}
    finding = one(files, account, "queue-consumed-elsewhere")
    assert (finding.path, "consumer remove orders front" in finding.message) == ("b.jsonc", True)


def test_two_workers_of_the_run_on_one_queue_are_the_files_mistake():
    account = queues(orders={"consumers": [by("front", dead="dlq")], "producers": []}, dlq=PULLED)
    entry = {"queue": "orders", "dead_letter_queue": "dlq"}
    assert said({"a.jsonc": shop(entry, name="front"), "b.jsonc": shop(entry)}, account) == ["queue-consumed-by-two-workers"]


def test_a_file_without_a_name_may_be_any_worker():
    account = queues(orders={"consumers": [by("anything", dead="dlq", max_retries=9)], "producers": []}, dlq=PULLED)
    assert said(json.dumps({"queues": {"consumers": [{"queue": "orders", "dead_letter_queue": "dlq"}]}}), account) == []


def test_a_notification_is_another_consumer():
    account = queues(orders={"consumers": [{"type": "notification"}], "producers": []}, dlq=PULLED)
    assert "a notification consumes" in one(shop({"queue": "orders", "dead_letter_queue": "dlq"}), account, "queue-consumed-elsewhere").message


def test_a_consumer_that_has_to_go_first_is_not_judged():
    account = queues(
        orders={"consumers": [{"type": "http_pull", "dead_letter_queue": "gone"}], "producers": []},
        jobs={"consumers": [by("old", dead="gone")], "producers": []},
        left={"consumers": [by(dead="gone", max_retries=100, retry_delay=86_400)], "producers": []},
        dlq=PULLED,
    )
    file = shop({"queue": "orders", "dead_letter_queue": "dlq"}, {"queue": "jobs", "dead_letter_queue": "dlq"})
    assert said(file, account) == ["pull-consumer-in-the-way", "queue-consumed-elsewhere", "stale-consumer"]


def test_consumers_of_the_account_are_judged_too_as_info_where_no_file_names_the_queue():
    pulled = {"type": "http_pull", "dead_letter_queue": "gone", "settings": {"max_retries": 10, "retry_delay": 600}}
    account = queues(orders={"message_retention_period": 3600, "consumers": [pulled], "producers": []})
    ours = report(shop(producers=["orders"]), account).findings
    assert {(f.name, f.path, f.severity.value) for f in ours} == {
        ("dlq-missing", "wrangler.jsonc", "warning"), ("retention-too-short", "wrangler.jsonc", "warning"),
    }  # fmt: skip
    others = report(shop(), account).findings
    assert {(f.name, f.path, f.severity.value) for f in others} == {
        ("dlq-missing", "account", "info"), ("retention-too-short", "account", "info"),
    }  # fmt: skip


def test_a_dead_letter_queue_that_a_file_is_to_consume_is_consumed():
    account = queues(orders={"consumers": [], "producers": []}, dlq={"consumers": [], "producers": []})
    file = shop({"queue": "orders", "dead_letter_queue": "dlq"})
    assert said(file, account) == ["dlq-unconsumed"]
    assert said({"a.jsonc": file, "b.jsonc": shop({"queue": "dlq"}, name="alerts")}, account) == []


def test_the_dead_letter_queue_of_an_account_consumer_needs_none_of_its_own():
    account = queues(dlq={"consumers": [by("alerts")], "producers": []}, orders={"consumers": [by(dead="dlq")], "producers": []})
    assert said(shop({"queue": "dlq"}, name="alerts"), account) == []


def test_who_is_its_own_dead_letter_queue_is_said_once():
    account = queues(orders={"consumers": [by(dead="orders")], "producers": []})
    assert said(shop({"queue": "orders", "dead_letter_queue": "orders"}), account) == ["dlq-self"]
    assert said(shop({"queue": "orders", "dead_letter_queue": "orders"}), queues()) == ["dlq-self", "queue-missing"]


@pytest.mark.parametrize(
    ("queue", "settings", "severity"),
    [
        ({"message_retention_period": 600}, {"retry_delay": 600}, "error"),
        ({"message_retention_period": 600, "delivery_delay": 600}, {}, "error"),
        ({"message_retention_period": 600, "delivery_delay": 600}, {"retry_delay": 900}, "error"),
        ({"message_retention_period": 600, "delivery_delay": 301}, {"retry_delay": 100}, "warning"),
        ({"message_retention_period": 600, "delivery_delay": 300}, {"retry_delay": 100}, None),
        ({"message_retention_period": 600}, {"retry_delay": 600, "max_retries": 0}, None),
        ({"message_retention_period": 600}, {"retry_delay": 60, "max_retries": 11}, "warning"),
        ({}, {"retry_delay": 86_400, "max_retries": 5}, "warning"),
        ({}, {"retry_delay": "60"}, None),
    ],
)
def test_the_retention_is_held_against_delays_and_retries(queue, settings, severity):
    account = queues(orders={"consumers": [], "producers": [], **queue}, dlq=PULLED)
    found = [f for f in report(shop({"queue": "orders", "dead_letter_queue": "dlq", **settings}), account).findings if f.code.startswith("CFQ9")]
    assert [(f.name, f.severity.value) for f in found] == ([("retention-too-short", severity)] if severity else [])


def test_the_free_plan_keeps_a_day_and_is_not_told_that_it_set_it():
    account = queues(orders={"message_retention_period": 86_400, "consumers": [], "producers": []}, dlq=PULLED)
    assert said(shop({"queue": "orders", "dead_letter_queue": "dlq"}), account, plan="free") == []
    late = shop({"queue": "orders", "dead_letter_queue": "dlq", "retry_delay": 40_000})
    assert said(late, account, plan="free") == ["retention-too-short"]


def test_messages_in_a_dead_letter_queue_without_consumer_live_four_days():
    old = {"message_retention_period": 1_209_600, "backlog_count": 1, "oldest_message_timestamp_ms": 1_767_571_200_000 - 300_000_000}
    account = queues(orders={"consumers": [], "producers": []}, dlq={"consumers": [], "producers": [], **old})
    file = shop({"queue": "orders", "dead_letter_queue": "dlq"})
    assert said(file, account) == ["dlq-not-empty", "dlq-unconsumed", "oldest-message-expiring"]
    assert said(file, queues(orders={"consumers": [], "producers": []}, dlq={**PULLED, **old})) == ["dlq-not-empty"]


def test_where_a_longer_retention_keeps_nothing_nobody_is_sent_to_set_one():
    waits = {"backlog_count": 1, "oldest_message_timestamp_ms": 1_767_571_200_000 - 300_000_000}
    file = shop({"queue": "orders", "dead_letter_queue": "dlq"})
    nobody = {"consumers": [], "producers": []}
    for retention, is_advised in ((302_400, True), (345_600, False), (1_209_600, False)):
        kept = queues(orders=nobody, dlq={**nobody, **waits, "message_retention_period": retention})
        (message,) = [each.message for each in report(file, kept).findings if each.name == "oldest-message-expiring"]
        assert ("retention-period" in message) == is_advised
        assert ("consumer http add dlq" in message) != is_advised


@pytest.mark.parametrize(("name", "shown"), [("a; rm -rf ~", "'a; rm -rf ~'"), ("-x", "'-x'"), ("it's", "'it'\\''s'"), ("old-1", "old-1")])
def test_a_command_to_copy_is_one_command(name, shown):
    account = queues(orders={"consumers": [], "producers": []}, dlq=PULLED, **{name: {"consumers": [], "producers": []}})
    finding = one(shop({"queue": "orders", "dead_letter_queue": "dlq"}), account, "queue-unused")
    assert finding.message.endswith(f"run `wrangler queues delete {shown}`")


def test_a_full_queue_refuses():
    account = queues(orders={**PULLED, "backlog_bytes": 25_000_000_000})
    assert one(shop(producers=["orders"]), account, "backlog-near-limit").severity == "error"
    assert said(shop(producers=["orders"]), queues(orders={**PULLED, "backlog_bytes": 19_999_999_999})) == []


def test_who_feeds_a_queue_that_nobody_consumes():
    nobody = {"consumers": [], "producers": []}
    assert said(shop(producers=["orders"]), queues(orders=nobody)) == ["queue-unconsumed"]
    assert one(shop(), queues(orders={"consumers": [], "producers": ["front"]}), "queue-unconsumed").severity == "info"
    assert one(shop(), queues(orders={**nobody, "backlog_count": 4}), "queue-unconsumed").path == "account"
    unknown = one(shop(), queues(orders=nobody), "queue-unused")
    assert unknown.severity == "info"
    assert "and no message waits in it, run" in unknown.message
    empty = one(shop(), queues(orders={**nobody, "backlog_count": 0}), "queue-unused")
    assert "over the REST API, run `wrangler queues delete orders`" in empty.message
    assert said(shop(), queues(orders={"consumers": [], "producers": None})) == []
    assert said(shop(), queues(orders={"consumers": None, "producers": []})) == []
    assert said(shop(), queues(orders={"consumers": [by("x", dead="dlq")], "producers": []}, dlq=nobody)) == ["dlq-unconsumed"]


def test_what_changes_from_hour_to_hour_does_not_change_the_fingerprint():
    from cfq_lint.model.finding import fingerprint

    def of(count, age):
        old = {"backlog_count": count, "oldest_message_timestamp_ms": 1_767_571_200_000 - age * 1000}
        account = queues(orders=PULLED, dlq={**PULLED, **old}, jobs={**PULLED, "backlog_bytes": 20_000_000_000 + count})
        found = report(shop({"queue": "x", "dead_letter_queue": "dlq"}, producers=["orders", "jobs"]), account).findings
        return [fingerprint(f, f.path) for f in found]

    assert of(3, 60) == of(1234, 90_000)
    assert len(of(3, 60)) == 3
