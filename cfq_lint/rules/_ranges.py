"""What the rules about ranges share: a number outside the range of its key, and the number that is probably meant."""

from __future__ import annotations

from cfq_lint.model.edits import replace_value
from cfq_lint.model.finding import Finding, Fix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.facts.keys import Key
    from cfq_lint.model.wrangler import Entry, Field
    from cfq_lint.rules.rule import Rule

_MILLISECONDS = 1000


def out_of_range(rule: Rule, entry: Entry, key: Key, hint: str = "") -> Iterator[Finding]:
    """At most one finding, at a number that is not an integer within the key's range. Other types are wrong-type's."""
    field = entry.field(key.name)
    if field is None or field.number is None or (field.integer is not None and key.holds(field.integer)):
        return
    why = " is not an integer" if field.integer is None else ""
    message = f"{key.name} {field.shown}{why or ' is out of range'}; allowed is {key.allowed}"
    if hint:
        message += f". {hint.format(queue=entry.queue_name or 'QUEUE')}"
    fix = _nearest(field, key) if rule.fix is not None else None
    yield rule.finding(field.place, message, environment=entry.environment, fix=fix)


def _minimum(key: Key) -> int:
    assert key.minimum is not None, "a key with a range has both ends"
    return key.minimum


def _maximum(key: Key) -> int:
    assert key.maximum is not None, "a key with a range has both ends"
    return key.maximum


def _nearest(field: Field, key: Key) -> Fix | None:
    """The number that is meant in another unit, or else the nearest that is allowed. Unsafe: only the author knows."""
    number = field.number
    if number is None or number != number:  # noqa: PLR0124 - NaN is not equal to itself
        return None
    seconds = number / _MILLISECONDS
    if key.unit == "seconds" and number > _maximum(key) and seconds == int(seconds) and seconds <= _maximum(key):
        return Fix(f"write {int(seconds)}: milliseconds are meant", (replace_value(field, str(int(seconds))),), safe=False)
    near = round(min(max(number, _minimum(key)), _maximum(key)))
    return Fix(f"write {near}, the nearest that is allowed", (replace_value(field, str(near)),), safe=False)
