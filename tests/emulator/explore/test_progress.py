"""How far a search has come, while it runs: with colour, without, on a narrow terminal, and where there is none."""

from __future__ import annotations

import io
import re

import pytest

from emulator import explore
from emulator.cli import searching
from emulator.cli.searching import Searching, lines
from emulator.explore.found import Now
from tests.emulator.explore import twins
from tests.emulator.explore.twins import charged_once

NOW = Now(
    1_234, 2.0, 2, 1, {"crashes_at_await": 6, "lost_answers": 2, "a_kind_with_a_long_name": 3},
    {"crashes_at_await": 800, "lost_answers": 34}, 50, 7, None,
)  # fmt: skip
STYLES = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    def __init__(self, *, isatty):
        super().__init__()
        self._isatty = isatty

    def isatty(self):
        return self._isatty


@pytest.fixture
def shown(monkeypatch):
    """What is written where every look is drawn, on a terminal of 60 columns."""
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(searching, "_DRAW_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(searching, "_SAY_EVERY_SECONDS", 0.0)

    def show(*nows, isatty=True):
        stream = Terminal(isatty=isatty)
        told = Searching(stream)
        for now in nows:
            told(now.schedules, now.seconds, now)
        told.close()
        return stream.getvalue()

    return show


def test_the_lines_tell_how_far_it_has_come():
    assert [text for text, _ in lines(NOW)] == [
        "1,234 schedules, 617 a second, 2 s",
        "exhaustive up to 1 deviation, at 2 deviations",
        "tried (places): crashes_at_await 800 (6), lost_answers 34 (2), a_kind_with_a_long_name 0 (3)",
        "50 spared by 7 states seen",
        "nothing is broken yet",
    ]
    assert lines(NOW._replace(best="2:3"))[-1][0] == "broken: 2:3; making it shorter"
    assert lines(NOW._replace(depth=-1))[1][0] == "exhaustive up to 1 deviation, random schedules"
    assert lines(NOW._replace(depth=0, complete=-1))[1][0] == "at the ordinary course"


def test_a_terminal_has_colour_and_lines_that_fit(shown):
    text = shown(NOW, NOW)
    assert "\x1b[32mnothing is broken yet\x1b[0m" in text
    assert text.count("\x1b[1A\x1b[K") == 10
    assert text.endswith("\x1b[1A\x1b[K" * 5)
    plain = STYLES.sub("", text.replace("\x1b[1A\x1b[K", "")).splitlines()
    assert max(map(len, plain)) == 59


def test_colour_is_left_out_where_nobody_wants_it(shown, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text = shown(NOW)
    assert not STYLES.search(text)
    assert "\x1b[1A\x1b[K" in text


@pytest.mark.parametrize("dumb", [True, False])
def test_what_is_no_terminal_gets_a_plain_line(shown, monkeypatch, dumb):
    if dumb:
        monkeypatch.setenv("TERM", "dumb")
    text = shown(NOW, NOW, isatty=dumb)
    assert text == "1,234 schedules, 617 a second, 2 s · exhaustive up to 1 deviation, at 2 deviations\n" * 2


def test_a_search_tells_whoever_takes_it():
    heard = []
    found = explore(twins.only_after_two, charged_once, progress=lambda _schedules, _seconds, now: heard.append(now))
    assert {now.depth for now in heard} == {0, 1, 2}
    assert [now.complete for now in heard] == sorted(now.complete for now in heard)
    assert heard[-1].best == found.replay
