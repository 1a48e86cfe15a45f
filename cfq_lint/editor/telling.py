"""What is said of keys, queues and rules: hover, lenses, hints and the outline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfq_lint.editor.mentions import CONSUMES, DEAD_LETTERS, MAKES, PRODUCES
from cfq_lint.facts.durations import duration
from cfq_lint.facts.keys import CONSUMER_KEYS, QUEUES_KEYS, Key, keys_of
from cfq_lint.rules.registry import BY_KEY, load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.editor.mentions import Mention
    from cfq_lint.model.wrangler import Consumer, Entry
    from cfq_lint.source.spots import Spot

_SAID = {MAKES: "made by", PRODUCES: "produced to by", CONSUMES: "consumed by", DEAD_LETTERS: "takes the dead letters of"}


def keys_at(spot: Spot) -> dict[str, Key] | None:
    """The keys that the entry around a spot may have; None where the spot is in no entry."""
    path = spot.path
    for index in range(len(path) - 1):
        if path[index] == "queues" and path[index + 1] in QUEUES_KEYS:
            return keys_of(str(path[index + 1])) if len(path) > index + 2 else None
    return None


def of_key(key: Key) -> str:
    """What a key means, in Markdown: its range, its default, its page."""
    lines = [f"**{key.name}**: {key.summary}"]
    if key.minimum is not None:
        lines.append(range_of(key))
    return "\n\n".join([*lines, f"[Cloudflare's page]({key.page})"])


def range_of(key: Key) -> str:
    """The range of a number, and what holds without it."""
    default = f", {key.default} where it is left out" if key.default is not None else ""
    return f"{key.allowed}{default}"


def of_queue(queue: str, all_mentions: Iterable[Mention]) -> str:
    """Who does what with a queue, in Markdown."""
    about = [each for each in all_mentions if each.queue == queue]
    lines = [f"**{queue}**"]
    for role, said in _SAID.items():
        who = dict.fromkeys(_who(each) for each in about if each.role == role)
        if who:
            lines.append(f"- {said} {', '.join(who)}")
    if not any(each.role == CONSUMES for each in about):
        lines.append("- consumed by nobody in this project")
    chain = path_of(queue, all_mentions)
    if len(chain) > 1:
        lines.append(f"- what fails goes {' → '.join(chain)}")
    return "\n".join(lines)


def _who(mention: Mention) -> str:
    if mention.role == DEAD_LETTERS and mention.entry is not None:
        return f"`{mention.entry.queue_name}` in {mention.worker}"
    return mention.worker


def path_of(queue: str, all_mentions: Iterable[Mention]) -> list[str]:
    """The queue, its dead-letter queue, that one's, and so on; a circle ends where it comes back."""
    next_of = {
        each.entry.queue_name: each.queue
        for each in reversed([*all_mentions])
        if each.role == DEAD_LETTERS and each.entry is not None
    }
    chain = [queue]
    while (following := next_of.get(chain[-1])) is not None and following not in chain:
        chain.append(following)
    return chain


def of_rule(key: str) -> str | None:
    """The page of a rule in Markdown, by its code or name."""
    module = BY_KEY.get(key)
    if module is None:
        return None
    rule = load(module)
    return f"### {rule.code} {rule.name}\n\n{rule.page.strip()}\n\n[{rule.source}]({rule.source})"


def lens_of(consumer: Consumer, all_mentions: Iterable[Mention]) -> str:
    """What becomes of a message that always fails, in a line."""
    retries, delay = _number(consumer, "max_retries"), _number(consumer, "retry_delay")
    if retries is None or delay is None:
        return ""
    attempts = f"{retries + 1} attempts" if retries else "1 attempt"
    over = f" over {duration(retries * delay)}" if retries and delay else ""
    dead = consumer.dead_letter_queue
    if dead is None:
        return f"{attempts}{over}, then the message is gone"
    who = [*dict.fromkeys(each.worker for each in all_mentions if each.role == CONSUMES and each.queue == dead.text)]
    return f"{attempts}{over}, then {dead.text}, {'consumed by ' + ', '.join(who) if who else 'consumed by nobody here'}"


def hint_of(entry: Entry) -> str:
    """The settings that hold because an entry leaves them out, e.g. `max_retries 3`."""
    keys = entry.keys
    left_out = [
        each for each in keys.values() if each.default is not None and each.name in _SHOWN and not entry.means(each.name)
    ]
    return ", ".join(f"{each.name} {each.default}" for each in left_out)


_SHOWN = ("max_batch_size", "max_batch_timeout", "max_retries", "retry_delay")
"""Defaults that act; the others stand in the table because people write them in files, where they do nothing."""


def _number(consumer: Consumer, name: str) -> int | None:
    """A setting in force; None where the file holds what Cloudflare refuses."""
    field, key = consumer.field(name), CONSUMER_KEYS[name]
    number = key.default if field is None else field.integer
    return number if number is not None and key.holds(number) else None
