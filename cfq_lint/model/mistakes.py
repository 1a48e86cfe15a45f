"""What pydantic complains of, in our words: what a field must be, and what it is."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def field_of(mistake: Any) -> str:
    """The dotted name of the field that pydantic complains of, without the names of its own that it adds for alternatives."""
    return ".".join(str(part) for part in mistake["loc"] if not re.search(r"[\[\]]|^constrained-|^(str|int|bool)$", str(part)))


def wanted(mistake: Any) -> str:
    """What a field must be, of what pydantic complains of, and what it is; to stand behind the field's name."""
    kind, given, bounds = mistake["type"], mistake["input"], mistake.get("ctx", {})
    if field_of(mistake).startswith(_WATCHED_FIELDS, field_of(mistake).rfind("metrics.")):
        return f"is a text or false, not {_shown(given)}"
    if kind == "literal_error":
        return f"is one of {bounds['expected'].replace(' or ', ', ').replace(chr(39), '')}, not {_shown(given)}"
    if kind == "extra_forbidden":
        return "is not known"
    if kind == "json_invalid":
        return f"is no JSON: {bounds['error']}"
    if kind == "string_too_short":
        return "is a text that is not empty"
    article = {
        "list": "a list",
        "dict": "a table",
        "model": "a table",
        "int": "a whole number",
        "float": "a number",
        "string": "a text",
    }
    form = next((words for start, words in article.items() if kind.startswith((start, f"{start}_"))), None)
    if form is not None and "input" not in kind:
        return f"is {form}, not {_shown(given)}"
    said = mistake["msg"].removeprefix("Input ").replace("should be", "is to be")
    return f"{said[0].lower()}{said[1:]}, not {_shown(given)}"


def _shown(value: object) -> str:
    text = {True: "true", False: "false"}.get(value, repr(value)) if isinstance(value, bool) else repr(value)
    return text if len(text) <= _SHOWN_MAX else f"{text[: _SHOWN_MAX - 1]}…"


_SHOWN_MAX = 40
_WATCHED_FIELDS = "metrics."
