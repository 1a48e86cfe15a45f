"""A folder to audit, a server that holds an account, and all logs."""

from __future__ import annotations

import logging
import os

import pytest

from cfq_lint.account import api, pace

from .hostile import ACCOUNT, TOKEN, FakeClock, Server
from .support import CONFIG, SHOP


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A folder with a file, an environment that holds nothing but access, and time that costs none."""
    (tmp_path / "wrangler.jsonc").write_text(CONFIG)
    for name in [name for name in os.environ if name.startswith("CLOUDFLARE_") or name.upper().endswith("_PROXY")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", TOKEN)
    monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", ACCOUNT)
    clock = FakeClock()
    monkeypatch.setattr(pace.Clock, "now", lambda _: clock.now())
    monkeypatch.setattr(pace.Clock, "monotonic", lambda _: clock.monotonic())
    monkeypatch.setattr(pace.Clock, "sleep", lambda _, seconds: clock.sleep(seconds))
    monkeypatch.setattr(api, "ANSWER_BYTES_MAX", 1_000_000)
    return tmp_path


@pytest.fixture
def offline(room, monkeypatch):
    """The same without access."""
    monkeypatch.delenv("CLOUDFLARE_API_TOKEN")
    monkeypatch.delenv("CLOUDFLARE_ACCOUNT_ID")
    return room


@pytest.fixture
def shop():
    """A server that holds an account."""
    with Server(SHOP) as server:
        yield server


@pytest.fixture
def logs(caplog):
    """Every record of every logger, written out as a debugging program would."""
    caplog.set_level(logging.DEBUG)
    caplog.handler.setFormatter(logging.Formatter("%(name)s %(message)s"))
    return caplog
