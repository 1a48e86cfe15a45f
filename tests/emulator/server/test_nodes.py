"""Several nodes on one database: one leads, the others follow, and when it is gone another one leads.

`make soak` does so for minutes, with the database restarted meanwhile.
"""

from __future__ import annotations

import time

from tests.emulator.server.servers import OFTEN
from tests.emulator.server.team import QUICK, Team, begin, check, freeze, kill


def test_a_leader_that_is_killed_or_frozen_is_replaced_and_nothing_is_lost(tmp_path, postgres):
    with Team(tmp_path, postgres, settings=(*OFTEN, *QUICK)) as team:
        load = begin(team)
        with load.goes_on():
            took = [kill(team, load), freeze(team, load)]
            time.sleep(0.1)
        check(team, load)
    assert max(took) < 5, took
    assert len(load.acked) > 20
