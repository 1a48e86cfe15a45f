"""Scenarios of every kind, drawn by Hypothesis or written down."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from emulator.core.model import Consumer
from emulator.simulate.scenario import BATCH, MESSAGE, Load, Scenario, Seen, Setting, Traffic

S = 1_000_000
FLOWS = ("sent", "delivered", "acked", "retried", "dead_lettered", "dropped", "expired")


def scenario(*, seconds=600, rate=500, outage=None, failure=0.03, processing_us=200_000, mode=BATCH, retention=345_600, dead=None, **settings):
    """A queue with a dead-letter queue behind it; `outage` is (start, end) in seconds."""
    consumer = Consumer(**{"dead_letter_queue": "dead", **settings})
    outages = () if outage is None else ((outage[0] * S, outage[1] * S),)
    load = Load(Fraction(rate), seconds * S, outages, failure, processing_us=processing_us, mode=mode)
    queues = [Setting("jobs", consumer, message_retention_period=retention, loaded=True)]
    if consumer.dead_letter_queue is not None:
        queues.append(Setting("dead", dead, dead_letters=True))
    return Scenario(load, tuple(queues), "a test")


@st.composite
def traffics(draw, seconds):
    """What an account may have measured, with hours of a few seconds."""
    hour_us = draw(st.sampled_from([S, 5 * S, 7_000_001]))
    counts = draw(st.lists(st.sampled_from([0, 1, 3, 20, 200]), min_size=1, max_size=seconds * S // hour_us))
    lots = tuple((n * hour_us, (n + 1) * hour_us, count) for n, count in enumerate(counts) if count)
    dark = tuple((n * hour_us, (n + 1) * hour_us) for n in sorted(draw(st.sets(st.integers(0, len(counts) - 1), max_size=1))))
    share, took_us = draw(st.sampled_from([0.0, 0.1, 1.0])), draw(st.sampled_from([None, 0, 850_003]))
    return Traffic(lots, share, dark, 1_000, Seen("a week", 1, 2, 3, 4, 5, 6, None), took_us)


@st.composite
def scenarios(draw):
    """Small enough for the emulator: a thousand messages or so, at round moments and at odd ones."""
    rate = draw(st.sampled_from([Fraction(1, 3), Fraction(2), Fraction(7), Fraction(20), Fraction(50)]))
    seconds = draw(st.sampled_from([20, 60, 150] if rate <= 10 else [20, 40]))
    retention = draw(st.sampled_from([345_600, 345_600, 60, 61, 75]))
    if retention < 100 and rate <= 10:
        seconds = 150
    dead_letters = draw(st.booleans())
    consumer = Consumer(
        max_batch_size=draw(st.sampled_from([1, 2, 3, 5, 10, 25, 100])),
        max_batch_timeout=draw(st.sampled_from([0, 1, 2, 5, 60])),
        max_retries=draw(st.sampled_from([0, 1, 3, 100])),
        dead_letter_queue="dead" if dead_letters else None,
        retry_delay=draw(st.sampled_from([0, 0, 1, 10, 37, 60])),
        max_concurrency=draw(st.sampled_from([None, None, 1, 2, 7, 250])),
    )
    moments = sorted(draw(st.sets(st.integers(0, seconds), min_size=0, max_size=4)))
    load = Load(
        rate=rate,
        duration_us=seconds * S,
        outages=tuple((start * S, end * S) for start, end in zip(moments[::2], moments[1::2], strict=False)),
        failure=draw(st.sampled_from([0, 0.01, 0.1, 0.5, 1])),
        processing_us=draw(st.sampled_from([0, 1_000, 50_021, 200_000, 200_000, 200_017, 1_000_000, 13_000_000, 901_000_000])),
        processing_message_us=draw(st.sampled_from([0, 0, 1_000, 3_001, 50_000])),
        mode=draw(st.sampled_from([MESSAGE, BATCH])),
        seed=draw(st.integers(0, 9)),
        drain=draw(st.booleans()),
    )
    traffic = draw(traffics(seconds)) if draw(st.sampled_from([False, False, True])) else None
    queues = [Setting("jobs", consumer, draw(st.sampled_from([0, 0, 1, 2])), retention, loaded=True, traffic=traffic)]
    if dead_letters:
        queues.append(Setting("dead", None, message_retention_period=draw(st.sampled_from([345_600, 60])), dead_letters=True))
    return Scenario(load, tuple(queues), "drawn")
