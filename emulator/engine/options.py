"""Options as JavaScript reads them: `delaySeconds` by keyword, by its snake_case twin, or in a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from math import isfinite
from typing import Any

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


def not_retry_options(call: str) -> str:
    """What workerd says when `call`, such as `retry` on `QueueMessage`, is given something else than options: `retry(60)`."""
    return f"Failed to execute {call}: parameter 1 is not of type 'QueueRetryOptions'."


def delay_of(call: str, options: object, given: Mapping[str, Any]) -> int | None:
    """The delay among options: a mapping first, then keywords. Raises TypeError for an option that does not exist."""
    if options is None and not given:
        return None
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(not_retry_options(call))
    merged = {**(options or {}), **given}
    found = None
    for name, value in merged.items():
        if name not in {"delaySeconds", "delay_seconds"}:
            if name in given:
                message = f"unknown option {name!r}: there is only delaySeconds"
                raise TypeError(message)
            continue  # an unknown member of an options object is ignored, as the runtime does
        if value is not None:
            found = value
    return delay_seconds(found)
