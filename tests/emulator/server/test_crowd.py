"""Who is sent away when more connections come than there is room for."""

from __future__ import annotations

import pytest

from emulator.server.observe import crowd
from emulator.server.observe.crowd import CONNECTIONS_MAX, Crowd, room


class Guest:
    def __init__(self, away):
        self.away = away

    def send_away(self):
        self.away.append(self)


def test_the_longest_undecided_goes_and_nobody_else():
    away = []
    guests = [Guest(away) for _ in range(6)]
    crowded = Crowd(3)
    for guest in guests[:3]:
        crowded.comes(guest)
    crowded.ends(guests[0])  # its request is complete, so it stays whatever comes
    crowded.comes(guests[3])
    assert away == [guests[1]]
    crowded.begins(guests[0])  # the next request on the same connection: it begins to wait anew
    crowded.comes(guests[4])
    assert away == [guests[1], guests[2]]
    crowded.leaves(guests[3])
    crowded.comes(guests[5])
    assert away == [guests[1], guests[2]]
    crowded.begins(guests[1])  # who was sent away waits no longer
    crowded.comes(Guest(away))
    assert away == [guests[1], guests[2], guests[0]]


def test_where_all_are_being_served_nobody_goes():
    away = []
    crowded = Crowd(1)
    for _ in range(3):
        guest = Guest(away)
        crowded.comes(guest)
        crowded.ends(guest)
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
    monkeypatch.setattr(crowd.resource, "getrlimit", lambda _which: (soft, hard))
    monkeypatch.setattr(crowd.resource, "setrlimit", lambda _which, limits: given.append(limits[0]))
    assert room() == kept
    assert given == ([asked] if asked and asked != soft else given if soft == hard else [])


def test_without_limits_of_files_there_is_room(monkeypatch):
    monkeypatch.setattr(crowd, "resource", None)
    assert room() == CONNECTIONS_MAX
