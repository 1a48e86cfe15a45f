"""Every line of the three documents has its feature and a test that fails when the feature is taken out; the page is fresh."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.emulator.toolkit import requirements

PAGE = Path(__file__).parents[3] / "docs" / "emulator" / "requirements.md"
ROWS = requirements.rows()


def test_every_line_has_its_row():
    wanted = [f"{letter}{number}" for letter, count in (("A", 36), ("B", 26), ("C", 51)) for number in range(1, count + 1)]
    assert [row.id for row in ROWS] == wanted


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_test_passes_and_fails_without_the_feature(row):
    test = requirements.function_of(row)
    assert not inspect.signature(test).parameters
    test()
    failed = None
    with requirements.taken_out(row):
        try:
            test()
        except BaseException as error:  # noqa: BLE001 - any failure will do
            failed = error
    assert failed is not None, f"{row.test} passes without {row.feature}"
    test()


def test_the_page_is_fresh():
    how = "python -m tests.emulator.toolkit.requirements docs/emulator/requirements.md"
    assert PAGE.read_text(encoding="utf-8") == requirements.page(), how
