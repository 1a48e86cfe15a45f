"""From bytes to a document: encodings, byte order marks, positions as an editor shows them, and what cannot be read."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfq_lint import lint_paths, lint_text
from cfq_lint.facts.errors import Unreadable
from cfq_lint.source.document import FILE_SIZE_MAX_BYTES, from_bytes, read
from cfq_lint.source.text import Lines

from .support import document_of, lint_files, run

TEXT = '{ "queues": {} }'


@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        ("utf-16-le", "UTF-16 (little endian)"), ("utf-16-be", "UTF-16 (big endian)"),
        ("utf-32-le", "UTF-32 (little endian)"), ("utf-32-be", "UTF-32 (big endian)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", ["json", "jsonc", "toml"])
def test_other_encodings_with_a_mark_are_named(encoding, named, suffix):
    document = from_bytes(f"wrangler.{suffix}", ("\ufeff" + TEXT).encode(encoding))
    assert named in document.encoding_problem
    assert document.text == ""
    assert not document.faults


@pytest.mark.parametrize(("encoding", "named"), [("utf-16-le", "UTF-16 (little"), ("utf-16-be", "UTF-16 (big")])
def test_utf_16_without_a_mark_is_recognised(encoding, named):
    assert named in from_bytes("wrangler.json", TEXT.encode(encoding)).encoding_problem


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x7fELF\x02\x01\x01\0\0\0\0", "binary"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary"),
        (b"PK\x03\x04\0\0\0\0", "binary"),
        (b'{ "a": "\xe9" }', "byte 0xe9 in line 1"),
        (b'{\n\n "a": "\xff\xfe" }', "byte 0xff in line 3"),
        (b'{ "a": "\xed\xa0\x80" }', "not UTF-8"),
        (b"\x80", "not UTF-8"),
    ],
)
def test_what_is_no_text_or_no_utf_8_is_one_finding_with_its_reason(data, said):
    document = from_bytes("wrangler.json", data)
    assert said in document.encoding_problem
    assert not document.whole


def test_a_wrong_encoding_is_the_only_finding_and_fails_the_run(tmp_path):
    report = lint_files(tmp_path, {"wrangler.jsonc": ("\ufeff" + TEXT).encode("utf-16-le")})
    assert [(f.name, f.severity, f.line, f.column) for f in report.findings] == [("wrong-encoding", "error", 1, 1)]
    assert report.unparsed == report.files


@pytest.mark.parametrize(("name", "text"), [("wrangler.jsonc", '{ "legacy_env": true }'), ("wrangler.toml", "legacy_env = true\n")])
def test_a_byte_order_mark_shifts_no_column(name, text, tmp_path):
    plain = lint_files(tmp_path / "plain", {name: text.encode()})
    marked = lint_files(tmp_path / "marked", {name: b"\xef\xbb\xbf" + text.encode()})
    assert [(f.name, f.line, f.column) for f in marked.findings if f.name != "utf8-bom"] == [
        (f.name, f.line, f.column) for f in plain.findings
    ]
    [mark] = [f for f in marked.findings if f.name == "utf8-bom"]
    assert (mark.severity, mark.line, mark.column) == ("info", 1, 1)
    assert mark.fix.safe


def test_a_second_byte_order_mark_is_no_white_space():
    document = from_bytes("wrangler.json", b"\xef\xbb\xbf\xef\xbb\xbf{}")
    assert document.bom
    assert [fault.start for fault in document.faults] == [0]


def test_text_and_bytes_are_judged_alike(tmp_path):
    text = "\ufeff" + '{ "legacy_env": 1 }'
    file = tmp_path / "wrangler.jsonc"
    file.write_text(text, encoding="utf-8")
    assert [(f.name, f.line, f.column) for f in lint_paths([str(file)]).findings] == [
        (f.name, f.line, f.column) for f in lint_text(text).findings
    ]


@given(st.binary(max_size=80))
def test_any_bytes_make_a_document(data):
    for suffix in ("jsonc", "toml"):
        document = from_bytes(f"wrangler.{suffix}", data)
        assert document.encoding_problem or document.faults or document.tree.root is not None


def test_what_cannot_be_read_says_why_in_one_line(tmp_path):
    for path in (tmp_path / "gone.json", tmp_path):
        with pytest.raises(Unreadable) as refused:
            read(str(path))
        assert str(path).replace(os.sep, "/") in str(refused.value)
        assert "\n" not in str(refused.value)


def test_what_is_too_large_for_a_configuration_is_not_read(tmp_path):
    file = tmp_path / "wrangler.json"
    with file.open("wb") as opened:
        opened.truncate(FILE_SIZE_MAX_BYTES + 1)
    with pytest.raises(Unreadable, match="larger than"):
        read(str(file))
    done = run("check", str(file), cwd=tmp_path)
    assert done.returncode == 2
    assert b"larger than" in done.stderr


# --- positions


@pytest.mark.parametrize(
    ("text", "offset", "place"),
    [
        ("", 0, (1, 1)), ("ab", 2, (1, 3)), ("a\nb", 2, (2, 1)), ("a\r\nb", 3, (2, 1)), ("a\rb", 2, (2, 1)), ("a\n\nb", 3, (3, 1)),
        ("é😀x", 2, (1, 3)), ("a\r\r\nb", 4, (3, 1)), ("a\n", 2, (2, 1)), ("a\r", 2, (2, 1)), ("\r\n\r\n", 4, (3, 1)), ("a\u2028b", 2, (1, 3)),
    ],
)  # fmt: skip
def test_positions_are_those_of_an_editor(text, offset, place):
    assert Lines(text).position(offset) == place


@given(st.text(st.sampled_from("ab\r\n\u2028é😀\t"), max_size=30), st.integers(0, 30))
def test_positions_and_lines_agree_with_counting(text, offset):
    offset = min(offset, len(text))
    lines = Lines(text)
    line, column = lines.position(offset)
    # Line ends are LF, CR LF and CR; nothing else is, whatever str.splitlines() believes.
    starts = [0]
    for index, character in enumerate(text):
        if character == "\n" or (character == "\r" and text[index + 1 : index + 2] != "\n"):
            starts.append(index + 1)
    expected = max(number for number, start in enumerate(starts) if start <= offset)
    assert (line, column) == (expected + 1, offset - starts[expected] + 1)
    stop = starts[line] if line < len(starts) else len(text)
    assert lines.line(line) == text[starts[line - 1] : stop].rstrip("\r\n")


def test_a_place_is_clamped_to_the_text():
    place = document_of("ab").place(-3, 99)
    assert (place.line, place.column, place.end_line, place.end_column) == (1, 1, 1, 3)


def test_columns_count_code_points_in_findings():
    [finding] = lint_text('{ "name": "日本😀é", "legacy_env": 1 }', select=["legacy-env"]).findings
    assert finding.column == '{ "name": "日本😀é", "legacy_env": 1 }'.index('"legacy_env"') + 1


def test_a_broken_file_is_judged_by_its_syntax_alone_and_counted():
    report = lint_text('{ "queues": [], "x": @ }')
    assert {finding.code for finding in report.findings} == {"CFQ001"}
    assert report.unparsed == ("wrangler.jsonc",)


def test_json5_alone_does_not_keep_other_rules_from_judging():
    report = lint_text("{ queues: [] }")
    assert {finding.name for finding in report.findings} == {"json5-syntax", "queues-not-object"}
    assert not report.unparsed


@pytest.mark.parametrize(("name", "text"), [("wrangler.json", ""), ("wrangler.jsonc", " \n"), ("wrangler.jsonc", "// nothing\n")])
def test_an_empty_jsonc_file_is_an_error(name, text):
    [finding] = lint_text(text, name).findings
    assert (finding.name, finding.severity, finding.line) == ("parse-error", "error", 1)


def test_an_empty_toml_file_is_read_as_wrangler_reads_it():
    """TOML allows a file without keys."""
    assert not [finding for finding in lint_text("", "wrangler.toml").findings if finding.name != "parse-error"]


def test_a_json_file_is_read_as_jsonc():
    assert not lint_text('{ /* c */ "name": "a", }', "wrangler.json").findings


def test_a_commented_out_header_above_live_keys_is_explained():
    text = 'name = "a"\n\n[[queues.producers]]\nbinding = "Q"\nqueue = "q"\n\n# [[queues.consumers]]\nqueue = "q"\n'
    [finding] = lint_text(text, "wrangler.toml").findings
    assert (finding.name, finding.line) == ("parse-error", 8)
    assert "[[queues.consumers]]" in finding.message
