"""What an audit comes to in a sentence: whether a deploy would go through, why not, and what of queues it changes.

Also what an audit's report leaves out because another finding of it says the same.
"""

from __future__ import annotations

import re

from cfq_lint.facts.keys import CONSUMER_KEYS
from cfq_lint.facts.record import record, replace
from cfq_lint.model.finding import Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.finding import Finding
    from cfq_lint.model.wrangler import Consumer, Environment, Worker
    from cfq_lint.run.engine import Report

FAILS, GOES_THROUGH, UNKNOWN = "fails", "goes through", "unknown"
_GOES_ON = frozenset(
    {
        "CFQ003", "CFQ104", "CFQ108", "CFQ116", "CFQ118", "CFQ207", "CFQ302", "CFQ308", "CFQ309", "CFQ310", "CFQ401",
    }
)  # fmt: skip
"""Errors with which wrangler and Cloudflare deploy all the same, and something is lost or ignored; any other error stops it."""
_MISNAMED = "CFQ107"
_SAME_OF_A_DLQ = ("CFQ904", "CFQ911", "CFQ913")
"""That nobody consumes a dead-letter queue, that its oldest message is to go soon, that it is not empty: the first says all."""
_IN_API = {
    "max_batch_size": ("batch_size", 1),
    "max_batch_timeout": ("max_wait_time_ms", 1000),
    "max_retries": ("max_retries", 1),
    "max_concurrency": ("max_concurrency", 1),
    "retry_delay": ("retry_delay", 1),
}
_SHOWN_MAX = 4


@record
class Deploy:
    """What is to be expected of a deploy: `verdict`, the findings that stop it, and what it changes, each in words."""

    verdict: str
    stopped_by: tuple[Finding, ...]
    changes: tuple[str, ...]
    why_unknown: str = ""

    @property
    def said(self) -> str:
        """The verdict in one line."""
        if self.verdict == FAILS:
            first, *others = self.stopped_by
            more = f" (and {len(others)} more)" if others else ""
            return f"the deploy fails: {reason(first)} ({first.path}:{first.line}, {first.code}){more}"
        if self.verdict == UNKNOWN:
            return f"whether the deploy goes through is not known: {self.why_unknown}"
        if not self.changes:
            return "the deploy would go through, and changes nothing of the account's queues"
        shown = self.changes if len(self.changes) <= _SHOWN_MAX else self.changes[: _SHOWN_MAX - 1]
        rest = len(self.changes) - len(shown)
        return f"the deploy would go through, and changes {'; '.join(shown)}{f'; and {rest} more' if rest else ''}"


def reason(finding: Finding) -> str:
    """What is wrong, without what it leads to and what to do about it."""
    return finding.message.partition(";")[0].partition(", so the deploy fails")[0]


def subject(finding: Finding) -> str:
    """The queue that a finding about the account names first, which is the one that it is about."""
    named = re.search(r"'([^']*)'", finding.message)
    return named[1] if named else finding.message


def without_repeats(report: Report) -> Report:
    """The report without what another finding of it says as well of the same dead-letter queue."""
    best: dict[str, int] = {}
    for finding in report.findings:
        if finding.code in _SAME_OF_A_DLQ:
            name, rank = subject(finding), _SAME_OF_A_DLQ.index(finding.code)
            best[name] = min(rank, best.get(name, rank))
    kept = tuple(
        finding
        for finding in report.findings
        if finding.code not in _SAME_OF_A_DLQ or _SAME_OF_A_DLQ[best[subject(finding)]] == finding.code
    )
    return replace(report, findings=kept)


def deploy_of(report: Report, workers: Iterable[Worker], facts: Facts) -> Deploy:
    """What the report, the files and the account say of a deploy."""
    workers = tuple(workers)
    stopped = tuple(each for each in report.findings if each.severity is Severity.ERROR and _stops(each, workers))
    changes = tuple(dict.fromkeys(_changes(workers, facts))) if facts.is_account else ()
    if stopped:
        return Deploy(FAILS, stopped, changes)
    if report.problems or report.crashed:
        return Deploy(UNKNOWN, (), changes, "not all files could be read")
    if not facts.is_account:
        return Deploy(UNKNOWN, (), (), "no account was read; no error in the files stops it")
    return Deploy(GOES_THROUGH, (), changes)


def _stops(error: Finding, workers: Iterable[Worker]) -> bool:
    """Whether an error stops the deploy. For a producer whose queue is misnamed wrangler makes up a queue, and goes on."""
    if error.code != _MISNAMED:
        return error.code not in _GOES_ON
    producers = (producer for worker in workers for each in worker.environments for producer in each.producers)
    here = (each.place for each in producers if each.place.path == error.path)
    return not any(place.start <= error.place.start < place.end for place in here)


def _changes(workers: Iterable[Worker], facts: Facts) -> Iterator[str]:
    """What is created, attached and overwritten, in the order of the files."""
    environments = [
        each
        for worker in workers
        if worker.document.shadowed_by is None
        for each in worker.environments
        if not each.is_previews
    ]
    for environment in environments:
        yield from _created(environment, facts)
    for environment in environments:
        for consumer in environment.consumers:
            if consumer.is_push and consumer.queue_name in facts.queues:
                yield from _attached(consumer, facts)


def _created(environment: Environment, facts: Facts) -> Iterator[str]:
    known = facts.known_queues or frozenset()
    for producer in environment.producers:
        if producer.queue is not None and producer.queue_name not in known:
            yield f"queue {producer.queue_name!r} (created)"
    for consumer in environment.consumers:
        dead = consumer.dead_letter_queue
        if dead is not None and dead.text and dead.text not in known:
            yield f"dead-letter queue {dead.text!r} (created)"


def _attached(consumer: Consumer, facts: Facts) -> Iterator[str]:
    queue, known = consumer.queue_name, facts.attached(consumer.queue_name, consumer.script)
    if known is None:
        if facts.consumers(queue) == ():
            yield f"{queue!r} (gets a consumer{f', {consumer.script!r}' if consumer.script else ''})"
        return
    differences = []
    for name, (in_api, factor) in _IN_API.items() if known.settings else ():
        field, key = consumer.field(name), CONSUMER_KEYS[name]
        there = known.settings.get(in_api)
        there = key.default * factor if there is None and isinstance(key.default, int) else there
        if field is not None and field.integer is not None and field.integer * factor != there:
            differences.append(f"{name} {'automatic' if there is None else f'{there / factor:g}'} → {field.integer}")
        elif field is None and name == "max_concurrency" and there is not None and not consumer.means(name):
            differences.append(f"{name} {there} → automatic")
    dead = consumer.dead_letter_queue
    if dead is not None and dead.text and dead.text != known.dead_letter_queue:
        differences.append(f"dead_letter_queue {known.dead_letter_queue or 'none'} → {dead.text}")
    if differences:
        yield f"{queue!r} ({', '.join(differences)})"
