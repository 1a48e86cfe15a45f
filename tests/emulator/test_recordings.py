"""What the real runtime was seen to do, the emulator does too; where the documentation says otherwise, that.

`DEPARTURES` lists every recording in which miniflare's broker departs from what Cloudflare documents, why, and what is right.
"""

from __future__ import annotations

import pytest

from emulator import Refused
from tests.emulator.recordings import NAMES, Replay, recorded

TOLERANCE_MS = 400

ALL = range(10)
DEPARTURES = {
    "throw-8th-with-acks": (
        "the broker redelivers acknowledged messages of a batch that failed",
        {"q": [(f"m{n}", 1, 0) for n in ALL] + [(f"m{n}", 2, 1000) for n in (7, 8, 9)]},
    ),
    "ack-then-retryall": (
        "the broker redelivers acknowledged messages after retryAll()",
        {"q": [("m0", 1, 1000), ("m1", 1, 1000), ("m2", 1, 1000), ("m1", 2, 2000), ("m2", 2, 2000)]},
    ),
    "ackall-then-throw": (
        "ackAll() marks all delivered, whatever the handler does next",
        {"q": [("m0", 1, 1000), ("m1", 1, 1000), ("m2", 1, 1000)]},
    ),
    "waituntil-rejects": (
        "ackAll() marks all delivered, whether it is the handler that fails afterwards or a promise of its own",
        {"q": [("m0", 1, 0), ("m1", 1, 0)]},
    ),
    "batch-defaults": (
        "the service waits for ten messages or five seconds, not five and one",
        {"q": [(f"m{n}", 1, 5000) for n in range(7)]},
    ),
    "max-retries-default": (
        "the service retries three times, not twice",
        {"q": [(m, attempts, 0) for attempts in (1, 2, 3, 4) for m in ("m0", "m1")]},
    ),
    "max-retries-default-dlq": (
        "the service retries three times, not twice",
        {"q": [(m, attempts, 0) for attempts in (1, 2, 3, 4) for m in ("m0", "m1")], "dlq": [("m0", 1, 0), ("m1", 1, 0)]},
    ),
    "overlap-slow-consumer": (
        "a batch that fills does not start beside a running one when there is no second slot",
        {"q": [("m0", 1, 1000), ("m1", 1, 3500), ("m2", 1, 3500), ("m3", 1, 3500)]},
    ),
}
NOT_TIMELINES = {
    "send-errors": "calls from outside, compared one by one below",
    "send-errors-expose-codes": "calls from outside, compared one by one below",
    "send-errors-no-consumer": "the service checks limits whether or not somebody consumes; compared one by one below",
    "dlq-self": "a refused configuration",
    "no-queue-handler": "a consumer without a handler",
    "retry-delay-invalid-86401": "the service takes delays of 0 to 86,400 seconds",
    "retry-delay-invalid-neg": "the service takes delays of 0 to 86,400 seconds",
}


def matches(want: list[tuple[str, int, int]], have: list[tuple[str, int, int]]) -> bool:
    """The same messages and attempts in the same order, at about the same times."""
    return [w[:2] for w in want] == [h[:2] for h in have] and all(
        abs(w[2] - h[2]) <= TOLERANCE_MS for w, h in zip(want, have, strict=True)
    )


@pytest.mark.parametrize("name", [n for n in NAMES if n not in DEPARTURES and n not in NOT_TIMELINES and n != "dlq-cycle"])
def test_timeline_is_the_recorded_one(name):
    got = Replay(name).run().seen
    want = recorded(name)
    assert set(got) == set(want)
    for queue in want:
        assert matches(want[queue], got[queue]), (queue, want[queue], got[queue])


@pytest.mark.parametrize("name", DEPARTURES)
def test_where_the_broker_departs_from_the_documentation_the_documentation_wins(name):
    why, right = DEPARTURES[name]
    got = Replay(name).run().seen
    assert set(got) == set(right), why
    for queue in right:
        assert matches(right[queue], got[queue]), (why, got[queue])
    assert any(not matches(recorded(name).get(queue, []), got[queue]) for queue in got), f"no departure after all: {why}"


def test_a_cycle_of_dead_letter_queues_goes_round_as_recorded():
    want = recorded("dlq-cycle")
    got = Replay("dlq-cycle").run(until=1.05).seen
    for queue in want:
        assert matches(want[queue][:4], got[queue][:4]), (want, got)


def test_every_recording_has_its_place():
    assert len(NAMES) == 79
    assert {*DEPARTURES, *NOT_TIMELINES} <= set(NAMES)
