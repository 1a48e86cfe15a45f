"""The pytest plugin: fixture and marker `cf_queues`, option `--cf-queues-seed`, and what happened where a test fails.

    @pytest.mark.cf_queues(config="wrangler.jsonc", env="staging", plan="free", seed=7)
    def test_mail(cf_queues):
        cf_queues.attach(handler, queue="mail")

`config` is relative to the test file or, if it is not there, to the working directory. `worker` is a wrangler file likewise, or
several, whose Workers are loaded (`cf_queues.workers`); `fetch` answers what they fetch. Other keywords go to Emulator.
"""  # fmt: skip

from __future__ import annotations

import sys
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from emulator.testing.emulator import Emulator


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
        "cf_queues(config=None, worker=None, fetch=None, env=None, plan='paid', seed=None, **options): how the fixture "
        "cf_queues is made; config is a wrangler file; worker is one, or several, whose Workers are loaded, and fetch "
        "answers what they fetch; options are those of emulator.Emulator",
    )


@pytest.fixture
def cf_queues(request: pytest.FixtureRequest) -> Generator[Emulator]:
    """A fresh Emulator on a virtual clock; the marker `cf_queues` sets it up."""
    from emulator.core.refusals import ConfigRefused

    emulator, said = None, ""
    try:
        emulator = made_for(request)
    except ConfigRefused as refused:
        said = refused.text
    if emulator is None:
        pytest.fail(said, pytrace=False)  # it says all: a trace through the plugin would hide it
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
    config, worker, fetch = (options.pop(name, None) for name in ("config", "worker", "fetch"))
    workers = _paths(request, worker)
    configs = list(dict.fromkeys([*_paths(request, config), *workers]))
    if fetch is not None and not workers:
        raise pytest.UsageError("the marker cf_queues has fetch but no worker")
    if not configs:
        if options.pop("env", None) is not None:
            raise pytest.UsageError("the marker cf_queues has env but no config and no worker")
        return Emulator(**options)
    emulator = Emulator.from_wrangler(configs, **options)
    try:
        for each in workers:
            emulator.worker(each, env=options.get("env"), fetch=fetch)
    except BaseException:
        emulator.close()
        raise
    return emulator


def _paths(request: pytest.FixtureRequest, given: Any) -> list[Path]:
    """Files as a marker names them: one or several, relative to the test file or, if they are not there, to the folder."""
    listed = [] if given is None else [given] if isinstance(given, str | PathLike) else list(given)
    beside = [Path(request.node.path).parent / each for each in listed]
    return [own if own.exists() else Path(each) for own, each in zip(beside, listed, strict=True)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember which emulators there were, and how far they had come."""
    item.stash[_BEFORE] = {number: _progress(emulator) for number, emulator in _alive().items()}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell, where a test has failed, what happened on every emulator that it used: the fixture's and those made by hand."""
    report = yield
    if report.when != "call" or not report.failed:
        return report
    before, own = item.stash.get(_BEFORE, {}), item.stash.get(EMULATOR, None)
    used = [each for number, each in _alive().items() if before.get(number, (0, 0)) != _progress(each) and _progress(each)[0]]
    for emulator in sorted(used, key=lambda each: each is not own)[:_EMULATORS_MAX]:
        name = "cf_queues" if emulator is own else "emulator"
        report.sections.append((f"{name}: what happened, seed {emulator.seed}", _story(emulator, item.config)))
    return report


def _alive() -> dict[int, Emulator]:
    """The emulators that there are; asking loads nothing."""
    module = sys.modules.get("emulator.testing.emulator")
    return {} if module is None else dict(module.ALIVE.items())  # `dict` of it would ask for what is gone meanwhile


def _progress(emulator: Emulator) -> tuple[int, int]:
    account = getattr(emulator, "account", None)  # there is none where its making failed
    return (0, 0) if account is None else (account.sequence, account.now_us)


def _story(emulator: Emulator, config: pytest.Config) -> str:
    from emulator.testing.failure import story

    terminal = config.get_terminal_writer() if config.pluginmanager.hasplugin("terminalreporter") else None
    try:
        return story(emulator, *((terminal.fullwidth,) if terminal else ()), colour=terminal is not None and terminal.hasmarkup)
    except Exception as error:  # noqa: BLE001 - it may not hide why the test failed
        return f"what happened could not be read: {error!r}"


EMULATOR: pytest.StashKey[Emulator] = pytest.StashKey()
"""Where a test's emulator is kept, of which a failure tells."""
_BEFORE: pytest.StashKey[dict[int, tuple[int, int]]] = pytest.StashKey()
_EMULATORS_MAX = 3
"""Of so many emulators at most a failing test tells."""
