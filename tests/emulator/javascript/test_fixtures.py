"""Each fixture below `fixtures/javascript_workers`: what it does, and when, to the second."""

from __future__ import annotations

import asyncio
import json

import pytest

from emulator import Emulator
from tests.emulator.javascript.conftest import FIXTURES

DAY = 86_400


@pytest.fixture
def load(emu, javascript_workers):
    """Load a fixture by its name."""
    return lambda name, **options: emu.worker(javascript_workers / name / "wrangler.jsonc", **options)


def timeline(emu, queue):
    """Each delivery of a queue: seconds since the start, outcome, attempts of its messages."""
    start = emu.deliveries[0].at if emu.deliveries else emu.now
    rows = [each for each in emu.deliveries if each.queue == queue]
    return [((each.at - start).total_seconds(), each.outcome, [attempts for _, _, attempts in each.messages]) for each in rows]


def texts(worker):
    return [line.text for line in worker.console]


def test_hono_orders(emu, load):
    worker = load("hono_orders")

    async def order(**body):
        return await worker.fetch("/orders", method="POST", body=json.dumps(body))

    answers = [asyncio.run(order(id=1, sku="a")), asyncio.run(order(id=2)), asyncio.run(order(id=3, sku="later"))]
    assert [answer.status for answer in answers] == [202] * 3
    assert asyncio.run(answers[0].json()) == {"accepted": 1}
    emu.run_until_idle()
    assert timeline(emu, "orders") == [
        (0, "ok", [1, 1]), (65, "ok", [2]), (120, "ok", [1]), (190, "ok", [3]), (435, "ok", [4]),
    ]  # fmt: skip
    assert {fate.body["id"]: fate.state for fate in emu.fates if fate.queue == "orders"} == {
        1: "acked", 2: "dead-lettered", 3: "acked",
    }  # fmt: skip
    assert emu.queue("orders-dlq").bodies() == [{"id": 2}]
    emu.advance(4 * DAY - 1)
    assert emu.queue("orders-dlq").bodies() == [{"id": 2}]
    emu.advance(1)
    assert emu.queue("orders-dlq").bodies() == []


def test_entrypoint(emu, load):
    worker = load("entrypoint")
    emu.queue("moves").send_batch([{"body": {"sku": "x", "count": 2}}, {"body": {"sku": "y", "count": 11}}])
    emu.run_until_idle()
    assert timeline(emu, "moves") == [(0, "exception", [1, 1]), (16, "exception", [2, 2])]
    assert emu.deliveries[0].error.splitlines()[0] == "RangeError: only 10 of y"
    assert texts(worker) == ["1 2 of x", "2 2 of x"]  # a new instance for every batch
    assert asyncio.run(asyncio.wait_for(worker.fetch("/a"), 5)).status == 200


def test_two_queues(emu, load):
    load("two_queues")
    emu.queue("bills").send_batch([{"body": {"id": 1, "to": "ann"}}, {"body": {"id": 2, "to": None}}])
    emu.run_until_idle()
    assert timeline(emu, "bills") == [(0, "ok", [1, 1])]
    assert timeline(emu, "mails") == [(2, "exception", [1, 1])]
    assert emu.deliveries[1].error.splitlines()[0] == 'Error: nobody to send {"to":null,"bill":2} to'
    assert emu.queue("dead-mails").bodies() == [{"to": None, "bill": 2}]
    assert [fate.state for fate in emu.fates if fate.queue == "mails"] == ["acked", "dead-lettered"]


def test_sentry_drizzle(emu, load):
    worker = load("sentry_drizzle")
    emu.queue("receipts").send_batch([{"body": {"id": n, "total": -1 if n == 5 else n}} for n in range(1, 11)])
    emu.run_until_idle()
    assert timeline(emu, "receipts") == [(0, "exception", [1] * 10), (31, "ok", [2] * 6)]
    error = emu.deliveries[0].error.splitlines()
    assert error[:2] == ["Error: receipt 5 has no total", "    at Object.queue (src/index.ts:14:52)"]
    assert texts(worker) == ["10 receipts"]
    rows = worker.env.DB.connection.execute("SELECT id, key FROM receipts ORDER BY id").fetchall()
    assert rows[0] == (1, "receipts/1.json")
    assert len(rows) == 10
    stored = emu._shared_stores().r2("receipts")
    assert stored.head("receipts/5.json").metadata.custom == {"attempts": "2"}
    assert stored.get("receipts/5.json")[2] == b'{"id":5,"total":-1}'


def test_kv_guard(emu, load):
    answers = iter([(429, {"Retry-After": "45"}, b""), (503, b""), (200, {}), (200, {})])
    worker = load("kv_guard", fetch=lambda _: next(answers))
    emu.queue("charges").send({"id": 7})
    emu.run_until_idle()
    assert timeline(emu, "charges") == [(0, "ok", [1]), (45, "exception", [2]), (65, "ok", [3])]
    assert emu.deliveries[1].error.splitlines()[1].endswith("(src/index.js:19:29)")
    emu.queue("charges").send({"id": 7})  # the guard holds for an hour
    emu.run_until_idle()
    assert len(worker.fetches) == 3
    emu.advance(3600)
    emu.queue("charges").send({"id": 7})
    emu.run_until_idle()
    assert [request.headers["idempotency-key"] for request in worker.fetches] == ["charge:7"] * 4
    assert [(request.at - worker.fetches[0].at).total_seconds() for request in worker.fetches] == [0, 45, 65, 3665]


def test_kv_guard_gives_up_on_an_answer_that_never_comes(emu, load):
    load("kv_guard", fetch=lambda _: asyncio.sleep(1e6))
    emu.queue("charges").send({"id": 7})
    emu.run_until_idle()
    assert [at for at, _, _ in timeline(emu, "charges")] == [22.5 * n for n in range(6)]
    assert {each.error.splitlines()[0] for each in emu.deliveries} == {"TimeoutError: The operation was aborted due to timeout"}
    assert [fate.state for fate in emu.fates] == ["dropped"]


def test_counter_object(emu, load):
    worker = load("counter_object")
    emu.queue("hits").send_batch([{"body": {"page": page}} for page in "aba"])
    emu.run_until_idle()
    assert texts(worker) == ["a 1", "b 1", "a 2"]
    assert asyncio.run(asyncio.run(worker.fetch("/")).json()) == {"a": 2, "b": 1}
    emu.advance(59)
    assert emu.queue("totals").bodies() == []
    emu.advance(3)  # the alarm fails, and comes again after two seconds
    assert emu.queue("totals").bodies() == [{"at": "2026-01-01T00:01:02.000Z", "totals": {"a": 2, "b": 1}}]
    emu.advance(DAY)
    assert len(emu.queue("totals").bodies()) == 1


def test_cron_producer(emu, load):
    worker = load("cron_producer")
    emu.advance(3 * 3600 + 600)
    told = texts(worker)
    assert told[0] == '[{"quarter":"2026-01-01T00:15:00.000Z"}]'
    assert len([text for text in told if "quarter" in text]) == 12
    assert [text for text in told if "part" in text] == ['[{"part":1}]', '[{"part":2}]', '[{"part":3}]']
    at = [(each.at - emu.now).total_seconds() + 10 * 60 for each in emu.deliveries if "part" in str(each.messages)]
    assert at == [70, 130, 190]


@pytest.mark.parametrize(
    ("calls", "states", "waits"),
    [
        ([["ack"], ["retry", 9]], "acked", None),
        ([["retry", 9], ["ack"]], "dead-lettered", 9),
        ([["retry", 9], ["retry", 4]], "dead-lettered", 4),
        ([["ack"], ["throw"]], "acked", None),
        ([["ackAll"], ["throw"]], "acked", None),
        ([["ackAll"], ["retryAll", 9]], "acked", None),
        ([["retryAll", 9], ["ackAll"]], "dead-lettered", 9),
        ([["retryAll", 9], ["ack"]], "dead-lettered", 9),
        ([["retry"]], "dead-lettered", 0),
    ],
)
def test_first_call_wins(emu, load, calls, states, waits):
    load("first_call_wins")
    emu.queue("jobs").send({"n": 1, "calls": calls})
    emu.run_until_idle()
    assert emu.fates[0].state == states
    assert [at for at, _, _ in timeline(emu, "jobs")] == ([0] if waits is None else [0, waits + 5, 2 * (waits + 5)])


def test_first_call_wins_where_the_fifth_of_ten_throws(emu, load):
    load("first_call_wins")
    bodies = [{"n": n, "calls": [["throw"]] if n == 5 else [["ack"]] if n < 3 else []} for n in range(1, 11)]
    emu.queue("jobs").send_batch([{"body": body} for body in bodies])
    emu.run_until_idle()
    assert timeline(emu, "jobs") == [(0, "exception", [1] * 10), (5, "exception", [2] * 8), (10, "exception", [3] * 8)]
    assert [body["n"] for body in emu.queue("jobs-dlq").bodies()] == [3, 4, 5, 6, 7, 8, 9, 10]
    assert emu.deliveries[0].error == "TypeError: message 5 failed\n    at Object.queue (src/index.js:6:37)"


def test_side_work(emu, load):
    worker = load("side_work")
    emu.queue("uploads").send_batch([{"body": "kept"}, {"body": "refused"}])
    emu.run_until_idle()
    assert [(at, outcome) for at, outcome, _ in timeline(emu, "uploads")] == [(0, "ok"), (2, "exception")]
    assert emu.queue("audit").bodies() == [{"what": "kept", "at": 1_767_225_602_000, "digest": "6b657074"}]
    assert emu.deliveries[1].error == "Error: the audit is refused\n    at audit (src/index.ts:6:33)"
    assert texts(worker) == ["acknowledged", "acknowledged", f"waitUntil: {emu.deliveries[1].error}"]
    assert [fate.state for fate in emu.fates if fate.queue == "uploads"] == ["acked", "acked"]


def test_side_work_streams_and_goes_on_after_the_answer(emu, load):
    worker = load("side_work")

    async def fetched():
        answer = await worker.fetch("/")
        return await answer.text(), answer.headers["x-at"], emu.now.isoformat()

    assert asyncio.run(fetched()) == ("one two three ", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.300000+00:00")
    assert emu.queue("audit").bodies() == []
    emu.run_until_idle()
    assert emu.now.isoformat() == "2026-01-01T00:00:02+00:00"
    assert [body["what"] for body in emu.queue("audit").bodies()] == ["fetched"]


def test_every_fixture_has_a_test():
    names = {folder.name for folder in FIXTURES.iterdir() if folder.is_dir()}
    assert len(names) >= 9
    assert {f"test_{name}" for name in names} <= globals().keys()


def test_several_tests_with_one_worker_find_it_fresh(javascript_workers):
    seen = []
    for _ in range(3):
        with Emulator() as emu:
            worker = emu.worker(javascript_workers / "counter_object" / "wrangler.jsonc")
            emu.queue("hits").send({"page": "a"})
            emu.run_until_idle()
            seen.append(texts(worker))
    assert seen == [["a 1"]] * 3
