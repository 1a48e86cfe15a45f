"""Time and money: the pricing page's examples to the cent, three retries against a hundred, and what Little's law asks for."""

from __future__ import annotations

import json

import pytest

from cfq_lint.checklist import html as checklist_html
from cfq_lint.estimate import html
from cfq_lint.estimate.reckoning import reads
from cfq_lint.estimate.rows import rows
from cfq_lint.model.account_facts import DeclaredLoad

from .support import ACCEPTANCE, CONFIG, answer, declared, estimated, write

DAY = 86_400


def of(folder, text="", given=None, config=CONFIG, **options):
    """The estimate of one queue with settings."""
    write(folder, {"wrangler.jsonc": config, "cfq-lint.toml": text})
    return estimated(folder, given, **options)


@pytest.mark.parametrize(
    ("a_day", "size", "operations", "usd"),
    [(1_000_000, 60_000, 90_000_000, 35.60), (100_000_000 / 30, 127_000, 600_000_000, 239.60)],
    ids=["a million a day", "100 million large ones a month"],
)
def test_the_two_examples_of_the_pricing_page_to_the_cent(a_day, size, operations, usd, tmp_path):
    made = of(tmp_path, given=DeclaredLoad(rate_per_second=a_day / DAY, message_size_bytes=size, failure_share=0.0))
    assert made.operations == pytest.approx(operations)
    assert round(made.usd, 2) == usd
    month = made.queues[0].month
    assert month.writes == pytest.approx(operations / 3)
    assert month.reads == pytest.approx(operations / 3)
    assert month.deletes == pytest.approx(operations / 3)


def test_three_retries_against_a_hundred_is_a_table(tmp_path):
    config = CONFIG.replace('"max_retries": 3', '"max_retries": 10, "retry_delay": 60')
    load = DeclaredLoad(rate_per_second=1_000_000 / DAY, message_size_bytes=65_000, failure_share=0.01)
    (queue,) = of(tmp_path, given=load, config=config).queues
    assert [each.max_retries for each in queue.table] == [3, 10, 100]
    assert [each.deliveries for each in queue.table] == [4, 11, 101]
    assert [each.poisoned_reads for each in queue.table] == [8, 22, 202]
    assert [each.horizon_seconds for each in queue.table] == [180, 600, 6000]
    assert not any(each.outlasts_retention for each in queue.table)
    # 300,000 poisoned messages a month: a write, the reads, and in the dead-letter queue a write and a delete, two chunks each
    assert [round(each.poisoned_operations) for each in queue.table] == [300_000 * 2 * (1 + n + 2) for n in (4, 11, 101)]
    assert [round(each.poisoned_usd, 2) for each in queue.table] == [1.68, 3.36, 24.96]
    assert queue.as_set == queue.table[1]


def test_what_is_set_to_one_of_them_stands_once(tmp_path):
    (queue,) = of(tmp_path).queues
    assert [each.max_retries for each in queue.table] == [3, 100]
    assert queue.as_set.poisoned_operations is None


@pytest.mark.parametrize(
    ("failing", "retries", "expected"),
    [(0, 3, 1), (1, 3, 4), (0.5, 1, 1.5), (0.5, 3, 1.875), (0.03, 100, 1 / 0.97), (0.2, 0, 1)],
)
def test_reads_of_a_message_whose_deliveries_fail_independently(failing, retries, expected):
    assert reads(retries, failing) == pytest.approx(expected)


def test_a_dead_letter_is_written_and_where_somebody_consumes_it_read_and_deleted(tmp_path):
    load = DeclaredLoad(rate_per_second=1 / DAY, failure_share=1.0)
    unread = of(tmp_path, given=load).queues[0].month
    assert (unread.messages, unread.writes, unread.reads, unread.deletes) == pytest.approx((30, 30, 120, 0))
    assert (unread.dead_letters, unread.dead_letter_operations) == pytest.approx((30, 60))
    read = of(tmp_path, given=load, config=CONFIG.replace(" }]\n  }", ' }, { "queue": "orders-dlq" }]\n  }')).queues[0].month
    assert read.dead_letter_operations == pytest.approx(90)
    dropped = of(tmp_path, given=load, config=CONFIG.replace(', "dead_letter_queue": "orders-dlq"', "")).queues[0].month
    assert (dropped.deletes, dropped.dead_letters, dropped.dead_letter_operations) == pytest.approx((30, 0, 0))


def test_the_emulator_bills_the_same(tmp_path):
    """A message that always fails, and one that never does: what the estimate says is what happens."""
    from emulator import Emulator

    def broken(_batch):
        raise RuntimeError

    for failing, handle in ((0.0, lambda _batch: None), (1.0, broken)):
        emu = Emulator()
        for name in ("orders", "orders-dlq"):
            emu.create_queue(name)
        emu.consume("orders", handle, max_retries=3, dead_letter_queue="orders-dlq", max_batch_size=10)
        emu.consume("orders-dlq", lambda _batch: None)
        for number in range(10):
            emu.queue("orders").send({"id": number})
        emu.run_until_idle()
        billed = sum(each.total for each in emu.report().operations.values())
        config = CONFIG.replace(" }]\n  }", ' }, { "queue": "orders-dlq" }]\n  }')
        made = of(tmp_path, given=DeclaredLoad(rate_per_second=10 / 30 / DAY, failure_share=failing), config=config)
        assert made.operations == pytest.approx(billed)
        emu.close()


def test_retries_that_outlast_retention_are_said(tmp_path):
    config = CONFIG.replace('"max_retries": 3', '"max_retries": 100, "retry_delay": 3600')
    (queue,) = of(tmp_path, config=config).queues
    assert queue.as_set.horizon_seconds == 360_000
    assert queue.as_set.outlasts_retention
    assert any("expires first" in note for note in queue.notes)
    (queue,) = of(tmp_path, "[queues.orders]\nmessage_retention_period = 1209600", config=config).queues
    assert not queue.as_set.outlasts_retention
    assert queue.retention_source == "declared"
    (queue,) = of(tmp_path, config=config.replace(": 100,", ": 24,"), plan="free").queues
    assert queue.as_set.outlasts_retention, "the last retry comes when the message is gone"
    assert queue.retention_source == "fixed on the Free plan"


def test_what_cloudflare_does_not_take_is_said_beside_the_bill(tmp_path):
    within = DeclaredLoad(rate_per_second=5_000, message_size_bytes=127_900, processing_seconds=900)
    beyond = DeclaredLoad(rate_per_second=5_001, message_size_bytes=127_901, processing_seconds=901)
    (accepted,), (refused,) = of(tmp_path, given=within).queues, of(tmp_path, given=beyond).queues
    said = [note for note in refused.notes if note not in accepted.notes]
    assert len(said) == 3
    assert all(any(word in note for note in said) for word in ("128,000", "5,000 messages a second", "15 minutes")), said


def test_without_a_delay_retries_follow_at_once(tmp_path):
    (queue,) = of(tmp_path).queues
    assert queue.as_set.horizon_seconds == 0
    assert any("at once" in note for note in queue.notes)


@pytest.mark.parametrize(
    ("settings", "load", "invocations", "needed", "enough"),
    [
        # Cloudflare's own example: 100 messages a second, 5 seconds for a batch of 100 are about five at a time
        ('"max_batch_size": 100', (100, 5), 1, 5, True),
        ('"max_batch_size": 10', (500, 2), 50, 100, True),
        ('"max_batch_size": 10, "max_concurrency": 99', (500, 2), 50, 100, False),
        ('"max_batch_size": 1', (500, 0.5), 500, 250, True),
        ('"max_batch_size": 1', (501, 0.5), 501, 250.5, False),
        # in five seconds only five messages come
        ('"max_batch_size": 100', (1, 10), 0.2, 2, True),
        ('"max_batch_size": 100, "max_batch_timeout": 0', (50, 1), 50, 50, True),
    ],
)
def test_concurrency_by_little_s_law(settings, load, invocations, needed, enough, tmp_path):  # noqa: PLR0917 - a row each
    config = CONFIG.replace('"max_retries": 3', f'"max_retries": 3, {settings}')
    (queue,) = of(tmp_path, given=DeclaredLoad(rate_per_second=load[0], processing_seconds=load[1]), config=config).queues
    assert queue.concurrency.invocations_per_second == pytest.approx(invocations)
    assert queue.concurrency.needed == pytest.approx(needed)
    assert queue.concurrency.is_enough == enough


def test_failures_need_more_invocations(tmp_path):
    load = DeclaredLoad(rate_per_second=10, processing_seconds=1, failure_share=0.5)
    (queue,) = of(tmp_path, given=load, config=CONFIG.replace('"max_retries": 3', '"max_batch_size": 1')).queues
    assert queue.concurrency.needed == pytest.approx(18.75)
    assert queue.concurrency.rate_at_limit == pytest.approx(250 / 1.875)


def test_what_is_not_declared_is_said_and_nothing_is_made_of_it(tmp_path):
    made = of(tmp_path)
    (queue,) = made.queues
    assert [each.split(":")[0] for each in queue.missing] == [
        "rate_per_second", "message_size_bytes", "failure_share", "processing_seconds, or processing_message_seconds for each message",
    ]  # fmt: skip
    assert (made.operations, made.usd, queue.month, queue.concurrency, queue.batches) == (None, None, None, None, ())
    assert queue.free_messages_a_day == 3_333


def test_what_is_given_wins_over_what_is_declared(tmp_path):
    text = "[queues.orders]\nrate_per_second = 1\nmessage_size_bytes = 2_000\n"
    (queue,) = of(tmp_path, text, DeclaredLoad(rate_per_second=5.0)).queues
    assert (queue.load.rate_per_second, queue.load.message_size_bytes) == (5.0, 2_000)


def test_the_included_million_is_shared(tmp_path):
    consumers = ", ".join(f'{{ "queue": "q{n}", "dead_letter_queue": "d" }}' for n in range(3))
    config = f'{{ "queues": {{ "consumers": [{consumers}] }} }}'
    made = of(tmp_path, given=DeclaredLoad(rate_per_second=1_000_000 / 30 / DAY), config=config)
    assert made.operations == pytest.approx(9_000_000)
    assert made.usd == pytest.approx(3.20)
    assert sum(queue.month.usd for queue in made.queues) == pytest.approx(3.60)


def test_two_workers_of_one_queue_are_billed_once():
    made = estimated(ACCEPTANCE / "environments", DeclaredLoad(rate_per_second=1.0))
    assert [queue.queue for queue in made.queues] == ["index-staging (env.staging)", "index (env.production)"]
    assert made.complete


def test_the_account_s_settings_count_where_no_file_has_them(tmp_path):
    consumer = {"type": "worker", "dead_letter_queue": "d", "settings": {"max_retries": 7, "max_wait_time_ms": 2000, "batch_size": 20, "max_concurrency": None}}
    facts = json.dumps({"version": 1, "queues": {"orders": {"consumers": [consumer]}, "d": {"consumers": []}}})
    write(tmp_path, {"facts.json": facts})
    config = '{ "queues": { "producers": [{ "binding": "Q", "queue": "orders" }] } }'
    (queue,) = of(tmp_path, config=config, facts="facts.json").queues
    assert {name: each.value for name, each in queue.settings.items()} == {
        "max_retries": 7, "retry_delay": 0, "max_batch_size": 20, "max_batch_timeout": 2, "max_concurrency": None,
    }  # fmt: skip
    assert queue.dead_letter_queue == "d"
    assert any("nobody is known to consume d" in note for note in queue.notes)


def test_a_consumer_that_nobody_knows_is_said(tmp_path):
    config = '{ "queues": { "producers": [{ "binding": "Q", "queue": "orders" }] } }'
    (queue,) = of(tmp_path, config=config).queues
    assert any("its consumer is not known" in note for note in queue.notes)
    assert declared(tmp_path).queues == ("orders",)


@pytest.mark.parametrize(
    ("load", "took", "needed", "said"),
    [
        # ten messages a batch at 100/s are ten invocations a second
        ({"processing_seconds": 2.0}, 2.0, 20, "10/s x 2 s"),
        ({"processing_message_seconds": 0.5}, 5.0, 50, "(10 x 0.5 s = 5 s)"),
        ({"processing_seconds": 2.0, "processing_message_seconds": 0.5}, 7.0, 70, "(2 s + 10 x 0.5 s = 7 s)"),
    ],
)
def test_work_is_by_batch_or_by_message_and_it_is_said_which(load, took, needed, said, tmp_path):
    made = of(tmp_path, given=DeclaredLoad(rate_per_second=100, **load))
    (queue,) = made.queues
    assert queue.concurrency.invocation_seconds == pytest.approx(took)
    assert queue.concurrency.needed == pytest.approx(needed)
    assert said.removeprefix("10/s ") in dict(rows(queue, None))["concurrency"]
    assert ("whatever is in it" in dict(rows(queue, None))["declared"]) is ("processing_message_seconds" not in load)


def test_the_checklist_knows_work_by_message_too(tmp_path):
    text = "[queues.orders]\nprocessing_seconds = 100\nprocessing_message_seconds = {}\n"
    for each, verdict in ((80, "pass"), (80.1, "fail")):
        assert answer(declared(tmp_path, text.format(each)), 8, "orders").verdict == verdict


def test_what_a_rate_is_applied_to_is_said(tmp_path):
    (queue,) = of(tmp_path, "[queues.orders]\nrate_per_second = 7").queues
    assert dict(rows(queue, None))["declared"].startswith("7 messages a second are sent to this queue")
    assert "each other one" not in dict(rows(queue, None))["declared"]
    (queue,) = of(tmp_path, given=DeclaredLoad(rate_per_second=7)).queues
    assert dict(rows(queue, None))["declared"].startswith("7 messages a second are sent to this queue, and as many to each other one")


def test_retries_after_a_message_has_expired_are_not_billed(tmp_path):
    """Every 12 hours, kept for four days: eight deliveries, then it expires, and is no dead letter."""
    config = CONFIG.replace('"max_retries": 3', '"max_retries": 100, "retry_delay": 43200')
    (queue,) = of(tmp_path, given=DeclaredLoad(rate_per_second=1 / DAY, failure_share=1.0), config=config).queues
    assert (queue.as_set.deliveries, queue.as_set.poisoned_reads) == (8, 8)
    assert (queue.month.reads, queue.month.deletes, queue.month.dead_letters) == pytest.approx((240, 30, 0))
    assert dict(rows(queue, None))["retries"].startswith("8 deliveries of 101: the last would come 100 x retry_delay")


def test_the_emulator_expires_it_at_the_same_delivery():
    from emulator import Emulator

    def broken(_batch):
        raise RuntimeError

    with Emulator() as emu:
        emu.create_queue("orders")
        emu.consume("orders", broken, max_retries=100, retry_delay=43_200, max_batch_timeout=0)
        emu.queue("orders").send("x")
        emu.advance(10 * DAY)
        assert len(emu.deliveries) == 8


def test_nothing_is_read_where_certainly_nobody_consumes(tmp_path):
    facts = json.dumps({"version": 1, "queues": {"orders": {"consumers": []}}})
    write(tmp_path, {"facts.json": facts})
    config = '{ "queues": { "producers": [{ "binding": "Q", "queue": "orders" }] } }'
    load = DeclaredLoad(rate_per_second=1 / DAY, failure_share=0.5, processing_seconds=1.0)
    (queue,) = of(tmp_path, given=load, config=config, facts="facts.json").queues
    assert (queue.month.writes, queue.month.reads, queue.month.deletes, queue.month.operations) == pytest.approx((30, 0, 30, 60))
    assert (queue.table, queue.concurrency, queue.batches) == ((), None, ())
    assert "retries" not in dict(rows(queue, None))
    assert "nothing is read or retried" in " ".join(queue.notes)


def test_a_queue_that_is_pulled_from_has_no_invocations(tmp_path):
    facts = json.dumps({"version": 1, "queues": {"orders": {"consumers": [{"type": "http_pull"}]}}})
    write(tmp_path, {"facts.json": facts})
    config = '{ "queues": { "producers": [{ "binding": "Q", "queue": "orders" }] } }'
    (queue,) = of(tmp_path, given=DeclaredLoad(rate_per_second=1, processing_seconds=1.0), config=config, facts="facts.json").queues
    assert (queue.concurrency, queue.batches) == (None, ())
    assert queue.month.reads == queue.month.messages


def test_sends_that_are_refused_are_not_billed(tmp_path):
    (most,) = of(tmp_path, given=DeclaredLoad(rate_per_second=5_000)).queues
    (more,) = of(tmp_path, given=DeclaredLoad(rate_per_second=50_000)).queues
    assert more.month == most.month
    (large,) = of(tmp_path, given=DeclaredLoad(rate_per_second=1, message_size_bytes=128_000)).queues
    assert large.month.operations == 0
    assert large.concurrency is None


def test_pages_draw_what_they_compare(tmp_path):
    made = of(tmp_path, given=DeclaredLoad(rate_per_second=100, failure_share=0.01, processing_seconds=1.0))
    page = html.render(made)
    assert page.count("<svg") == 3
    assert 'aria-label="Operations a month, and their price beyond the included million. orders: 780,218,' in page
    assert "max_retries 100: 101 reads" in page
    listed = declared(tmp_path)
    ((_, verdicts),) = listed.matrix
    counts = ", ".join(f"{verdicts.count(each)} {each}" for each in ("pass", "fail", "unknown") if each in verdicts)
    assert f"orders: {counts}" in checklist_html.render(listed)
