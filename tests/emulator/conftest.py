"""Fixtures of the emulator's tests."""

from __future__ import annotations

import pytest

from emulator import Emulator


@pytest.fixture
def emu():
    """A fresh emulator on the Paid plan, closed after the test."""
    emulator = Emulator()
    yield emulator
    emulator.close()


@pytest.fixture
def jobs(emu):
    """Its queue `jobs`, with the defaults."""
    return emu.create_queue("jobs")
