"""Options as JavaScript reads them: `contentType` and `delaySeconds` by keyword, by their snake_case twins, or in a mapping."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from difflib import get_close_matches
from math import isfinite
from typing import Any

_TWINS = {"contentType": "content_type", "delaySeconds": "delay_seconds"}
_SPELT = {twin: name for name, twin in _TWINS.items()}
_DELAY = frozenset({"delaySeconds", "delay_seconds"})
_ALIKE = 0.5
"""`delay` is meant as `delaySeconds`, `retries` as `max_retries`."""

_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1


def delay_seconds(value: object) -> int | None:
    """A delay in whole seconds; None when none is given. Fractions are cut, NaN and what is no number are 0.

    Raises TypeError for what lies outside 32 bits, as workerd does, and for values that are neither number nor text.
    """
    if value is None:
        return None
    number: float
    if isinstance(value, timedelta):
        number = value.total_seconds()
    elif isinstance(value, int | float):
        number = value
    elif isinstance(value, str):
        try:
            number = float(value or 0)
        except ValueError:
            number = 0
    else:
        message = f"delaySeconds must be a number of seconds, not {type(value).__name__}"
        raise TypeError(message)
    whole = int(number) if isfinite(number) else 0
    if not _INT32_MIN <= whole <= _INT32_MAX:
        message = f"Value out of range. Must be between {_INT32_MIN} and {_INT32_MAX} (inclusive)."
        raise TypeError(message)
    return whole


def bounded_delay(delay_seconds: int, most_seconds: int | None, call: str) -> tuple[int, str | None]:
    """The delay that a retry gets, and what to tell of it: workerd hands on any number, and the service takes 0 to a day."""
    taken = max(0, delay_seconds if most_seconds is None else min(delay_seconds, most_seconds))
    if taken == delay_seconds:
        return taken, None
    top = "" if most_seconds is None else most_seconds
    return taken, f"{call} asked for a delay of {delay_seconds} seconds, which is not within 0..{top}: it waits {taken} seconds"


def not_retry_options(call: str) -> str:
    """What workerd says when `call`, such as `retry` on `QueueMessage`, is given something else than options: `retry(60)`."""
    return f"Failed to execute {call}: parameter 1 is not of type 'QueueRetryOptions'."


def delay_of(call: str, options: object, given: Mapping[str, Any]) -> int | None:
    """The delay among options of retry() or retryAll(). Raises TypeError for an option that does not exist."""
    if options is None:
        if not given:
            return None
        if len(given) == 1:
            [(name, value)] = given.items()
            if name in _DELAY:
                return delay_seconds(value)
    elif not isinstance(options, Mapping):
        raise TypeError(not_retry_options(call))
    return delay_seconds(options_of(call, options, given, ["delay_seconds"]).get("delay_seconds"))


def options_of(
    call: str, options: Mapping[str, Any] | None, given: Mapping[str, Any], known: Collection[str]
) -> dict[str, Any]:
    """The options that are set, under their snake_case names: keywords beat the mapping.

    Raises TypeError for a keyword that is none of them; an unknown member of an options object is ignored, as the runtime does.
    """
    if not (options or given):
        return {}
    for name in given:
        if _TWINS.get(name, name) not in known:
            raise TypeError(unknown(f"{call}: unknown option", name, [_SPELT[each] for each in known]))
    named = {_TWINS.get(name, name): value for name, value in {**(options or {}), **given}.items() if value is not None}
    return {name: named[name] for name in known if name in named}


def unknown(what: str, name: str, known: Collection[str]) -> str:
    """That something does not exist, what is probably meant, and what there is."""
    close = meant(name, known)
    return f"{what} {name!r}{f' (did you mean {close}?)' if close else ''}: there {_are(sorted(known))}"


def meant(name: str, known: Collection[str]) -> str | None:
    """Which of the known names is probably meant; None where none is near."""
    plain = {each.replace("_", "").lower(): each for each in known}
    found = get_close_matches(name.replace("_", "").lower(), plain, n=1, cutoff=_ALIKE)
    return plain[found[0]] if found else None


def _are(names: list[str]) -> str:
    return f"is only {names[0]}" if len(names) == 1 else f"are {', '.join(names[:-1])} and {names[-1]}"
