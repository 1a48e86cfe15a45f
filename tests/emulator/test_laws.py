"""The laws of the core, as properties. The machine walks along the limits: it fails messages to their last attempt, waits to
the very second of an expiry, a lapse or a batch, and refuses as often as it accepts.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import emulator
from emulator import Emulator, Refused
from emulator.core import commands, events, machine
from emulator.core.apply import apply
from emulator.core.limits import STRICT
from emulator.core.messages import FLYING, LEASED
from emulator.core.model import Consumer, State
from emulator.engine.journal.rows import RowReader, RowWriter
from emulator.engine.ledger.ledger import Ledger
from emulator.engine.ledger.steps import ENDS
from tests.emulator.core_dump import dump, from_snapshot
from tests.emulator.random_scenarios import Play, scenario

SECOND = 1_000_000
QUEUES = ("a", "b", "c")
SMALL = STRICT._replace(backlog_size_bytes=400, throughput_per_second=30)
FOUR_DAYS = 345_600 * SECOND


def expiry_us(queue, message):
    """When a waiting message expires, by the rule and not by any index."""
    keep = queue.config.message_retention_period * SECOND
    if message.dead and queue.consumer is None:
        keep = min(keep, FOUR_DAYS)
    return message.arrived_us + keep


def departure_us(queue, now_us):
    """When the next batch leaves, by the rule and not by any index."""
    consumer = queue.consumer
    if consumer is None or consumer.type != "worker" or not queue.attached or queue.config.delivery_paused:
        return None
    if len(queue.flights) >= (consumer.max_concurrency or queue.slots):
        return None
    readies = sorted(m.ready_us for m in queue.messages.values() if m.place not in (FLYING, LEASED))
    if not readies:
        return None
    moment = readies[0] + round(consumer.max_batch_timeout * SECOND)
    if len(readies) >= consumer.max_batch_size:
        moment = min(moment, readies[consumer.max_batch_size - 1])
    return max(moment, now_us)


def next_wake_by_scan(state):
    """The next moment at which anything is due, found by looking at everything."""
    due = []
    for queue in state.queues.values():
        for message in queue.messages.values():
            if message.place == LEASED:
                due.append(message.lease_until_us)
            elif message.place != FLYING:
                due.append(expiry_us(queue, message))
        leaves = departure_us(queue, state.now_us)
        if leaves is not None:
            due.append(leaves)
    return min(due, default=None)


class Core(RuleBasedStateMachine):
    """Drives `step` with commands and holds every law after each of them."""

    def __init__(self):
        super().__init__()
        self.state = State("paid")
        self.now_us = 0
        self.journal = []
        self.ledger = Ledger()
        self.serial = 0
        self.leases = []

    def do(self, command):
        """One command at the present moment; a refusal must change nothing."""
        self.settle_down()
        before = dump(self.state)
        try:
            done = machine.step(self.state, self.now_us, command, SMALL, self.journal.extend)
        except Refused:
            assert dump(self.state) == before, "law 1: a refused command has changed something"
            return None
        return done

    def settle_down(self):
        """Let everything due now happen, so that only the command can change anything."""
        machine.step(self.state, self.now_us, None, SMALL, self.journal.extend)

    def to(self, moment_us):
        """Let time pass up to a moment."""
        self.now_us = max(self.now_us, moment_us)
        self.settle_down()

    def ids(self, count):
        self.serial += count
        return tuple(f"{n:032x}" for n in range(self.serial - count, self.serial))

    @initialize(data=st.data())
    def queues(self, data):
        for name in QUEUES:
            retention = data.draw(st.sampled_from([60, 61, 3600, 345_600, 1_209_600]))
            self.do(commands.CreateQueue(name, data.draw(st.sampled_from([0, 0, 2])), retention))

    @rule(
        name=st.sampled_from(QUEUES), size=st.sampled_from([1, 2, 3, 100]), timeout=st.sampled_from([0, 1, 60]),
        retries=st.sampled_from([0, 1, 2]), dead=st.sampled_from([None, *QUEUES]), delay=st.sampled_from([0, 5]),
        slots=st.sampled_from([None, 1, 2]), pull=st.booleans(), replace=st.booleans(),
    )
    def consume(self, *, name, size, timeout, retries, dead, delay, slots, pull, replace):
        kind = "http_pull" if pull else "worker"
        consumer = Consumer(kind, size, timeout, retries, dead, delay, slots)
        self.do(commands.SetConsumer(name, consumer, attached=not pull, replace=replace))

    @rule(name=st.sampled_from(QUEUES))
    def stop_consuming(self, name):
        self.do(commands.RemoveConsumer(name))

    @rule(
        name=st.sampled_from([*QUEUES, "nowhere"]), count=st.sampled_from([1, 2, 3, 5, 29]), body=st.sampled_from([b"1", b"22", b"x" * 60]),
        delay=st.sampled_from([None, None, 0, 1, 61, 86_400, 86_401]),
    )
    def send(self, name, count, body, delay):
        bodies, types = (body,) * count, ("json",) * count
        self.do(commands.Send(name, self.ids(count), bodies, types, (delay,) * count, many=True))

    def flights(self):
        return [(name, flight) for name, queue in self.state.queues.items() for flight in queue.flights.values()]

    @precondition(lambda self: self.flights())
    @rule(data=st.data(), outcome=st.sampled_from(["ok", "exception"]), ack_all=st.booleans(), retry_all=st.booleans())
    def settle(self, data, outcome, ack_all, retry_all):
        name, flight = data.draw(st.sampled_from(self.flights()))
        acks = data.draw(st.sets(st.sampled_from(flight.ids)))
        rest = [id for id in flight.ids if id not in acks]
        retries = [(id, data.draw(st.sampled_from([None, 0, 1, 100]))) for id in rest if data.draw(st.booleans())]
        self.do(commands.Settle(
            name, flight.batch, outcome, None, frozenset(acks), tuple(retries), ack_all and not retry_all, retry_all,
            data.draw(st.sampled_from([None, 0, 7])),
        ))

    @rule(name=st.sampled_from(QUEUES), times=st.integers(1, 4))
    def fail_everything_so_many_times(self, name, times):
        for _ in range(times):
            for batch in list(self.state.queues[name].flights):
                self.do(commands.Settle(name, batch, "exception", "it fails"))
            wake_us = machine.next_wake(self.state)
            if wake_us is not None and wake_us - self.now_us <= 60 * SECOND:
                self.to(wake_us)

    @rule(name=st.sampled_from(QUEUES), size=st.sampled_from([1, 2, 100, 101]), visibility=st.sampled_from([None, 1000, 60_000, 43_200_001]))
    def pull(self, name, size, visibility):
        nonces = tuple(str(n) for n in range(self.serial, self.serial + 100))
        self.serial += 100
        for event in self.do(commands.Pull(name, size, nonces, visibility)) or ():
            if isinstance(event, events.Pulled):
                self.leases += [(name, lease) for lease in event.leases]

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), retry=st.booleans(), delay=st.sampled_from([None, 0, 5, 86_401]))
    def ack(self, data, retry, delay):
        name, lease = data.draw(st.sampled_from(self.leases))
        acks, retries = ((), ((lease, delay),)) if retry else ((lease,), ())
        self.do(commands.Ack(name, acks, retries))

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), visibility=st.sampled_from([1000, 600_000]))
    def extend(self, data, visibility):
        name, lease = data.draw(st.sampled_from(self.leases))
        self.serial += 1
        for event in self.do(commands.Extend(name, (lease,), (f"e{self.serial}",), visibility)) or ():
            self.leases += [(name, renewed) for renewed in event.leases]

    @rule(name=st.sampled_from(QUEUES), paused=st.booleans(), retention=st.sampled_from([None, 60, 59, 345_600]))
    def change(self, name, paused, retention):
        self.do(commands.ChangeQueue(name, None, retention, paused))

    @rule(name=st.sampled_from(QUEUES))
    def purge(self, name):
        self.do(commands.Purge(name))

    @rule(data=st.data(), name=st.sampled_from(QUEUES), home=st.sampled_from(QUEUES))
    def redrive(self, data, name, home):
        held = list(self.state.queues[name].messages) if name in self.state.queues else []
        ids = data.draw(st.lists(st.sampled_from([*held, "unknown"]), max_size=4))
        before = {id: name for id in ids if id in held}
        self.do(commands.Redrive(name, home, tuple(ids)))
        for id in before:
            assert sum(id in queue.messages for queue in self.state.queues.values()) >= 1, "a letter is in one queue or the other"

    @rule(seconds=st.sampled_from([1, 5, 59, 60, 345_600]))
    def wait(self, seconds):
        self.to(self.now_us + seconds * SECOND)

    @precondition(lambda self: machine.next_wake(self.state) is not None)
    @rule(short=st.sampled_from([0, 1]))
    def wait_to_the_next_wake(self, short):
        wake_us = machine.next_wake(self.state)
        assume(wake_us >= self.now_us + short)
        self.to(wake_us - short)

    @invariant()
    def next_wake_is_complete_and_exact(self):
        self.settle_down()
        wake_us = machine.next_wake(self.state)
        assert wake_us == next_wake_by_scan(self.state), "law 4"
        assert wake_us is None or wake_us > self.now_us, "law 4: something due was left"

    @invariant()
    def folding_the_journal_gives_the_state(self):
        again, from_text, rows = State("paid"), State("paid"), []
        writer, reader = RowWriter(), RowReader(lambda seq: rows[seq - 1])
        for number, event in enumerate(self.journal, 1):
            rows.append(writer.row(number, event))
            apply(again, event)
            apply(from_text, reader.event(number, rows[-1]))
        again.now_us = from_text.now_us = self.state.now_us
        assert dump(again) == dump(self.state) == dump(from_text), "law 5"

    @invariant()
    def a_snapshot_gives_the_state_back(self):
        again = from_snapshot(self.state)
        assert dump(again) == dump(self.state)
        assert machine.next_wake(again) == machine.next_wake(self.state), "law 5"

    @rule()
    def go_on_from_a_snapshot(self):
        self.state = from_snapshot(self.state)

    @invariant()
    def every_message_is_somewhere_exactly_once(self):
        counts = {name: tally.counts(name) for name, tally in self.ledger.follow(self.journal[self.ledger.sequence :]).tallies.items()}
        for name, queue in self.state.queues.items():
            assert counts[name].waiting == len(queue.messages), f"law 6 in {name}"
            assert queue.backlog_bytes == sum(len(m.body) for m in queue.messages.values())
        last = [self.ledger.records.rows[entry[-1]] for entry in self.ledger.records.entries]
        waiting = sorted((row.step.queue, row.step.ids[row.place]) for row in last if row.step.kind not in ENDS)
        assert waiting == sorted((name, id) for name, queue in self.state.queues.items() for id in queue.messages), "law 6"
        moved = [(row.dead_lettered + row.redriven, row.received) for row in counts.values()]
        assert sum(out for out, _ in moved) == sum(come for _, come in moved), "law 6: what left one queue arrived in another"

    @invariant()
    def nobody_is_delivered_more_often_than_allowed(self):
        for event in self.journal:
            if isinstance(event, (events.Delivered, events.Pulled)):
                assert max(event.attempts) <= 3


CoreTest = Core.TestCase
CoreTest.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


# --- law 2


def modules_of(folder):
    return sorted((Path(emulator.__file__).parent / folder).rglob("*.py"))


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 or "toolkit" in path.parts, f"{path} imports relatively"  # the toolkit may live elsewhere
            yield node.module or ""


@pytest.mark.parametrize("path", modules_of("core"), ids=lambda path: path.stem)
def test_the_core_imports_no_clock_chance_file_socket_or_thread(path):
    pure = {"__future__", "base64", "bisect", "collections", "collections.abc", "enum", "heapq", "itertools", "json", "msgspec", "operator", "re", "typing"}
    for module in imported(path):
        assert module in pure or module.startswith("emulator.core") or module == "cfq_lint.facts"


def test_only_the_clock_reads_time_and_only_ids_and_faults_draw():
    root = Path(emulator.__file__).parent
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root).as_posix()
        names = set(imported(path))
        if not inside.startswith(("engine/clock", "workers/python", "workers/stores", "toolkit")):
            assert "time" not in names, f"{inside} reads time"
        theirs = ("explore/world", "explore/state", "workers/python")  # what a user's own code draws
        if not inside.startswith(("engine/ids", "engine/chance", "toolkit", *theirs)):
            assert not names & {"random", "secrets"}, f"{inside} draws"
            assert "uuid4" not in path.read_text(encoding="utf-8"), f"{inside} draws"


# --- law 3


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), pieces=st.integers(2, 9))
def test_one_jump_equals_many_small_ones(seed, pieces):
    class InPieces(Play):
        def step(self, step):
            for _ in range(pieces if step["op"] == "wait" and step["seconds"] > 0 else 1):
                super().step(step)

    data = scenario(seed)
    longer = [s | {"seconds": s["seconds"] * pieces} if s["op"] == "wait" else s for s in data["steps"]]
    whole, cut = Play(data | {"steps": longer}).run(), InPieces(data).run()
    assert whole == cut


def test_ten_days_in_one_jump_equal_ten_jumps_of_one():
    def timeline(jumps, days):
        emu = Emulator()
        jobs = emu.create_queue("jobs")
        emu.consume("jobs", lambda batch: batch.retryAll(delaySeconds=50_000), max_retries=9, dead_letter_queue="dead")
        jobs.send_batch([{"body": n, "delaySeconds": n} for n in range(50)])
        for _ in range(jumps):
            emu.advance(days * 86_400)
        seen = ([(d.at, d.messages) for d in emu.deliveries], [(f.body, f.queue, f.state, f.at, f.attempts) for f in emu.fates])
        emu.close()
        return seen

    assert timeline(1, 10) == timeline(10, 1)


# --- law 6, from outside


@pytest.mark.parametrize("seed", range(0, 400, 8))
def test_what_was_sent_is_what_became_of_it(seed):
    play = Play(scenario(seed))
    result = play.run()
    buried = sum(state == "dead-lettered" for _, _, state, _, _ in result["fates"])
    sent = sum(len(event.ids) for event in play.emu.events if isinstance(event, events.Sent))
    assert len(result["fates"]) == sent + buried
    assert {state for _, _, state, _, _ in result["fates"]} <= {"waiting", "acked", "dead-lettered", "dropped", "expired", "purged"}


@pytest.mark.parametrize("seed", range(1, 400, 16))
def test_the_report_counts_what_the_fates_tell(seed):
    class Reported(Play):
        def result(self):
            self.report = self.emu.report()
            return super().result()

    play = Reported(scenario(seed))
    fates = play.run()["fates"]
    names = {"acked": "acked", "dead-lettered": "dead_lettered", "dropped": "dropped", "expired": "expired", "purged": "purged"}
    for queue, counts in play.report.queues.items():
        states = [state for _, where, state, _, _ in fates if where == queue]
        for state, name in names.items():
            assert getattr(counts, name) == states.count(state), (queue, state)
        assert counts.waiting == states.count("waiting")
        assert counts.sent + counts.received == len(states)


# --- law 7


def journal_of(seed, emulator_seed=7):
    class Seeded(Play):
        def open(self):
            return Emulator(plan=self.data["plan"], seed=emulator_seed)

    play = Seeded(scenario(seed))
    play.run()
    return json.dumps([events.to_json(event) for event in play.emu.events])


@pytest.mark.parametrize("seed", [1, 2, 3, 10, 51])
def test_the_same_seed_and_commands_write_the_same_journal_byte_for_byte(seed):
    assert journal_of(seed) == journal_of(seed)
    assert journal_of(seed) != journal_of(seed, emulator_seed=8)


def test_the_journal_does_not_depend_on_the_order_of_hashes():
    import os
    import subprocess

    code = "from tests.emulator.test_laws import journal_of; import hashlib; print(hashlib.sha256(journal_of(3).encode()).hexdigest())"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": str(n)}, cwd=Path(__file__).parents[2],
            capture_output=True, text=True, check=True,
        ).stdout
        for n in (1, 2)
    }
    assert len(seen) == 1
