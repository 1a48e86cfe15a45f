"""What a request's body may be: JSON as JavaScript takes it, exact; and what is said of one that is none."""

from __future__ import annotations

import json
from base64 import b64decode

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator import Emulator
from emulator.server import Transport
from emulator.server.operations import OPERATIONS
from emulator.server.wire import request_json
from emulator.server.wire.answers import success


@pytest.fixture(scope="module")
def client():
    with httpx.Client(transport=Transport(Emulator(), control=True), base_url="http://emulator/client/v4/accounts/a") as client:
        yield client


@pytest.fixture(scope="module")
def path(client):
    id = client.post("/queues", json={"queue_name": "jobs"}).json()["result"]["queue_id"]
    client.post(f"/queues/{id}/consumers", json={"type": "http_pull"})
    return f"/queues/{id}/messages"


def refused(answer):
    error = answer.json()["errors"][0]
    return answer.status_code, error["code"], error["message"]


def round_trip(client, path, raw):
    """The stored text of a body that was pushed as it stands here."""
    assert client.post(path, content=b'{"body":' + raw + b"}").status_code == 200, raw
    (message,) = client.post(f"{path}/pull", json={}).json()["result"]["messages"]
    client.post(f"{path}/ack", json={"acks": [{"lease_id": message["lease_id"]}]})
    return b64decode(message["body"])


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        (b"1180591620717411303424", b"1180591620717411303424"),  # 2^70
        (b"18446744073709551615", b"18446744073709551615"), (b"-9223372036854775809", b"-9223372036854775809"),
        (b'{"b":1,"a":2,"b":3}', b'{"b":3,"a":2}'), (b' [ 1 , "\\u0041\\/" ] ', b'[1,"A/"]'),
        (b'"\\ud800"', b'"\\ud800"'), (b'{"\\ud83d":"\\ude00\\ud83d\\ude00"}', None), (b"1e400", b"null"),
        (b'"\\u0000"', b'"\\u0000"'), (b"[" * 200 + b"]" * 200, b"[" * 200 + b"]" * 200), (b"null", b"null"), (b'""', b'""'),
    ],
)  # fmt: skip
def test_what_javascript_takes_is_taken_and_stored_as_it_would_write_it(client, path, raw, stored):
    found = round_trip(client, path, raw)
    assert found == stored if stored is not None else json.loads(found) == json.loads(raw)


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=()), max_size=5), inner, max_size=4),
    max_leaves=10,
))  # fmt: skip
def test_every_value_comes_back_as_it_was_pushed(client, path, value):
    assert json.loads(round_trip(client, path, json.dumps(value).encode())) == value


@pytest.mark.parametrize("raw", [b"{", b"NaN", b'{"body": NaN}', b'{"body": -Infinity}', b"{'body': 1}", b'{"body": 01}', b'{"body": 1} x',
                                 b'\xef\xbb\xbf{"body": 1}', b'{"body": "\xff"}', b'{"body": "\x00"}', b"\xff\xfe{\x00}\x00"])  # fmt: skip
def test_what_is_no_json_is_refused_as_such(client, path, raw):
    status, code, text = refused(client.post(path, content=raw))
    assert (status, code) == (400, 10208)
    assert text.startswith("the body is no JSON: ")


@pytest.mark.parametrize("tail", [b"]", b"", b'"\\ud800"' + b"]"])
def test_what_is_nested_too_deeply_is_refused_in_plain_words(client, path, tail):
    depth = 100_000
    raw = b'{"body":' + b"[" * depth + tail * depth + b"}"
    assert refused(client.post(path, content=raw)) == (400, 10208, "the body is nested too deeply")


@pytest.mark.parametrize(
    ("below", "body", "text"),
    [
        ("", {}, "Object missing required field `body`"),
        ("", [], "Expected `object`, got `array`"),
        ("", {"body": 1, "content_type": 5}, "Expected `str | null`, got `int` - at `$.content_type`"),
        ("/batch", {"messages": [{"body": 1}, {"body": 2, "delay_seconds": "5"}]}, "a whole number is needed - at `$.messages[1].delay_seconds`"),
        ("/batch", {"messages": [{"body": 1}, {}]}, "Object missing required field `body` - at `$.messages[1]`"),
        ("/pull", {"batch_size": 1.5}, "a whole number is needed - at `$.batch_size`"),
        ("/pull", {"batch_size": True}, "a whole number is needed - at `$.batch_size`"),
        ("/pull", {"batch_size": 2**60}, "a whole number is needed - at `$.batch_size`"),
        ("/ack", {"acks": [{"lease_id": "x" * 1_025}]}, "Expected `str` of length <= 1024 - at `$.acks[0].lease_id`"),
        ("/ack", {"acks": {"lease_id": "x"}}, "Expected `array | null`, got `object` - at `$.acks`"),
    ],
)
def test_a_body_of_another_shape_is_refused_and_told_where(client, path, below, body, text):
    assert refused(client.post(path + below, json=body)) == (400, 10207, text)


def test_a_number_may_be_written_as_a_fraction_that_is_whole_and_nothing_at_all_is_an_empty_object(client, path):
    client.post(path, json={"body": 1, "delay_seconds": None})
    for raw in (b"", b"{}", b'{"batch_size": 5.0}', b'{"batch_size": 5e0, "unknown": 1}', b'{"batch_size": null}'):
        assert client.post(f"{path}/peek", content=raw).status_code == 200, raw
    assert client.post(f"{path}/peek", content=b" \n").status_code == 400, "no JSON"


def test_half_of_a_surrogate_pair_in_an_answer_is_escaped_and_what_is_bytes_is_base64(client, path):
    answer = client.post(f"{path}/purge", content=b'{"refs":[{"ref":"\\ud800"}]}')
    assert answer.content.count(b'"\\ud800"') == 1
    assert json.loads(success({"a": b"xyz", "b": "\ud800"}))["result"] == {"a": "eHl6", "b": "\ud800"}


def test_every_body_of_an_operation_can_be_read():
    for operation in OPERATIONS:
        if operation.body is not None:
            assert request_json._decoder(operation.body)
