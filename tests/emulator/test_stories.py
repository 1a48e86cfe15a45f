"""A failing test is told the cause, in the first ten lines, at any width, with and without colour."""

from __future__ import annotations

import re
import textwrap
from datetime import timedelta

import pytest

from emulator import Emulator, Faults
from emulator.testing.failure import story
from tests.emulator.helpers import plugin_options
from tests.emulator.stories import FOLDER, SAMPLES, WIDTHS, golden, told

pytest_plugins = ["pytester"]

CAUSES = {
    "handler_raises": ["What failed first: batch 1 of orders, at 00:00:05", "ValueError: order 3 has a negative total",
                       "tests/emulator/story_samples.py:10 in charge", "raise ValueError(", '{"id":0,"total":12.5}'],
    "time_was_never_moved": ["Time was never moved", "1 message waits in jobs", "emu.run_until_idle(), or emu.advance(seconds)"],
    "consumer_without_handler": ["The consumer of jobs has no handler", 'emu.attach(handler, queue="jobs")'],
    "every_attempt_retried": ["dropped after 4 attempts", "none raised", "no dead_letter_queue", '"bad"', "handle (tests/emulator/story_samples"],
    "message_expired": ["expired: the retention of 1 h was over", '"late"'],
    "retry_is_still_delayed": ["delayed: the first is ready in 9.1 min"],
    "paused_by_its_own_handler": ["Delivery of jobs is paused", "resume()", "Received a call to retry() on message e3e70682 1 after ack()"],
    "one_of_three_hundred": ["batch 22 of jobs", "KeyError: 'customer'", "story_samples.py", '{"n":210}', "3 more batches of jobs failed likewise"],
    "each_fails_in_its_own_words": ["LookupError: no user 'user-0' among 1001", "119 more batches of jobs failed likewise"],
    "lease_lapsed": ["dropped after 2 attempts", "a lease lapsed"],
    "nothing_is_wrong_with_the_queues": ["No handler failed, and nothing is lost or waiting: 1 message acknowledged."],
}  # fmt: skip
LINES_MAX = 10


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SAMPLES)
def test_story_is_the_golden_one_and_begins_with_the_cause(name, width):
    text = told(name, width)
    assert text == golden(name, width).read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= width
    first = " ".join(text.split("\n\n")[0].split())
    for words in CAUSES[name]:
        assert words in first, name
    assert text.split("\n\n")[0].count("\n") < LINES_MAX
    coloured = told(name, width, colour=True)
    assert re.sub(r"\x1b\[\d+m", "", coloured) == text
    assert ("\x1b[" in coloured) == (name != "nothing_is_wrong_with_the_queues")


def test_every_golden_story_is_compared():
    assert {path.name for path in FOLDER.glob("*.txt")} == {golden(name, width).name for name in SAMPLES for width in WIDTHS}
    assert set(CAUSES) == set(SAMPLES)


@pytest.mark.parametrize("sends", ["together", "alone"])
def test_three_hundred_like_rows_are_one_line(sends):
    emu = Emulator()
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", lambda _batch: None, max_batch_size=1 if sends == "alone" else 10)
    for number in range(3):
        rows = [{"body": 100 * number + n} for n in range(100)]
        jobs.send_batch(rows) if sends == "together" else [jobs.send(row["body"]) for row in rows]
    emu.run_until_idle()
    lines = [line for line in story(emu).splitlines() if re.match(r"\d\d:", line)]
    assert len(lines) == 2
    assert "(300) 0, 1, 2, …" in lines[0]
    assert re.search(r"jobs +1-(30|300) +1 +acked +\(300\)", lines[1])


def test_many_thousand_messages_are_a_page_at_a_few_calls_each(calls):
    """50,000 under a second: so many calls a message, which no machine makes slower."""
    emu = Emulator(limits="relaxed")
    jobs = emu.create_queue("jobs")

    def handle(batch):
        if batch.messages[0].attempts == 1:
            raise ValueError(f"no {batch.messages[0].body}")

    emu.consume("jobs", handle, max_batch_timeout=0)
    for number in range(100):
        jobs.send_batch([{"body": 100 * number + n} for n in range(100)])
    emu.run_until_idle()
    text: list[str] = []
    assert calls(lambda: text.append(story(emu))) < 20 * 10_000
    assert len(text[0].splitlines()) < 30
    assert "999 more batches of jobs failed likewise" in text[0]


@pytest.fixture
def calls():
    from tests.emulator.test_ledger import calls_in

    return calls_in


def test_what_is_strange_is_told_as_well():
    """Bodies of every kind, several days, a hostile error, a fault, a queue that is gone, redriven and purged messages."""

    class UntellableError(Exception):
        def __str__(self):
            raise RuntimeError

    emu = Emulator(faults=Faults(duplicates=0.5))
    emu.create_queue("gone").send(b"\x00\xff" * 100, content_type="bytes")
    emu.delete_queue("gone")
    jobs = emu.create_queue("jobs")
    jobs.send({1, 2}, content_type="v8")
    jobs.send("two\nlines \x1b[31m", content_type="text")
    jobs.send("x" * 1_000)

    def handle(_batch):
        raise UntellableError

    emu.consume("jobs", handle, dead_letter_queue="dead", max_retries=1, retry_delay=86_400)
    emu.run_until_idle()
    emu.advance(timedelta(days=1))
    emu.redrive("dead", to="jobs")
    jobs.purge()
    text = story(emu)
    assert "UntellableError: str() raised RuntimeError" in text
    assert "01-02 00:00:10" in text
    assert "v8 {1, 2}" in text
    assert "'two\\nlines" in text
    assert "\x1b" not in text
    assert "redriven to jobs" in text
    assert "purged" in text
    assert "deleted" in story(emu, 160)
    assert max(map(len, text.splitlines())) <= 80


def test_an_emulator_that_was_closed_is_told_of_from_its_file(tmp_path):
    with Emulator(journal=tmp_path / "journal.db") as emu:
        emu.create_queue("jobs").send({"n": 1})
    assert '{"n":1}' in story(emu)
    with Emulator(journal=tmp_path / "journal.db") as again:
        assert again.queue("jobs").bodies() == [{"n": 1}]


def test_the_plugin_tells_of_every_emulator_that_a_failing_test_used(pytester):
    pytester.makepyfile(textwrap.dedent("""
        import pytest
        from emulator import Emulator

        SHARED = Emulator()
        SHARED.create_queue("shared")
        UNUSED = Emulator()

        def test_by_hand(cf_queues):
            cf_queues.create_queue("mine")
            with Emulator(seed=5) as emu:
                emu.create_queue("hand").send({"a": 1})
                SHARED.queue("shared").send("x")
                assert emu.deliveries

        def test_that_passes():
            Emulator().create_queue("silent")
    """))  # fmt: skip
    result = pytester.runpytest_subprocess(*plugin_options(), "-p", "no:cacheprovider", "--color=no")
    result.assert_outcomes(failed=1, passed=1)
    text = result.stdout.str()
    assert [line.strip("- ") for line in text.splitlines() if "what happened, seed" in line] == [
        "cf_queues: what happened, seed 0", "emulator: what happened, seed 0", "emulator: what happened, seed 5"
    ]  # fmt: skip
    assert '{"a":1}' in text
    assert "shared" in text
    assert "silent" not in text
    assert "\x1b[" not in text
    coloured = pytester.runpytest_subprocess(*plugin_options(), "-p", "no:cacheprovider", "--color=yes").stdout.str()
    assert "\x1b[33mhand" in coloured or "\x1b[33m1 message waits in hand" in coloured
