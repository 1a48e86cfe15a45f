"""What a person reads of a schedule: the story, the test, the page."""

from __future__ import annotations

import re

import pytest

from emulator import explore
from emulator.explore.story import Told
from tests.emulator.explore.twins import TWINS

STORIES = {
    "no guard": """\
1. k0 is delivered
2. the Worker dies after its last statement, before the queue hears of it
3. 10 seconds later k0 comes again
4. charged twice: k0""",
    "guard in KV after a fetch": """\
1. k0 is delivered
2. POST /charge 'k0' succeeds
3. the Worker dies right after POST /charge 'k0'
4. 10 seconds later k0 comes again
5. POST /charge 'k0' succeeds again
6. KV put 'k0' succeeds
7. charged twice: k0""",
    "check then act": """\
1. k0 is delivered
2. Store.get('k0') succeeds
3. the answer of Store.get('k0') comes a second later
4. k0 (2) is delivered
5. Store.get('k0') succeeds again
6. Store.put('k0', '1') succeeds
7. Bank.charge('k0') succeeds
8. Store.put('k0', '1') succeeds again
9. Bank.charge('k0') succeeds again
10. charged twice: k0""",
    "ack before effect, sync": """\
1. k0 and k1 are delivered
2. a limit ends the Worker: k0 and k1 are acknowledged, and the rest is not done
3. never charged: k0, k1""",
    "lost answer taken as failure": """\
1. k0 is delivered
2. Store.take('k0') succeeds
3. BANK.charge('k0') succeeds
4. BANK.charge('k0') has acted, but its answer gets lost
5. 10 seconds later k0 comes again
6. Store.take('k0') succeeds again
7. BANK.charge('k0') succeeds again
8. charged twice: k0""",
}


@pytest.mark.parametrize("name", STORIES)
def test_a_story_tells_what_happened_in_order(name):
    wrong, _, invariant = TWINS[name]
    assert explore(wrong, invariant).story == STORIES[name]


@pytest.mark.parametrize(("body", "name"), [
    ({"key": "k0", "a": "b"}, "k0"), ({"order": 7}, "order 7"), ({"invoice": "i1", "cents": 5}, "i1"), ("order-7", "order-7"),
    ({"cents": 5}, "message 1"), ({"text": "x" * 100}, "message 1"), (b"x", "message 1"),
])  # fmt: skip
def test_a_message_is_called_by_what_tells_it_from_others(body, name):
    told = Told()
    told._call_it("id", body)
    assert told.name("id") == name


def test_what_was_found_says_how_to_run_it_again():
    wrong, _, invariant = TWINS["no guard"]
    found = explore(wrong, invariant)
    assert str(found).startswith(
        "AssertionError: charged twice: k0\nbroken with one fault, found in 2 schedules; 1 of 2 messages left out; "
        f"replay={found.replay!r}\n\n1. k0"
    )
    assert found.as_dict()["story"] == found.story.splitlines()
    assert "acked" in str(found.trace)


def test_the_test_that_is_written_fails_in_the_same_way_and_passes_for_the_right_twin():
    wrong, _, invariant = TWINS["no guard"]
    text = explore(wrong, invariant).test()
    scope = {}
    exec(compile(text, "generated.py", "exec"), scope)
    (test,) = [value for name, value in scope.items() if name.startswith("test_")]
    with pytest.raises(AssertionError, match="charged twice: k0\n"):
        test()
    scope["no_guard"] = TWINS["no guard"][1]
    test()


def test_the_page_stands_alone_and_draws_each_message():
    wrong, _, invariant = TWINS["guard in KV after a fetch"]
    found = explore(wrong, invariant)
    page = found.page()
    assert not re.search(r"(?:src|href)=", page)
    for line in found.story.splitlines():
        assert line.partition(". ")[2].replace("'", "&#x27;") in page
    assert page.count('<rect class="bar"') == 1
    assert page.count('<rect class="failed"') == 1
    assert page.count('<path class="fault"') == 1
    assert f"replay={found.replay!r}".replace("'", "&#x27;") in page
    assert "+10 seconds" in page


def test_nothing_says_what_was_covered():
    _, right, invariant = TWINS["no guard"]
    nothing = explore(right, invariant)
    assert str(nothing) == f"nothing breaks in {nothing.schedules:,} schedules (all of them, up to 2 deviations)"
    assert not nothing
    covered = nothing.covered.as_dict()
    assert sum(covered["tried"].values()) == nothing.schedules - 1
    assert covered["points"]["crashes_at_end"] == 1
    assert "crashes_at_end: 1 choices" in str(nothing.covered)
