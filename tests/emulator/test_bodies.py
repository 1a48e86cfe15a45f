"""Bodies come out as they went in, or do not go in at all; with orjson and without it they are the same."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from enum import Enum
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emulator.engine import bodies
from emulator.engine.bodies import clone, json_text

orjson = pytest.importorskip("orjson", reason="the comparison needs both encoders")


class Colour(Enum):
    RED = "red"


KEYS = st.text() | st.integers() | st.booleans() | st.none() | st.floats()
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.text(st.characters(categories=["Cs"])) | st.datetimes()
    | st.datetimes(timezones=st.just(UTC)) | st.dates() | st.uuids() | st.just(Colour.RED) | st.integers(-(2**80), 2**80)
)  # fmt: skip
ODD = LEAVES | st.binary() | st.sets(st.integers()) | st.complex_numbers() | st.just(object)
JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)  # fmt: skip
ANYTHING = st.recursive(ODD, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(KEYS, inner), max_leaves=8)


@pytest.fixture
def plainly(monkeypatch):
    """Use the standard library alone."""
    monkeypatch.setattr(json_text, "_encode_fast", json_text._encode_with_standard_library)
    monkeypatch.setattr(json_text, "_decode_fast", json.loads)


def outcome(encode, decode, value):
    """What becomes of a value, or the kind of its refusal."""
    try:
        return repr(decode(encode(value)))
    except TypeError:
        return TypeError


@given(JSON)
@example(2**53 + 1)
@example(2**64)
@example({"n": -(2**63) - 1, "m": [10**30]})
@example("\ud800")
@example({"\ud800": "\udfff"})
@example(1e16)
@example("12345678901234567890")
def test_json_values_come_out_as_they_went_in(value):
    assert json_text.decode(json_text.encode(value)) == value


@given(ANYTHING)
@example(float("nan"))
@example({1: "a", "1": "b"})
@example({None: 1, True: 2, 1.5: 3, float("nan"): 4})
@example({(1, 2): 3})
@example((1, (2, 3)))
@example(Colour.RED)
@example({Colour.RED: 1})
@example([2**70, float("inf")])
@example({"a": {1, 2}})
def test_with_and_without_orjson_the_same_comes_out(value):
    with pytest.MonkeyPatch.context() as patch:
        fast = outcome(json_text.encode, json_text.decode, value)
        patch.setattr(json_text, "_encode_fast", json_text._encode_with_standard_library)
        patch.setattr(json_text, "_decode_fast", json.loads)
        assert outcome(json_text.encode, json_text.decode, value) == fast


@given(ANYTHING)
def test_what_one_encoder_wrote_the_other_reads(value):
    try:
        body = json_text.encode(value)
    except TypeError:
        return
    with pytest.MonkeyPatch.context() as patch:
        expected = repr(json_text.decode(body))
        patch.setattr(json_text, "_decode_fast", json.loads)
        assert repr(json_text.decode(body)) == expected


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (float("nan"), None),
        ([float("inf"), -float("inf")], [None, None]),
        ({1: "a"}, {"1": "a"}),
        ({True: 1, None: 2, 1.5: 3}, {"true": 1, "null": 2, "1.5": 3}),
        (datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC), "2023-11-14T22:13:20.000Z"),
        (datetime(2023, 11, 14, 23, 13, 20, 5_000, timezone(timedelta(hours=1))), "2023-11-14T22:13:20.005Z"),
        (date(2026, 1, 1), "2026-01-01T00:00:00.000Z"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ((1, 2), [1, 2]),
        (Colour.RED, "red"),
    ],
)  # fmt: skip
def test_what_json_makes_of_python_values(value, seen):
    assert json_text.decode(json_text.encode(value)) == seen


@pytest.mark.usefixtures("plainly")
def test_the_standard_library_alone_makes_the_same():
    assert json_text.encode({"a": [1, None]}) == b'{"a":[1,null]}'
    assert json_text.decode(json_text.encode(datetime(2023, 11, 14, tzinfo=UTC))) == "2023-11-14T00:00:00.000Z"


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), 1j, {"a": [b"x"]}])
def test_what_has_no_json_form_is_refused(value):
    with pytest.raises(TypeError, match="has no JSON form"):
        json_text.encode(value)


def test_a_circle_is_refused_in_javascripts_words():
    circle: dict = {}
    circle["self"] = circle
    with pytest.raises(TypeError, match="Converting circular structure to JSON"):
        json_text.encode(circle)
    with pytest.raises(clone.DataCloneError, match=r"could not be cloned\."):
        clone.encode(circle)


HASHABLE = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary() | st.datetimes()
    | st.datetimes(timezones=st.just(UTC)) | st.dates() | st.times() | st.timedeltas()
)  # fmt: skip
CLONEABLE = st.recursive(
    HASHABLE | st.sets(HASHABLE) | st.frozensets(HASHABLE) | st.binary().map(bytearray),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(HASHABLE, inner), max_leaves=12,
)  # fmt: skip


@given(CLONEABLE)
def test_v8_keeps_value_and_type(value):
    copied = clone.decode(clone.encode(value))
    assert copied == value
    assert type(copied) is type(value)


def test_v8_writes_equal_values_in_equal_bytes():
    assert clone.encode({"b", "a", "c"}) == clone.encode({"c", "b", "a"})
    assert clone.decode(clone.encode(time(1, 2, 3))) == time(1, 2, 3)


@pytest.mark.parametrize("value", [object(), lambda: 1, 1j, [object()], {"a": print}])
def test_v8_refuses_what_cannot_be_cloned(value):
    with pytest.raises(clone.DataCloneError):
        clone.encode(value)


def test_half_a_surrogate_pair_is_replaced_in_text():
    assert bodies.decode(bodies.encode("a\ud800b", "text"), "text") == "a\ufffdb"
