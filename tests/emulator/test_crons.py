"""Cron triggers: what an expression means, and a Worker's `scheduled` on virtual time."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

import pytest

from emulator import Emulator, Refused
from emulator.workers.cron import Cron
from tests.emulator.helpers import seconds

# Expressions, a moment, and the next ones: Cloudflare's documentation and the tests of its own reader (cloudflare/saffron), retold.
NEXT = [
    ("*/10 * * * *", "1970-01-01 00:00", ["1970-01-01 00:10", "1970-01-01 00:20"]),
    ("0 0 29 2 *", "1970-01-01 00:00", ["1972-02-29 00:00", "1976-02-29 00:00"]),
    ("0 0 29 FEB *", "2096-03-01 00:00", ["2104-02-29 00:00"]),
    ("0 0 L FEB *", "2024-01-01 00:00", ["2024-02-29 00:00", "2025-02-28 00:00"]),
    ("0 0 L-1 FEB *", "2024-01-01 00:00", ["2024-02-28 00:00", "2025-02-27 00:00"]),
    ("59 12 LW 2 *", "1970-01-01 00:00", ["1970-02-27 12:59", "1971-02-26 12:59", "1972-02-29 12:59", "1973-02-28 12:59"]),
    ("0 0 L-28W 2 *", "1970-01-01 00:00", ["1972-02-01 00:00", "1976-02-02 00:00", "1980-02-01 00:00", "1984-02-01 00:00"]),
    ("0 0 L-30W * *", "2021-04-01 00:00", ["2021-05-03 00:00", "2021-07-01 00:00"]),
    ("0 0 1W MAY *", "2020-01-01 00:00", ["2020-05-01 00:00", "2021-05-03 00:00", "2022-05-02 00:00"]),
    ("0 0 31W * *", "2026-05-01 00:00", ["2026-05-29 00:00", "2026-07-31 00:00"]),
    ("0 0 * * 7L", "2020-01-01 00:00", ["2020-01-25 00:00", "2020-02-29 00:00"]),
    ("0 18 * * friL", "2026-01-01 00:00", ["2026-01-30 18:00", "2026-02-27 18:00"]),
    ("0 0 * * SAT#5", "2020-01-01 00:00", ["2020-02-29 00:00", "2020-05-30 00:00"]),
    ("0 17 * * sun", "2026-01-01 00:00", ["2026-01-04 17:00"]), ("0 17 * * 1", "2026-01-01 00:00", ["2026-01-04 17:00"]),
    ("10 7 * * 2-6", "2026-01-01 12:00", ["2026-01-02 07:10", "2026-01-05 07:10"]),
    ("10 7 * * mon-fri", "2026-01-01 12:00", ["2026-01-02 07:10", "2026-01-05 07:10"]),
    ("0 0 * JAN SAT-SUN", "2020-01-01 00:00", ["2020-01-04 00:00", "2020-01-05 00:00", "2020-01-11 00:00"]),
    ("0 0 * * L", "2026-01-01 00:00", ["2026-01-03 00:00"]),
    ("*/15,30-59/10 0 * * *", "2019-12-31 23:59", [f"2020-01-01 00:{m:02}" for m in (0, 15, 30, 40, 45, 50)]),
    ("0 20-4/2 * * *", "2020-01-01 04:30", ["2020-01-01 20:00", "2020-01-01 22:00", "2020-01-02 00:00", "2020-01-02 02:00"]),
    ("0 0 13 * FRI", "2026-01-02 00:00", ["2026-01-09 00:00", "2026-01-13 00:00", "2026-01-16 00:00"]),
    ("5-5 0-0 23-23 8-8 *", "2020-01-01 00:00", ["2020-08-23 00:05"]),
    ("59-0 23-0 31-1 12-1 *", "2020-11-30 12:00", ["2020-12-01 00:00", "2020-12-01 00:59", "2020-12-01 23:00"]),
    ("0 3/9 * * *", "2020-01-01 04:00", ["2020-01-01 12:00", "2020-01-01 21:00", "2020-01-02 03:00"]),
    ("* * 31 2 *", "2020-01-01 00:00", []), ("0 0 * * *", "9999-12-31 00:00", []),
]  # fmt: skip


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(("text", "start", "expected"), NEXT, ids=[f"{row[0]} after {row[1]}" for row in NEXT])
def test_the_next_moments_of_an_expression(text, start, expected):
    cron, moment, found = Cron(text), at(start), []
    for _ in range(max(1, len(expected))):
        moment = cron.next_after(moment)
        if moment is None:
            break
        found.append(f"{moment:%Y-%m-%d %H:%M}")
    assert found == expected


@pytest.mark.parametrize(
    "text",
    ["* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 0", "* * * * 8", "*/0 * * * *",
     "*/60 * * * *", "5,* * * * *", "* * L-31 * *", "* * L-0 * *", "* * * * MON#6", "a * * * *", "* * 1L * *", "1-2-3 * * * *",
     "* * * * 1W", "* * 32W * *", "-1 * * * *", "² * * * *", "* * * * MOON", ""],
)  # fmt: skip
def test_what_cloudflare_does_not_take_is_refused_with_what_it_takes(text):
    with pytest.raises(ValueError, match=r"allowed are|five: minute, hour, day of month, month, weekday"):
        Cron(text)


WORKER = """
from workers import WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def scheduled(self, controller, env=None, ctx=None):
        await self.env.JOBS.send({"cron": controller.cron, "at": controller.scheduledTime})
        if controller.cron == "30 * * * *":
            raise ValueError("the half hour")

    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            print(message.body)
"""


@pytest.fixture
def project(tmp_path):
    def make(crons, **more):
        (tmp_path / "main.py").write_text(WORKER)
        queues = {"producers": [{"binding": "JOBS", "queue": "jobs"}], "consumers": [{"queue": "jobs", "max_batch_timeout": 1}]}
        content = {"name": "w", "main": "main.py", "compatibility_date": "2026-06-01", "compatibility_flags": ["python_workers"],
                   "queues": queues, "triggers": {"crons": crons}, **more}  # fmt: skip
        (tmp_path / "wrangler.json").write_text(json.dumps(content))
        return tmp_path / "wrangler.json"

    return make


def test_crons_go_off_as_time_passes_each_at_its_own_moment(project):
    emu = Emulator()
    emu.worker(project(["0 * * * *", "*/20 * * * *"]))
    emu.advance(3_600)
    sent = [fate.body for fate in emu.fates]
    start_ms = 1_767_225_600_000
    assert sent == [
        {"cron": "*/20 * * * *", "at": start_ms + 1_200_000}, {"cron": "*/20 * * * *", "at": start_ms + 2_400_000},
        {"cron": "0 * * * *", "at": start_ms + 3_600_000}, {"cron": "*/20 * * * *", "at": start_ms + 3_600_000},
    ]  # fmt: skip
    assert [seconds(emu, d.at) for d in emu.deliveries] == [1_201, 2_401]
    emu.run_until_idle()
    assert seconds(emu) == 3_601, "crons alone do not move the clock"


def test_one_jump_is_as_many_jumps(project):
    events = []
    for steps in ([86_400], [3_600] * 24, [60] * 1_440):
        emu = Emulator()
        emu.worker(project(["7 */5 * * *"]))
        for step in steps:
            emu.advance(step)
        events.append([event for event in emu.events if type(event).__name__ == "Sent"])
    assert events[0] == events[1] == events[2]
    assert len(events[0]) == 5


def test_a_cron_that_fails_is_an_error_of_the_report_and_comes_again(project):
    emu = Emulator()
    emu.worker(project(["30 * * * *"]))
    emu.advance(2 * 3_600)
    assert [str(error) for error in emu.errors] == ["the half hour"] * 2
    assert "cron '30 * * * *' of w: ValueError('the half hour')" in str(emu.report())
    assert len(emu.fates) == 2
    strict = Emulator(strict=True)
    strict.worker(project(["30 * * * *"]))
    with pytest.raises(ValueError, match="the half hour"):
        strict.advance(3_600)


def test_triggers_are_inherited_and_may_be_replaced(project):
    env = {"quiet": {"name": "q", "triggers": {"crons": []}}, "same": {"queues": {"producers": [{"binding": "JOBS", "queue": "jobs"}]}}}
    for name, count in (("same", 1), ("quiet", 0)):
        emu = Emulator()
        emu.worker(project(["0 * * * *"], env=env), env=name)
        emu.advance(3_600)
        assert len(emu.fates) == count, name


def test_without_the_workers_code_the_report_tells_of_what_would_have_gone_off(project):
    emu = Emulator.from_wrangler(project(["0 * * * *"]))
    emu.advance(3 * 3_600)
    [warning] = emu.report().warnings
    assert warning == "cron '0 * * * *' of w went off, and there is no code to run: load the Worker with emu.worker()"
    emu.worker(project(["0 * * * *"]))
    emu.advance(3_600)
    assert len(emu.fates) == 1
    assert len(emu.report().warnings) == 1


def test_a_worker_may_be_scheduled_by_hand(project):
    emu = Emulator()
    worker = emu.worker(project([]))
    asyncio.run(worker.scheduled("0 0 1 1 *", at("2026-01-01 00:00")))
    assert emu.fates[0].body == {"cron": "0 0 1 1 *", "at": 1_767_225_600_000}


@pytest.mark.parametrize(
    ("triggers", "told"),
    [({"crons": ["0 * * * 0"]}, "'0' is no weekday: allowed are 1 to 7 or SUN to SAT"), ({"crons": "0 * * * *"}, "a list of texts"),
     ({"crons": [1]}, "a list of texts")],
)  # fmt: skip
def test_a_file_whose_crons_cloudflare_does_not_take_is_refused(project, triggers, told):
    with pytest.raises(Refused, match=told):
        Emulator().worker(project([], triggers=triggers))


def test_a_worker_without_the_handler_fails_each_time(project, tmp_path):
    path = project(["0 * * * *"])
    (tmp_path / "main.py").write_text(WORKER.replace("scheduled(self", "planned(self"))
    emu = Emulator()
    emu.worker(path)
    emu.advance(3_600)
    assert [str(error) for error in emu.errors] == ["Handler does not export a scheduled() function."]


def test_a_fetch_that_waits_for_nothing_still_ends(project, tmp_path):
    """A cron to come is nothing that a Worker's own promise could wait for."""
    path = project(["0 * * * *"])
    (tmp_path / "main.py").write_text(WORKER + """
    async def fetch(self, request, env=None, ctx=None):
        import asyncio
        await asyncio.get_event_loop().create_future()
""")
    worker = Emulator().worker(path)
    with pytest.raises(Exception, match="nothing will ever bring"):
        asyncio.run(worker.fetch("/"))


def test_a_search_ends_although_crons_never_do(project):
    """Crons alone are nothing that is due: who goes on until nothing is due comes to an end."""
    emu = Emulator()
    emu.worker(project(["* * * * *"]))
    emu.env.JOBS.send(1)
    assert emu.timeline.next_due_us() == emu.account.now_us + 1_000_000
    emu.advance(1)
    assert emu.timeline.next_due_us() is None
    assert emu.timeline.next_moment_us() == emu.account.now_us + 59_000_000
