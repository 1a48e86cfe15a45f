"""What several nodes on one database withstand: `python -m tests.bench.nodes_soak [--kills N] [--freezes N] [--cuts N] [--restarts N]`.

Three nodes, four senders and four pullers. The leader is killed, or frozen or cut off from the database until another one leads; the
database is restarted, now and then without a goodbye; all in an order by chance. Nothing that was answered for may be lost, nothing
that was acknowledged may come again, and the journal must be one order of events. Exit code 1 where it is not so, or where
nothing was stored for a median of 3 seconds, or once for 5, after a leader was gone.
"""

from __future__ import annotations

import argparse
import random
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.emulator.postgres import MISSING, PostgresServer, programs
from tests.emulator.server.team import Team, begin, check, cut, freeze, kill

MEDIAN_SECONDS, MOST_SECONDS = 3.0, 5.0


def main() -> int:
    """Run, and print what was seen."""
    parser = argparse.ArgumentParser()
    for name, default in (("kills", 50), ("freezes", 10), ("cuts", 5), ("restarts", 10), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    if programs() is None:
        print(MISSING)
        return 1
    dice, took = random.Random(given.seed), {"kill": [], "freeze": [], "cut": [], "restart": []}
    deeds = ["kill"] * given.kills + ["freeze"] * given.freezes + ["cut"] * given.cuts + ["restart"] * given.restarts
    dice.shuffle(deeds)
    database = PostgresServer()
    try:
        with tempfile.TemporaryDirectory() as folder, Team(Path(folder), database.new()) as team:
            load = begin(team)
            with load.goes_on():
                for deed in deeds:
                    time.sleep(dice.uniform(0.05, 1.0))
                    if deed == "restart":
                        since = time.monotonic()
                        database.stop(dice.choice([signal.SIGINT, signal.SIGQUIT]))
                        database.start()
                        took[deed].append(load.stands_still(since))
                    else:
                        took[deed].append({"kill": kill, "freeze": freeze, "cut": cut}[deed](team, load))
                    print(f"{deed} {took[deed][-1]:.2f} s", flush=True)
            check(team, load)
            print(f"{len(load.stored)} messages stored, {len(load.acked)} acknowledged: none lost, none again, one order of events")
    finally:
        database.close()
    for deed, seconds in took.items():
        if seconds:
            print(f"{deed}: {len(seconds)} times, nothing stored for {statistics.median(seconds):.2f} s (median), {max(seconds):.2f} s (most)")
    lost = took["kill"] + took["freeze"] + took["cut"]
    return int(bool(lost) and (statistics.median(lost) > MEDIAN_SECONDS or max(lost) > MOST_SECONDS))


if __name__ == "__main__":
    sys.exit(main())
