"""`cfq-emulator` from the command line: send, pull, tail, redrive, replay, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from tests.emulator.server.servers import ROOT, Server, pull_queue


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server("--token", "all", "--token", "look:read", folder=tmp_path_factory.mktemp("server"), db="queues.db") as running:
        yield running


@pytest.fixture
def client(server):
    with server.client(headers={"authorization": "Bearer all"}) as client:
        yield client
        for row in client.get("/queues").json()["result"]:
            client.delete(f"/queues/{row['queue_id']}")


def run(*arguments, server=None, given=None, token="all"):
    options = [] if server is None else ["--url", server.url, "--token", token]
    command = [sys.executable, "-m", "emulator.cli", *arguments, *options]
    done = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, timeout=90, check=False)
    assert "Traceback" not in done.stderr
    return done


def test_what_is_sent_is_pulled(server, client):
    pull_queue(client, "jobs")
    assert run("send", "jobs", '{"a": 1}', "2", server=server).stdout == "2 sent\n"
    lines = "\n".join(f"line {n}" for n in range(150))
    assert run("send", "jobs", "--text", server=server, given=lines).stdout == "150 sent\n"
    done = run("pull", "jobs", "-n", "200", "--ack", server=server)
    bodies = [json.loads(line)["body"] for line in done.stdout.splitlines()]
    assert bodies == [{"a": 1}, 2, *(f"line {n}" for n in range(150))]
    assert run("pull", "jobs", server=server).stdout == ""


@pytest.mark.usefixtures("client")
def test_queues_and_consumers_are_made_without_a_file_and_advice_names_this_server(server):
    assert run("queues", server=server).stdout == f"no queues: cfq-emulator create NAME --url {server.url}\n"
    assert f"there is no queue 'jobs': cfq-emulator create jobs --url {server.url}" in run("send", "jobs", "1", server=server).stderr
    assert run("create", "jobs", "mails", "--delay", "5", server=server).stdout == "jobs created\nmails created\n"
    assert f"nobody may pull from 'jobs' yet: cfq-emulator consumers add jobs --url {server.url}" in run("pull", "jobs", server=server).stderr
    run("consumers", "add", "jobs", "--dead-letter-queue", "dead", "--max-retries", "2", server=server)
    run("consumers", "add", "mails", "--worker", "mailer", server=server)
    listed = [line.split() for line in run("queues", server=server).stdout.splitlines()[2:]]
    assert listed == [["dead", "0", "none"], ["jobs", "0", "pull", "2", "dead"], ["mails", "0", "Worker", "mailer", "3"]]
    assert "consumer_exists" in run("consumers", "add", "jobs", server=server).stderr
    run("consumers", "remove", "jobs", server=server)
    again = run("consumers", "remove", "jobs", server=server)
    assert (again.returncode, again.stderr) == (1, "cfq-emulator: queue 'jobs' has no consumer\n")


def test_tail_shows_without_taking(server, client):
    pull_queue(client, "jobs")
    run("send", "jobs", "1", server=server)
    done = run("tail", "jobs", "--for", "0.3", "--interval", "0.1", server=server)
    assert [json.loads(line)["attempts"] for line in done.stdout.splitlines()] == [0]


def test_redrive_resets_attempts_and_keeps_bodies_and_replay_tells_of_it(server, client):
    id = pull_queue(client, "jobs", dead_letter_queue="dead", settings={"max_retries": 0})
    rows = [{"body": {"n": n}} for n in range(60)] + [{"body": f"t{n}", "content_type": "text"} for n in range(60)]
    for at in (0, 60):
        client.post(f"/queues/{id}/messages/batch", json={"messages": rows[at : at + 60]})
    sent = []
    for _ in range(2):
        pulled = client.post(f"/queues/{id}/messages/pull", json={"batch_size": 100}).json()["result"]["messages"]
        client.post(f"/queues/{id}/messages/ack", json={"retries": [{"lease_id": m["lease_id"]} for m in pulled]})
        sent += [m["id"] for m in pulled]
    assert client.get(f"/queues/{id}/metrics").json()["result"]["backlog_count"] == 0
    done = run("redrive", "dead", "jobs", server=server)
    assert done.stdout == "120 sent to jobs again\n"
    pulled = [json.loads(line) for line in run("pull", "jobs", "-n", "200", server=server).stdout.splitlines()]
    assert [message["body"] for message in pulled] == [row["body"] for row in rows]
    assert {message["attempts"] for message in pulled} == {1}
    assert [message["id"] for message in pulled] == sent
    told = run("replay", str(server.folder / "queues.db"))
    assert told.returncode == 0
    assert "jobs" in told.stdout
    assert "dead" in told.stdout
    line = run("replay", str(server.folder / "queues.db"), "--message", pulled[0]["id"])
    assert "leased" in line.stdout
    none = run("replay", str(server.folder / "queues.db"), "--message", "0" * 32)
    assert (none.returncode, none.stdout) == (2, "")
    assert "knows no message '0000" in none.stderr


def test_redrive_goes_on_where_a_queue_takes_no_more_this_second(server, client):
    id = pull_queue(client, "jobs", dead_letter_queue="dead", settings={"max_retries": 0})
    for at in range(0, 5_500, 100):
        while client.post(f"/queues/{id}/messages/batch", json={"messages": [{"body": at + n} for n in range(100)]}).status_code == 429:
            time.sleep(0.05)
        while (answer := client.post(f"/queues/{id}/messages/pull", json={"batch_size": 100})).status_code == 429:
            time.sleep(0.05)
        leases = [{"lease_id": message["lease_id"]} for message in answer.json()["result"]["messages"]]
        while client.post(f"/queues/{id}/messages/ack", json={"retries": leases}).status_code == 429:
            time.sleep(0.05)
    done = run("redrive", "dead", "jobs", "--limit", "5400", server=server)
    assert (done.returncode, done.stdout) == (0, "5400 sent to jobs again\n")
    assert client.get(f"/queues/{id}/metrics").json()["result"]["backlog_count"] == 5_400
    assert run("redrive", "dead", "jobs", server=server).stdout == "100 sent to jobs again\n"
    assert run("redrive", "dead", "jobs", server=server).stdout == "0 sent to jobs again\n"
    done = run("redrive", "dead", "nope", server=server)
    assert (done.returncode, done.stdout, "no queue 'nope'" in done.stderr) == (1, "", True)
    done = run("redrive", "dead", "jobs", server=server, token="look")
    assert done.returncode == 0 or "10023" in done.stderr


def test_what_the_server_refuses_is_said_and_ends_with_1(server, client):
    pull_queue(client, "jobs")
    assert "there is no queue 'nope'" in run("pull", "nope", server=server).stderr
    done = run("send", "jobs", "1", server=server, token="look")
    assert (done.returncode, "(10106)" in done.stderr) == (1, True)
    done = run("send", "jobs", "1", server=server, token="wrong")
    assert (done.returncode, "(10000)" in done.stderr) == (1, True)
    assert run("pull", "jobs", "--url", "http://127.0.0.1:9").returncode == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve", "--time", "fast"), ("serve", "--plan", "gold"), ("serve", "--push", "jobs"), ("serve", "--push", "jobs=ftp://x"),
        ("serve", "--consumer", "jobs=json:nothing"), ("serve", "--consumer", "jobs=no_such_module:x"), ("serve", "--token", " "),
        ("serve", "--config", "/nowhere/wrangler.jsonc"), ("serve", "--queue", "Bad Name!"), ("replay", "/nowhere/queues.db"),
        ("serve", "--host", "no.such.host.invalid"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_wrong_usage_is_said_and_ends_with_2(arguments):
    extra = ("--port", "0") if arguments[0] == "serve" else ()
    done = run(*arguments, *extra)
    assert done.returncode == 2
    assert done.stderr.startswith("cfq-emulator: ")


def test_a_wrangler_file_gives_its_queues_and_consumers(tmp_path):
    config = {
        "name": "shop", "main": "x.js", "compatibility_date": "2026-06-01",
        "queues": {
            "producers": [{"binding": "JOBS", "queue": "jobs"}],
            "consumers": [{"queue": "jobs", "max_batch_size": 20, "max_retries": 3, "dead_letter_queue": "dead"}, {"queue": "dead"}],
        },
    }  # fmt: skip
    (tmp_path / "x.js").write_text("export default { async queue(batch) {} }")
    (tmp_path / "wrangler.json").write_text(json.dumps(config))
    with Server("--config", "wrangler.json", folder=tmp_path, db="queues.db") as server:
        for _ in range(2):
            with server.client() as client:
                rows = {row["queue_name"]: row for row in client.get("/queues").json()["result"]}
            assert rows.keys() == {"jobs", "dead"}
            (consumer,) = rows["jobs"]["consumers"]
            assert (consumer["script"], consumer["settings"]["batch_size"]) == ("shop", 20)
            assert rows["jobs"]["producers"] == [{"type": "worker", "script": "shop"}]
            server.restart()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["NaN"], "is no JSON"), (["1e999"], "is no JSON"), (["[" * 5_000], "is no JSON"), ([b'"\xff"'], "is no UTF-8"), (["--text", b"\xff"], "is no UTF-8"),
        (["--file", "nowhere"], "nowhere cannot be read"), (["--file", "."], "cannot be read"), (["--file", "binary"], "binary cannot be read"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_sent_is_wrong_usage(server, client, arguments, said):
    pull_queue(client, "jobs")
    binary = server.folder / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    done = run("send", "jobs", *(str(binary) if each == "binary" else each for each in arguments), server=server)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_half_of_a_surrogate_pair_is_sent_as_it_is(server, client):
    pull_queue(client, "jobs")
    assert run("send", "jobs", '"\\ud800"', server=server).returncode == 0
    assert json.loads(run("pull", "jobs", server=server).stdout)["body"] == "\ud800"


def test_an_address_or_a_token_that_is_none_is_said_to_be_so(server):
    for url in ("http://[::1", "http://a:b", "nothing", "ftp://a", ""):
        done = run("send", "jobs", "1", "--url", url)
        assert done.returncode == 1
        assert done.stderr.startswith("cfq-emulator: ")
    assert "ASCII" in run("send", "jobs", "1", server=server, token="geheim-ä").stderr
    done = run("serve", "--port", "0", "--token", "geheim-ä")
    assert done.returncode == 2
    assert "ASCII" in done.stderr
