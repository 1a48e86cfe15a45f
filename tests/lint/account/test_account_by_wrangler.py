"""The account that the matrix rests on is made by the real wrangler in the emulator's server, and read by the real audit."""

from __future__ import annotations

import datetime as dt
import json
import shutil

import pytest

from tests.emulator.server.servers import Server
from tests.emulator.server.wrangler_cli import Wrangler
from tests.lint.support import findings_of, run

from .defects import BASE, DEFECTS, NOT_BY_WRANGLER, file_with

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("npm") is None, reason="npm installs wrangler")]
AGE_SECONDS = 330_000
"""Above 80 % of four days."""
ALL = [*DEFECTS]


def send(client, queue):
    """A message into a queue, over REST."""
    (found,) = client.get("/queues", params={"name": queue}).json()["result"]
    answer = client.post(f"/queues/{found['queue_id']}/messages", json={"body": queue, "content_type": "text"})
    assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module")
def account(tmp_path_factory):
    """A server whose clock began four days ago, with all defects; the clock has come to the present when the last are made."""
    folder = tmp_path_factory.mktemp("account")
    start = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=AGE_SECONDS)
    options = ("--time", "virtual", "--start", start.isoformat(), "--control")
    with Server(*options, folder=folder) as server, Wrangler(server, folder) as wrangler:
        for defect in (BASE, *DEFECTS.values()):
            for command in defect.commands:
                wrangler.ok(*command)
        with server.client() as client:
            for queue in DEFECTS["oldest-message-expiring"].messages:
                send(client, queue)
            moved = client.post(f"{server.url}/emulator/time/advance", json={"seconds": AGE_SECONDS})
            assert moved.status_code == 200, moved.text
            for queue in DEFECTS["dlq-not-empty"].messages:
                send(client, queue)
        yield server


def audit(folder, *options, env=None):
    """The audit of a file with all defects."""
    (folder / "wrangler.jsonc").write_text(file_with(*ALL), encoding="utf-8")
    return run("audit", "--format", "json", *options, cwd=folder, env=env)


def test_every_defect_of_an_account_made_by_wrangler_is_found_once_and_offline_the_same(account, tmp_path, golden):
    env = {"CLOUDFLARE_API_TOKEN": "secret-of-a-test", "CLOUDFLARE_ACCOUNT_ID": "acc", "CLOUDFLARE_API_BASE_URL": account.base}
    # What was measured is another matter: test_graphql.py, test_two_weeks.py.
    live = audit(tmp_path, "--no-analytics", "--write-facts", "facts.json", env=env)
    assert live.returncode == 1, live.stderr
    found = sorted(finding["name"] for finding in findings_of(live))
    assert found == sorted(set(ALL) - NOT_BY_WRANGLER)
    offline = audit(tmp_path, "--facts", "facts.json")
    assert offline.stdout == live.stdout
    golden("account.json", recorded((tmp_path / "facts.json").read_text(encoding="utf-8")))


def recorded(text):
    """The snapshot as of a fixed day, ages rounded: what `test_account_rules.py` goes on with."""
    made = json.loads(text)
    made.pop("measured", None)  # test_measured.py has its own
    taken, now = dt.datetime.fromisoformat(made["taken_at"]), dt.datetime(2026, 1, 5, tzinfo=dt.UTC)
    made["taken_at"] = now.isoformat().replace("+00:00", "Z")
    for queue in made["queues"].values():
        if queue.get("oldest_message_timestamp_ms"):
            age = round(taken.timestamp() - queue["oldest_message_timestamp_ms"] / 1000, -3)
            queue["oldest_message_timestamp_ms"] = int((now.timestamp() - age) * 1000)
    return json.dumps(made, indent=2) + "\n"
