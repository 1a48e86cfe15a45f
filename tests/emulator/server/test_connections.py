"""Which connection is closed when more come than there may be."""

from __future__ import annotations

import pytest

from emulator.server.wire import connections
from emulator.server.wire.connections import CONNECTIONS_MAX, Connections, connection_limit


class Client:
    def __init__(self, away):
        self.away = away

    def give_way(self):
        self.away.append(self)


def test_the_longest_idle_goes_and_nobody_else():
    away = []
    clients = [Client(away) for _ in range(6)]
    some = Connections(3)
    for client in clients[:3]:
        some.opened(client)
    some.is_served(clients[0])  # its request is complete, so it stays whatever comes
    some.opened(clients[3])
    assert away == [clients[1]]
    some.waits(clients[0])  # the next request on the same connection: it begins to wait anew
    some.opened(clients[4])
    assert away == [clients[1], clients[2]]
    some.closed(clients[3])
    some.opened(clients[5])
    assert away == [clients[1], clients[2]]
    some.waits(clients[1])  # who was closed waits no longer
    some.opened(Client(away))
    assert away == [clients[1], clients[2], clients[0]]


def test_where_all_are_being_served_nobody_goes():
    away = []
    some = Connections(1)
    for _ in range(3):
        client = Client(away)
        some.opened(client)
        some.is_served(client)
    assert away == []


@pytest.mark.parametrize(
    ("soft", "hard", "kept", "asked"),
    [
        (1_024, 100_000, CONNECTIONS_MAX, 8_064), (256, 256, 48, None), (1_024, 4_160, 1_024, 4_160), (10, 10, 1, None),
        (-1, -1, CONNECTIONS_MAX, None), (50_000, 50_000, CONNECTIONS_MAX, None),
    ],
)  # fmt: skip
def test_there_is_room_for_as_many_as_files_may_be_open(monkeypatch, soft, hard, kept, asked):
    given = []
    monkeypatch.setattr(connections.resource, "getrlimit", lambda _which: (soft, hard))
    monkeypatch.setattr(connections.resource, "setrlimit", lambda _which, limits: given.append(limits[0]))
    assert connection_limit() == kept
    assert given == ([asked] if asked and asked != soft else given if soft == hard else [])


def test_without_limits_of_files_there_is_room(monkeypatch):
    monkeypatch.setattr(connections, "resource", None)
    assert connection_limit() == CONNECTIONS_MAX
