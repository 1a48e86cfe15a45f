"""From a wrangler file and what is set on the command line to a scenario. What is wrong is said in one line (ValueError).

Names of settings are Wrangler's; `delivery_delay` and `message_retention_period` are the queue's own, which no file can say.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from cfq_lint.facts import limits
from emulator.core.limits import retention_seconds
from emulator.simulate import units
from emulator.simulate.scenario import Load, Scenario, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emulator.workers.config import Config

AUTO = "auto"


class Key(NamedTuple):
    """A setting with whole numbers in a range; `auto` may stand for none."""

    low: int
    high: int
    of_queue: bool = False
    auto: bool = False


KEYS = {
    "max_batch_size": Key(limits.BATCH_SIZE_MIN, limits.BATCH_SIZE_MAX),
    "max_batch_timeout": Key(limits.BATCH_TIMEOUT_SECONDS_MIN, limits.BATCH_TIMEOUT_SECONDS_MAX),
    "max_retries": Key(limits.RETRIES_MIN, limits.RETRIES_MAX),
    "retry_delay": Key(limits.DELAY_SECONDS_MIN, limits.DELAY_SECONDS_MAX),
    "max_concurrency": Key(limits.CONCURRENCY_MIN, limits.CONCURRENCY_MAX, auto=True),
    "delivery_delay": Key(limits.DELAY_SECONDS_MIN, limits.DELAY_SECONDS_MAX, of_queue=True),
    "message_retention_period": Key(limits.RETENTION_SECONDS_MIN, limits.RETENTION_SECONDS_MAX, of_queue=True),
}
LOADS: dict[str, Callable[[str], Any]] = {"rate": units.rate, "failure": units.share, "processing": units.duration_us}
_SWEEP_MAX = 10_000
Value = int | str | None


def scenario(config: Config, load: Load, queues: Iterable[str], label: str) -> Scenario:
    """The queues of a file under a load: those named, else every one that is consumed and is nobody's dead-letter queue."""
    chosen = list(dict.fromkeys(queues))
    letters = {each.dead_letter_queue for each in config.consumers.values()} - {None}
    if not config.consumers:
        message = f"{label}: no queue is consumed in it, so there is nothing to simulate"
        raise ValueError(message)
    for name in chosen:
        if name not in config.consumers:
            message = f"{label}: nobody consumes {name!r} (consumed: {', '.join(sorted(config.consumers))})"
            raise ValueError(message)
    if not chosen:
        chosen = sorted(set(config.consumers) - letters) or sorted(config.consumers)
    reached, waiting = [], sorted(chosen)
    while waiting:
        name = waiting.pop(0)
        if name not in reached:
            reached.append(name)
            consumer = config.consumers.get(name)
            waiting += [consumer.dead_letter_queue] if consumer is not None and consumer.dead_letter_queue else []
    kept_seconds = retention_seconds(load.plan)
    settings = [
        Setting(name, config.consumers.get(name), 0, kept_seconds, name in chosen, name in letters and name not in chosen)
        for name in sorted(reached)
    ]
    return Scenario(load, tuple(settings), label)


def value_of(key: str, text: str) -> Value:
    """The value of a setting. Raises ValueError for an unknown setting and for a value out of range."""
    if key in LOADS:
        LOADS[key](text)
        return text
    known = KEYS.get(key)
    if known is None:
        message = f"there is no setting {key!r}: there are {', '.join([*KEYS, *LOADS])}"
        raise ValueError(message)
    if known.auto and text == AUTO:
        return None
    if not re.fullmatch(r"\d{1,9}", text) or not known.low <= int(text) <= known.high:
        message = f"{key} {text}: allowed is a whole number from {known.low} to {known.high}" + (
            " or auto" if known.auto else ""
        )
        raise ValueError(message)
    return int(text)


def assignment(text: str) -> tuple[str, Value]:
    """`max_retries=10` as its setting and value."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        message = f"{text!r}: expected a setting and its value, such as max_retries=10"
        raise ValueError(message)
    return key, value_of(key, value)


def sweep(text: str) -> tuple[str, list[Value]]:
    """`max_retries=1..10`, `=1,3,10` or `=1..100..10` (in steps of 10) as its setting and values."""
    key, equals, values = (part.strip() for part in text.partition("="))
    if not equals or not values:
        message = f"sweep {text!r}: expected a setting and its values, such as max_retries=1..10 or max_retries=1,3,10"
        raise ValueError(message)
    found: list[Value] = []
    for part in values.split(","):
        numbers = re.fullmatch(r"(\d{1,9})\.\.(\d{1,9})(?:\.\.(\d{1,9}))?", part.strip())
        if numbers is None:
            found.append(value_of(key, part.strip()))
            continue
        low, high, step = int(numbers[1]), int(numbers[2]), int(numbers[3] or 1)
        if low > high or not step:
            message = f"sweep {text!r}: {part.strip()} counts to nowhere"
            raise ValueError(message)
        value_of(key, str(low)), value_of(key, str(high))
        found += [value_of(key, str(number)) for number in range(low, high + 1, step)]
    if len(found) > _SWEEP_MAX:
        message = f"sweep {text!r}: {len(found):,} runs are more than {_SWEEP_MAX:,}"
        raise ValueError(message)
    return key, list(dict.fromkeys(found))


def _with_load(given: Scenario, key: str, value: Any) -> Scenario:
    field = {"rate": "rate", "failure": "failure", "processing": "processing_us"}[key]
    queues = []
    for queue in given.queues:
        traffic = queue.traffic
        if traffic is not None and key == "rate":
            raise ValueError("the rate is what the account measured, hour by hour, and cannot be set")
        queues.append(queue if traffic is None else queue._replace(traffic=traffic._replace(**{field: value})))
    return given._replace(load=given.load._replace(**{field: value}), queues=tuple(queues))


def with_value(given: Scenario, key: str, value: Value) -> Scenario:
    """The scenario with a setting changed, on every queue to which the load is sent."""
    load = given.load
    if key in LOADS:
        return _with_load(given, key, LOADS[key](str(value)))
    if key == "message_retention_period" and load.plan == "free":
        message = f"message_retention_period: on the Free plan it is {limits.RETENTION_SECONDS_FREE} s, and nobody can set it"
        raise ValueError(message)
    queues, changes = [], dict[str, Any]([(key, value)])
    for queue in given.queues:
        changed = queue
        if queue.loaded and KEYS[key].of_queue:
            changed = queue._replace(**changes)
        elif queue.loaded and queue.consumer is not None:
            changed = queue._replace(consumer=queue.consumer._replace(**changes))
        queues.append(changed)
    return given._replace(queues=tuple(queues))
