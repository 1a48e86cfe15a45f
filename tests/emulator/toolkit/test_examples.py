"""The worked examples: each Worker does what it should, and its broken form does what its docstring says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from emulator import Faults
from tests.emulator.toolkit.support import account, run, states

CONSUMERS = Path(__file__).parents[3] / "fixtures" / "consumers"
HOUR = 3_600
DAY = 86_400


class Alerts:
    """Somebody who is told."""

    def __init__(self):
        self.heard = []

    async def tell(self, text):
        self.heard.append(text)


class Upstream:
    """Does tasks, after raising what it was given for them."""

    def __init__(self, **errors):
        self.errors, self.done = errors, Counter()

    async def run(self, _type, id):
        if self.errors.get(id):
            raise self.errors[id].pop(0)
        self.done[id] += 1


async def awaited(awaitable):
    return await awaitable


def ask(worker, url, **options):
    """A response's status and text."""
    async def both():
        response = await worker.fetch(url, **options)
        return response.status, await response.text()

    return run(both())


def post(worker, path, body=None, user="ann"):
    status, text = ask(
        worker, f"https://example.com{path}", method="POST", headers={"X-User": user}, body=json.dumps(body or {})
    )
    return status, json.loads(text)


# --- tasks


def tasks(emu, upstream, config="wrangler.jsonc"):
    alerts = Alerts()
    worker = emu.worker(CONSUMERS / "tasks" / config, bindings={"UPSTREAM": upstream, "ALERTS": alerts})
    return worker, alerts


def task(id, type="parse_pdf"):
    return {"taskId": id, "type": type, "file": "a.pdf"}


def row(worker, id):
    return run(awaited(worker.env.DB.prepare("SELECT * FROM tasks WHERE id = ?").bind(id).first()))


def test_tasks_are_retried_by_their_policy_and_recorded():
    with account() as emu:
        upstream = Upstream(t1=[TimeoutError("timeout"), TimeoutError("timeout")])
        worker, _ = tasks(emu, upstream)
        assert post(worker, "/api/tasks", task("t1")) == (202, {"status": "queued"})
        emu.run_until_idle()
        assert upstream.done == {"t1": 1}
        assert (row(worker, "t1")["status"], row(worker, "t1")["retry_count"]) == ("completed", 2)
        _status, text = ask(worker, "https://example.com/api/stats")
        assert json.loads(text) == {"total": 1, "retried": 1, "rate": 1.0, "average": 2.0}


def test_tasks_given_up_are_heard_of_and_can_be_retried_by_hand():
    with account() as emu:
        upstream = Upstream(t1=[ValueError("invalid format")])
        worker, alerts = tasks(emu, upstream)
        post(worker, "/api/tasks", task("t1"))
        emu.run_until_idle()
        assert alerts.heard == ["task t1 was given up"]
        assert row(worker, "t1")["status"] == "failed"
        assert post(worker, "/api/tasks/t1/retry", user="bob") == (404, {"error": "Not found"})
        assert post(worker, "/api/tasks/t1/retry") == (200, {"status": "retrying"})
        assert post(worker, "/api/tasks/t1/retry")[0] == 400
        emu.run_until_idle()
        assert (row(worker, "t1")["status"], upstream.done) == ("completed", {"t1": 1})


def test_tasks_that_come_twice_are_done_once():
    with account(faults=Faults(duplicates=0.5)) as emu:
        upstream = Upstream()
        worker, _ = tasks(emu, upstream)
        for n in range(20):
            post(worker, "/api/tasks", task(f"t{n}"))
        emu.run_until_idle()
        assert len(emu.deliveries) > 1
        assert upstream.done == {f"t{n}": 1 for n in range(20)}


def broken_tasks(emu, id, errors, type="parse_pdf"):
    upstream = Upstream(**{id: errors})
    tasks(emu, upstream, "wrangler.broken.jsonc")
    emu.queue("tasks").send(task(id, type))
    emu.run_until_idle()
    return upstream


def test_broken_tasks_are_acknowledged_where_a_dead_letter_was_meant():
    with account() as emu:
        broken_tasks(emu, "t1", [TimeoutError("timeout") for _ in range(9)])
        assert states(emu, "tasks") == ["acked"]
        assert emu.queue("tasks-dlq").bodies() == []


def test_broken_tasks_end_after_three_retries_whatever_their_table_says():
    with account() as emu:
        upstream = broken_tasks(emu, "t1", [TimeoutError("timeout") for _ in range(4)], "send_notification")
        assert len(emu.deliveries) == 4
        assert upstream.done == {}


def test_broken_tasks_take_a_count_for_a_status():
    with account() as emu:
        broken_tasks(emu, "t1", [ValueError("invalid format in 500 items")])
        assert len(emu.deliveries) == 2, "what can never work was tried again"


# --- asynq


class Shop:
    """What the handlers of the asynq port work with."""

    def __init__(self, *, users=("ann",), cancelled=False, closed_until=0, errors=(), emu=None):
        self.users, self.cancelled, self.closed_until, self.errors, self.emu = users, cancelled, closed_until, list(errors), emu
        self.start = emu.now
        self.done = []

    async def user(self, name):
        return name if name in self.users else None

    async def is_cancelled(self, _id):
        return self.cancelled

    async def ready(self):
        return (self.emu.now - self.start).total_seconds() >= self.closed_until

    async def do(self, type, user):
        if self.errors:
            raise self.errors.pop(0)
        self.done.append((type, user))


def asynq(emu, config="wrangler.jsonc", type="email:send", user="ann", **shop):
    alerts, shop = Alerts(), Shop(emu=emu, **shop)
    worker = emu.worker(CONSUMERS / "asynq" / config, bindings={"SHOP": shop, "ALERTS": alerts})
    emu.update_queue("asynq", message_retention_period=14 * DAY)
    emu.queue("asynq").send({"type": type, "user": user})
    emu.run_until_idle()
    return worker, shop, alerts


def letters(worker):
    answer = run(awaited(worker.env.DB.prepare("SELECT * FROM dead_letters").all()))
    return [dict(found) for found in answer["results"]]


def seconds(emu):
    return [round((d.at - emu.deliveries[0].at).total_seconds()) for d in emu.deliveries if d.queue == "asynq"]


def test_asynqs_skip_retry_is_archived_at_once_and_told():
    with account() as emu:
        worker, shop, alerts = asynq(emu, user="nobody")
        assert seconds(emu) == [0]
        assert shop.done == []
        (letter,) = letters(worker)
        assert letter["error"] == "SkipRetry: user nobody not found"
        assert json.loads(letter["payload"]) == {"type": "email:send", "user": "nobody"}
        assert alerts.heard[0].startswith("[DEAD LETTER] id=")


def test_asynqs_revoked_task_is_gone_without_a_letter():
    with account() as emu:
        _, shop, alerts = asynq(emu, cancelled=True)
        assert (shop.done, alerts.heard, seconds(emu)) == ([], [], [0])


def test_asynqs_delays_go_by_task_type():
    with account() as emu:
        _, shop, _ = asynq(emu, errors=[OSError("db")] * 3)
        assert shop.done
        waits = [b - a for a, b in zip(seconds(emu), seconds(emu)[1:], strict=False)]
        assert all(10 <= wait <= 15 for wait in waits), "10 s, and what the batch waits"


def test_asynqs_non_failures_do_not_use_up_retries():
    with account() as emu:
        _worker, shop, alerts = asynq(emu, closed_until=90)
        assert shop.done == [("email:send", "ann")]
        assert len(seconds(emu)) > 6, "more than its five retries"
        assert alerts.heard == []


def test_asynqs_panics_are_told_apart():
    with account() as emu:
        _, _, alerts = asynq(emu, errors=[KeyError("amount")])
        assert [text.split("]")[0] for text in alerts.heard] == ["[PANIC"]


def test_asynqs_exhausted_task_is_a_letter():
    with account() as emu:
        worker, _, _ = asynq(emu, errors=[OSError("db")] * 9)
        assert len(seconds(emu)) == 6
        assert letters(worker)[0]["error"] == "OSError: db"


def test_broken_asynq_tries_to_the_end_what_can_never_work():
    with account() as emu:
        asynq(emu, "wrangler.broken.jsonc", user="nobody")
        assert len(seconds(emu)) > 15
        assert any("is not within 0..86400" in text for text in emu.report().warnings), "the delays grow beyond a day"


# --- mail


class Mailer:
    """A provider that knows keys; down until a moment."""

    def __init__(self, emu, down_seconds=0):
        self.emu, self.start, self.down_seconds = emu, emu.now, down_seconds
        self.sent, self.keys = [], set()

    async def send(self, to, key):
        if (self.emu.now - self.start).total_seconds() < self.down_seconds:
            raise ConnectionError("503")
        if key is None or key not in self.keys:
            self.keys.add(key)
            self.sent.append(to)


def mail(emu, config="wrangler.jsonc", **mailer):
    mailer, alerts = Mailer(emu, **mailer), Alerts()
    worker = emu.worker(CONSUMERS / "mail" / config, bindings={"MAILER": mailer, "ALERTS": alerts})
    answer = ask(worker, "https://example.com/signup?to=ann@example.com")
    emu.run_until_idle()
    return answer, mailer, alerts


def test_mail_outlives_an_outage():
    with account() as emu:
        answer, mailer, alerts = mail(emu, down_seconds=HOUR)
        assert answer == (202, "queued")
        assert mailer.sent == ["ann@example.com"]
        assert alerts.heard == []


def test_mail_that_is_given_up_is_heard_of():
    with account() as emu:
        _, mailer, alerts = mail(emu, down_seconds=9 * DAY)
        assert mailer.sent == []
        assert alerts.heard == ["mail to ann@example.com was given up"]


def test_mail_that_comes_twice_is_sent_once():
    with account(faults=Faults(duplicates=0.9)) as emu:
        _, mailer, _ = mail(emu)
        assert len(emu.deliveries) > 1
        assert mailer.sent == ["ann@example.com"]


def test_broken_mail_is_called_sent_acknowledged_and_lost():
    with account() as emu:
        answer, mailer, _ = mail(emu, "wrangler.broken.jsonc", down_seconds=1_000)
        assert answer == (200, "sent")
        assert states(emu, "mail") == ["acked"]
        assert mailer.sent == []


# --- payments


def charges(worker):
    answer = run(awaited(worker.env.DB.prepare("SELECT payment, amount FROM charges").all()))
    return [dict(found) for found in answer["results"]]


@pytest.mark.parametrize("seed", range(5))
def test_payments_are_charged_once(seed):
    with account(seed=seed, faults=Faults(duplicates=0.4, crashes=0.2)) as emu:
        worker = emu.worker(CONSUMERS / "payments" / "wrangler.jsonc", bindings={"ALERTS": Alerts()})
        for n in range(10):
            post(worker, "/order", {"order": n, "user": "ann", "amount": 5})
        emu.run_until_idle()
        paid = Counter(charge["payment"] for charge in charges(worker))
        assert len(emu.deliveries) > 1
        assert set(paid.values()) == {1}


def test_broken_payments_are_charged_again_with_each_delivery():
    with account(faults=Faults(duplicates=0.9)) as emu:
        worker = emu.worker(CONSUMERS / "payments" / "wrangler.broken.jsonc")
        emu.queue("payments").send({"id": "p1", "user": "ann", "amount": 5})
        emu.run_until_idle()
        assert len(charges(worker)) > 1


def test_payments_once_and_again():
    test_broken_payments_are_charged_again_with_each_delivery()
    test_payments_are_charged_once(1)


@pytest.mark.parametrize("name", ["tasks", "asynq", "mail", "payments"])
def test_each_example_has_both_forms(name):
    from cfq_lint import lint_paths

    assert {path.name for path in (CONSUMERS / name).iterdir()} >= {
        "worker.py", "broken.py", "wrangler.jsonc", "wrangler.broken.jsonc",
    }  # fmt: skip
    found = lint_paths([str(CONSUMERS / name / "wrangler.jsonc")]).findings
    assert [f.code for f in found if str(f.severity) != "info"] == []
