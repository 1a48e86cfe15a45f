"""What the real runtime was seen to do, the emulator does too; where the documentation says otherwise, that.

`DEPARTURES` lists every recording in which miniflare's broker departs from what Cloudflare documents, why, and what is right.
"""

from __future__ import annotations

import json
import math
import re
from datetime import datetime

import pytest

from emulator import Emulator, Refused
from tests.emulator.recordings import NAMES, Replay, lines, recorded

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


# --- calls from outside

PYTHONS_OWN = {
    "send bytes with ArrayBuffer": "a memoryview is a view",
    "send json bigint": "Python's integers have no end, and JSON's neither",
}
CODES = {
    "sendBatch 101": 10206, "send text 128001": 10204, "send text 131072": 10204, "send json string 127999 (128001 encoded)": 10204,
    "sendBatch one of 128001": 10204, "sendBatch total 288000": 10205, "sendBatch total 288001": 10205, "send delay -1": 10203,
    "send delay 86401": 10203, "sendBatch msg delay -1": 10203, "sendBatch msg delay 86401": 10203, "sendBatch option delay 86401": 10202,
}
NO_JSON = {"send json function", "send v8 function"}


@pytest.mark.parametrize("name", ["send-errors", "send-errors-expose-codes", "send-errors-no-consumer"])
def test_calls_from_outside_are_answered_as_recorded_or_with_the_services_code(name):
    answers = [line for line in lines(name) if line["t"] == "drive"]
    calls = Replay(name).run().calls
    assert len(calls) == len(answers)
    for (drive, got), answer in zip(calls, answers, strict=True):
        label = drive["label"]
        if label in CODES:
            assert isinstance(got, Refused), label
            assert got.code == CODES[label], label
        elif label in NO_JSON:
            assert isinstance(got, TypeError), label
        elif answer["ok"] or label in PYTHONS_OWN:
            assert not isinstance(got, Exception), (label, got)
        else:
            assert type(got).__name__ == answer["name"] == "TypeError", label
            assert str(got) == answer["message"].partition("\n")[0], label
    assert {drive["label"] for drive, _ in calls} >= {*CODES, *PYTHONS_OWN, *NO_JSON}


def python_value(message):
    """What a recorded body is in Python."""
    value, kind = message["value"], message["type"]
    if kind == "ArrayBuffer":
        return bytes([1]) * int(value.partition("len=")[2])
    if kind == "Date":
        return datetime.fromisoformat(value)
    return {"k": 1} if kind == "Map" else int(value) if kind == "bigint" else value


@pytest.mark.parametrize("name", ["content-types", "content-types-old-compat"])
def test_bodies_arrive_as_recorded(name, tmp_path):
    script = lines(name)[0]
    wrangler = {
        "name": "svc", "main": "src/index.ts", "compatibility_date": script["compat"],
        "queues": {"producers": [{"binding": "Q", "queue": "q"}], "consumers": [{"queue": "q", **script["queues"]["q"]["consumer"]}]},
    }
    (tmp_path / "wrangler.json").write_text(json.dumps(wrangler), encoding="utf-8")
    replay = Replay(name, Emulator.from_wrangler(tmp_path / "wrangler.json")).run()
    want = [message for line in lines(name) if line["t"] == "batch" for message in line["messages"]]
    assert [label for label, _, _ in replay.seen["q"]] == [message["m"] for message in want]
    for message in want:
        got, right = replay.values[message["m"]], python_value(message)
        if message["m"] == "x7":
            right = {"k": 1}  # JSON.stringify of a Map is {}; a dict is both
        if message["m"] == "x11" and name.endswith("old-compat"):
            assert math.isnan(got)
        else:
            assert (type(got), got) == (type(right), right), message


def test_metrics_count_what_waits_and_what_is_delayed():
    calls = Replay("metrics-backlog").run().calls
    want = [line["r"] for line in lines("metrics-backlog") if line["t"] == "drive" and line["op"] == "metrics"]
    got = [got for drive, got in calls if drive["op"] == "metrics"]
    assert [(m.backlogCount, m.backlogBytes) for m in got] == [(3, 30), (5, 50)]
    assert [(m["backlogCount"], m["backlogBytes"]) for m in want] == [(3, 30), (4, 40)], "miniflare leaves delayed messages out"


@pytest.mark.parametrize(("name", "left"), [("no-consumer", {"q": 3}), ("dlq-no-consumer", {"dlq": 2}), ("dlq-undeclared", {"dlq": 2})])
def test_what_the_broker_drops_the_service_stores(name, left):
    emu = Replay(name).run().emu
    assert {queue: len(emu.queue(queue).bodies()) for queue in left} == left


def test_a_queue_that_is_its_own_dead_letter_queue_is_refused_in_the_recorded_words():
    error = next(line for line in lines("dlq-self") if line["t"] == "config_error")
    with pytest.raises(Refused, match=re.escape(error["m"])):
        Replay("dlq-self")


def test_a_consumer_without_a_handler_uses_up_its_messages_attempts():
    emu = Emulator()
    emu.create_queue("q").send({"m": "m0"})

    class Nothing:
        pass

    emu.consume("q", Nothing, max_batch_timeout=0, max_retries=1)
    emu.advance(0)
    assert [(fate.state, fate.attempts) for fate in emu.fates] == [("dropped", 2)]


def test_a_message_keeps_its_id_and_timestamp_wherever_it_goes():
    ids = Replay("dlq-chain").run().ids
    assert set(ids) == {"m0", "m1"}
    assert all(len(seen) == 1 for seen in ids.values())


def test_every_recording_has_its_place():
    assert len(NAMES) == 79
    assert {*DEPARTURES, *NOT_TIMELINES} <= set(NAMES)
