"""Names one slip apart are found by an index: it says what looking at each would say, and its cost grows as the names do."""

from __future__ import annotations

import json
import sys

from hypothesis import given
from hypothesis import strategies as st

from cfq_lint import lint_paths
from cfq_lint.facts.keys import slips
from cfq_lint.rules._near_misses import LENGTH_MIN, Names

few_letters = st.text("ab1", min_size=3, max_size=7)


@given(st.sets(few_letters, max_size=12), few_letters, st.none() | few_letters)
def test_the_index_finds_what_looking_at_each_finds(names, name, but):
    wanted = [
        each
        for each in sorted(names)
        if min(len(each), len(name)) >= LENGTH_MIN and each != but and slips(name, each) == 1
        if sorted(filter(str.isdigit, each)) == sorted(filter(str.isdigit, name))
    ]
    assert Names(names).near(name, but) == next(iter(wanted), None)


def steps(folder, count):
    """How many calls it takes to lint so many Workers, whose dead-letter queues nobody consumes and whose queues nobody reads."""
    for number in range(count):
        name = "".join(chr(97 + int(digit)) for digit in f"{number * 7919 % 100_000:05}")
        queues = {"producers": [{"binding": "Q", "queue": f"{name}-out"}], "consumers": [{"queue": f"{name}-in", "dead_letter_queue": f"{name}-dead"}]}
        file = folder / name / "wrangler.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"name": name, "queues": queues}), encoding="utf-8")
    counted = 0

    def count_it(_frame, _event, _value):
        nonlocal counted
        counted += 1

    before = sys.getprofile()
    sys.setprofile(count_it)
    try:
        lint_paths([folder])
    finally:
        sys.setprofile(before)
    return counted


def test_twice_the_files_take_twice_the_steps(tmp_path):
    lint_paths([tmp_path])
    assert steps(tmp_path / "many", 160) < 2.5 * steps(tmp_path / "few", 80)
