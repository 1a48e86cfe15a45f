"""Bodies from outside: what is sent, how many bytes it counts, what a pull shows of it, what a handler gets."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import Emulator
from tests.emulator.helpers import timeline

NAIVE = datetime(2023, 11, 14, 22, 13, 20)  # noqa: DTZ001 - without a zone it is taken as UTC
JSON_BODIES = [
    (None, "null"), (True, "true"), (12, "12"), ("é", '"é"'), ({"a": [1, 2.5]}, '{"a":[1,2.5]}'), ((1, 2), "[1,2]"), ("", '""'),
    (float("nan"), "null"), ([float("inf"), -float("inf")], "[null,null]"), ({7: 2, None: 3, True: 4, 1.5: 5}, '{"7":2,"null":3,"true":4,"1.5":5}'),
    (datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC), '"2023-11-14T22:13:20.000Z"'),
    ({"at": NAIVE.replace(microsecond=123456)}, '{"at":"2023-11-14T22:13:20.123Z"}'),
    (date(2023, 11, 14), '"2023-11-14T00:00:00.000Z"'), (2**53 - 1, "9007199254740991"), (-(2**63), "-9223372036854775808"),
    (2**64 - 1, "18446744073709551615"), ("1234567890123456789012", '"1234567890123456789012"'), ([[], {}], "[[],{}]"),
]  # fmt: skip


@pytest.fixture
def pulled(emu, jobs):
    emu.consume("jobs", type="http_pull")
    return jobs


@pytest.mark.parametrize(("body", "text"), JSON_BODIES, ids=[text for _, text in JSON_BODIES])
def test_json_on_the_wire_is_the_text_and_counts_its_bytes(pulled, body, text):
    assert pulled.send(body).metadata.metrics.backlogBytes == len(text.encode())
    [message] = pulled.pull()
    assert b64decode(message.body).decode() == text
    assert message.value == json.loads(text)


def test_numbers_beyond_64_bits_survive_and_show_no_mark(pulled):
    pulled.send({"n": 2**70})
    [message] = pulled.pull()
    assert b64decode(message.body) == b'{"n":%d}' % 2**70
    assert message.value == {"n": 2**70}


def test_keys_become_the_strings_that_javascript_makes_of_them(pulled):
    pulled.send({7: "int", 2.5: "float", None: "null", False: "bool"})
    assert pulled.bodies() == [{"7": "int", "2.5": "float", "null": "null", "false": "bool"}]


V8_BODIES = [
    datetime(2026, 1, 1, 12, tzinfo=UTC), {1, "a"}, frozenset({1}), b"\x00\xff", {"deep": [{"set": {b"x"}}]},
    [None, True, 1.5, 2**80, "é"], {1: 2}, (), [],
]  # fmt: skip


@pytest.mark.parametrize("body", V8_BODIES, ids=lambda body: type(body).__name__)
def test_v8_keeps_what_structured_clone_keeps(jobs, body):
    jobs.send(body, content_type="v8")
    [got] = jobs.bodies()
    assert got == body or (isinstance(body, tuple) and list(body) == got)


def test_v8_copies(jobs):
    body = {"list": [1]}
    jobs.send(body, content_type="v8")
    body["list"].append(2)
    first, second = jobs.bodies(), jobs.bodies()
    first[0]["list"].append(3)
    assert second == [{"list": [1]}]


@pytest.mark.parametrize("body", [lambda: None, object(), iter([])], ids=["function", "object", "iterator"])
def test_v8_refuses_what_cannot_be_cloned(jobs, body):
    with pytest.raises(TypeError, match="could not be cloned"):
        jobs.send(body, content_type="v8")


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [({}, "text", 'Content Type "text" requires a value of type string, but received: object'),
     (1, "text", 'Content Type "text" requires a value of type string, but received: number'),
     (True, "text", 'Content Type "text" requires a value of type string, but received: boolean'),
     (len, "text", 'Content Type "text" requires a value of type string, but received: function'),
     (None, "text", 'Content Type "text" requires a value of type string, but received: object'),
     ("s", "bytes", 'Content Type "bytes" requires a value of type ArrayBufferView, but received: string'),
     (None, "bytes", 'Content Type "bytes" requires a value of type ArrayBufferView, but received: object'),
     ("s", "xml", "Unsupported queue message content type: xml"), ("s", "", "Unsupported queue message content type: ")],
)  # fmt: skip
def test_what_a_content_type_does_not_take_is_told_in_the_runtimes_words(jobs, body, kind, text):
    with pytest.raises(TypeError) as error:
        jobs.send(body, content_type=kind)
    assert str(error.value) == text
    assert jobs.bodies() == []


def test_no_body_at_all_is_undefined(jobs):
    for call in (jobs.send, lambda: jobs.send_batch([{"contentType": "json"}])):
        with pytest.raises(TypeError, match=r"^Message body cannot be undefined$"):
            call()


def test_an_empty_batch_is_refused_in_the_runtimes_words(jobs):
    with pytest.raises(TypeError, match=r"^sendBatch\(\) requires at least one message$"):
        jobs.send_batch([])


def test_send_takes_a_content_type_in_any_case_and_send_batch_only_the_exact_one(jobs):
    jobs.send("a", content_type="TEXT")
    with pytest.raises(TypeError, match="Unsupported queue message content type: TEXT"):
        jobs.send_batch([{"body": "b", "contentType": "TEXT"}])
    assert jobs.bodies() == ["a"]


def test_one_bad_message_stores_none_of_its_batch(jobs):
    with pytest.raises(TypeError):
        jobs.send_batch([{"body": 1}, {"body": {1}}])
    assert jobs.bodies() == []


@pytest.mark.parametrize(
    ("delay", "at"), [(1.9, 1), ("2", 2), ("abc", 0), (float("nan"), 0), (timedelta(minutes=1), 60), (None, 0), (True, 1), (0, 0)]
)
def test_a_delay_is_read_as_the_runtime_reads_it(emu, jobs, delay, at):
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0)
    jobs.send(1, delay_seconds=delay)
    emu.advance(100)
    assert timeline(emu) == [(at, [1], [1])]


@pytest.mark.parametrize("delay", [2**31, -(2**31) - 1, 1e12])
def test_a_delay_beyond_32_bits_is_a_type_error(jobs, delay):
    with pytest.raises(TypeError, match=r"Value out of range\. Must be between -2147483648 and 2147483647 \(inclusive\)\."):
        jobs.send(1, delay_seconds=delay)


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(body=plain, kind=st.sampled_from(["json", "v8"]))
def test_any_plain_value_comes_back_equal(body, kind):
    emu = Emulator()
    jobs = emu.create_queue("jobs")
    jobs.send(body, content_type=kind)
    assert jobs.bodies() == [body]
    assert [f.body for f in emu.fates] == [body]
    emu.close()
