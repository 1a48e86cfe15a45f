"""The pytest marker `cf_explore`: an ordinary test is run again and again, each time under another schedule.

    @pytest.mark.cf_explore(max_faults=2)
    def test_nobody_pays_twice(cf_queues):
        …

Keywords are those of `emulator.explore`. The fixture `cf_queues` is a fresh emulator in every run, made as its own marker says;
other fixtures are made once.
"""  # fmt: skip

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from emulator.explore.found import Found
    from emulator.explore.found import Nothing as NothingFound
    from emulator.testing.emulator import Emulator

_OPTIONS = frozenset({"max_faults", "replay", "schedules", "seconds", "seed", "workers"})


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "cf_explore(max_faults=2, replay=None, schedules=20000, seconds=None): run the test under every schedule with up to "
        "max_faults deviations, and tell the shortest under which it fails",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a marked test under its schedules. Raises what the test raises under the shortest that breaks it."""
    options: dict[str, Any] = {}
    marks = list(pyfuncitem.iter_markers("cf_explore"))
    if not marks:
        return None
    for mark in reversed(marks):  # the mark closest to the test has the last word
        if mark.args or mark.kwargs.keys() - _OPTIONS:
            raise pytest.UsageError(f"the marker cf_explore takes keywords only: {', '.join(sorted(_OPTIONS))}")
        options |= mark.kwargs
    from emulator.explore.found import Nothing

    found = _explored(pyfuncitem, options)
    pyfuncitem.user_properties.append(("cf_explore", str(found.covered)))
    if isinstance(found, Nothing):
        return True
    found.error.add_note(f"\ncf_explore: {found.summary}\n\n{found.story}")
    raise found.error


def _explored(item: pytest.Function, options: dict[str, Any]) -> Found | NothingFound:
    from emulator.explore.rewrite import rewritten
    from emulator.explore.search import explore
    from emulator.testing.emulator import Emulator as Made
    from emulator.testing.pytest_plugin import EMULATOR, made_for

    test, names = item.obj, item._fixtureinfo.argnames  # noqa: SLF001 - pytest's own call of a test reads it too
    given = {name: item.funcargs[name] for name in names}

    def setup() -> Emulator:
        made = item.stash[EMULATOR] = made_for(item._request) if "cf_queues" in given else Made()  # noqa: SLF001 - as above
        return made

    def holds(emu: Emulator, _value: Any) -> None:
        result = test(**{name: emu if name == "cf_queues" else value for name, value in given.items()})
        if hasattr(result, "close"):
            result.close()
            raise pytest.UsageError("the marker cf_explore is for tests that are no coroutines: time is moved by the test")

    setup.__module__ = holds.__module__ = item.module.__name__
    setup.__qualname__ = holds.__qualname__ = item.nodeid.rpartition("::")[2]
    with rewritten([test]):
        try:
            return explore(setup, holds, **options)
        except KeyboardInterrupt as stop:
            reporter = item.config.pluginmanager.get_plugin("terminalreporter")
            for line in getattr(stop, "__notes__", ()):
                if reporter is not None:
                    reporter.write_line(f"\ncf_explore, until it was interrupted: {line}")
            raise
