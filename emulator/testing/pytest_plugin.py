"""The pytest plugin: fixture and marker `cf_queues`, option `--cf-queues-seed`, and the timeline of every message on a failure.

    @pytest.mark.cf_queues(config="wrangler.jsonc", env="staging", plan="free", seed=7)
    def test_mail(cf_queues):
        cf_queues.attach(handler, queue="mail")

`config` is relative to the test file or, if it is not there, to the working directory. Other keywords go to Emulator.
"""  # fmt: skip

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from emulator.testing.emulator import Emulator

_LINES_MAX = 200
"""A longer timeline is cut in the middle: nobody reads it whole."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--cf-queues-seed`."""
    group = parser.getgroup("cf_queues", "Cloudflare Queues emulator")
    group.addoption(
        "--cf-queues-seed", type=int, default=None, metavar="N", help="seed of the emulator's ids and faults (default: 0)"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "cf_queues(config=None, env=None, plan='paid', seed=None, **options): how the fixture cf_queues is made; "
        "config is a wrangler file, options are those of emulator.Emulator",
    )


@pytest.fixture
def cf_queues(request: pytest.FixtureRequest) -> Generator[Emulator]:
    """A fresh Emulator on a virtual clock; the marker `cf_queues` sets it up."""
    emulator = made_for(request)
    request.node.stash[EMULATOR] = emulator
    yield emulator
    emulator.close()


def made_for(request: pytest.FixtureRequest) -> Emulator:
    """An emulator as the markers of a test ask for it. Raises UsageError."""
    from emulator.testing.emulator import Emulator

    options: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("cf_queues"))):  # the mark closest to the test has the last word
        if mark.args:
            raise pytest.UsageError("the marker cf_queues takes keywords only: config, env, plan, seed and options of Emulator")
        options |= mark.kwargs
    given = request.config.getoption("--cf-queues-seed")
    if options.get("seed") is None:
        options["seed"] = 0 if given is None else given
    config = options.pop("config", None)
    if config is None:
        if options.pop("env", None) is not None:
            raise pytest.UsageError("the marker cf_queues has env but no config")
        return Emulator(**options)
    beside = Path(request.node.path).parent / config
    return Emulator.from_wrangler(beside if beside.exists() else config, **options)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the timeline of every message where a test has failed."""
    report = yield
    emulator = item.stash.get(EMULATOR, None)
    if report.when == "call" and report.failed and emulator is not None:
        report.sections.append((f"cf_queues: timeline, seed {emulator.seed}", _timeline(emulator)))
    return report


def _timeline(emulator: Emulator) -> str:
    """The table of what happened, and the report."""
    try:
        lines = str(emulator.trace()).splitlines()
        if len(lines) > _LINES_MAX:
            half = _LINES_MAX // 2
            lines[half:-half] = [f"… {len(lines) - _LINES_MAX} lines …"]
        return "\n".join([*lines, "", str(emulator.report())])
    except Exception as error:  # noqa: BLE001 - the timeline may not hide why the test failed
        return f"the timeline could not be read: {error!r}"


EMULATOR: pytest.StashKey[Emulator] = pytest.StashKey()
"""Where a test's emulator is kept, whose timeline a failure shows."""
