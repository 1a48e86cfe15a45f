"""Several nodes on one PostgreSQL database, whose leader is killed and frozen, and clients that go on with another node meanwhile."""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack, suppress
from itertools import cycle
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import httpx

from emulator.core import events as happened
from emulator.engine.journal import replay
from emulator.engine.journal.postgres import PostgresJournal
from tests.emulator.core_dump import dump
from tests.emulator.server.cable import Cable
from tests.emulator.server.servers import OFTEN, Forked, Nursery, pull_queue
from tests.emulator.server.test_durability_over_http import Load, number_of, rest_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

QUICK = tuple(
    (module, name, value)
    for name, value in (("BEAT_SECONDS", 0.1), ("SURE_SECONDS", 0.2), ("LEASE_SECONDS", 0.6))
    for module in ("emulator.engine.journal.shared", "emulator.server.nodes")
)
"""The lease of a leader, four times as short, so that a test need not wait for it."""


class Team:
    """Three nodes that share a database, each with a cable of its own to it."""

    def __init__(self, folder: Path, url: str, settings: tuple = OFTEN) -> None:
        self.url, self.nursery = url, Nursery(folder)
        port = urlsplit(url).port
        self.cables = [Cable(port) for _ in range(3)]
        urls = [url.replace(f":{port}/", f":{cable.port}/") for cable in self.cables]
        options = {"folder": folder, "settings": settings, "nursery": self.nursery}
        self.nodes = [Forked("--log", "off", db=url, **options) for url in urls]

    def roles(self) -> list[str]:
        """What each node says of itself; "" where it does not answer."""
        found = []
        for node in self.nodes:
            found.append("")
            with suppress(httpx.TransportError), node.client(timeout_seconds=1) as client:
                found[-1] = client.get(f"{node.url}/health").json()["role"]
        return found

    def leader(self) -> Forked:
        """The node that leads; waits for one."""
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with suppress(ValueError):
                return self.nodes[self.roles().index("leads")]
            time.sleep(0.02)
        raise AssertionError([node.log.read_text()[-2_000:] for node in self.nodes])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        for node in self.nodes:
            node.kill()
            if failed:
                print(node.log.read_text()[-5_000:])
        for cable in self.cables:
            cable.close()
        self.nursery.close()


class TeamLoad(Load):
    """Clients that go round the nodes. A refusal is no answer; what was not answered may or may not be there."""

    def __init__(self, team: Team, id: str) -> None:
        super().__init__(team, id)
        self.asked_at = 0.0

    def rounds(self, work: Callable[[httpx.Client], None]) -> None:
        """Do a work again and again until it is over, on a node as long as it answers, then on the next."""
        with ExitStack() as opened:
            clients = cycle([opened.enter_context(node.client(timeout_seconds=2)) for node in self.server.nodes])
            for client in clients:
                with self.patience():
                    for _ in range(20):
                        if self.over.is_set():
                            return
                        work(client)
                        time.sleep(0.01)

    def push(self) -> None:
        """Push until it is over."""
        self.rounds(self.push_once)

    def settle(self) -> None:
        """Pull and acknowledge until it is over."""
        self.rounds(self.turn)

    def push_once(self, client: httpx.Client) -> None:
        """Push some messages."""
        numbers, asked_at = list(self.take(5)), time.monotonic()
        answer = client.post(f"/queues/{self.id}/messages/batch", json={"messages": [{"body": number} for number in numbers]})
        if not refused(answer):
            self.stored.update(numbers)
            self.asked_at = max(self.asked_at, asked_at)

    def turn(self, client: httpx.Client) -> None:
        """Pull once and acknowledge seven of eight."""
        known = set(self.acked)
        pulled = client.post(f"/queues/{self.id}/messages/pull", json={"batch_size": 20, "visibility_timeout_ms": 1_000})
        if refused(pulled):
            return
        numbers = {number_of(message): message["lease_id"] for message in pulled.json()["result"]["messages"]}
        self.doubled += [number for number in numbers if number in known]
        chosen = [number for number in numbers if number % 8]
        self.asked_to_ack.update(chosen)
        if chosen:
            answer = client.post(f"/queues/{self.id}/messages/ack", json={"acks": [{"lease_id": numbers[n]} for n in chosen]})
            if not refused(answer):
                self.acked.update(chosen)

    def stands_still(self, since: float) -> float:
        """Waits until something is stored that was asked for after a moment; the seconds from then until now."""
        until = time.monotonic() + 30
        while self.asked_at < since:
            assert time.monotonic() < until, self.server.roles()
            assert self.failures == [], self.failures[0]
            time.sleep(0.005)
        return time.monotonic() - since


def refused(answer: httpx.Response) -> bool:
    """Whether it was refused for the moment: no leader, no database, or too much in this second."""
    if answer.status_code == 200:
        return False
    assert answer.json()["errors"][0]["code"] in {15000, 10250}, answer.text
    return True


def kill(team: Team, load: TeamLoad) -> float:
    """Kill the leader, and start it again when another one leads; how long nothing was stored."""
    leader, since = team.leader(), time.monotonic()
    leader.kill()
    took = load.stands_still(since)
    leader.launch()
    return took


def freeze(team: Team, load: TeamLoad) -> float:
    """Stop the leader, and let it go on when another one leads; how long nothing was stored."""
    leader, since = team.leader(), time.monotonic()
    os.kill(leader.pid, signal.SIGSTOP)
    took = load.stands_still(since)
    os.kill(leader.pid, signal.SIGCONT)
    return took


def cut(team: Team, load: TeamLoad) -> float:
    """Cut the leader off from the database until another one leads; how long nothing was stored."""
    leader, since = team.leader(), time.monotonic()
    cable = team.cables[team.nodes.index(leader)]
    cable.cut()
    took = load.stands_still(since)
    cable.mend()
    return took


def check(team: Team, load: TeamLoad) -> None:
    """Nothing that was answered for is lost, nothing that was acknowledged is there again, and events have one order."""
    assert load.failures == [], load.failures[0]
    time.sleep(1.1)  # the leases of the load lapse
    team.leader()
    metrics = []
    with team.nodes[0].client() as client:
        left = rest_of(client, load.id)
    for node in team.nodes:
        with node.client() as client:
            metrics.append(client.get(f"/queues/{load.id}/metrics").json()["result"])
    assert load.doubled == []
    assert len(left) == len(set(left))
    assert not load.stored - load.asked_to_ack - set(left), "answered for, and lost"
    assert not load.acked & set(left), "acknowledged, and there again"
    assert metrics == [metrics[0]] * len(metrics)
    assert metrics[0]["backlog_count"] == len(left)
    journal = PostgresJournal(team.url)
    events = list(journal.read())
    kept = journal.snapshot()
    if kept is not None:
        assert dump(kept[1]) == dump(replay(events[: kept[0]]))
    journal.close()
    sent = [id for event in events if isinstance(event, happened.Sent) for id in event.ids]
    assert len(sent) == len(set(sent))
    assert [event.at_us for event in events] == sorted(event.at_us for event in events)


def begin(team: Team) -> TeamLoad:
    """A queue, and a load on it that has not started."""
    team.leader()
    with team.nodes[-1].client() as client:
        return TeamLoad(team, pull_queue(client, "jobs", settings={"max_retries": 100}))


