"""Scalars of TOML 1.1 (https://toml.io/en/v1.1.0): a token in, its value out, or what is wrong with it and what is allowed.

What is wrong comes back as (start, end, message) or as a message; nothing is raised.
"""

from __future__ import annotations

import re

from cfq_lint.source.node import BOOLEAN, BROKEN, DATETIME, NUMBER, STRING, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Wrong = tuple[int, int, str]

CONTROL = r"\x00-\x08\x0a-\x1f\x7f"
"""For a character class: what may stand in no comment and in no string of one line. A tab may."""
BASIC = rf'"(?!"")[^"\\{CONTROL}]*+(?>(?:\\[^{CONTROL}][^"\\{CONTROL}]*+)*)"'
LITERAL = rf"'(?!'')[^'{CONTROL}]*+'"
BASIC_LINES = r'"""[^"\\]*+(?>(?:(?:\\[\s\S]|"(?!""))[^"\\]*+)*)'
LITERAL_LINES = r"'''[^']*+(?>(?:'(?!'')[^']*+)*)"
ANY_STRING = (
    rf'{BASIC_LINES}(?:"{{3,5}}+|\\?+\Z)|{LITERAL_LINES}(?:\'{{3,5}}+|\Z)'
    r'|"[^"\\\n]*+(?>(?:\\[^\n][^"\\\n]*+)*)(?>(?:\\(?=\n|\Z))?)"?+'
    r"|'[^'\n]*+'?+"
)
"""A string as well as can be told in a broken text: one that is never closed ends with its line, or with the text."""
WORD = r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[^ \t\r\n,\[\]{}\"'#=]*+|[^ \t\r\n,\[\]{}\"'#=]++"
"""What is a scalar, or is meant to be one: a date with a time after a blank, or all up to a blank or a mark of the grammar."""
SAFE_INTEGER_MAX = 2**53 - 1

_DECIMAL = r"[+-]?(?:0|[1-9][0-9]*+(?>(?:_[0-9]++)*))"
_DIGITS = r"[0-9]++(?>(?:_[0-9]++)*)"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]++)?)?"
_SCALAR = (
    rf"({_DECIMAL})|(0(?:x[0-9A-Fa-f]++(?>(?:_[0-9A-Fa-f]++)*)|o[0-7]++(?>(?:_[0-7]++)*)|b[01]++(?>(?:_[01]++)*)))"
    rf"|({_DECIMAL}(?:\.{_DIGITS})?(?:[eE][+-]?{_DIGITS})?|[+-]?(?:inf|nan))"
    rf"|([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[Tt ]{_TIME}(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?|{_TIME})"
)
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b", '"': '"', "\\": "\\"}
_ESCAPE = r'\\(?:([btnfre"\\])|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([ \t]*+\r?+\n[ \t\r\n]*+))?'
_WHY = (
    (r"[+-]?0[0-9_]+", "{} has a leading zero, which TOML does not allow"),
    (r"[+-]0[xob].*", "{} has a sign, which TOML does not allow before hexadecimal, octal and binary integers"),
    (r"0[XOB].*", "{}: TOML writes the prefixes 0x, 0o and 0b in lower case"),
    (r"[+-]?[0-9_]*\.[0-9_]*([eE].*)?", "{} is no number: a float has digits on both sides of its point"),
    (r"[+-]?[0-9][0-9A-Fa-f_xob.eE+-]*_.*", "{} is no number: an underscore stands between two digits"),
    (r"[0-9]{4}-[0-9]{2}.*|[0-9]{2}:.*", "{} is no date or time; expected the form 1979-05-27T07:32:00Z, or a part of it"),
    (r"(?i:true|false)", "{} is no value of TOML: booleans are `true` and `false`"),
    (r"(?i:null|nil|none|undefined)", "{} is no value of TOML, which has no null: leave the key out"),
    (r"(?i:[+-]?(?:inf|infinity|nan))", "{} is no value of TOML: these floats are `inf`, `-inf` and `nan`"),
    (r"[+-]?[0-9].*", "{} is no number of TOML; text needs quotes"),
)


def show(token: str) -> str:
    """A token for a message: in backquotes, cut at 40 characters, what cannot be printed escaped."""
    cut = token if len(token) <= 40 else token[:39] + "…"  # noqa: PLR2004
    return f"`{cut if cut.isprintable() else ascii(cut)[1:-1]}`"


def found_at(text: str, position: int) -> tuple[int, str]:
    """What stands at a place where it is not allowed: its end, and what to call it."""
    found = text[position : position + 1]
    if not found:
        return position, "the end of the file"
    if found == "\n" or text.startswith("\r\n", position):
        return position, "the end of the line"
    if found == "\r":
        return position + 1, "a carriage return that no newline follows"
    if found < " " or found == "\x7f":
        return position + 1, f"the control character U+{ord(found):04X}"
    if found == "#":
        return position + 1, "a comment"
    match = re.compile(f"{ANY_STRING}|{WORD}").match(text, position)
    end = match.end() if match else position + 1
    return end, show(text[position:end])


def read_word(word: str) -> tuple[str, Any, str | None]:
    """Kind, value and what is wrong, of a scalar that is no string. What is no value is BROKEN; `why_broken` explains it."""
    if word == "true" or word == "false":  # noqa: PLR1714 - the quicker way to ask
        return BOOLEAN, word == "true", None
    if word.isdigit() and word.isascii() and len(word) <= 15 and (word[0] != "0" or word == "0"):  # noqa: PLR2004
        return NUMBER, int(word), None
    match = re.compile(_SCALAR).fullmatch(word)
    kind = match.lastindex if match else None
    if kind == 3:  # noqa: PLR2004
        return NUMBER, float(word), None
    if kind == 4:  # noqa: PLR2004
        return (DATETIME if _day_exists(word) else BROKEN), word, None
    if kind is None:
        return BROKEN, word, None
    try:
        value = int(word, 0)
    except ValueError:  # Python reads at most 4,300 digits
        return BROKEN, word, "integer too large: this one has thousands of digits"
    if -SAFE_INTEGER_MAX <= value <= SAFE_INTEGER_MAX:
        return NUMBER, value, None
    return NUMBER, value, f"integer {show(word)} is beyond ±(2^53 − 1), which wrangler's reader refuses"  # noqa: RUF001


def why_broken(word: str) -> str:
    """What is wrong with a word that `read_word` calls BROKEN, and what is allowed."""
    if re.fullmatch(_SCALAR, word):
        return f"{show(word)} is a day that does not exist"
    reasons = (reason for pattern, reason in _WHY if re.fullmatch(pattern, word))
    return next(reasons, "{} is no value of TOML; text needs quotes").format(show(word))


def lacks_seconds(word: str) -> bool:
    """Whether a date or time that can be read ends with its minutes."""
    return bool(re.fullmatch(r"(?:[0-9-]{10}[Tt ])?[0-9]{2}:[0-9]{2}(?:[Zz]|[+-][0-9]{2}:[0-9]{2})?", word))


def escape_of_1_1(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of the first escape in a basic string that TOML 1.0 lacks; None where there is none."""
    for match in re.compile(r"\\(?:(e|x[0-9A-Fa-f]{2})|[\s\S])").finditer(text, start, end):
        if match[1]:
            return match.span()
    return None


def _day_exists(word: str) -> bool:
    if word[2] == ":":
        return True
    year, month, day = int(word[:4]), int(word[5:7]), int(word[8:10])
    if not (year and 1 <= month <= 12):  # noqa: PLR2004
        return False
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)  # noqa: PLR2004
    return 1 <= day <= _MONTH_DAYS[month - 1] + leap


def read_string(text: str, start: int) -> tuple[Node, Wrong | None]:
    """The string whose opening quote is at `start`, of any of the four kinds, and what is wrong with it.

    A wrong one is BROKEN and ends at its closing quote or, where there is none, with its line or (three quotes) with the text.
    """
    quote = text[start]
    if text.startswith(quote * 3, start):
        return _lines(text, start, quote)
    match = re.compile(BASIC if quote == '"' else LITERAL).match(text, start)
    if match is None:
        end = re.compile(ANY_STRING).match(text, start).end()  # type: ignore[union-attr]  # it matches at any quote
        control = re.compile(rf"[{CONTROL}]").search(text, start, end)
        if control and not text.startswith("\r\n", control.start()):
            wrong = _control(text, control.start())
        else:
            end = control.start() if control else end
            wrong = (start, end, f"this string is not closed: expected {quote} before the end of the line")
        return Node(BROKEN, start, end, text[start:end]), wrong
    end = match.end()
    raw = text[start + 1 : end - 1]
    if quote == "'" or "\\" not in raw:
        return Node(STRING, start, end, raw), None
    return _escaped(text, start, end, raw, start + 1)


def _lines(text: str, start: int, quote: str) -> tuple[Node, Wrong | None]:
    match = re.compile(f'{BASIC_LINES}"{{3,5}}+' if quote == '"' else f"{LITERAL_LINES}'{{3,5}}+").match(text, start)
    if match is None:
        wrong = (start, start + 3, f"this string is never closed: expected {quote * 3}")
        return Node(BROKEN, start, len(text), text[start:]), wrong
    end = match.end()
    control = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)").search(text, start, end)
    if control:
        return Node(BROKEN, start, end, text[start:end]), _control(text, control.start())
    # A newline right after the opening quotes is no part of the string.
    first = start + (5 if text.startswith("\r\n", start + 3) else 4 if text.startswith("\n", start + 3) else 3)
    raw = text[first : end - 3]
    if quote == '"' and "\\" in raw:
        return _escaped(text, start, end, raw, first)
    return Node(STRING, start, end, raw.replace("\r\n", "\n")), None


def _control(text: str, at: int) -> Wrong:
    code = f"{ord(text[at]):04X}"
    return at, at + 1, f"the control character U+{code} cannot stand in a string; a basic string has it as \\u{code}"


def _escaped(text: str, start: int, end: int, raw: str, first: int) -> tuple[Node, Wrong | None]:
    value, wrong = unescape(raw, first)
    return (Node(BROKEN, start, end, text[start:end]), wrong) if wrong else (Node(STRING, start, end, value), None)


def unescape(raw: str, first: int) -> tuple[str, Wrong | None]:
    """What stands between the quotes of a basic string, escapes resolved; `first` is its offset in the text."""
    pieces, done = [], 0
    for match in re.finditer(_ESCAPE, raw):
        at, kind = match.start(), match.lastindex
        pieces.append(raw[done:at].replace("\r\n", "\n"))
        done = match.end()
        if kind == 1:
            pieces.append(_ESCAPED[match[1]])
        elif kind is None:
            return raw, _no_escape(raw, first, at)
        elif kind != 5:  # noqa: PLR2004 - five is a newline that the backslash takes away
            code = int(match[kind], 16)
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004
                message = f"{show(match[0])} is no character: U+0000 to U+D7FF and U+E000 to U+10FFFF are"
                return raw, (first + at, first + done, message)
            pieces.append(chr(code))
    pieces.append(raw[done:].replace("\r\n", "\n"))
    return "".join(pieces), None


def _no_escape(raw: str, first: int, at: int) -> Wrong:
    letter = raw[at + 1 : at + 2]
    if letter in ("x", "u", "U"):
        digits = re.compile("[0-9A-Fa-f]*").match(raw, at + 2).end()  # type: ignore[union-attr]  # it matches anywhere
        wanted = r"\x takes 2 hexadecimal digits, \u takes 4, \U takes 8"
        return first + at, first + digits, f"{show(raw[at:digits])} is cut short: {wanted}"
    return (
        first + at,
        first + at + 1 + len(letter),
        show(raw[at : at + 2]) + r" is no escape; TOML has \b \t \n \f \r \e \" \\ \xHH \uXXXX \UXXXXXXXX",
    )
