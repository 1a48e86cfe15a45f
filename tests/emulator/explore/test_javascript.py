"""A TypeScript Worker in workerd, searched as a Python one is."""

from __future__ import annotations

import pytest

from emulator import explore
from emulator.explore import at_most_once
from tests.emulator.explore.twins import WORKERS

pytestmark = pytest.mark.usefixtures("tools")
TYPESCRIPT = WORKERS.parent / "guard_after_effect_ts" / "wrangler.jsonc"


def payments(emu):
    emu.worker(TYPESCRIPT, fetch=lambda _request: (200, "charged"))
    emu.queue("payments").send({"key": "order-7"})


def test_a_worker_in_typescript_is_broken_by_one_fault():
    found = explore(payments, at_most_once("POST /charge"), max_faults=1)
    assert found.faults == 1
    assert found.story.splitlines()[:4] == [
        "1. order-7 is delivered",
        "2. POST /charge 'order-7' succeeds",
        "3. the Worker dies right after POST /charge 'order-7'",
        "4. 10 seconds later order-7 comes again",
    ]
    again = explore(payments, at_most_once("POST /charge"), replay=found.replay)
    assert str(again.error) == str(found.error) == "more than once: POST /charge 'order-7' (2 times)"
