"""What a deploy of new files instead of old ones would change for queues: `cfq-lint diff`. No input, no output.

Environments are compared by Worker and environment, consumers by their queue, producers by their binding.
"""

from __future__ import annotations

from cfq_lint.facts.keys import CONSUMER_KEYS, INTEGER
from cfq_lint.facts.record import record, replace
from cfq_lint.model.wrangler import Worker
from cfq_lint.rules.registry import BY_KEY, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cfq_lint.model.finding import Finding
    from cfq_lint.model.wrangler import Consumer, Environment, Producer
    from cfq_lint.source.dialect import Dialect
    from cfq_lint.source.document import Document

ADDED, REMOVED, CHANGED, DEFAULTED = "added", "removed", "changed", "falls back to the default"


@record
class Change:
    """One difference.

    `what` is "consumer", "producer" or a setting's name, `how` one of ADDED, REMOVED, CHANGED and DEFAULTED; `before` and
    `after` are values as they are written, None where there is none. `environment` is None for the top level. `dialect` is how
    the file speaks, None for a wrangler file.
    """

    path: str
    environment: str | None
    queue: str
    what: str
    how: str
    before: str | None = None
    after: str | None = None
    dialect: Dialect | None = None

    @property
    def said(self) -> str:
        """The difference in words, those of the file."""
        where = f"env.{self.environment}" if self.environment else "top level"
        if self.dialect is not None:
            where = self.dialect.environment.format(self.environment) if self.environment else self.dialect.top
        if self.what in {"consumer", "producer"}:
            values = "" if self.before is None and self.after is None else f" ({self.before or '-'} → {self.after or '-'})"
            return f"{self.path}: {where}: {self.what} of {self.queue!r} {self.how}{values}"
        key = self.dialect.words.get(self.what, self.what) if self.dialect is not None else self.what
        return f"{self.path}: {where}: {self.queue!r} {key} {self.before} → {self.after} ({self.how})"


@record
class Comparison:
    """All differences, in order of file, and the findings that rest on them."""

    changes: tuple[Change, ...]
    findings: tuple[Finding, ...]


def compare(old: Iterable[Document], new: Iterable[Document]) -> Comparison:
    """Compare files by path. A file that only one side has is compared with an empty one."""
    before = {document.path: Worker(document) for document in old}
    after = {document.path: Worker(document) for document in new}
    changes: list[Change] = []
    findings: list[Finding] = []
    for path in sorted({*before, *after}):
        olds = _environments(before.get(path))
        news = _environments(after.get(path))
        for name in dict.fromkeys([*olds, *news]):
            was, now = olds.get(name), news.get(name)
            dialect = (now or olds[name]).document.dialect
            changes += [replace(each, dialect=dialect) for each in _changes(path, name, was, now)]
            if name in olds:
                findings += _still_attached(olds[name], news.get(name))
    return Comparison(tuple(changes), tuple(findings))


def _environments(worker: Worker | None) -> dict[str | None, Environment]:
    return {environment.name: environment for environment in worker.every_environment} if worker is not None else {}


def _changes(path: str, name: str | None, old: Environment | None, new: Environment | None) -> Iterator[Change]:
    olds, news = _consumers(old), _consumers(new)
    for queue in dict.fromkeys([*olds, *news]):
        if queue not in news:
            yield Change(path, name, queue, "consumer", REMOVED)
        elif queue not in olds:
            yield Change(path, name, queue, "consumer", ADDED)
        else:
            yield from _settings(path, name, olds[queue], news[queue])
    bound, bound_now = _producers(old), _producers(new)
    for binding in dict.fromkeys([*bound, *bound_now]):
        was, now = bound.get(binding), bound_now.get(binding)
        if was is None and now is not None:
            yield Change(path, name, now.queue_name, "producer", ADDED, None, binding)
        elif was is not None and now is None:
            yield Change(path, name, was.queue_name, "producer", REMOVED, binding, None)
        elif was is not None and now is not None and was.queue_name != now.queue_name:
            yield Change(path, name, now.queue_name, "producer", CHANGED, was.queue_name, now.queue_name)


def _consumers(environment: Environment | None) -> dict[str, Consumer]:
    return {each.queue_name: each for each in environment.consumers if each.queue} if environment is not None else {}


def _producers(environment: Environment | None) -> dict[str, Producer]:
    producers = environment.producers if environment is not None else []
    return {each.binding.text or "": each for each in producers if each.binding is not None}


def _settings(path: str, name: str | None, old: Consumer, new: Consumer) -> Iterator[Change]:
    for key in CONSUMER_KEYS.values():
        if key.name == "queue":
            continue
        default = str(key.default) if key.default is not None else "unlimited" if key.type == INTEGER else "none"
        was, now = old.field(key.name), new.field(key.name)
        before = was.shown if was is not None else default
        after = now.shown if now is not None else default
        if before != after:
            yield Change(path, name, new.queue_name, key.name, CHANGED if now is not None else DEFAULTED, before, after)


def _still_attached(old: Environment, new: Environment | None) -> Iterator[Finding]:
    rule = load(BY_KEY["consumer-removed-still-attached"])
    kept = _consumers(new)
    for queue, consumer in _consumers(old).items():
        if queue not in kept and consumer.queue is not None and consumer.is_push:
            script = consumer.script or "WORKER"
            message = (
                f"the consumer of {queue!r} is gone from the file, but a deploy does not detach it;"
                f" run `wrangler queues consumer remove {queue} {script}`"
            )
            yield rule.finding(consumer.queue.place, message, environment=consumer.environment)
