"""What is made of a queue's name, and asked of it, before it is compared."""

from __future__ import annotations

import re

from cfq_lint.worker_code.ways.values import LITERAL, OPAQUE, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_OF_TEXTS: dict[str, Callable[[str, str], bool]] = {
    **dict.fromkeys(("startsWith", "startswith"), str.startswith),
    **dict.fromkeys(("endsWith", "endswith"), str.endswith),
    "includes": str.__contains__,
}
_CASES: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(("toLowerCase", "lower"), str.lower),
    **dict.fromkeys(("toUpperCase", "upper"), str.upper),
    **dict.fromkeys(("trim", "strip"), str.strip),
}
CHANGED = "changed"
"""What the value is called of a name that was made of the queue's: that no branch is for it is no certain mistake."""
_REPLACES = frozenset({"replace", "replaceAll"})
_REPEATED_GROUP = re.compile(r"\)[*+{]")
"""What may take Python long to match."""
_FLAGS = frozenset("giu")


def of_the_name(queue: Value, method: str, given: list[Value]) -> Value:
    """What a method says of the queue's name, or makes of it."""
    name = queue.literal if queue.kind == LITERAL else None
    if not isinstance(name, str):
        return Value(OPAQUE, is_queue=True)
    parts = [given[0], *(given[0].fields or {}).values()] if given else []
    texts = [each.literal for each in parts if isinstance(each.literal, str)]
    if method in _OF_TEXTS and texts:
        return Value(LITERAL, literal=any(_OF_TEXTS[method](name, text) for text in texts))
    made = _CASES[method](name) if method in _CASES else None
    if method in _REPLACES and len(given) == 2:  # noqa: PLR2004 - what, and what it becomes
        made = _replaced(name, given[0].literal, given[1].literal, is_everywhere=method == "replaceAll")
        return Value(LITERAL if made is not None else OPAQUE, literal=made, is_queue=True, name=CHANGED)
    return Value(LITERAL, literal=made, is_queue=True) if made is not None else Value(OPAQUE, is_queue=True)


def matches_name(pattern: Value, queue: Value) -> Value:
    """`pattern.test(name)`."""
    made = _compiled(pattern.literal)
    if made is None or not isinstance(queue.literal, str):
        return Value(OPAQUE, is_queue=True)
    return Value(LITERAL, literal=made.search(queue.literal) is not None)


def _replaced(name: str, what: object, by: object, *, is_everywhere: bool) -> str | None:
    if not isinstance(by, str) or "$" in by:
        return None
    if isinstance(what, str):
        return name.replace(what, by, -1 if is_everywhere else 1)
    made = _compiled(what)
    if made is None or not isinstance(what, tuple):
        return None
    return made.sub(lambda _: by, name, count=0 if "g" in what[1] else 1)


def _compiled(literal: object) -> re.Pattern[str] | None:
    """A regular expression of JavaScript's, where Python's mean the same."""
    match literal:
        case (str(pattern), str(flags)) if _FLAGS.issuperset(flags) and not _REPEATED_GROUP.search(pattern):
            try:
                return re.compile(pattern.replace("(?<", "(?P<") if "(?<" in pattern else pattern, _flags(flags))
            except (re.error, OverflowError):
                return None
        case _:
            return None


def _flags(flags: str) -> int:
    return re.ASCII | (re.IGNORECASE if "i" in flags else 0)
