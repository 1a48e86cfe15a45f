"""What an account measured is read within bounds; whatever the server does, what is said says what happened."""

from __future__ import annotations

import json

import pytest

from .hostile import DATA_SETS, TOKEN, Server, measured, queue
from .support import SHOP, audit

OPERATIONS, BACKLOG, CONCURRENCY, INVOCATIONS = DATA_SETS
HOUR = "2025-12-31T22:00:00Z"
ID = queue("orders")["queue_id"]


def group(action="WriteMessage", outcome="", hour=HOUR, id=ID, **more):
    """A row of operations."""
    return {"dimensions": {"queueId": id, "actionType": action, "outcome": outcome, "datetimeHour": hour}, **more}


WRITTEN = group(count=10, sum={"billableOperations": 10, "bytes": 1_000}, avg={"lagTime": 0, "retryCount": 0}, max={"messageSize": 118_000})


def serving(answer):
    """A script: the shop, and to queries what `answer(name of the data set, variables)` gives: a body, or (status, body, headers)."""

    def script(handler, request):
        if request.method != "POST":
            SHOP(handler, request)
            return
        asked = json.loads(request.body)
        (name,) = (each for each in DATA_SETS if each in asked["query"])
        made = answer(name, asked["variables"])
        if isinstance(made, bytes):
            handler.text(made, kind="application/json")
        elif isinstance(made, tuple):
            status, body, headers = made
            handler.json(body, status, **headers)
        else:
            handler.json(made)

    return script


def only(name, *rows):
    """Rows for one data set, none for the others."""
    return lambda asked, _variables: measured(**({name: list(rows)} if asked == name else {}))


def trouble(message, data=None):
    return {"data": data, "errors": [{"message": message, "path": ["viewer"], "extensions": {"timestamp": "2026-01-01T00:00:00Z"}}]}


def facts(room):
    return json.loads((room / "facts.json").read_text())["measured"]


def test_rows_become_hours_and_numbers_may_be_strings(room, capfd):
    read = group("ReadMessage", count="12", sum={"billableOperations": "12"}, avg={"lagTime": "1500.5"})
    done = group("DeleteMessage", "success", count=6, sum={"billableOperations": 6}, avg={"retryCount": 0})
    dead = group("DeleteMessage", "dlq", count=2, sum={"billableOperations": 2}, avg={"retryCount": 3})
    with Server(serving(only(OPERATIONS, WRITTEN, read, done, dead))) as server:
        code, said, err = audit("--base-url", server.url, "--write-facts", "facts.json", out=capfd)
    assert (code in {0, 1}, err) == (True, "")
    found = facts(room)
    assert (found["start"], found["end"]) == ("2025-12-25T00:00:00Z", "2026-01-01T00:00:00Z")
    assert found["queues"]["orders"] == {"id": ID, "hours": [{
        "hour": 166, "written": 10, "delivered": 12, "succeeded": 6, "dead_lettered": 2, "operations": 30, "bytes_written": 1_000,
        "largest_bytes": 118_000, "lag_ms": 1500.5, "retries": 0.75,
    }]}  # fmt: skip
    assert audit("--facts", "facts.json", out=capfd) == (code, said, "")


def test_the_window_is_whole_hours_and_is_asked_as_it_is_said(room, capfd):  # noqa: ARG001
    with Server(SHOP) as server:
        audit("--base-url", server.url, "--window", "36h", out=capfd)
        queries = [json.loads(request.body) for request in server.seen if request.method == "POST"]
    assert len(queries) == 4
    assert {(each["variables"]["start"], each["variables"]["end"]) for each in queries} == {("2025-12-30T12:00:00Z", "2026-01-01T00:00:00Z")}
    assert queries[-1]["variables"]["scripts"] == ["shop"]
    assert all("mutation" not in each["query"] for each in queries)


@pytest.mark.parametrize("window", ["30m", "90m", "32d", "soon", "-1d", "0"])
def test_a_window_that_is_none_is_exit_2_and_nothing_is_sent(window, room, capfd):  # noqa: ARG001
    with Server(SHOP) as server:
        code, _, err = audit("--base-url", server.url, f"--window={window}", out=capfd)
        assert not server.seen
    assert code == 2
    assert "whole hours from 1h to 31d" in err


def test_without_analytics_nothing_but_get_is_sent(room, capfd):
    with Server(SHOP) as server:
        code, _, err = audit("--base-url", server.url, "--no-analytics", "--write-facts", "facts.json", out=capfd)
        assert {request.method for request in server.seen} == {"GET"}
    assert (code in {0, 1}, err) == (True, "")
    assert "measured" not in json.loads((room / "facts.json").read_text())


def test_many_queues_are_asked_for_in_parts(room, capfd, monkeypatch):  # noqa: ARG001
    monkeypatch.setattr("cfq_lint.facts.limits.ANALYTICS_ROWS", 168 * 5)
    with Server(SHOP) as server:
        audit("--base-url", server.url, out=capfd)
        asked = [json.loads(request.body)["variables"].get("queueIds") for request in server.seen if request.method == "POST"]
    assert [len(each) for each in asked if each] == [1, 1, 2, 2]


@pytest.mark.parametrize(
    "answer",
    [
        lambda _name, _: trouble("not authorized for that account"),
        lambda _name, _: (403, trouble("not authorized for that account"), {}),
        lambda _name, _: (401, {"success": False, "errors": [{"code": 10000, "message": "Authentication error"}]}, {}),
        lambda name, _: trouble("not authorized for that account", measured(**{name: [WRITTEN]})["data"]),
    ],
)
def test_a_missing_permission_is_said_by_its_name_and_the_rest_goes_on(answer, room, capfd):
    with Server(serving(answer)) as server:
        code, said, err = audit("--base-url", server.url, "--write-facts", "facts.json", out=capfd)
    assert code in {0, 1}
    assert "not measured: operations, backlog, concurrency, invocations" in err
    assert "Account Analytics Read" in err
    assert facts(room)["queues"]["orders"]["hours"] == []
    assert audit("--facts", "facts.json", out=capfd) == (code, said, err)


def test_one_data_set_that_is_not_to_be_had_does_not_take_the_others(room, capfd):
    def answer(name, _):
        return trouble(f"does not have access to the path {name}") if name == BACKLOG else measured(**({OPERATIONS: [WRITTEN]} if name == OPERATIONS else {}))

    with Server(serving(answer)) as server:
        code, _, err = audit("--base-url", server.url, "--write-facts", "facts.json", out=capfd)
    assert code in {0, 1}
    assert "not measured: backlog: " in err
    assert facts(room)["missing"].keys() == {"backlog"}
    assert facts(room)["queues"]["orders"]["hours"][0]["written"] == 10


ACCOUNTS = {"data": {"viewer": {"accounts": []}}, "errors": None}
HOSTILE = {
    "no data": ({"data": None, "errors": None}, "another shape"),
    "no account": (ACCOUNTS, "another shape"),
    "a list": ([], "another shape"),
    "REST's envelope": ({"success": True, "errors": [], "result": {}}, "another shape"),
    "rows that are none": (measured(**{OPERATIONS: {"count": 1}}), "not a list of rows"),
    "a row without dimensions": (measured(**{OPERATIONS: [{"count": 1}]}), "0.dimensions"),
    "a count that is none": (measured(**{OPERATIONS: [{**WRITTEN, "count": "many"}]}), "0.count"),
    "a negative count": (measured(**{OPERATIONS: [{**WRITTEN, "count": -1}]}), "0.count"),
    "no number": (b'{"data": {"viewer": {"accounts": [{"%s": [{"avg": {"lagTime": NaN}}]}]}}}' % OPERATIONS.encode(), "another shape"),
    "another queue": (measured(**{OPERATIONS: [group(id="f" * 32)]}), "a queue that was not asked for"),
    "another hour": (measured(**{OPERATIONS: [group(hour="2026-01-01T00:00:00Z")]}), "no hour of the window"),
    "half an hour": (measured(**{OPERATIONS: [group(hour="2025-12-31T00:30:00Z")]}), "no hour of the window"),
    "no hour": (measured(**{OPERATIONS: [group(hour="now")]}), "datetimeHour"),
    "no end": (measured(**{OPERATIONS: [{}] * 10_001}), "more than the 10,000 rows"),
    "200 with an error": (trouble(f"Internal server error {TOKEN}"), "--no-analytics"),
    "an error with data": (trouble("something else", measured()["data"]), "something else"),
    "an error without a word": ({"data": None, "errors": [{}]}, "no reason"),
    "half an answer": (b'{"data": {"view', "not JSON"),
    "400": ((400, trouble("error parsing args"), {}), "error parsing args"),
    "429": ((429, trouble("limited"), {"Retry-After": "60"}), "wait 60 s"),
    "429 in disguise": ((200, trouble("rate limiter budget depleted, try again after 5 minutes"), {"Retry-After": "300"}), "wait 300 s"),
    "503": ((503, {}, {"Retry-After": "60"}), "the server failed"),
    "a redirect": ((307, {}, {"Location": f"https://elsewhere.example/?{TOKEN}"}), "redirects to elsewhere.example"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_server_that_misbehaves_is_exit_2_and_a_line(name, room, capfd):
    body, words = HOSTILE[name]
    with Server(serving(lambda _name, _: body)) as server:
        code, said, err = audit("--base-url", server.url, "--write-facts", "facts.json", out=capfd)
        assert sum(request.method == "POST" for request in server.seen) <= 4
    assert (code, said) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert not (room / "facts.json").exists()


def test_a_server_that_is_asked_again_after_a_moment(room, capfd):  # noqa: ARG001
    turns = []

    def answer(name, _):
        turns.append(name)
        return (429, {}, {"Retry-After": "0"}) if len(turns) == 1 else measured()

    with Server(serving(answer)) as server:
        code, _, err = audit("--base-url", server.url, "--write-facts", "facts.json", out=capfd)
    assert (code in {0, 1}, err, len(turns)) == (True, "", 5)
