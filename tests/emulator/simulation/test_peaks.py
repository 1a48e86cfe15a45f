"""What a run says of its peaks: concurrency that was needed, waits shorter than a row, a dead-letter queue that is full; sweeps' plots."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from emulator.core.model import Consumer
from emulator.simulate import exact_run as exact
from emulator.simulate.by_count import run as batched
from emulator.simulate.output import page, sweep_table, text
from emulator.simulate.output.report import BATCHED, report
from emulator.simulate.scenario import MESSAGE, Load, Scenario, Setting
from emulator.simulate.sweep import grid, simulate

S = 1_000_000
HOUR = 3_600


def made(*, rate=10, seconds=60, consumer=None, size=1_000, **more):
    """A queue with a dead-letter queue that nobody consumes; batches take a second."""
    load = Load(rate=Fraction(rate), duration_us=seconds * S, processing_us=S, mode=MESSAGE, size_bytes=size, **more)
    consumer = consumer or Consumer(max_batch_size=1, max_batch_timeout=0, max_concurrency=50, dead_letter_queue="dead")
    return Scenario(load, (Setting("jobs", consumer, loaded=True), Setting("dead", None, dead_letters=True)), "a test")


@pytest.mark.parametrize(("rate", "slots", "busy"), [(1, 50, 1), (10, 50, 10), (10, 4, 4)])
def test_the_concurrency_that_was_needed_is_what_little_s_law_says_or_all_that_there_is(rate, slots, busy):
    consumer = Consumer(max_batch_size=1, max_batch_timeout=0, max_concurrency=slots, dead_letter_queue="dead")
    case = made(rate=rate, consumer=consumer)
    for run in (exact, batched):
        whole = report(case, run.run(case), BATCHED)
        assert whole["queues"][0]["concurrency_max"] == busy
        assert f"batches at a time {f'{busy} of {slots}':>17}" in text.text(whole)


def test_a_wait_shorter_than_a_row_shows():
    """Rows are six minutes apart; for half a minute everything fails, which no row falls into."""
    outages = ((HOUR * S + 60 * S, HOUR * S + 90 * S),)
    consumer = Consumer(max_batch_size=10, max_batch_timeout=1, max_concurrency=10, max_retries=10, retry_delay=30, dead_letter_queue="dead")
    case = made(rate=10, seconds=24 * HOUR, consumer=consumer, outages=outages)
    tally = batched.run(case)[0]
    looked = [row for row in tally.rows if row.at_us not in {moment for outage in outages for moment in outage}]
    assert max(row.backlog for row in looked) < 50
    whole = report(case, [tally, batched.run(case)[1]], BATCHED)
    queue = whole["queues"][0]
    assert queue["backlog_max"] > 300, "all that came in half a minute"
    assert 30 < queue["oldest_seconds_max"] < 65
    assert max(queue["series"]["backlog_max"]) == queue["backlog_max"]
    assert max(queue["series"]["oldest_seconds_max"]) == queue["oldest_seconds_max"]


@pytest.mark.parametrize(("size", "full"), [(100_000, True), (1_000, False)])
def test_a_dead_letter_queue_above_25_gb_is_said_with_its_moment(size, full):
    consumer = Consumer(max_batch_size=100, max_batch_timeout=1, max_concurrency=250, max_retries=0, dead_letter_queue="dead")
    case = made(rate=100, seconds=HOUR, consumer=consumer, size=size, failure=1.0)
    said = simulate(case, BATCHED)["findings"]
    (found,) = [line for line in said if line.startswith("dead: after ")] or [""]
    # a hundred a second of 100 KB are 25 GB in 2,500 seconds; rows are a quarter of a minute apart
    assert bool(found) is full
    if full:
        assert re.match(r"dead: after 4[12] min it holds more than 25 GB", found)


@pytest.mark.parametrize(
    ("axes", "lines"),
    [
        ([("max_retries", [0, 1, 2])], 1),
        ([("max_retries", [0, 1]), ("retry_delay", [0, 5])], 2),
        ([("max_concurrency", [None, 1, 2])], 1),
        ([("max_concurrency", [1, 2]), ("max_retries", [0, 1]), ("retry_delay", [0, 5])], 4),
    ],
)
def test_every_sweep_of_few_lines_has_plots(axes, lines):
    jobs = grid(made(failure=0.3), axes)
    reports = [simulate(scenario, BATCHED) for _, scenario in jobs]
    rows = [sweep_table.row(chosen, each) for (chosen, _), each in zip(jobs, reports, strict=True)]
    shown = page.sweep_page(rows, reports[0])
    (figure,) = [part for part in shown.split("<figure>") if part.startswith(f"<h2>deliveries over {axes[0][0]}")]
    assert figure.count("<polyline") == lines
    assert "batches at a time over" in shown
    if axes[0][1][0] is None:
        assert ">auto</text>" in figure
