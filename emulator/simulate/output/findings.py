"""What a run says, in plain sentences: why messages were lost, how long recovery took, what would have to be set instead."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING

from cfq_lint.facts import limits
from emulator.core.limits import SECOND_US
from emulator.simulate.scenario import BATCH
from emulator.simulate.units import compact, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.core.model import Consumer
    from emulator.simulate.scenario import Load, Scenario, Setting
    from emulator.simulate.tally import Tally

_NEARLY = 0.995


def findings(scenario: Scenario, queue: Setting, tallies: dict[str, Tally]) -> list[str]:
    """The sentences about one queue."""
    tally, consumer = tallies[queue.name], queue.consumer
    if consumer is None:
        said = [*_unconsumed(queue, tally), *_full_of_dead_letters(scenario, queue, tally)]
        return [f"{queue.name}: {line}" for line in said]
    full = (_full_of_dead_letters if queue.dead_letters else _refusals)(scenario, queue, tally)
    said = [*full, *_outages(scenario, queue, consumer, tally), *_lost(queue, consumer, tally)]
    said += [*_capacity(scenario, queue, consumer), *_duplicates(scenario.load, tally)]
    if not said:
        said = [f"no message was lost: {tally.acked:,} of {tally.sent:,} were acknowledged, {tally.waiting:,} wait at the end."]
    return [f"{queue.name}: {line}" for line in said]


def _unconsumed(queue: Setting, tally: Tally) -> Iterator[str]:
    if not tally.sent:
        yield "no dead letter came."
        return
    seconds = min(queue.message_retention_period, limits.DEAD_LETTER_UNCONSUMED_SECONDS)
    gone = f"; {tally.expired:,} of them already were" if tally.expired else ""
    yield (
        f"nobody consumes it, so its {tally.sent:,} dead letters are deleted {span(seconds * SECOND_US)} after they came{gone}."
    )


def _refusals(scenario: Scenario, queue: Setting, tally: Tally) -> Iterator[str]:
    if tally.refused:
        yield (
            f"{tally.refused:,} sends were refused (429): a queue takes {limits.THROUGHPUT_PER_SECOND:,} messages a second, "
            f"and {scenario.peak_rate(queue):,.0f} were sent. The model does not send them again."
        )
    first = full_us(scenario.size_bytes(queue), tally)
    if first is not None:
        yield (
            f"after {span(first)} the backlog is above {limits.BACKLOG_SIZE_BYTES // 10**9} GB: from then on Cloudflare "
            "refuses sends, which this run does not count."
        )


def full_us(size_bytes: int, tally: Tally) -> int | None:
    """When a backlog was first seen above what a queue may hold; None where it never was."""
    most = limits.BACKLOG_SIZE_BYTES // max(1, size_bytes)
    return next((row.at_us for row in tally.rows if row.backlog_peak > most), None)


def _full_of_dead_letters(scenario: Scenario, queue: Setting, tally: Tally) -> Iterator[str]:
    first = full_us(scenario.size_bytes(queue), tally)
    if queue.dead_letters and first is not None:
        yield (
            f"after {span(first)} it holds more than {limits.BACKLOG_SIZE_BYTES // 10**9} GB, the most a queue may: "
            "what Cloudflare does with further ones is not documented, and this run keeps them."
        )


def lasts_us(scenario: Scenario, queue: Setting, consumer: Consumer) -> int:
    """From the first delivery of a message that always fails to the end of its last, if it never waits for a slot."""
    took_us = scenario.invocation_us(queue, consumer.max_batch_size)[0]
    return (consumer.max_retries + 1) * took_us + consumer.max_retries * consumer.retry_delay * SECOND_US


def _outages(scenario: Scenario, queue: Setting, consumer: Consumer, tally: Tally) -> Iterator[str]:
    source = scenario.source(queue)
    for watch in tally.watches:
        length_us = watch.end_us - watch.start_us
        sent = max(1, source.before(watch.end_us) - source.before(watch.start_us))
        if tally.outage_lost and len(tally.watches) == 1:
            where = f"dead-lettered to {consumer.dead_letter_queue}" if consumer.dead_letter_queue else "deleted for ever"
            count = "all" if tally.outage_lost >= sent * _NEARLY else f"{tally.outage_lost:,}"
            yield (
                f"{count} of the {sent:,} messages of the outage of {span(length_us)} were {where}: {consumer.max_retries} "
                f"retries {consumer.retry_delay} s apart last {span(lasts_us(scenario, queue, consumer))}. "
                f"{advice(length_us, queue)}"
            )
        elif not tally.outage_lost and len(tally.watches) == 1:
            yield f"no message of the outage of {span(length_us)} was lost by running out of retries."
        if watch.recovered_us is None:
            yield f"the backlog was not back at its level before the outage by the end of the run ({tally.waiting:,} wait)."
        elif watch.recovered_us > watch.end_us:
            yield f"the backlog was back at its level {span(watch.recovered_us - watch.end_us)} after the outage ended."


def advice(length_us: int, queue: Setting) -> str:
    """What retries would outlive an outage."""
    seconds = -(-length_us // SECOND_US)
    start = f"To outlive it, max_retries x retry_delay must exceed {seconds:,} s"
    consumer = queue.consumer
    choices = []
    if consumer is not None and consumer.max_retries and seconds // consumer.max_retries < limits.DELAY_SECONDS_MAX:
        choices.append(f"retry_delay {seconds // consumer.max_retries + 1} with max_retries {consumer.max_retries}")
    if consumer is None or consumer.max_retries != limits.RETRIES_MAX:
        choices.append(f"retry_delay {seconds // limits.RETRIES_MAX + 1} with max_retries {limits.RETRIES_MAX}")
    if seconds >= queue.message_retention_period:
        return f"{start}, and the queue's retention of {span(queue.message_retention_period * SECOND_US)} as well."
    return f"{start}: {', or '.join(choices)}."


def _lost(queue: Setting, consumer: Consumer, tally: Tally) -> Iterator[str]:
    others = tally.dead_lettered + tally.dropped - tally.outage_lost
    if others:
        where = f"dead-lettered to {consumer.dead_letter_queue}" if consumer.dead_letter_queue else "deleted for ever"
        share = others / max(1, tally.sent)
        times = consumer.max_retries + 1
        yield f"{others:,} messages ({percent(share)}) failed {times} times outside of outages and were {where}."
    if tally.expired:
        yield (
            f"{tally.expired:,} messages reached the retention of {span(queue.message_retention_period * SECOND_US)} and were "
            "deleted; such messages are not dead-lettered."
        )


def _capacity(scenario: Scenario, queue: Setting, consumer: Consumer) -> Iterator[str]:
    took_us = scenario.invocation_us(queue, consumer.max_batch_size)[0]
    if not queue.loaded or not took_us:
        return
    slots = consumer.max_concurrency or limits.CONCURRENCY_MAX
    capacity = slots * consumer.max_batch_size * SECOND_US / took_us
    rate, load = scenario.peak_rate(queue), scenario.load
    if rate > capacity:
        when = "" if queue.traffic is None else " in the busiest hour"
        yield (
            f"it takes {compact(capacity)} messages a second at most ({slots} x {consumer.max_batch_size} every "
            f"{span(took_us)}), and {compact(rate)} come{when}: the backlog grows as long as that is so."
        )
    elif consumer.max_concurrency is None and load.mode == BATCH and scenario.outages(queue):
        yield "batches that throw make the autoscaler fall to few slots, so most of an outage's messages wait and do not fail."


def _duplicates(load: Load, tally: Tally) -> Iterator[str]:
    if tally.duplicates and load.mode == BATCH:
        yield (
            f"{tally.duplicates:,} times a message that had succeeded came again, because another one in its batch failed and "
            "the handler threw: acknowledge each message by itself (--failure-mode message shows the difference)."
        )


def percent(share: float) -> str:
    """A share in percent with two digits that say something: `0.0001 %`, `3.2 %`."""
    value = share * 100
    digits = 2 if not value or value >= 1 else min(6, 1 - floor(log10(value)))
    return f"{value:.{digits}f}".rstrip("0").rstrip(".") + " %"
