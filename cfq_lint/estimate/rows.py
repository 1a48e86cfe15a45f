"""What both the text and the page say of an estimate: rows of a name and a sentence, and the table of retries."""

from __future__ import annotations

from cfq_lint.estimate.model import DAYS_A_MONTH
from cfq_lint.facts import limits
from cfq_lint.facts.quantities import dollars, number, seconds
from cfq_lint.model.account_facts import FREE, PAID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.estimate.model import Estimate, QueueEstimate, Retries

TABLE_HEADS = ("max_retries", "deliveries", "reads", "last after", "a month", "cost")
_UNITS = {"retry_delay": " s", "max_batch_timeout": " s"}


def rows(queue: QueueEstimate, plan: str | None) -> Iterator[tuple[str, str]]:
    """What is said of a queue, a name and a sentence each; of the plan that the account has, or of both."""
    yield "settings", ", ".join(_setting(name, setting.value, setting.source) for name, setting in queue.settings.items())
    yield "dead letters", queue.dead_letter_queue or "none: what fails all retries is deleted"
    yield ("measured" if queue.measured_in else "declared"), _declared(queue)
    if queue.consumed:
        yield "retries", _retries(queue)
        yield "poisoned", _poisoned(queue)
    if queue.month is not None:
        yield "a month", _month(queue)
    if queue.month is not None and plan != FREE:
        yield "cost", f"{dollars(queue.month.usd)} a month on the Paid plan, where the account's included million is used up"
    if plan != PAID:
        yield "Free plan", _free(queue)
    if queue.concurrency is not None:
        yield "concurrency", _concurrency(queue)
    if queue.batches:
        each = ", ".join(f"{size}: {number(rate)}/s" for size, rate in queue.batches)
        yield "batch size", f"invocations of the consumer by max_batch_size: {each}"


def _setting(name: str, value: int | None, source: str) -> str:
    shown = "automatic" if value is None else f"{value}{_UNITS.get(name, '')}"
    return f"{name} {shown} ({source})"


def _declared(queue: QueueEstimate) -> str:
    load = queue.load
    parts = []
    if load.rate_per_second is not None:
        whose = "to this queue, and as many to each other one" if queue.rate_is_every_queues else "to this queue"
        parts.append(f"{number(load.rate_per_second)} messages a second are sent {whose}")
    if load.message_size_bytes is not None:
        parts.append(
            f"{number(load.message_size_bytes)} bytes each, {queue.chunks} operation{'s' if queue.chunks > 1 else ''} each time"
        )
    if load.failure_share is not None:
        parts.append(f"{number(load.failure_share * 100)} % of deliveries fail, independently")
    if (took := _took(queue)) is not None:
        parts.append(f"an invocation takes {took}")
    return ", ".join(parts) or "nothing"


def _took(queue: QueueEstimate) -> str | None:
    """Work by invocation and by message, whichever was declared."""
    load = queue.load
    whole, each = load.processing_seconds, load.processing_message_seconds
    if each is None:
        return None if whole is None else f"{number(whole)} s, whatever is in it"
    return f"{number(each)} s for each message" + (f" and {number(whole)} s besides" if whole else "")


def _retries(queue: QueueEstimate) -> str:
    as_set = queue.as_set
    kept = f"{seconds(queue.retention_seconds)} ({queue.retention_source})"
    deliveries = f"{as_set.deliveries} deliver{'y' if as_set.deliveries == 1 else 'ies'}"
    if not as_set.horizon_seconds:
        return f"{deliveries}, without a delay between them; kept for {kept}"
    spread = f"{as_set.max_retries} x retry_delay = {seconds(as_set.horizon_seconds)} after the first"
    if as_set.outlasts_retention:
        return f"{deliveries} of {as_set.max_retries + 1}: the last would come {spread} >= {kept}"
    return f"{deliveries}, the last {spread} < {kept}"


def _poisoned(queue: QueueEstimate) -> str:
    size = queue.settings["max_batch_size"].value or 1
    times = f"{queue.as_set.deliveries} x {queue.chunks} = {queue.as_set.poisoned_reads} reads"
    said = f"a message that never succeeds is {times}"
    if size > 1:
        said += f"; without ack() on each message its full batch of {size} comes back with it: {queue.batch_reads} reads"
    return said


def _month(queue: QueueEstimate) -> str:
    month = queue.month
    assert month is not None, "only a queue with a rate has a month"
    parts = f"{number(month.writes)} writes + {number(month.reads)} reads + {number(month.deletes)} deletes"
    if month.dead_letters >= 1:
        parts += f" + {number(month.dead_letter_operations)} for {number(month.dead_letters)} dead letters"
    return f"{number(month.messages)} messages in {DAYS_A_MONTH} days, {number(month.operations)} operations: {parts}"


def _free(queue: QueueEstimate) -> str:
    day = limits.FREE_OPERATIONS_PER_DAY
    said = f"{number(queue.free_messages_a_day)} messages a day fit into {number(day)} operations, which all queues share"
    if queue.daily_operations is not None:
        over = queue.daily_operations > day
        said += f"; declared are {number(queue.daily_operations)} operations a day{': too many' if over else ''}"
    return said


def _concurrency(queue: QueueEstimate) -> str:
    it = queue.concurrency
    assert it is not None, "it was asked for"
    each, whole = queue.load.processing_message_seconds, queue.load.processing_seconds or 0
    took = f"{number(it.invocation_seconds)} s"
    if each is not None:
        besides = f"{number(whole)} s + " if whole else ""
        took = f"({besides}{number(it.batch_messages)} x {number(each)} s = {took})"
    compared = "<=" if it.is_enough else ">"
    said = (
        f"{number(it.invocations_per_second)} invocations a second ({number(it.batch_messages)} messages each)"
        f" x {took} = {number(it.needed)} at a time {compared} {it.limit} ({it.limit_source})"
    )
    if not it.is_enough:
        said += ": the backlog grows"
    return f"{said}; that limit keeps up with {number(it.rate_at_limit)} messages a second at most"


def table(queue: QueueEstimate) -> list[tuple[str, ...]]:
    """The default, what is set, and the most: a row each, beside TABLE_HEADS."""
    return [_table_row(each, is_set=each == queue.as_set) for each in queue.table]


def _table_row(each: Retries, *, is_set: bool) -> tuple[str, ...]:
    return (
        f"{each.max_retries}{' (now)' if is_set else ''}",
        str(each.deliveries),
        str(each.poisoned_reads),
        seconds(each.horizon_seconds).split(" (")[0] + (" !" if each.outlasts_retention else ""),
        "-" if each.poisoned_operations is None else number(each.poisoned_operations),
        "-" if each.poisoned_usd is None else dollars(each.poisoned_usd),
    )


def table_note(queue: QueueEstimate) -> str:
    """What the table's columns are, in a sentence."""
    said = "reads are of one message that never succeeds; the last delivery comes after retries x retry_delay"
    if any(each.outlasts_retention for each in queue.table):
        said += " (! when the message has expired)"
    if queue.as_set.poisoned_operations is not None:
        said += "; a month and its cost are the operations of the failing share, if all of it never succeeds"
    return said


def total(estimate: Estimate) -> str:
    """The account's bill, in a sentence."""
    if estimate.operations is None or estimate.usd is None or estimate.daily_operations is None:
        return "no rate is declared, so there is no bill"
    part = "" if estimate.complete else ", of the queues whose rate is declared"
    free = "above" if estimate.daily_operations > limits.FREE_OPERATIONS_PER_DAY else "within"
    daily = f"{number(estimate.daily_operations)} a day are {free} the Free plan's {number(limits.FREE_OPERATIONS_PER_DAY)}"
    if free == "above":
        daily += " (send() fails with 10253)"
    paid = f"{dollars(estimate.usd)} on the Paid plan beyond the {number(limits.PAID_OPERATIONS_INCLUDED)} included"
    shown = daily if estimate.plan == FREE else f"{paid}; {daily}" if estimate.plan is None else paid
    return f"{number(estimate.operations)} operations in a month of {DAYS_A_MONTH} days{part}: {shown}"
