"""Items 7, 8 and 10: how long messages are kept, how long they are worked on, and what somebody sees of it."""

from __future__ import annotations

from cfq_lint.checklist.common import at, declare, declared, in_code, known, planned
from cfq_lint.checklist.measuring import contradicted, figure, shown
from cfq_lint.checklist.measuring import longest as longest_seen
from cfq_lint.checklist.model import FAIL, NOT_ASKED, PASS, RULE, UNKNOWN, Answer, Evidence
from cfq_lint.facts import limits
from cfq_lint.facts.quantities import number, seconds
from cfq_lint.model.account_facts import FREE
from cfq_lint.worker_code.tree.spots import Spot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.measured import Figure
    from cfq_lint.model.project import Project, Subject

_PULL = "http_pull"
_WATCHED = {
    "dead_letter_depth": "the depth of its dead-letter queue",
    "oldest_message_age": "the age of its oldest message",
    "retries": "how often messages are retried",
    "duplicates": "how many duplicates were refused",
}
_LEAST = ("dead_letter_depth", "oldest_message_age")


def retention(subject: Subject, project: Project) -> Answer:
    """Item 7: the plan's limit is known, and what holds for the queue is within it."""
    facts = project.facts
    own = subject.facts.message_retention_period if subject.facts is not None else None
    low, high = limits.RETENTION_SECONDS_MIN, limits.RETENTION_SECONDS_MAX
    if facts.plan is None:
        said = "the plan is not known, and with it how long messages are kept"
        todo = ("give --plan free or --plan paid, set `plan` in the settings, or read the account",)
        evidence: tuple[Evidence, ...] = () if own is None else (known(facts, f"message_retention_period is {own}"),)
        return Answer(subject.described, UNKNOWN, said, evidence, todo)
    plan = planned(facts)
    if facts.plan == FREE:
        fixed = limits.RETENTION_SECONDS_FREE
        if own is not None and own != fixed:
            said = f"{seconds(own)} is wanted, and the Free plan keeps messages for {seconds(fixed)}, which cannot be changed"
            evidence = (
                plan,
                known(facts, f"message_retention_period is {own}"),
                Evidence(RULE, "CFQ310", "retention-exceeds-plan"),
            )
            return Answer(subject.described, FAIL, said, evidence, (f"count on {seconds(fixed)}, or change to the Paid plan",))
        return Answer(subject.described, PASS, f"the Free plan keeps messages for {seconds(fixed)}, fixed", (plan,))
    if own is None:
        said = (
            f"the Paid plan keeps messages for up to {seconds(high)};"
            f" where the queue has no setting of its own, for {seconds(limits.RETENTION_SECONDS_DEFAULT)}"
        )
        return Answer(subject.described, PASS, said, (plan,))
    evidence = (plan, known(facts, f"message_retention_period is {own}"))
    if not low <= own <= high:
        said = f"{seconds(own)} is not between {seconds(low)} and {seconds(high)}"
        return Answer(subject.described, FAIL, said, evidence, (f"set it from {low} to {high}",))
    return Answer(subject.described, PASS, f"messages are kept for {seconds(own)}, of at most {seconds(high)}", evidence)


def processing_time(subject: Subject, project: Project) -> Answer:
    """Item 8: one invocation of the consumer ends before it is ended."""
    pulls = [each for each in subject.account_consumers or () if each.type == _PULL]
    if subject.consumer is None and pulls:
        pulled = (known(project.facts, "is consumed by pulling"),)
        return Answer(subject.described, NOT_ASKED, "it is pulled from; no invocation has a time limit", pulled)
    load = subject.load
    longest, each = load.longest_processing_seconds, load.processing_message_seconds
    limit = limits.CONSUMER_WALL_SECONDS
    seen = longest_seen(subject, project)
    if longest is None and each is None and seen is not None:
        return _time_seen(subject, project, seen)
    if longest is None and each is None:
        said = "how long one invocation of its consumer takes is not known"
        todo = (declare(subject.queue, "processing_seconds"), "or read the wall time of its queue events in the Worker's logs")
        return Answer(subject.described, UNKNOWN, said, (), todo)
    key = "processing_seconds" if load.max_processing_seconds is None else "max_processing_seconds"
    evidence: tuple[Evidence, ...] = (declared(subject.queue, key, longest),) if longest else ()
    if each is not None and load.max_processing_seconds is None:
        longest = (longest or 0.0) + each * _batch_size(subject)
        evidence += (declared(subject.queue, "processing_message_seconds", each),)
    assert longest is not None, "one of the two was declared"
    told = contradicted(longest, seen, project, "the longest invocation of its Worker", "s")
    evidence += () if seen is None else (shown(seen, project),)
    told = f"; {told}" if told else ""
    if longest > limit:
        said = f"{number(longest)} > {limit} s: the invocation is ended, and its batch is retried"
        todo = ("take smaller batches", "or hand long work on: split it, or start a Workflow")
        return Answer(subject.described, FAIL, said, evidence, todo)
    if seen is not None and seen.value > limit:
        return _time_seen(subject, project, seen)
    return Answer(subject.described, PASS, f"one invocation takes up to {number(longest)} <= {limit} s{told}", evidence)


def _time_seen(subject: Subject, project: Project, seen: Figure) -> Answer:
    """Item 8 by the longest invocation of the Worker, which is no shorter than the longest of a batch."""
    limit = limits.CONSUMER_WALL_SECONDS
    if seen.value <= limit:
        said = f"the longest invocation seen of its Worker took {number(seen.value)} <= {limit} s"
        return Answer(subject.described, PASS, said, (shown(seen, project),))
    said = f"an invocation of its Worker took {number(seen.value)} > {limit} s; whether it was of a batch is not known"
    todo = ("read the wall time of its queue events in the Worker's logs",)
    return Answer(subject.described, UNKNOWN, said, (shown(seen, project),), todo)


def _batch_size(subject: Subject) -> int:
    """The most messages of one invocation."""
    field = subject.consumer.field("max_batch_size") if subject.consumer is not None else None
    known = [each.settings.get("batch_size") for each in subject.account_consumers or ()] if subject.consumer is None else []
    set_to = field.integer if field is not None else next((size for size in known if size), None)
    return set_to or limits.BATCH_SIZE_DEFAULT


def observability(subject: Subject, project: Project) -> Answer:
    """Item 10: at least the depth of the dead-letter queue and the age of the oldest message are watched."""
    if subject.only_dead_letters:
        said = f"it is watched as the dead-letter queue of {', '.join(subject.dead_letters_of)}"
        return Answer(subject.described, NOT_ASKED, said)
    metrics = subject.load.metrics
    where = {name: getattr(metrics, name) for name in _WATCHED}
    evidence = tuple(
        declared(subject.queue, f"metrics.{name}", value or False) for name, value in where.items() if value is not None
    )
    evidence += _seen_in(subject)
    evidence += tuple(
        shown(known, project)
        for name in ("highest_lag", "retries", "dead_lettered")
        if (known := figure(subject, project, name)) is not None
    )
    nobody = [name for name in _LEAST if where[name] == ""]
    if nobody:
        said = f"nobody watches {' and '.join(_WATCHED[name] for name in nobody)}"
        todo = ("a depth of 0 may mean that all went well, or that all was deleted: watch both, and be told",)
        return Answer(subject.described, FAIL, said, evidence, todo)
    missing = [name for name in _LEAST if where[name] is None]
    if missing:
        said = f"whether somebody watches {' and '.join(_WATCHED[name] for name in missing)} is not known"
        todo = (declare(subject.queue, *(f"metrics.{name}" for name in missing)) + ", with the place where it is watched",)
        return Answer(subject.described, UNKNOWN, said, evidence, todo)
    rest = [_WATCHED[name] for name in _WATCHED if not where[name]]
    said = "the depth of its dead-letter queue and the age of its oldest message are watched"
    said += f", the least that is needed; not {' nor '.join(rest)}" if rest else ", and so are retries and duplicates"
    return Answer(subject.described, PASS, said, evidence)


def _seen_in(subject: Subject) -> tuple[Evidence, ...]:
    """What file and source have that helps to watch; none of it shows that somebody does."""
    found: list[Evidence] = []
    if subject.consumer is not None:
        document = subject.consumer.document
        for key, said in (
            ("observability", "Workers Logs are configured: logs, no depth and no age"),
            ("analytics_engine_datasets", "datasets that a consumer can count in"),
        ):
            root = document.tree.root
            member = next((each for each in (root.value if root is not None else ()) if each.key == key), None)
            if member is not None:
                found.append(at(document.place(member.start, member.end), said))
    for module in subject.program.modules.values() if subject.program is not None else ():
        for word, said in (
            (".attempts", "the number of attempts is read"),
            ("oldestMessageTimestamp", "the oldest age is read"),
        ):
            offset = module.text.find(word)
            if offset >= 0:
                before = module.text[:offset]
                line, column = before.count("\n") + 1, offset - before.rfind("\n")
                found.append(in_code(Spot(module.path, line, column), said))
    return tuple(found)
