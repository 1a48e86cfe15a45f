"""The view that rules use: environments, producers and consumers, and a place behind every value."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from cfq_lint.facts.keys import CONSUMER_KEYS, PRODUCER_KEYS, QUEUES_KEYS, meant, normal, slips
from cfq_lint.model.topology import links_of
from cfq_lint.model.wrangler import Worker

from .strategies import files
from .support import DATE, as_toml, as_toml_tables, document_of

JSONC = """{
  "name": "shop",
  "limits": { "cpu_ms": 100 },
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "orders" }, "odd"],
    "consumers": [{ "queue": "orders", "max_retries": 5.0, "max_retries": 7, "dead_letter_queue": "" }, null]
  },
  "env": {
    "staging": { "queues": { "consumers": [{ "queue": "orders-staging", "type": "http_pull" }] } },
    "production": { "name": "shop-live", "queues": {} },
    "odd": 5
  },
  "previews": { "queues": { "producers": [{ "binding": "ORDERS" }] } }
}"""
TOML = """name = "shop"

[limits]
cpu_ms = 100

[[queues.producers]]
binding = "ORDERS"
queue = "orders"

[[queues.consumers]]
queue = "orders"
max_retries = 7

[[env.staging.queues.consumers]]
queue = "orders-staging"
type = "http_pull"

[env.production]
name = "shop-live"
[env.production.queues]
"""


@pytest.fixture(params=["jsonc", "toml"])
def worker(request):
    name = f"wrangler.{request.param}"
    return Worker(document_of(JSONC if request.param == "jsonc" else TOML, name))


def test_the_top_level_and_every_environment_are_workers_of_their_own(worker):
    assert [each.name for each in worker.every_environment] == [None, "staging", "production"]
    assert [each.described for each in worker.every_environment] == ["the top level", "env.staging", "env.production"]
    assert [each.script for each in worker.every_environment] == ["shop", "shop-staging", "shop-live"]


def test_queues_are_not_inherited_and_limits_are(worker):
    _, staging, production = worker.every_environment
    assert [c.queue_name for c in staging.consumers] == ["orders-staging"]
    assert not staging.producers
    assert not production.entries
    assert staging.inherited("limits").fields["cpu_ms"].integer == 100
    assert staging.inherited("nothing") is None


def test_entries_know_their_path_as_wrangler_names_it(worker):
    assert [entry.path for entry in worker.entries() if entry.environment != "x"][:3] == [
        "queues.producers[0]", "queues.consumers[0]", "env.staging.queues.consumers[0]",
    ]  # fmt: skip


def test_previews_are_looked_at_and_are_the_same_worker():
    worker = Worker(document_of(JSONC))
    assert [each.label for each in worker.environments] == ["", "env.staging", "env.production", "previews"]
    assert worker.environments[-1].is_previews
    assert worker.environments[-1].producers[0].path == "previews.queues.producers[0]"
    assert [link.queue for link in links_of(worker).producers] == ["orders"]


def test_a_selected_environment_is_looked_at_alone():
    worker = Worker(document_of(JSONC), "staging")
    assert [each.name for each in worker.environments] == ["staging"]
    assert not worker.lacks_selected
    assert len(worker.every_environment) == 3


def test_without_the_selected_environment_the_top_level_is_looked_at():
    worker = Worker(document_of(JSONC), "nowhere")
    assert [each.name for each in worker.environments] == [None]
    assert worker.lacks_selected


def test_of_a_repeated_key_the_last_counts():
    [consumer] = Worker(document_of(JSONC)).top.consumers
    assert consumer.field("max_retries").integer == 7
    assert consumer.field("max_retries").key_place.column > consumer.field("queue").key_place.column


def test_a_name_counts_only_where_it_is_one():
    [consumer] = Worker(document_of(JSONC)).top.consumers
    assert consumer.dead_letter_queue is None
    assert consumer.field("dead_letter_queue").text == ""
    assert consumer.is_push
    assert not Worker(document_of(JSONC)).every_environment[1].consumers[0].is_push


@pytest.mark.parametrize(
    ("written", "answers"),
    [
        ("5", (5, 5, None, None, False)),
        ("5.0", (5.0, 5, None, None, False)),
        ("5.5", (5.5, None, None, None, False)),
        ("1e400", (float("inf"), None, None, None, False)),
        ("-1e400", (float("-inf"), None, None, None, False)),
        ("1e3", (1000.0, 1000, None, None, False)),
        ('"5"', (None, None, "5", None, False)),
        ("true", (None, None, None, True, False)),
        ("null", (None, None, None, None, True)),
        ("[5]", (None, None, None, None, False)),
    ],
)  # fmt: skip
def test_a_field_answers_only_what_it_holds(written, answers):
    field = Worker(document_of(f'{{ "x": {written} }}')).fields["x"]
    assert (field.number, field.integer, field.text, field.truth, field.is_null) == answers


def test_not_a_number_is_no_integer():
    field = Worker(document_of("x = nan\n", "wrangler.toml")).fields["x"]
    assert field.integer is None
    assert field.number != field.number


def test_values_are_shown_in_one_line_and_cut():
    fields = Worker(document_of(json.dumps({"a": {"b": 1}, "c": [1], "d": "x" * 100}))).fields
    assert (fields["a"].shown, fields["c"].shown) == ("an object", "an array")
    assert len(fields["d"].shown) == 40


def check_places(worker):
    """The text at every place of an entry is what the place is of."""
    document = worker.document
    for entry in worker.entries():
        for key, field in entry.fields.items():
            written = document.text[field.key_place.start : field.key_place.end]
            if document.syntax == "jsonc":
                assert json.loads(written) == key
                assert field.place.start >= field.key_place.end
                assert entry.node.start <= field.key_place.start < entry.node.end
            assert document.lines.position(field.place.start) == (field.place.line, field.place.column)


@settings(max_examples=100)
@given(files)
def test_every_value_of_every_configuration_has_its_place(value):
    for name, text in (("wrangler.jsonc", json.dumps(value, indent=2)), ("wrangler.toml", as_toml(value)), ("wrangler.toml", as_toml_tables(value))):
        check_places(Worker(document_of(text, name)))


@settings(max_examples=60)
@given(files)
def test_both_languages_and_both_styles_show_the_same_worker(value):
    """What TOML can hold at all is seen alike, whatever it is written in."""

    def seen(name, text):
        worker = Worker(document_of(text, name))
        return [
            (each.label, [(e.path, e.queue_name, sorted(k for k, f in e.fields.items() if not f.is_null)) for e in each.entries])
            for each in worker.environments
        ]

    inline = document_of(as_toml(value), "wrangler.toml")
    if inline.faults or DATE in inline.text:
        return
    value = json.loads(json.dumps(value), object_hook=lambda made: {k: v for k, v in made.items() if v is not None})
    value = without_null(value)
    assert seen("wrangler.jsonc", json.dumps(value)) == seen("wrangler.toml", as_toml(value))


def without_null(value):
    if isinstance(value, dict):
        return {key: without_null(item) for key, item in value.items() if item is not None}
    return [without_null(item) for item in value if item is not None] if isinstance(value, list) else value


# --- keys


@pytest.mark.parametrize(
    ("wrong", "right", "factor"),
    [
        ("batch_size", "max_batch_size", 1), ("maxBatchSize", "max_batch_size", 1), ("max-batch-size", "max_batch_size", 1),
        ("max_wait_time_ms", "max_batch_timeout", 0.001), ("maxBatchTimeout", "max_batch_timeout", 1), ("dlq", "dead_letter_queue", 1),
        ("deadLetterQueue", "dead_letter_queue", 1), ("retryDelay", "retry_delay", 1), ("retry_delay_secs", "retry_delay", 1),
        ("message_retries", "max_retries", 1), ("max_retrys", "max_retries", 1), ("visibility_timeout_secs", "visibility_timeout_ms", 1000),
        ("visibility_timeout", "visibility_timeout_ms", 1000), ("queue_name", "queue", 1), ("name", "queue", 1), ("queu", "queue", 1),
        ("max_concurency", "max_concurrency", 1), ("concurrency", "max_concurrency", 1), ("delay_seconds", "retry_delay", 1),
    ],
)  # fmt: skip
def test_spellings_of_other_places_and_slips_mean_a_key_of_a_consumer(wrong, right, factor):
    spelling = meant(wrong, CONSUMER_KEYS)
    assert (spelling.key, spelling.factor) == (right, factor)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("deliveryDelay", "delivery_delay"), ("delay", "delivery_delay"), ("bindng", "binding"), ("queueName", "queue"), ("name", "queue")],
)
def test_spellings_of_a_producer(wrong, right):
    assert meant(wrong, PRODUCER_KEYS).key == right


@pytest.mark.parametrize(("wrong", "right"), [("consumer", "consumers"), ("producer", "producers"), ("Consumers", "consumers"), ("consumrs", "consumers")])  # fmt: skip
def test_spellings_of_the_two_lists(wrong, right):
    assert meant(wrong, QUEUES_KEYS).key == right


@pytest.mark.parametrize("wrong", ["", "x", "xyz", "timeout_of_the_handler", "script"])
def test_what_is_near_nothing_means_nothing(wrong):
    assert meant(wrong, CONSUMER_KEYS) is None


def test_a_slip_is_a_letter_added_lost_changed_or_two_swapped():
    assert [slips("orders", other) for other in ("orders", "order", "orderss", "ordres", "orderz", "oders-x", "abc")] == [0, 1, 1, 1, 1, 3, 6]
    assert normal("max-Batch_Size") == normal("maxBatchSize") == "maxbatchsize"
