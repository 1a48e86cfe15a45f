"""What the dashboard's page asks for, without a browser: data, actions, who may do what, headers, odd bodies, long histories."""

from __future__ import annotations

import asyncio
import json
import re

import httpx
import pytest

from emulator import Emulator
from emulator.engine.journal.sqlite import SQLiteJournal
from emulator.engine.ledger.trace import timeline
from emulator.server import Transport
from emulator.server.dashboard.pages import HEADERS, PAGES
from emulator.server.observe.series import Series
from emulator.server.observe.watch import Watch

SECOND_US = 1_000_000
DATA = "/dashboard/data"


@pytest.fixture
def web(emu):
    with httpx.Client(transport=Transport(emu, control=True), base_url="http://emulator") as client:
        yield client


def post(web, path, value=None, **headers):
    return web.post(f"{DATA}/{path}", content=json.dumps(value or {}), headers={"content-type": "application/json", **headers})


def fail(_batch):
    message = "no such customer"
    raise LookupError(message)


@pytest.fixture
def dead(emu, jobs):
    """A queue whose three messages have become dead letters."""
    emu.consume("jobs", fail, max_retries=1, dead_letter_queue="dead", max_batch_timeout=0)
    jobs.send_batch([{"body": {"order": n}} for n in range(3)])
    emu.run_until_idle()
    return emu.queue("dead")


# --- the page


@pytest.mark.parametrize("path", ["/", *(f"/dashboard/{name}" for name in PAGES)])
def test_every_file_of_the_page_has_a_type_and_a_policy(web, path):
    answer = web.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == PAGES[path.rpartition("/")[2] or "index.html"]
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    for name, value in HEADERS.items():
        assert answer.headers[name] == value


def test_the_page_asks_nobody_else_and_runs_nothing_inline(web):
    for name in PAGES:
        text = web.get(f"/dashboard/{name}").text
        elsewhere = set(re.findall(r"https?://[^\s\"'`)]+", text)) - {"http://www.w3.org/2000/svg"}
        assert not elsewhere, name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|localStorage|sessionStorage|cookie", text), name
    page = web.get("/").text
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", page)
    assert '<html lang="en">' in page


@pytest.mark.parametrize("path", ["/dashboard/../dashboard.py", "/dashboard/%2e%2e/dashboard.py", "/dashboard/pages", "/dashboard/index.html/", "/dashboard/nothing"])
def test_nothing_else_is_served(emu, path):
    async def ask():
        async with httpx.AsyncClient(transport=Transport(emu), base_url="http://emulator") as client:
            return (await client.get(path)).status_code

    assert asyncio.run(ask()) == 404


# --- looking


@pytest.mark.usefixtures("dead")
def test_the_overview_has_every_queue_and_the_totals(emu, web):
    emu.queue("jobs").send("waiting", delay_seconds=100)
    emu.advance(10)
    found = web.get(f"{DATA}/queues").json()
    assert [row["name"] for row in found["queues"]] == ["dead", "jobs"]
    letters, jobs = found["queues"]
    assert (letters["depth"], letters["sources"], letters["consumer"]) == (3, ["jobs"], None)
    assert (jobs["depth"], jobs["consumer"], jobs["ready"]) == (1, "worker", True)
    assert jobs["counts"]["dead_lettered"] == 3
    assert found["totals"]["dead"] == 3
    assert found["totals"]["depth"] == 4
    assert found["now"] - found["totals"]["oldest"] == 10_000
    assert (found["clock"], found["control"]) == ("virtual", True)


def test_queues_are_filtered_ordered_and_paged(emu, web):
    for number in range(120):
        queue = emu.create_queue(f"q{number:03}")
        for _ in range(number % 7):
            queue.send(number)
    first = web.get(f"{DATA}/queues").json()
    assert (first["pages"], first["matching"], len(first["queues"])) == (3, 120, 50)
    last = web.get(f"{DATA}/queues?page=99").json()
    assert (last["page"], [row["name"] for row in last["queues"]][-1]) == (3, "q119")
    deep = web.get(f"{DATA}/queues?order=depth").json()["queues"]
    assert [row["depth"] for row in deep] == sorted((row["depth"] for row in deep), reverse=True)
    assert deep[0]["name"] == "q006"
    assert [row["name"] for row in web.get(f"{DATA}/queues?name=11").json()["queues"]] == ["q011", *(f"q11{n}" for n in range(10))]
    old = web.get(f"{DATA}/queues?order=age").json()["queues"]
    assert old[0]["oldest"] is not None


@pytest.mark.parametrize("query", ["page=-1", "page=x", "page=9" + "9" * 30, "order=chance", "seconds=nan", "seconds=-1", "seconds=1e99", "page=²"])
def test_odd_questions_are_refused(web, query):
    answer = web.get(f"{DATA}/queues?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == 10207


def test_a_queue_s_course_has_a_point_for_every_change(emu, jobs, web):
    for _ in range(3):
        jobs.send(1)
        emu.advance(10)
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0)
    emu.advance(10)
    found = web.get(f"{DATA}/queues/jobs?seconds=3600").json()
    start = found["points"][0][0]
    assert [((at - start) // 1000, depth, highest) for at, depth, highest, _oldest in found["points"]] == [
        (0, 1, 1), (10, 2, 2), (20, 3, 3), (30, 0, 3), (40, 0, 0),
    ]  # fmt: skip
    assert [point[3] - start for point in found["points"][:3]] == [0, 0, 0]
    assert found["points"][-1][3] == 0


@pytest.mark.usefixtures("dead")
def test_settings_retries_and_operations_are_shown(web):
    found = web.get(f"{DATA}/queues/jobs").json()
    assert found["consumer_settings"]["dead_letter_queue"] == "dead"
    assert found["settings"]["message_retention_period"] == 345_600
    assert found["retries"] == {"1": 3}
    assert found["operations"] == {"write": 3, "read": 6}
    assert web.get(f"{DATA}/queues/nothing").status_code == 404
    assert web.get(f"{DATA}/queues/nothing").json()["error"]["code"] == 11000


@pytest.mark.usefixtures("dead")
def test_dead_letters_come_with_their_bodies_and_why_they_died(web):
    found = web.get(f"{DATA}/queues/dead/messages").json()
    assert found["total"] == 3
    assert [json.loads(each["body"]) for each in found["messages"]] == [{"order": n} for n in range(3)]
    origin = found["messages"][0]["origin"]
    assert (origin["source"], origin["attempts"]) == ("jobs", 2)
    assert "no such customer" in origin["error"]


@pytest.mark.parametrize(
    ("body", "content_type", "shown"),
    [
        ({"a": [1, None]}, "json", '{"a": [1, null]}'),
        ("Grüße\n<b>", "text", "Grüße\n<b>"),
        (b"plain", "bytes", "plain"),
        (b"\xff\x00", "bytes", "base64 /wA="),
        ("\ud800", "json", None),
        ({"when": float("inf")}, "v8", None),
        ("", "text", ""),
    ],
)
def test_any_body_can_be_read(jobs, web, body, content_type, shown):
    jobs.send(body, content_type=content_type)
    answer = web.get(f"{DATA}/queues/jobs/messages")
    assert answer.status_code == 200
    text = answer.json()["messages"][0]["body"]
    assert isinstance(text, str)
    assert shown is None or text == shown
    id = answer.json()["messages"][0]["id"]
    assert web.get(f"{DATA}/messages/{id}").json()["body"] == text


def test_a_long_body_is_cut_until_somebody_asks_for_it(jobs, web):
    jobs.send("x" * 100_000, content_type="text")
    short = web.get(f"{DATA}/queues/jobs/messages").json()["messages"][0]
    assert short["cut"]
    assert len(short["body"]) == 2_000
    whole = web.get(f"{DATA}/queues/jobs/messages/{short['id']}").json()
    assert len(whole["body"]) == 100_000
    assert web.get(f"{DATA}/queues/jobs/messages/none").status_code == 404


def test_the_states_of_messages(emu, jobs, web):
    emu.consume("jobs", type="http_pull")
    jobs.send("leased")
    jobs.pull(1)
    jobs.send("ready")
    jobs.send("delayed", delay_seconds=60)
    assert [each["state"] for each in web.get(f"{DATA}/queues/jobs/messages").json()["messages"]] == ["leased", "ready", "delayed"]
    emu.advance(60)
    assert [each["state"] for each in web.get(f"{DATA}/queues/jobs/messages").json()["messages"]] == ["ready"] * 3


def test_messages_are_paged(jobs, web):
    for _ in range(6):
        jobs.send_batch([{"body": n} for n in range(10)])
    sizes = [len(web.get(f"{DATA}/queues/jobs/messages?offset={offset}").json()["messages"]) for offset in (0, 25, 50, 75)]
    assert sizes == [25, 25, 10, 0]


# --- one message


def test_the_timeline_of_a_message_is_what_the_whole_journal_says_of_it(emu, jobs, web):
    """Cut out of the journal or read from all of it: the same lines, for every message of a busy account."""
    emu.consume("jobs", lambda batch: [m.retry(delaySeconds=3) if m.body % 4 else m.ack() for m in batch.messages], max_retries=2, dead_letter_queue="dead")
    ids = [id for _ in range(4) for id in jobs.send_batch([{"body": n} for n in range(15)]).ids]
    emu.queue("dead").purge()
    emu.run_until_idle()
    for id in ids:
        cut, first = timeline(emu.account.journal.read(), id)
        assert first is not None
        assert list(cut) == list(emu.trace(id))
    found = web.get(f"{DATA}/messages/{ids[1]}").json()
    assert [line["what"].split(" ")[0] for line in found["lines"]] == ["sent", "delivered", "retried", "delivered", "retried", "delivered", "dead-lettered", "arrived"]
    assert [each["name"] for each in found["held"]] == ["dead"]


def test_a_message_that_nobody_sent_is_not_found(web):
    answer = web.get(f"{DATA}/messages/{'0' * 32}")
    assert answer.status_code == 404


def test_leases_extensions_purges_and_queues_that_are_deleted_do_not_upset_a_timeline(emu, jobs, web):
    emu.consume("jobs", type="http_pull", max_retries=9)
    id = jobs.send("x").ids[0]
    lease = jobs.pull(1, 10_000)[0].lease_id
    jobs.extend([lease], 20_000)
    emu.advance(30)
    jobs.pull(1)
    emu.delete_queue("jobs")
    what = [line["what"] for line in web.get(f"{DATA}/messages/{id}").json()["lines"]]
    assert what == ["sent", "leased", "lease extended until 2026-01-01T00:00:20+00:00", "lease lapsed", "leased", "purged"]


def test_a_long_journal_is_read_beside_the_loop(emu, jobs, monkeypatch):
    monkeypatch.setattr("emulator.server.dashboard.pages._EVENTS_INLINE", 0)
    monkeypatch.setattr("emulator.server.observe.prometheus._QUEUES_INLINE", 0)
    id = jobs.send("x").ids[0]

    async def ask():
        async with httpx.AsyncClient(transport=Transport(emu), base_url="http://emulator") as client:
            return [(await client.get(path)).status_code for path in (f"{DATA}/messages/{id}", f"{DATA}/messages/none", "/metrics")]

    assert asyncio.run(ask()) == [200, 404, 200]


# --- doing


def test_pause_resume_and_purge(jobs, web):
    jobs.send_batch([{"body": n} for n in range(4)])
    assert post(web, "queues/jobs/pause").status_code == 200
    assert jobs.settings.delivery_paused
    assert post(web, "queues/jobs/resume").status_code == 200
    assert not jobs.settings.delivery_paused
    assert post(web, "queues/jobs/purge").json() == {"purged": 4}
    assert post(web, "queues/jobs/purge").json() == {"purged": 0}
    assert post(web, "queues/jobs/delete").status_code == 404
    assert post(web, "queues/nothing/pause").status_code == 404


def test_redrive_sends_each_letter_back_to_its_own_queue(emu, dead, web):
    emu.create_queue("mails")
    emu.consume("mails", fail, max_retries=0, dead_letter_queue="dead", max_batch_timeout=0)
    emu.queue("mails").send("mail", content_type="text")
    emu.run_until_idle()
    emu.queue("jobs").pause()
    emu.queue("mails").pause()
    ids = [each.id for each in dead.messages()]
    assert post(web, "queues/dead/redrive").json() == {"moved": 4, "left": 0, "refused": None}
    assert len(dead) == 0
    assert emu.queue("jobs").bodies() == [{"order": n} for n in range(3)]
    assert emu.queue("mails").bodies() == ["mail"]
    assert [each.id for name in ("jobs", "mails") for each in emu.queue(name).messages()] == ids
    assert {each.attempts for each in emu.queue("jobs").messages()} == {0}
    what = [line["what"] for line in web.get(f"{DATA}/messages/{ids[0]}").json()["lines"]]
    assert what[-2:] == ["redriven to jobs", "redriven from dead"]
    assert len(what) == 8


@pytest.mark.usefixtures("dead")
def test_redrive_after_a_restart_knows_the_sources_from_the_journal(emu, monkeypatch):
    monkeypatch.setattr("emulator.server.observe.watch.PAST_EVENTS_MAX", 0)
    emu.create_queue("other")
    emu.consume("other", type="http_pull", dead_letter_queue="dead")
    emu.queue("jobs").pause()
    with httpx.Client(transport=Transport(emu), base_url="http://emulator") as web:
        assert post(web, "queues/dead/redrive").json()["moved"] == 3
    assert len(emu.queue("jobs")) == 3


@pytest.mark.usefixtures("dead")
def test_redrive_goes_where_it_is_told(emu, web):
    emu.create_queue("by-hand")
    assert post(web, "queues/dead/redrive", {"target": "nothing"}).status_code == 404
    assert post(web, "queues/dead/redrive", {"target": 1}).status_code == 400
    assert post(web, "queues/dead/redrive", {"target": "by-hand"}).json()["moved"] == 3
    assert len(emu.queue("by-hand")) == 3


def test_redrive_leaves_what_was_sent_there_and_what_has_no_source_any_more(emu, dead, web):
    dead.send("not a dead letter")
    emu.delete_queue("jobs")
    done = post(web, "queues/dead/redrive").json()
    assert (done["moved"], done["left"]) == (0, 3)
    assert "source" in done["refused"]
    assert len(dead) == 4


def test_redrive_stops_at_the_limit_and_says_so(emu, jobs, web):
    emu.consume("jobs", fail, max_retries=0, dead_letter_queue="dead", max_batch_timeout=0, max_batch_size=100)
    for _ in range(60):
        jobs.send_batch([{"body": n} for n in range(100)])
        emu.advance(1)
    emu.queue("jobs").pause()
    done = post(web, "queues/dead/redrive").json()
    assert (done["moved"], done["left"]) == (5_000, 1_000)
    assert "10250" in done["refused"]
    emu.advance(1)
    assert post(web, "queues/dead/redrive").json() == {"moved": 1_000, "left": 0, "refused": None}
    assert len(emu.queue("jobs")) == 6_000


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_crash_in_the_middle_of_a_redrive_loses_and_doubles_nothing(tmp_path, at, monkeypatch):
    """The journal fails at one append of three; what is on disk then has each letter in one queue."""
    journal = SQLiteJournal(tmp_path / "queues.db")
    emu = Emulator(journal=journal)
    emu.create_queue("jobs")
    emu.consume("jobs", type="http_pull", max_retries=0, dead_letter_queue="dead")
    sent = [id for _ in range(3) for id in emu.queue("jobs").send_batch([{"body": n} for n in range(100)]).ids]
    for _ in range(3):
        emu.queue("jobs").ack(retries=[each.lease_id for each in emu.queue("jobs").pull(100)])
    append, left = journal.append, [at]

    def broken(expected, events):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        append(expected, events)

    monkeypatch.setattr(journal, "append", broken)
    with httpx.Client(transport=Transport(emu), base_url="http://emulator") as web, pytest.raises(KeyboardInterrupt):
        post(web, "queues/dead/redrive")
    journal.close()
    again = Emulator(journal=tmp_path / "queues.db")
    held = {name: [each.id for each in again.queue(name).messages()] for name in ("jobs", "dead")}
    assert (len(held["jobs"]), len(held["dead"])) == (100 * at, 300 - 100 * at)
    assert sorted(held["jobs"] + held["dead"]) == sorted(sent)
    with httpx.Client(transport=Transport(again), base_url="http://emulator") as web:
        assert post(web, "queues/dead/redrive").json() == {"moved": 300 - 100 * at, "left": 0, "refused": None}
    assert [each.id for each in again.queue("jobs").messages()] == sent
    again.close()


def test_redrive_takes_every_type_and_as_many_as_it_is_told(emu, jobs, web):
    emu.consume("jobs", fail, max_retries=0, dead_letter_queue="dead", max_batch_timeout=0)
    rows = [("text", "a"), ("json", {"b": 1}), ("bytes", b"\xff\x00"), ("v8", {"c": 2.5})]
    for kind, body in rows:
        jobs.send(body, content_type=kind)
    emu.run_until_idle()
    jobs.pause()
    assert post(web, "queues/dead/redrive", {"limit": 3}).json() == {"moved": 3, "left": 1, "refused": None}
    assert post(web, "queues/dead/redrive", {"limit": 3}).json() == {"moved": 1, "left": 0, "refused": None}
    assert [(each.content_type, each.body) for each in jobs.messages()] == rows
    for limit in (0, -1, "3", 1.5, True, 10**7):
        assert post(web, "queues/dead/redrive", {"limit": limit}).status_code == 400


def test_redrive_finds_a_queue_by_its_id_and_a_target_by_what_it_is_called_now(emu, dead, web):
    rows = {row["queue_name"]: row["queue_id"] for row in web.get("/accounts/a/queues").json()["result"]}
    web.put(f"/accounts/a/queues/{rows['jobs']}", json={"queue_name": "orders"})
    emu.create_queue("by-hand")
    dead.send("put there by hand")
    emu.queue("jobs").pause()
    assert post(web, f"queues/{rows['dead']}/redrive", {"target": "jobs"}).status_code == 404
    assert post(web, f"queues/{rows['dead']}/redrive", {"target": "orders"}).json() == {"moved": 4, "left": 0, "refused": None}
    assert emu.queue("jobs").bodies() == [*({"order": n} for n in range(3)), "put there by hand"]


def test_time_is_moved_only_with_control_in_virtual_time(emu, jobs, web):
    emu.consume("jobs", lambda _batch: None)
    jobs.send(1, delay_seconds=90)
    before = web.get(f"{DATA}/queues").json()["now"]
    assert post(web, "time", {"seconds": 1.5}).json()["now"] == before + 1_500
    assert post(web, "time", {"until_idle": True}).json()["now"] == before + 95_000
    assert len(jobs) == 0
    for wrong in ({}, {"seconds": -1}, {"seconds": "soon"}, {"seconds": True}, {"seconds": 1e300}, {"seconds": None}, {"seconds": [1]}):
        assert post(web, "time", wrong).status_code == 400, wrong


@pytest.mark.parametrize("options", [{}, {"control": True, "time": "real"}, {"control": True, "time": "60x"}])
def test_time_is_left_alone_otherwise(emu, options):
    with httpx.Client(transport=Transport(emu, **options), base_url="http://emulator") as web:
        assert not web.get(f"{DATA}/queues").json()["control"]
        assert post(web, "time", {"seconds": 1}).status_code == 404


# --- who may


def test_looking_needs_a_reader_and_doing_a_writer(emu, jobs):
    with httpx.Client(transport=Transport(emu, tokens=["look:read", "all"], control=True), base_url="http://emulator") as web:
        assert web.get("/").status_code == 200
        for path in ("queues", "queues/jobs", "queues/jobs/messages", "messages/x"):
            assert web.get(f"{DATA}/{path}").status_code == 401
            assert web.get(f"{DATA}/{path}", headers={"authorization": "Bearer wrong"}).status_code == 401
            assert web.get(f"{DATA}/{path}", headers={"authorization": "Bearer look"}).status_code in {200, 404}
        for path in ("queues/jobs/pause", "queues/jobs/purge", "queues/jobs/redrive", "time"):
            assert post(web, path).status_code == 401
            assert post(web, path, authorization="Bearer look").status_code == 403
        assert not jobs.settings.delivery_paused
        assert post(web, "queues/jobs/pause", authorization="Bearer all").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "application/json", "origin": "https://elsewhere.example"},
        {"content-type": "application/json", "origin": "null"},
        {"content-type": "application/json", "sec-fetch-site": "cross-site"},
        {"content-type": "application/json", "sec-fetch-site": "same-site"},
    ],
)
def test_another_site_s_page_cannot_press_the_buttons(jobs, web, headers):
    assert web.post(f"{DATA}/queues/jobs/pause", content="{}", headers=headers).status_code == 403
    assert not jobs.settings.delivery_paused


def test_the_clock_stops_at_the_end_of_the_calendar(web):
    answers = [post(web, "time", {"seconds": 316_224_000}).status_code for _ in range(810)]
    assert set(answers) == {200, 400}
    assert answers == sorted(answers)


@pytest.mark.parametrize(("content", "status"), [("{", 400), ("[]", 400), ('"x"', 400), ("[" * 5_000, 400), (" " * 20_000, 400), ("\udcff".encode("utf-8", "surrogateescape"), 400), ("", 200)])
@pytest.mark.usefixtures("jobs")
def test_a_body_that_is_no_object_is_refused(web, content, status):
    answer = web.post(f"{DATA}/queues/jobs/pause", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert "Traceback" not in answer.text


# --- the history


def test_a_series_is_bounded_and_keeps_the_highest_depth():
    series = Series()
    for second in range(100_000):
        series.add(second * SECOND_US, second % 10, 0)
        series.add(second * SECOND_US + 1, 0, 0)
    now = 100_000 * SECOND_US
    assert len(series.since(now - 60 * SECOND_US)) <= 62
    assert len(series.since(now - 3_600 * SECOND_US)) <= 182
    assert len(series.since(0)) <= 432
    for seconds in (60, 3_600, 10**6):
        assert max(point.depth_max for point in series.since(now - seconds * SECOND_US)) == 9
    assert sum(len(tier) for tier in series._tiers) <= 4 * (300 + 360 + 432)


def test_a_clock_that_jumps_keeps_what_it_saw_on_the_way(emu, jobs):
    watch = Watch(emu.account)
    for _ in range(50):
        jobs.send(1)
        emu.advance(86_400)
    points = watch.series["jobs"].since(0)
    assert len(points) == 50
    assert points[0].depth == 1


def test_history_is_kept_of_so_many_queues_at_most(emu, monkeypatch, web):
    monkeypatch.setattr("emulator.server.observe.watch.QUEUES_PLOTTED_MAX", 3)
    for number in range(5):
        emu.create_queue(f"q{number}").send(1)
    assert [web.get(f"{DATA}/queues/q{number}").json()["plotted"] for number in range(5)] == [True] * 3 + [False] * 2
    emu.delete_queue("q0")
    emu.queue("q4").send(2)
    assert web.get(f"{DATA}/queues/q4").json()["plotted"]


def test_what_is_remembered_of_dead_letters_is_bounded(emu, jobs, monkeypatch):
    monkeypatch.setattr("emulator.engine.ledger.ledger.ORIGINS_MAX", 5)
    watch = Watch(emu.account)
    emu.consume("jobs", fail, max_retries=0, dead_letter_queue="dead", max_batch_timeout=0)
    for n in range(20):
        jobs.send(n)
    emu.run_until_idle()
    assert len(watch.ledger.origins) == 5


def test_a_dead_letter_that_left_is_forgotten_with_the_account(emu, jobs):
    """A reset gives the watch another broker; what it saw of the first is gone."""
    watch = Watch(emu.account)
    jobs.send(1)
    other = Emulator()
    watch.follow(other.account)
    assert watch.series == {}
    jobs.send(2)
    assert watch.ledger.tallies == {}
    other.create_queue("new").send(1)
    assert watch.ledger.tallies["new"].operations == {"write": 1}
    other.close()
