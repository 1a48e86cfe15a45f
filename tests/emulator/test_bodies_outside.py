"""Bodies from outside: what is sent, how many bytes it counts, what a pull shows of it, what a handler gets."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator import Emulator
from emulator.engine.bodies import decode, encode
from tests.emulator.helpers import nested, same, timeline

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


class Deep(NamedTuple):
    """A body so deep that Hypothesis could not print it."""

    depth: int
    of_dicts: bool

    def body(self):
        return nested(self.depth, (lambda inner: {"a": inner}) if self.of_dicts else (lambda inner: [inner]))


TEXTS = st.text() | st.text(st.characters(categories=["Cs", "Cc", "So"])) | st.sampled_from(
    ["", "\0", "\ud83d", "\ude00\ud83d", "\U0001f600", "\u2028", "x" * 127_990, "é" * 63_990, "你" * 42_660]
)  # fmt: skip
NUMBERS = st.integers() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([2**70, 1e-7, -0.0, 2**53])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS.filter(lambda text: len(text) < 1_000),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4), max_leaves=12,
) | st.builds(Deep, st.integers(1, 1_500), st.booleans())  # fmt: skip
BODIES = {
    "json": JSON | TEXTS.filter(lambda text: "\0" not in text), "v8": JSON | st.binary() | st.sets(st.integers()), "bytes": st.binary() | st.just(bytes(128_000)),
    "text": TEXTS.filter(lambda text: not any("\ud800" <= each <= "\udfff" for each in text)),
}  # fmt: skip
SENT = st.sampled_from(sorted(BODIES)).flatmap(lambda kind: BODIES[kind].map(lambda body: (body, kind)))


def as_sent(body, kind):
    """A body as it comes back: v8 has one kind of number."""
    return body if kind != "v8" else decode(encode(body, kind), kind)


def size_bytes(jobs):
    return jobs.metrics().backlog_bytes


@settings(max_examples=60, deadline=None)
@given(sent=st.lists(SENT, min_size=1, max_size=3))
@example(sent=[("\ud83d", "json"), ("\ud83d", "v8"), ("\0", "text")])
@example(sent=[("x" * 128_000, "text"), ("x" * 127_994, "v8")])
@example(sent=[(Deep(60_000, of_dicts=False), "json"), (Deep(20_000, of_dicts=True), "v8")])
def test_every_body_comes_back_wherever_it_is_looked_at_and_counts_what_is_stored(sent):
    sent = [(body.body() if isinstance(body, Deep) else body, kind) for body, kind in sent]
    with Emulator(limits="relaxed") as emu:
        jobs, pulled, seen = emu.create_queue("jobs"), emu.create_queue("pulled"), []
        emu.consume("pulled", type="http_pull")
        emu.consume("jobs", lambda batch: seen.extend(message.body for message in batch.messages), max_batch_timeout=0)
        for queue in (jobs, pulled):
            queue.send_batch([{"body": body, "contentType": kind} for body, kind in sent])
        for body, kind in sent:
            before = size_bytes(jobs)
            jobs.send(body, kind)
            assert size_bytes(jobs) - before == len(encode(body, kind))
        emu.advance(0)
        expected = [as_sent(body, kind) for body, kind in sent]
        messages = pulled.pull()
        assert same([message.value for message in messages], expected)
        assert same(seen, expected * 2)
        assert same([fate.body for fate in emu.fates if fate.queue == "jobs"], expected * 2)
        for (body, kind), message in zip(sent, messages, strict=True):
            assert (message.body.encode() if kind == "text" else b64decode(message.body)) == encode(body, kind)
        assert "messages" in str(emu.report())
        assert str(emu.trace())


def test_every_body_survives_the_process(tmp_path):
    sent = [("\ud83d\0", "json"), (nested(1_500), "json"), ({"n": [2**70, 1e-7]}, "json"), ("x" * 127_000, "text"), (b"\xff\0", "bytes"),
            ({1: ["\ud83d", {2}]}, "v8"), (nested(1_500), "v8"), ("你" * 63_000, "v8")]  # fmt: skip
    with Emulator(journal=tmp_path / "journal.db") as emu:
        for body, kind in sent:
            emu.create_queue("jobs") if not emu.queues else None
            emu.queue("jobs").send(body, kind)
        size = size_bytes(emu.queue("jobs"))
    with Emulator(journal=tmp_path / "journal.db") as emu:
        assert same(emu.queue("jobs").bodies(), [body for body, _ in sent])
        assert size_bytes(emu.queue("jobs")) == size == sum(len(encode(body, kind)) for body, kind in sent)
