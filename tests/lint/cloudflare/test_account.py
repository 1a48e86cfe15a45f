"""How answers of the API become facts: bodies of two years, pages, and no more requests than there is to learn."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfq_lint.account import account as reader
from cfq_lint.account import payloads
from cfq_lint.account.account import PER_PAGE
from cfq_lint.account.api import Api
from cfq_lint.account.errors import AccountError, Unauthorized
from cfq_lint.account.secret import Secret
from cfq_lint.model.facts_file import as_text, from_text, load
from tests.lint.support import FIXTURES

from .hostile import ACCOUNT, TOKEN, FakeClock, Server, account, envelope, queue, refusal

BODIES = FIXTURES / "cloudflare"


def read(script, *names, plan=None, told=lambda *_: None):
    """What is read from a server, and what it was asked: paths below the account, with the page."""

    async def ask(server):
        async with Api(server.url, ACCOUNT, Secret(TOKEN), clock=FakeClock()) as api:
            return await reader.read(api, names, plan, told)

    with Server(script) as server:
        snapshot = asyncio.run(ask(server))
    assert {request.method for request in server.seen} == {"GET"}
    start = f"/client/v4/accounts/{ACCOUNT}/queues"
    assert all(request.path.startswith(start) for request in server.seen)
    return snapshot, [request.path[len(start) :] or f"?page={request.page}" for request in server.seen]


def recorded(name, **others):
    """A script: the recorded list, for other paths what is given by their last part, else 404."""
    listed = (BODIES / name).read_bytes()

    def script(handler, request):
        last = request.path.rpartition("/")[2]
        if request.lists_queues:
            handler.text(listed, kind="application/json")
        elif last in others:
            handler.json(others[last])
        else:
            handler.json(refusal(10104, "QueueNotFound"), 404)

    return script


def used(name):
    """A queue that somebody consumes, so that nobody looks whether messages wait in it."""
    return queue(name, [{"type": "worker", "script_name": "a"}])


def test_a_body_of_2026_is_understood():
    metrics = envelope({"backlog_count": 7, "backlog_bytes": 700, "oldest_message_timestamp_ms": 1_767_139_200_000})
    snapshot, asked = read(recorded("queues-2026.json", metrics=metrics), "orders", "not-there", plan="paid")
    # The dead-letter queue is named by no file, and what failed waits there.
    assert asked == ["?page=1", "/023e105f4ecef8ad9ca31a8372d0c353/metrics", "/7f5e105f4ecef8ad9ca31a8372d0c353/metrics"]
    assert json.loads(as_text(snapshot)) == {
        "version": 1,
        "taken_at": "2026-01-01T00:00:00Z",
        "plan": "paid",
        "queues": {
            "orders": {
                "message_retention_period": 345_600, "jurisdiction": "eu", "delivery_delay": 5, "delivery_paused": True,
                "consumers": [{
                    "type": "worker", "script_name": "shop-consumer", "dead_letter_queue": "orders-dlq",
                    "settings": {"batch_size": 50, "max_retries": 3, "max_wait_time_ms": 5_000, "retry_delay": 10},
                }],
                "producers": ["shop", "R2 bucket uploads", "event_subscription"],
                "backlog_count": 7, "backlog_bytes": 700, "oldest_message_timestamp_ms": 1_767_139_200_000,
            },
            "orders-dlq": {
                "message_retention_period": 1_209_600, "delivery_delay": 0, "delivery_paused": False,
                "consumers": [{
                    "type": "http_pull", "settings": {"batch_size": 10, "max_retries": 5, "retry_delay": 0, "visibility_timeout_ms": 30_000},
                }],
                "producers": [],
                "backlog_count": 7, "backlog_bytes": 700, "oldest_message_timestamp_ms": 1_767_139_200_000,
            },
        },
    }  # fmt: skip


def test_a_body_of_2025_is_understood():
    snapshot, asked = read(recorded("queues-2025.json", consumers=envelope([])), "orders")
    # It says nothing of further pages, so there is a second look; "bare" lists no consumers, so they are asked for.
    assert asked == ["?page=1", "?page=2", "/3f5e105f4ecef8ad9ca31a8372d0c353/consumers", "/023e105f4ecef8ad9ca31a8372d0c353/metrics"]
    queues = snapshot.queues
    orders = queues["orders"]
    assert (orders.jurisdiction, orders.delivery_paused, orders.backlog_count) == (None, None, None)
    assert orders.producers == ["shop", "old-shop"]
    assert (orders.consumers[0].type, orders.consumers[0].script_name, orders.consumers[0].dead_letter_queue) == ("worker", "shop-consumer", None)
    assert (queues["legacy"].consumers[0].type, queues["legacy"].consumers[0].script_name) == ("worker", "legacy-consumer")
    assert queues["pulled"].consumers[0].type == "http_pull"
    assert (queues["pulled"].producers, queues["bare"].producers, queues["bare"].consumers) == (None, None, [])


@pytest.mark.parametrize("name", ["queues-2025.json", "queues-2026.json"])
def test_what_is_written_is_what_was_read(name, tmp_path):
    snapshot, _ = read(recorded(name, consumers=envelope([])), "orders")
    text = as_text(snapshot)
    (tmp_path / "facts.json").write_text(text)
    assert load(str(tmp_path / "facts.json"), is_account=True) == from_text(text, origin="in the account", is_account=True)


@pytest.mark.parametrize("count", [0, 1, PER_PAGE - 1, PER_PAGE, PER_PAGE + 1, 3 * PER_PAGE])
def test_all_pages_are_read_and_none_beyond(count):
    heard = []
    snapshot, asked = read(account(*(used(f"q{n}") for n in range(count))), told=lambda *told: heard.append(told))
    assert len(snapshot.queues) == count
    assert asked == [f"?page={n + 1}" for n in range(max(1, -(-count // PER_PAGE)))]
    assert all(done <= total for _, done, total in heard if total is not None)


def test_a_server_that_gives_fewer_a_page_than_asked_for_is_read_to_its_end():
    queues = [used(f"q{n}") for n in range(45)]

    def script(handler, request):
        info = {"page": request.page, "per_page": 20, "total_count": 45}
        handler.json(envelope(queues[(request.page - 1) * 20 : request.page * 20], info))

    snapshot, asked = read(script)
    assert (len(snapshot.queues), len(asked)) == (45, 3)


@pytest.mark.parametrize("count", [1, 45, 100, 101, 145])
@pytest.mark.parametrize("size", [20, 100])
def test_without_a_word_about_pages_reading_goes_on_until_one_is_empty(count, size):
    queues = [used(f"q{n}") for n in range(count)]
    snapshot, asked = read(lambda handler, request: handler.json(envelope(queues[(request.page - 1) * size : request.page * size])))
    assert (len(snapshot.queues), len(asked)) == (count, -(-count // size) + 1)


@pytest.mark.parametrize("count", [1, 45, 145])
def test_a_server_that_knows_no_pages_gives_all_queues_at_once(count):
    queues = [used(f"q{n}") for n in range(count)]
    snapshot, asked = read(lambda handler, _: handler.json(envelope(queues)))
    assert (len(snapshot.queues), len(asked)) == (count, 2)


def test_a_server_that_does_not_take_our_size_of_pages_is_asked_without():
    def script(handler, request):
        if "per_page" in request.query:
            handler.json(refusal(1001, "per_page is out of range"), 400)
        else:
            account(*(used(f"q{n}") for n in range(30)))(handler, request)

    snapshot, asked = read(script)
    assert (len(snapshot.queues), len(asked)) == (30, 4)


def test_consumers_are_asked_for_only_where_the_list_lacks_them():
    full = queue("full", [{"type": "worker", "script_name": "a"}])
    short = queue("short", consumers_total_count=1)
    none = {**queue("none", producers=[{"type": "worker", "script": "a"}]), "consumers": None}

    def script(handler, request):
        if request.path.endswith("/consumers"):
            handler.json(envelope([{"type": "worker", "script_name": "b", "settings": None}]))
        else:
            account(full, short, none)(handler, request)

    snapshot, asked = read(script)
    assert asked == ["?page=1", f"/{short['queue_id']}/consumers"]
    assert {name: [each.script_name for each in row.consumers] for name, row in snapshot.queues.items()} == {"full": ["a"], "none": [], "short": ["b"]}


def test_backlogs_are_asked_for_only_where_the_files_name_the_queue():
    queues = [used(f"q{n}") for n in range(250)]
    snapshot, asked = read(account(*queues), "q7", "q7", "q249", "gone")
    assert len(asked) == 3 + 2
    assert {name for name, row in snapshot.queues.items() if row.backlog_count is not None} == {"q7", "q249"}


def test_a_queue_that_is_deleted_meanwhile_is_not_a_fault():
    def script(handler, request):
        if request.lists_queues:
            account(queue("orders", consumers_total_count=1))(handler, request)
        else:
            handler.json(refusal(11000, "Queue not found"), 404)

    snapshot, _ = read(script, "orders")
    assert snapshot.queues["orders"].backlog_count is None


def test_a_token_that_may_not_see_backlogs_is_said():
    def script(handler, request):
        if request.lists_queues:
            account(queue("orders"))(handler, request)
        else:
            handler.json(refusal(10023, "workers.api.error.unauthorized"), 403)

    with pytest.raises(Unauthorized, match="Queues Read"):
        read(script, "orders")


def test_producers_that_are_counted_and_not_listed_are_not_known():
    snapshot, _ = read(account(queue("a", producers=[], producers_total_count=2), queue("b", producers=None, producers_total_count=0)))
    assert (snapshot.queues["a"].producers, snapshot.queues["b"].producers) == (None, [])


def test_a_new_kind_of_consumer_and_of_jurisdiction_is_passed_on():
    snapshot, _ = read(account(queue("a", [{"type": "workflow"}], jurisdiction="AU-East")))
    facts = from_text(as_text(snapshot), origin="x", is_account=True)
    assert facts.queues["a"].consumers[0].type == "workflow"
    assert facts.queues["a"].jurisdiction == "au-east"


def test_a_failure_that_passes_is_not_noticed():
    failures = [429, 500, 503]

    def script(handler, request):
        if failures:
            handler.json(refusal(1, "no"), failures.pop(), Retry_After="1")
        else:
            account(used("orders"))(handler, request)

    snapshot, asked = read(script)
    assert (list(snapshot.queues), len(asked)) == (["orders"], 4)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 2**70), st.floats(), st.text(max_size=5), st.sampled_from(["worker", "orders", "eu"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*payloads.QueuePayload.model_fields, *payloads.ConsumerPayload.model_fields, *payloads.ConsumerSettings.model_fields, *payloads.QueueSettings.model_fields]), inner, max_size=6)),
    max_leaves=20,
)  # fmt: skip


@given(json_values, st.dictionaries(st.sampled_from([*payloads.QueuePayload.model_fields]), json_values))
@settings(max_examples=60)
def test_any_json_is_either_read_or_refused_as_another_shape(result, fields):
    class Canned:
        host, now = "h", FakeClock().now()

        async def get(self, *path, **_query):
            plain = [{**queue("orders"), **fields}] if path == ("queues",) else result
            return payloads.read_as(payloads.Envelope, envelope(plain, {"total_pages": 1}), "h", "the answer")

    try:
        snapshot = asyncio.run(reader.read(Canned(), ["orders"], None, lambda *_: None))
    except AccountError:
        return
    assert from_text(as_text(snapshot), origin="x", is_account=True).is_account


def test_the_fields_that_are_read_are_those_of_the_official_sdk():
    types = pytest.importorskip("cloudflare.types.queues")
    from cloudflare.types.queues import consumer, queue_get_metrics_response
    from cloudflare.types.queues import queue as its

    older = {"script", "service", "script_name"}
    pairs = [
        (payloads.QueuePayload, [types.Queue]),
        (payloads.QueueSettings, [its.Settings]),
        (payloads.ProducerPayload, [its.ProducerMqWorkerProducer, its.ProducerMqR2Producer]),
        (payloads.ConsumerPayload, [consumer.MqWorkerConsumerResponse, consumer.MqHTTPConsumerResponse]),
        (payloads.ConsumerSettings, [consumer.MqWorkerConsumerResponseSettings, consumer.MqHTTPConsumerResponseSettings]),
        (payloads.MetricsPayload, [queue_get_metrics_response.QueueGetMetricsResponse]),
    ]
    for ours, theirs in pairs:
        known = {name for each in theirs for name in each.model_fields}
        assert set(ours.model_fields) - older <= known, ours
