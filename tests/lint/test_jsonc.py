"""The JSONC reader: Microsoft's verdicts and values, exact spans, every fault with its place, and linear work on hostile texts."""

from __future__ import annotations

import gzip
import itertools
import json
import math

import json5
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfq_lint.source.jsonc import comments, parse
from cfq_lint.source.node import ARRAY, BOOLEAN, BROKEN, DEPTH_MAX, FAULTS_MAX, NULL, NUMBER, OBJECT, STRING

from .support import FIXTURES, REAL, real_text, walk

MICROSOFT = json.loads(gzip.decompress((FIXTURES / "jsonc" / "microsoft.json.gz").read_bytes()).decode("utf-8", "surrogatepass"))


def in_javascript(value):
    """A value as JavaScript prints it: numbers are doubles, what is not finite is null."""
    if isinstance(value, dict):
        return {key: in_javascript(item) for key, item in value.items()}
    if isinstance(value, list):
        return [in_javascript(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if math.isfinite(number) else None
    return value


def check_shape(text):
    """What holds for any text at all; returns the tree."""
    tree = parse(text)
    assert len(tree.faults) <= FAULTS_MAX
    assert all(0 <= fault.start <= fault.end <= len(text) and fault.message for fault in tree.faults)
    assert [fault.start for fault in tree.faults[:-1]] == sorted(fault.start for fault in tree.faults[:-1])
    assert tree.root is not None or tree.faults
    for node, member in walk(tree.root):
        assert 0 <= node.start < node.end <= len(text) or node.start == node.end == len(text)
        if member is not None:
            assert node.start >= member.end > member.start >= 0
    spans = comments(text)
    assert all(text.startswith(("//", "/*"), start) for start, _ in spans)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))
    return tree


# --- Microsoft


def test_every_verdict_and_value_is_microsoft_s():
    verdicts, values = [], []
    for row in MICROSOFT:
        tree = check_shape(row["text"])
        if (not tree.faults) != row["accepted"]:
            verdicts.append((row["text"], row["accepted"], tree.faults))
        elif row["accepted"] and in_javascript(tree.root.plain()) != in_javascript(json.loads(row["value"])):
            values.append((row["text"], tree.root.plain(), row["value"]))
    assert len(MICROSOFT) > 6000
    assert not verdicts[:5]
    assert not values[:5]


def test_no_accepted_text_loses_its_order_of_keys():
    for row in MICROSOFT:
        if row["accepted"] and row["value"].startswith("{"):
            wanted = list(json.loads(row["value"]))
            # JavaScript puts keys that look like indexes first; no other key moves.
            if not any(key.isdigit() for key in wanted):
                assert list(parse(row["text"]).root.plain()) == wanted


def test_the_first_fault_stands_at_or_before_microsoft_s_first_error():
    """Ours may begin at the opening of what is broken, where theirs is at the character that ended its patience."""
    far = []
    for row in MICROSOFT:
        if not row["accepted"]:
            first = parse(row["text"]).faults[0].start
            if first > row["error"][0] + 1 and row["text"][row["error"][0] : first].strip():
                far.append((row["text"], row["error"], first))
    assert len(far) < len(MICROSOFT) / 200, far[:10]


# --- json5


def in_json5(text):
    """What the json5 package reads; it leaves escaped halves of a character apart, which JavaScript and we join."""

    def joined(value):
        if isinstance(value, str):
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        if isinstance(value, dict):
            return {joined(key): joined(item) for key, item in value.items()}
        return [joined(item) for item in value] if isinstance(value, list) else value

    return joined(json5.loads(text))


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
blanks = st.sampled_from(["", " ", "\n", "\r\n", "\t", "/* c */", "// c\n", " /* , */ ", "//{\r\n"])


@st.composite
def jsonc_texts(draw):
    """Legal JSONC with its value: any white space and comments between tokens, trailing commas, escapes."""

    def write(value):
        gap = lambda: draw(blanks)  # noqa: E731
        if isinstance(value, dict):
            parts = [f"{gap()}{string(key)}{gap()}:{gap()}{write(item)}{gap()}" for key, item in value.items()]
        elif isinstance(value, list):
            parts = [f"{gap()}{write(item)}{gap()}" for item in value]
        else:
            return string(value) if isinstance(value, str) else json.dumps(value)
        trailing = "," + gap() if parts and draw(st.booleans()) else ""
        opener, closer = ("{", "}") if isinstance(value, dict) else ("[", "]")
        return opener + (",".join(parts) or gap()) + trailing + closer

    def string(text):
        return json.dumps(text, ensure_ascii=draw(st.booleans()))

    value = draw(values)
    return draw(blanks) + write(value) + draw(blanks), value


@settings(max_examples=200)
@given(jsonc_texts())
def test_legal_jsonc_has_its_value_no_fault_and_exact_spans(pair):
    text, value = pair
    tree = check_shape(text)
    assert not tree.faults
    assert tree.root.plain() == value
    for node, member in walk(tree.root):
        written = text[node.start : node.end]
        if node.kind == OBJECT:
            assert written[0] + written[-1] == "{}"
        elif node.kind == ARRAY:
            assert written[0] + written[-1] == "[]"
        else:
            assert json.loads(written) == node.value
        if member is not None:
            assert json.loads(text[member.start : member.end]) == member.key


@settings(max_examples=100)
@given(jsonc_texts())
def test_what_we_accept_json5_accepts_with_the_same_value(pair):
    assert in_json5(pair[0]) == parse(pair[0]).root.plain()


SNIPPETS = [
    "{", "}", "[", "]", ",", ":", '"', "'", '"a"', "'b'", "a", "true", "null", "1", "-", "+1", ".5", "5.", "0x1F", "01", "1e", "Infinity", "NaN", "//x\n",
    "/*x*/", "/*", "#", "\n", " ", "\\", '"\\', "\\u00", "\t", "\ufeff", "\u2028", "\xa0", "\x00", "undefined", "True", "é", '"\x01"', "=", ";", "*/", "{}",
]  # fmt: skip


@settings(max_examples=400)
@given(st.lists(st.sampled_from(SNIPPETS), max_size=25).map("".join) | st.text(max_size=40))
def test_any_text_is_read_and_what_is_accepted_json5_accepts(text):
    tree = check_shape(text)
    if not tree.faults:
        assert in_javascript(in_json5(text)) == in_javascript(tree.root.plain())


@settings(max_examples=200)
@given(st.lists(st.sampled_from(SNIPPETS), max_size=25).map("".join))
def test_a_text_whose_every_fault_is_json5_is_json5_with_the_same_value(text):
    tree = parse(text)
    if tree.faults and len(tree.faults) < FAULTS_MAX and all(fault.json5 for fault in tree.faults):
        assert in_javascript(in_json5(text)) == in_javascript(tree.root.plain())


@settings(max_examples=200)
@given(st.lists(st.sampled_from(SNIPPETS), max_size=25).map("".join))
def test_json5_replacements_make_json_of_the_same_value(text):
    tree = parse(text)
    faults = tree.faults
    if faults and len(faults) < FAULTS_MAX and all(fault.json5 and fault.replacement is not None for fault in faults):
        for fault in sorted(faults, key=lambda fault: fault.start, reverse=True):
            text = text[: fault.start] + fault.replacement + text[fault.end :]
        mended = parse(text)
        assert not mended.faults
        assert in_javascript(mended.root.plain()) == in_javascript(tree.root.plain())


@pytest.mark.parametrize(
    ("token", "replacement"),
    [
        ("'a'", '"a"'), ("'it\\'s'", '"it\'s"'), ("'say \"x\"'", '"say \\"x\\""'), ("0x1F", "31"), ("+5", "5"), (".5", "0.5"), ("5.", "5"),
        ("-.5", "-0.5"), ("+0x10", "16"), ("Infinity", None), ("-Infinity", None), ("NaN", None), ('"a\\\nb"', '"ab"'), ("'\\x41'", '"A"'),
    ],
)  # fmt: skip
def test_json5_values_are_named_and_written_as_json(token, replacement):
    [fault] = parse(f'{{"k": {token}}}').faults
    assert fault.json5
    assert fault.replacement == replacement
    assert (fault.start, fault.end) == (6, 6 + len(token))
    assert "JSON5" in fault.message


@pytest.mark.parametrize("key", ["k", "$k", "_", "é", "'k'", "Infinity", "true"])
def test_json5_keys_are_named_and_quoted(key):
    [fault] = parse("{" + key + ": 1}").faults
    assert fault.json5
    assert fault.replacement == json.dumps(key.strip("'"), ensure_ascii=False)
    assert (fault.start, fault.end) == (1, 1 + len(key))


# --- faults


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("", [(0, "no value")]),
        ("  \n// only a comment", [(0, "no value")]),
        ('{"a" 1}', [(5, "expected `:`")]),
        ('{"a": }', [(1, "expected a value for the property 'a'")]),
        ('{"a"}', [(1, "expected `:` and a value")]),
        ('{"a": 1 "b": 2}', [(8, "expected `,` or `}`")]),
        ("[1 2 3]", [(3, "expected `,` or `]`"), (5, "expected `,` or `]`")]),
        ('{"a": 1,, "b": 2}', [(8, "unexpected `,`")]),
        ("[,]", [(1, "unexpected `,`")]),
        ('{"a": [1, 2}', [(11, "is closed by `]`")]),
        ('{"a": 1]', [(7, "closed by `}`"), (0, "never closed")]),
        ("{", [(0, "never closed")]),
        ('{"a": [{', [(7, "never closed")]),
        ("{} x", [(3, "after the end")]),
        ("{} {}", [(3, "after the end")]),
        ('{"a": "x\n, "b": 1}', [(6, "never closed on its line")]),
        ("{} /* never", [(3, "comment is never closed")]),
        ('{"a": tru}', [(6, "unexpected `tru`")]),
        ('{"a": True}', [(6, "JSON writes it `true`")]),
        ('{"a": undefined}', [(6, "JSON writes it `null`")]),
        ('# c\n{"a": 1}', [(0, "`#` starts no comment")]),
        ('{"a": 01}', [(6, "unexpected")]),
        ('{"a" = 1}', [(5, "expected `:`")]),
        ('{"a": 1}}', [(8, "after the end")]),
        ('{"a": "\\q"}', [(6, 'JSON5, which wrangler does not read; write "q"')]),
        ('{"a": "\\u12"}', [(6, "does not allow")]),
    ],
)
def test_every_fault_is_found_where_it_is(text, faults):
    found = [(fault.start, fault.message) for fault in parse(text).faults]
    assert [start for start, _ in found] == [start for start, _ in faults], found
    for (_, said), (_, wanted) in zip(found, faults, strict=True):
        assert wanted in said


MISTAKES = ['"x" 1', '"x": ', '"x": tru', '"x": "open', '"x": \'s\'', "x: 1", '"x": 0x1', '"x": 1 2', '"x"']


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_hides_no_other_mistake_and_no_member_around_it(mistake):
    members = [f'"k{number}": {number}' for number in range(5)]
    text = "{\n" + ",\n".join([*members[:2], mistake, members[2], mistake, *members[3:]]) + "\n}"
    tree = parse(text)
    lines = {text.count("\n", 0, fault.start) for fault in tree.faults}
    assert {3, 5} <= lines | {line - 1 for line in lines}
    kept = tree.root.plain()
    assert all(kept.get(f"k{number}") == number for number in range(5)), (kept, tree.faults)


def test_faults_stop_at_the_most_that_help():
    assert len(parse("[" + "1 " * 5000 + "]").faults) == FAULTS_MAX


def test_nesting_has_a_floor():
    assert not parse("[" * DEPTH_MAX + "]" * DEPTH_MAX).faults
    deep = parse("[" * (DEPTH_MAX + 1) + "]" * (DEPTH_MAX + 1))
    assert [f"deeper than {DEPTH_MAX}" in fault.message for fault in deep.faults] == [True]
    assert deep.root.plain() is not None


# --- values


@pytest.mark.parametrize(
    ("token", "kind", "value"),
    [
        ("0", NUMBER, 0), ("-0", NUMBER, 0), ("1.5e3", NUMBER, 1500.0), ("1E400", NUMBER, math.inf), ("12345678901234567890", NUMBER, 12345678901234567890),
        ("true", BOOLEAN, True), ("false", BOOLEAN, False), ("null", NULL, None), ('""', STRING, ""), ('"\\u00e9\\ud83d\\ude00\\/"', STRING, "é😀/"),
        ('"\\ud800"', STRING, "\ud800"), ('"\u2028"', STRING, "\u2028"), ('"\x7f"', STRING, "\x7f"),
    ],
)  # fmt: skip
def test_scalars(token, kind, value):
    node = parse(token).root
    assert (node.kind, node.value, node.start, node.end) == (kind, value, 0, len(token))


def test_a_number_of_thousands_of_digits_is_a_number():
    node = parse("1" * 5000).root
    assert node.kind == NUMBER


def test_of_a_repeated_key_both_stay_and_the_last_wins():
    root = parse('{"a": 1, "a": 2}').root
    assert [(member.key, member.node.value) for member in root.value] == [("a", 1), ("a", 2)]
    assert root.plain() == {"a": 2}


def test_what_is_no_value_is_kept_as_broken():
    tree = parse('{"a": @@, "b": 2}')
    assert tree.root.value[0].node.kind == BROKEN
    assert tree.root.plain()["b"] == 2


# --- comments


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{} // a\r\n// b", ["// a", "// b"]),
        ('{"//": "/* no */"} /* yes */', ["/* yes */"]),
        ("/* a\nb */ {} /* open", ["/* a\nb */", "/* open"]),
        ('{"a": "\\"// no"} // yes', ["// yes"]),
        ("{}", []),
        ("/**/{}/**/", ["/**/", "/**/"]),
        ('{"a": "open // c\n} // d', ["// d"]),
    ],
)
def test_comments_are_found_and_strings_are_not(text, found):
    assert [text[start:end] for start, end in comments(text)] == found


@pytest.mark.parametrize("file", [f for f in REAL if f.suffix != ".toml"], ids=lambda file: file.name)
def test_real_files_without_their_comments_say_the_same(file):
    text = real_text(file)
    bare = text
    for start, end in reversed(comments(text)):
        bare = bare[:start] + " " * (end - start) + bare[end:]
    assert not comments(bare)
    assert parse(bare).root.plain() == parse(text).root.plain()


# --- hostile texts

HOSTILE = {
    "comments that are never closed": "{" + "/* " * 50_000,
    "keys that look like comments": "{" + '"/*":1,' * 20_000 + "}",
    "strings that are never closed": '{"a":"' * 20_000,
    "backslashes": '{"a":"' + "\\" * 100_001,
    "nesting of 400": "[" * 400 + "]" * 400,
    "nesting of 5000": "[" * 5_000,
    "five megabytes of brackets": "[" * 5_000_000,
    "five megabytes of pairs": "[]" * 2_500_000,
    "line comments": "//x\n" * 50_000 + "{}",
    "block comments": "{" + "/**/" * 50_000 + "}",
    "slashes": "{" + "/ " * 50_000,
    "commas": "[" + "," * 100_000,
    "colons": "{" + ":" * 100_000,
    "bare words": "{" + "a " * 50_000,
    "minus signs": "[" + "-" * 100_000,
    "digits": "[" + "1" * 100_000 + "]",
    "no commas": "[" + "1 " * 50_000 + "]",
    "keys without colons": "{" + '"a" ' * 50_000 + "}",
    "spaces": "{" + " " * 100_000 + "}",
    "white space, then junk": ('{"a"' + " " * 1000) * 50,
    "half of an escape": '"' + "\\u00" * 50_000,
    "one long word": "{" + "a" * 100_000 + ": 1}",
    "one long single-quoted string": "['" + "a" * 100_000 + "']",
    "exotic blanks": "[" + "\u2028" * 100_000 + "]",
    "stars": "/*" + "*" * 100_000,
    "quotes": "'\"" * 50_000,
    "a line of a megabyte": '{"a": "' + "x" * 1_000_000 + '"}',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_read_to_their_end(text):
    check_shape(text)
