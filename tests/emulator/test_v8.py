"""Content type v8: what workerd and Node wrote is read, what is written is what workerd writes, and everything comes back."""

from __future__ import annotations

import json
import math
import re
from array import array
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emulator import Emulator
from emulator.engine import bodies
from emulator.engine.bodies.undefined import UNDEFINED
from emulator.engine.bodies.v8_values import ClonedError, DataCloneError

RECORDED = json.loads((Path(__file__).parents[2] / "fixtures" / "v8" / "recorded.json").read_text(encoding="utf-8"))


def encode(value):
    return bodies.encode(value, "v8")


def decode(body):
    return bodies.decode(body, "v8")


def holding_itself(make, add):
    value = make()
    add(value)
    return value


def error(name, message, stack=None, cause=UNDEFINED):
    return ClonedError(message, name, f"{name}: {message}" if stack is None else stack, cause)


def causing_itself():
    made = error("Error", "x")
    made.cause = made
    return made


class Foo(Enum):
    A = 1


class Whole(IntEnum):
    TWO = 2


LIST, DICT, BYTES, EPOCH = [1], {"s": 1}, b"\x01", datetime(1970, 1, 1, tzinfo=UTC)
EXACT = {
    "null": None, "true": True, "false": False,
    "0": 0, "-0": -0.0, "1": 1, "-1": -1, "63": 63, "64": 64, "-65": -65, "2**30-1": 2**30 - 1, "2**30": 2**30, "-(2**30)": -(2**30),
    "-(2**30)-1": -(2**30) - 1, "2**31-1": 2**31 - 1, "2**31": 2**31, "-(2**31)": -(2**31), "-(2**31)-1": -(2**31) - 1, "2**40": 2**40,
    "2**53-1": 2**53 - 1, "-(2**53)+1": -(2**53) + 1, "2**53": 2.0**53, "1.5": 1.5, "1e300": 1e300, "5e-324": 5e-324, "NaN": math.nan,
    "Infinity": math.inf, "-Infinity": -math.inf,
    "2n**53n": 2**53, "2n**64n": 2**64, "2n**64n-1n": 2**64 - 1, "-(2n**70n)": -(2**70), "2n**200n": 2**200,
    "empty string": "", "ascii": "abc", "latin-1": "é\x80ÿ", "two bytes": "你好", "mixed": "aé你", "emoji": "😀", "half an emoji": "\ud83d",
    "other half": "\ude00x", "NUL": "a\0b", "127 characters": "x" * 127, "128 characters": "x" * 128, "63 wide": "你" * 63, "64 wide": "你" * 64,
    "padded twice": ["a", "你", "ab", "你"],
    "empty array": [], "array": [1, "a", None, True], "doubles": [1.5, 2.5], "whole doubles": [1, 2.5], "nested": [[[]], {"a": [{}]}],
    "empty object": {}, "object": {"a": 1, "b": {"c": "d"}}, "wide key": {"你": 1}, "empty key": {"": 1}, "proto key": {"__proto__": 1},
    "integer keys": {"x": 0, "2": "b", "1": "a", "-1": 3, "01": 4, "4294967294": 5, "4294967295": 6, "1073741824": 7, "2147483648": 8},
    "map": {1: 2, "a": {"b": 1}, None: [3]},
    "date": datetime(2026, 1, 1, 0, 0, 0, 123_000, UTC), "date before 1970": datetime(1969, 12, 31, 23, 59, 59, 999_000, UTC),
    "first date": datetime(1, 1, 1, tzinfo=UTC), "last date": datetime(9999, 12, 31, 23, 59, 59, 999_000, UTC),
    "regexp": re.compile("a+b"), "regexp named": re.compile(r"(?P<year>\d{4})-(?P=year)"), "wide regexp": re.compile("你"),
    "Error": error("Error", "x"), "TypeError": error("TypeError", "bad"), "RangeError": error("RangeError", "bad"),
    "SyntaxError": error("SyntaxError", "bad"), "error without message": error("Error", ""), "wide error": error("Error", "你"),
    "error with cause": error("Error", "x", cause=error("TypeError", "y")), "error that causes itself": causing_itself(),
    "named error": error("Error", "x", "ValueError: x"),
    "Uint8Array": b"\x01\x02\xff", "empty Uint8Array": b"", "Int8Array": array("b", [-1, 2]), "Int16Array": array("h", [-1, 300]),
    "Uint16Array": array("H", [65535]), "Int32Array": array("i", [-1, 70000]), "Uint32Array": array("I", [2**32 - 1]),
    "Float32Array": array("f", [1.5, -0.25]), "Float64Array": array("d", [0.1, math.nan]), "BigInt64Array": array("q", [-5]),
    "BigUint64Array": array("Q", [2**64 - 1]), "empty set": set(),
    "shared array": [LIST, LIST], "shared object": {"a": DICT, "b": [DICT]}, "shared view": [BYTES, BYTES], "shared date": [EPOCH, EPOCH],
    "object that holds itself": holding_itself(lambda: {"a": 1}, lambda o: o.update(me=o)),
    "array that holds itself": holding_itself(lambda: [1], lambda a: a.append(a)),
    "map that holds itself": holding_itself(dict, lambda m: m.update({1: m})), "instance of a class": {"x": 1},
    "everything": {"d": EPOCH, "s": {"é", "你"}, "m": {1: {"b": b"\x01\x02"}}, "n": [None, UNDEFINED, -0.0, 1.5, 2**80],
                   "r": re.compile("x", re.IGNORECASE), "e": error("RangeError", "r")},
}  # fmt: skip
EXACT["depth 50"] = 1
for _ in range(50):
    EXACT["depth 50"] = [EXACT["depth 50"]]
"""What Python has for a value, and is written as workerd writes it."""

READ = {
    "0n": 0, "5n": 5, "-5n": -5, "undefined inside": {"u": UNDEFINED, "a": [UNDEFINED, 1]},
    "sparse": [1, UNDEFINED, 3], "very sparse": [UNDEFINED] * 1000 + [1], "array with members": [1, 2],
    "empty map": {}, "map of text": {"a": 1}, "map by objects": [({"a": 1}, 2), ([1], 3)], "set": {1, "a", None},
    "set of arrays": {(1, (2,)), (3,)}, "set of objects": [{"a": 1}], "invalid date": math.nan, "far date": 8.64e15,
    "regexp with flags": re.compile("^a.c$", re.IGNORECASE | re.MULTILINE | re.DOTALL), "odd regexp": re.compile(r"(?<=a)[\]/]"),
    "part of a buffer": b"\x01\x02", "ArrayBuffer": b"\x01\x02\x03", "Uint8ClampedArray": b"\x01\xff", "DataView": b"\x07\x08",
    "two views of one buffer": [b"\x01", b"\x02\x03", b"\x01\x02\x03"],
    "Number object": 5, "Boolean objects": [True, False], "String object": "s", "BigInt object": 5,
}  # fmt: skip
"""What Python reads, and would write otherwise: it has fewer kinds, or another order."""


def same(a, b):
    """Whether two values are equal, of the same types, and hold the same in the same places, however deep and in themselves."""
    todo, places = [(a, b)], {}
    while todo:
        a, b = todo.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, list | dict | tuple | ClonedError):
            if places.setdefault(id(a), id(b)) != id(b):
                return False
            if (id(a), id(b)) in places:
                continue
            places[id(a), id(b)] = True
        if isinstance(a, list | tuple):
            if len(a) != len(b):
                return False
            todo += zip(a, b, strict=True)
        elif isinstance(a, dict):
            if a.keys() != b.keys():
                return False
            todo += [(a[key], b[key]) for key in a]
        elif isinstance(a, ClonedError):
            if (a.name, a.message, a.stack, str(a)) != (b.name, b.message, b.stack, str(b)):
                return False
            todo.append((a.cause, b.cause))
        elif isinstance(a, float | array) or a is UNDEFINED:
            if repr(a) != repr(b):
                return False
        elif a != b:
            return False
    return True


def test_every_recorded_value_is_here():
    assert {*EXACT, *READ} == {*RECORDED}
    assert not {*EXACT} & {*READ}


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize("runtime", ["workerd", "node"])
def test_what_v8_wrote_is_read(name, runtime):
    assert same(decode(bytes.fromhex(RECORDED[name][runtime])), {**EXACT, **READ}[name])


@pytest.mark.parametrize("name", sorted(EXACT.keys() - {"everything"}))
def test_what_is_written_is_what_workerd_writes(name):
    assert encode(EXACT[name]).hex() == RECORDED[name]["workerd"]


def test_sets_are_written_in_an_order_of_their_own():
    assert encode({"b", "a", "c", 3, (2,), frozenset({"x", "y"})}) == encode({frozenset({"y", "x"}), (2,), "c", 3, "b", "a"})
    assert same(decode(encode(EXACT["everything"])), EXACT["everything"])
    assert len(encode(EXACT["everything"])) == len(bytes.fromhex(RECORDED["everything"]["workerd"]))


@pytest.mark.parametrize(
    ("body", "size_bytes"),
    [("é" * 22_000, 22_006), ("你" * 63_000, 126_006), ("x" * 127_994, 128_000), (bytes(100_000), 100_013), ("a" + "你" * 100, 208), ([], 7), ({}, 5)],
)
def test_the_size_that_counts_is_v8s(body, size_bytes):
    with Emulator() as emu:
        jobs = emu.create_queue("jobs")
        jobs.send(body, content_type="v8")
        assert jobs.metrics().backlog_bytes == size_bytes
        assert jobs.bodies() == [body]
        with pytest.raises(Exception, match="exceeds limit of 128000"):
            jobs.send(["x" * 127_000, body, "x" * 1_000], content_type="v8")


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ((1, (2,)), [1, [2]]), (frozenset({1}), {1}), (bytearray(b"ab"), b"ab"), (memoryview(b"abcd")[1:3], b"bc"), (memoryview(b"abcd")[::2], b"ac"),
        (memoryview(array("h", [1, -2])), array("h", [1, -2])), (array("l", [-1]), array("q" if array("l").itemsize == 8 else "i", [-1])),
        (datetime(2026, 1, 1, 1, 2, 3, 999_999, timezone(timedelta(hours=1))), datetime(2026, 1, 1, 0, 2, 3, 999_000, UTC)),
        (datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC)), (date(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC)),  # noqa: DTZ001
        (3.0, 3), (2.0**60, 2.0**60), (-(2.0**31), -(2**31)), (Whole.TWO, 2), ({1.5: "x", True: None}, {1.5: "x", True: None}),
        ({(1, 2): {"k": (3,)}}, {(1, 2): {"k": [3]}}), ({(1, frozenset({2}))}, {(1, frozenset({2}))}), ("\ud83d\ude00", "😀"),
        (re.compile(r"\(?P<[(?P<]\\(?P<n>.)(?<!b)(?=c)", re.MULTILINE | re.DOTALL), re.compile(r"\(?P<[(?P<]\\(?P<n>.)(?<!b)(?=c)", re.MULTILINE | re.DOTALL)),
        (re.compile("a", re.ASCII), re.compile("a")),
        (ValueError("x"), error("Error", "x", "ValueError: x")), (TypeError(), error("TypeError", "", "TypeError")), (KeyError("k"), error("Error", "'k'", "KeyError: 'k'")),
    ],
)  # fmt: skip
def test_what_javascript_has_one_kind_of_comes_back_as_that(value, seen):
    assert same(decode(encode(value)), seen)


def test_an_exception_brings_its_cause_and_is_an_exception_again():
    raised = RuntimeError("outer")
    raised.__cause__ = KeyError("inner")
    back = decode(encode({"error": raised}))["error"]
    assert isinstance(back, Exception)
    assert (str(back), back.name, back.stack) == ("outer", "Error", "RuntimeError: outer")
    assert str(back.__cause__) == "'inner'"
    assert encode(back) == encode(decode(encode(back)))


class HostileError(Exception):
    def __str__(self):
        raise RuntimeError


def test_an_exception_that_cannot_be_told_is_still_sent():
    assert str(decode(encode(HostileError()))) == "<HostileError: str() raised RuntimeError>"


def a_generator():
    yield


NOT_CLONED = [
    (object(), "object"), (lambda: 1, "function"), (print, "builtin_function_or_method"), (object, "type"), (1j, "complex"), (a_generator(), "generator"),
    (Decimal(1), "Decimal"), (UUID(int=1), "UUID"), (Foo.A, "Foo"), (time(1), "time"), (timedelta(1), "timedelta"), (range(2), "range"),
    (re.compile(b"a"), "Pattern"), (re.compile("a b", re.VERBOSE), "Pattern"), (memoryview(b"ab").cast("?"), "memoryview"), (iter([]), "list_iterator"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "name"), NOT_CLONED)
@pytest.mark.parametrize("around", [lambda v: v, lambda v: [v], lambda v: {"a": v}, lambda v: {1: [v]}, lambda v: (1, {"a": (2, [v])})])
def test_what_cannot_be_cloned_is_refused_in_v8s_words(value, name, around):
    with pytest.raises(DataCloneError, match=rf"^#<{name}> could not be cloned\.$"):
        encode(around(value))


LEAVES = (
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats() | st.text() | st.text(st.characters(categories=["Cs", "Lo", "Cc"]))
    | st.binary() | st.just(UNDEFINED) | st.datetimes(timezones=st.just(UTC)).map(lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000))
)  # fmt: skip
KEYS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary() | st.tuples(st.integers(), st.text())
VALUES = st.recursive(
    LEAVES | st.sets(KEYS) | st.lists(st.integers(-(2**15), 2**15 - 1)).map(lambda items: array("h", items)),
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner) | st.dictionaries(st.text() | st.integers(0, 2**33).map(str), inner),
    max_leaves=20,
)  # fmt: skip


def as_javascript(value):
    """The value with JavaScript's numbers: whole ones are int, those beyond 2**53 are what they were."""
    if type(value) is float and value.is_integer() and abs(value) < 2**53 and str(value) != "-0.0":
        return int(value)
    if isinstance(value, list | tuple | set):
        return type(value)(map(as_javascript, value))
    return {as_javascript(key): as_javascript(entry) for key, entry in value.items()} if isinstance(value, dict) else value


@given(VALUES.filter(lambda value: value is not UNDEFINED))
@example([1, 2.5, 2**53, -0.0, 2**30])
@example({"1": 1, "0": 2, "00": 3, "": 4, "4294967295": 5, "²": 6})
@example(["\ud83d", "\ude00", "é\ud800", "a" * 64 + "你"])
def test_everything_comes_back(value):
    body = encode(value)
    assert same(decode(body), as_javascript(value))
    assert encode(decode(body)) == body


@given(VALUES, VALUES)
def test_what_stands_in_two_places_is_one_thing_again(value, other):
    holder = [value]
    body = encode({"a": holder, "b": [holder, {"c": holder}], "d": other})
    back = decode(body)
    assert back["a"] is back["b"][0] is back["b"][1]["c"]
    assert same(back["a"], as_javascript(holder))
    assert same(back["d"], as_javascript(other))


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}, lambda inner: {1: inner}, lambda inner: ("你", [inner])])
def test_nesting_has_no_limit(wrap):
    value = 1
    for _ in range(10_000):
        value = wrap(value)
    body = encode(value)
    assert encode(decode(body)) == body


@given(st.binary(max_size=60))
def test_bytes_that_are_no_value_raise_nothing_but_valueerror(content):
    for body in (b"\xff\x0f" + content, b"\xff" + content):
        with suppress(ValueError):
            decode(body)


@pytest.mark.parametrize("name", [name for name in EXACT if not isinstance(EXACT[name], bytes | array)])  # their buffers are values
def test_bodies_that_are_cut_off_raise_valueerror(name):
    body = bytes.fromhex(RECORDED[name]["workerd"])
    for end in range(1, len(body)):
        with pytest.raises(ValueError, match="not in V8's format"):
            decode(body[:end])


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"dict":[["a",{"tuple":[1,{"float":"nan"}]}],["b",{"bytes":"eA=="}]]}', {"a": (1, math.nan), "b": b"x"}),
        (b'{"set":[1,"x"]}', {1, "x"}), (b"[1,1180591620717411303424]", [1, 2**70]), (b"null", None), (b'"\\u00e9"', "é"), (b"-5", -5),
        (b'{"datetime":"2026-01-01T00:00:00+00:00"}', datetime(2026, 1, 1, tzinfo=UTC)), (b'{"timedelta":[1,2,3]}', timedelta(1, 2, 3)),
        (b'{"bytearray":"eA=="}', bytearray(b"x")), (b'{"frozenset":[1]}', frozenset({1})), (b'{"date":"2026-01-01"}', date(2026, 1, 1)),
        (b'{"time":"01:02:03"}', time(1, 2, 3)),
    ],
)  # fmt: skip
def test_bodies_of_version_0_1_0_are_read(body, value):
    assert same(decode(body), value)
