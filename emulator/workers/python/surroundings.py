"""What a Worker changes around it stays its own: environment variables, search path, folder, filters, handlers.

While its code runs, the process has what the Worker has set; afterwards everything is what it was. Tasks that it starts find
its environment variables in its own `os`, whoever's turn it is.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, MutableMapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    State = dict[Any, Any] | list[Any]

_GONE = object()
_SIGNALS = [each for each in signal.Signals if each.name in {"SIGINT", "SIGTERM", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGUSR2"}]
"""Those that programs handle; not every system has all of them."""


class _Part(NamedTuple):
    """Something of the process: a dict, whose changed entries are a Worker's, or a list, whose new ones are."""

    take: Callable[[], Any]
    put: Callable[[Any], None]


def _folder() -> dict[str, str]:
    with suppress(OSError):
        return {"": os.getcwd()}
    return {}


def _put_folder(state: dict[str, str]) -> None:
    with suppress(OSError):
        os.chdir(state.get("", "."))


class _Environ:
    """The process's environment variables as a dict, decoded anew only where some have changed: a batch asks twice."""

    def __init__(self) -> None:
        self._encoded: dict[Any, Any] = {}
        self._decoded: dict[str, str] = {}

    def take(self) -> dict[str, str]:
        """All of them; not to be written to."""
        encoded = os.environ._data  # type: ignore[attr-defined] # noqa: SLF001 - to copy `os.environ` takes 0.1 ms
        if encoded != self._encoded:
            self._encoded, self._decoded = encoded.copy(), dict(os.environ)
        return self._decoded


def _put_environ(state: dict[str, str]) -> None:
    for name in os.environ.keys() - state:
        del os.environ[name]
    os.environ.update({name: value for name, value in state.items() if os.environ.get(name) != value})


def _put_filters(state: list[Any]) -> None:
    with warnings.catch_warnings():  # its end tells the module that its filters have changed
        pass
    warnings.filters[:] = state  # type: ignore[index]


def _signals() -> dict[signal.Signals, Any]:
    if threading.current_thread() is not threading.main_thread():
        return {}  # nobody can set any here
    return {number: signal.getsignal(number) for number in _SIGNALS}


def _put_signals(state: dict[signal.Signals, Any]) -> None:
    for number, handler in state.items():
        if handler is not None and signal.getsignal(number) != handler:
            signal.signal(number, handler)


_PARTS = (
    _Part(_Environ().take, _put_environ),
    _Part(lambda: list(sys.path), lambda state: sys.path.__setitem__(slice(None), state)),
    _Part(_folder, _put_folder),
    _Part(lambda: list(warnings.filters), _put_filters),
    _Part(_signals, _put_signals),
    _Part(lambda: list(logging.root.handlers), lambda state: logging.root.handlers.__setitem__(slice(None), state)),
    _Part(lambda: {"": logging.root.level}, lambda state: logging.root.setLevel(state[""])),
)


class Surroundings:
    """What one Worker has changed. `environ` is its `os.environ`."""

    def __init__(self) -> None:
        self.environ = WorkerEnviron(self)
        self.inside = 0
        self.own: list[Any] = [{}, [], {}, [], {}, [], {}]

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Let the process have what the Worker has set, and be what it was afterwards."""
        self.inside += 1
        before = [part.take() for part in _PARTS] if self.inside == 1 else []
        for part, own, state in zip(_PARTS, self.own, before, strict=False):
            if own:
                part.put(_with(state, own))
        try:
            yield
        finally:
            self.inside -= 1
            for place, (part, state) in enumerate(zip(_PARTS, before, strict=False)):
                self.own[place] = _changes(state, part.take())
                if self.own[place]:
                    part.put(state)


def _with(state: Any, own: Any) -> Any:
    if isinstance(state, list):
        return own + [each for each in state if each not in own]
    return {name: value for name, value in {**state, **own}.items() if value is not _GONE}


def _changes(before: Any, after: Any) -> Any:
    if isinstance(before, list):
        return [each for each in after if each not in before]
    if before is after:
        return {}
    changed = {name: value for name, value in after.items() if before.get(name, _GONE) != value}
    return {**changed, **dict.fromkeys(before.keys() - after, _GONE)}


class WorkerEnviron(MutableMapping[str, str]):
    """`os.environ` of a Worker."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around

    def _all(self) -> dict[str, str]:
        found: dict[str, str] = dict(os.environ) if self._around.inside else _with(dict(os.environ), self._around.own[0])
        return found

    def __getitem__(self, name: str) -> str:
        return self._all()[name]

    def __setitem__(self, name: str, value: str) -> None:
        if self._around.inside:
            os.environ[name] = value
        elif isinstance(value, str):
            self._around.own[0][name] = value
        else:
            message = f"str expected, not {type(value).__name__}"
            raise TypeError(message)

    def __delitem__(self, name: str) -> None:
        if self._around.inside:
            del os.environ[name]
        else:
            self._around.own[0].update({name: _GONE} if self[name] else {})

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def copy(self) -> dict[str, str]:
        """A plain dict of it."""
        return self._all()

    def __repr__(self) -> str:
        return f"environ({self._all()!r})"
