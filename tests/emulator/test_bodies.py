"""Bodies come out as they went in, or do not go in at all."""

from __future__ import annotations

import dataclasses
import json
import sys
import tracemalloc
from collections import OrderedDict, UserDict, deque
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from typing import NamedTuple
from uuid import UUID

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emulator.engine import bodies
from emulator.engine.bodies import json_text
from emulator.engine.bodies.stringify import stringify
from emulator.engine.bodies.undefined import UNDEFINED
from tests.emulator.helpers import nested, same


class Colour(Enum):
    RED = "red"


class Number(IntEnum):
    ONE = 1


class Word(StrEnum):
    A = "a"


class Kept(str):
    """A kind of str."""

    __slots__ = ()


@dataclasses.dataclass
class Data:
    a: int = 1


class Struct(msgspec.Struct):
    a: int = 1


class Pair(NamedTuple):
    a: int
    b: str


KEYS = st.text() | st.integers() | st.booleans() | st.none() | st.floats()
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.text(st.characters(categories=["Cs"])) | st.datetimes()
    | st.datetimes(timezones=st.just(UTC)) | st.dates() | st.uuids() | st.just(Colour.RED) | st.integers(-(2**80), 2**80)
)  # fmt: skip
ODD = LEAVES | st.binary() | st.sets(st.integers()) | st.complex_numbers() | st.just(object)
JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)  # fmt: skip
ANYTHING = st.recursive(ODD, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(KEYS, inner), max_leaves=8)


@given(JSON)
@example(2**53 + 1)
@example(2**64)
@example({"n": -(2**63) - 1, "m": [10**30]})
@example(2**70)
@example("\ud800")
@example({"\ud800": "\udfff"})
@example(["\0", "\x1f", "\x7f", "\u2028", "\U0001f600", ""])
@example(1e16)
@example(1e-7)
@example("12345678901234567890")
@example({"": [], " ": {}, "a": [[], {}]})
def test_json_values_come_out_as_they_went_in(value):
    body = json_text.encode(value)
    assert same(json_text.decode(body), value)
    assert same(json.loads(body), value)
    assert same(json_text.decode(stringify(value)), value)  # the slow way does the same
    assert json_text.encode_plain([value, value]) in ([body, body], None)


@pytest.mark.parametrize("depth", [500, 1_000, 1_500, 20_000])
@pytest.mark.parametrize(
    "wrap", [lambda inner: [inner], lambda inner: {'a:,[]"\\': inner}, lambda inner: [2**70, 1e-7, "\ud800", [], {"a": inner}, {}]]
)
def test_nesting_has_no_limit(depth, wrap):
    value = nested(depth, wrap)
    assert same(json_text.decode(json_text.encode(value)), value)


@given(ANYTHING)
@example({1: "a", "1": "b"})
@example({(1, 2): 3})
@example([2**70, float("inf"), Colour.RED])
def test_whatever_is_taken_is_json_and_what_the_slow_way_makes(value):
    try:
        body = json_text.encode(value)
    except TypeError:
        with pytest.raises(TypeError):
            stringify(value)
        return
    assert body == stringify(value)
    json.loads(body, parse_constant=pytest.fail)
    assert bodies.encode_all([value, 1], ["json", "json"]) == [body, b"1"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("nan"), "null"),
        ([float("inf"), -float("inf")], "[null,null]"),
        ({1: "a"}, '{"1":"a"}'),
        ({1: "a", "1": "b"}, '{"1":"b"}'),
        ({True: 1, None: 2, 1.5: 3}, '{"true":1,"null":2,"1.5":3}'),
        ({1.0: 1, -0.0: 2, 1e21: 3, 1e-7: 4, 1e20: 5, float("nan"): 6, -float("inf"): 7, 1.2345678901234568e20: 8, 1e-6: 9},
         '{"1":1,"0":2,"1e+21":3,"1e-7":4,"100000000000000000000":5,"NaN":6,"-Infinity":7,"123456789012345680000":8,"0.000001":9}'),
        ({Colour.RED: 1, Number.ONE: 2}, '{"red":1,"1":2}'),
        (datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC), '"2023-11-14T22:13:20.000Z"'),
        (datetime(2023, 11, 14, 23, 13, 20, 5_999, timezone(timedelta(hours=1))), '"2023-11-14T22:13:20.005Z"'),
        (datetime(1, 2, 3), '"0001-02-03T00:00:00.000Z"'),  # noqa: DTZ001 - without a zone it is UTC
        (date(2026, 1, 1), '"2026-01-01T00:00:00.000Z"'),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        ((1, (2, [3])), "[1,[2,[3]]]"),
        (Pair(1, "x"), '[1,"x"]'),
        ([Colour.RED, Number.ONE, Word.A, Kept("k"), OrderedDict(a=1)], '["red",1,"a","k",{"a":1}]'),
        ({Kept("k"): Kept("v")}, '{"k":"v"}'),
        ([1e-7, 2**70, -(2**63) - 1, 1.5], "[1e-7,1180591620717411303424,-9223372036854775809,1.5]"),
        ("é\ud800", '"é\\ud800"'),
        ("\ud83d\ude00", '"\U0001f600"'),
        ({"a": UNDEFINED, "b": [UNDEFINED]}, '{"b":[null]}'),
        ('\0"\\\n\x1f\x7f\u2028', '"\\u0000\\"\\\\\\n\\u001f\x7f\u2028"'),
    ],
)  # fmt: skip
def test_what_json_makes_of_python_values(value, text):
    assert json_text.encode(value).decode() == stringify(value).decode() == text


NO_JSON = [
    {1, 2}, frozenset(), b"x", bytearray(b"x"), memoryview(b"x"), object(), object, 1j, print, deque([1]), UserDict(a=1), range(2), Decimal("1.5"),
    Fraction(1, 2), time(1), timedelta(1), Data(), Struct(), msgspec.Raw(b"1"), msgspec.UNSET, (each for each in ()), ValueError("x"),
]  # fmt: skip


@pytest.mark.parametrize("value", NO_JSON)
@pytest.mark.parametrize("around", [lambda v: v, lambda v: [v], lambda v: {"a": v}, lambda v: [1, {"a": (2, [v])}], lambda v: {1: v}])
def test_what_has_no_json_form_is_refused(value, around):
    with pytest.raises(TypeError, match=r"^\w+ has no JSON form; content type"):
        json_text.encode(around(value))
    with pytest.raises(TypeError):
        bodies.encode_all([1, around(value)], ["json"] * 2)


@pytest.mark.parametrize("key", [b"k", (1, 2), date(2026, 1, 1), datetime(2026, 1, 1), Decimal(1), UUID(int=1), frozenset(), time(1), timedelta(1)])  # noqa: DTZ001
def test_what_is_no_key_is_refused(key):
    with pytest.raises(TypeError, match="keys must be str"):
        json_text.encode({"a": {key: 1}})


@pytest.mark.parametrize("circle", [list, dict], ids=["list", "dict"])
def test_a_circle_is_refused_in_javascripts_words(circle):
    inner = circle()
    inner.append([inner]) if isinstance(inner, list) else inner.update(me={"a": [inner]})
    with pytest.raises(TypeError, match="Converting circular structure to JSON"):
        json_text.encode([1, inner])
    shared = circle()
    assert json_text.encode([shared, shared]) in {b"[[],[]]", b"[{},{}]"}


def test_undefined_is_no_body_whatever_comes_with_it():
    for kinds in (["json", "json"], ["json", "text"]):
        with pytest.raises(TypeError, match="Message body cannot be undefined"):
            bodies.encode_all(["a", UNDEFINED], kinds)


def test_bodies_of_version_0_1_0_are_read():
    marked = b' {"n":1180591620717411303424}'  # a blank stood before what orjson did not read exactly
    assert bodies.decode(marked, "json") == {"n": 2**70}
    assert bodies.on_the_wire(marked, "json") == bodies.on_the_wire(marked[1:], "json")
    assert bodies.decode(b'["\\ud800",1e-07,"\\u00e9"]', "json") == ["\ud800", 1e-7, "é"]


@pytest.mark.parametrize("body", [b"", b"nope", b"[1", b"[1]]", b'"\xff"'])
def test_what_is_no_json_raises(body):
    with pytest.raises(ValueError):
        json_text.decode(body)


def test_a_body_holds_on_to_no_more_than_itself():
    values = [{"n": n} for n in range(1_000)]
    for make in (lambda: json_text.encode_plain(values), lambda: [json_text.encode(value) for value in values]):
        tracemalloc.start()
        kept = make()
        now, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert now <= sum(map(sys.getsizeof, kept)) + sys.getsizeof(kept) + 5_000


def test_half_a_surrogate_pair_is_replaced_in_text():
    assert bodies.decode(bodies.encode("a\ud800b", "text"), "text") == "a\ufffdb"
