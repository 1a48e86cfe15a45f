"""`self.env` of a Worker: what its config binds, and whatever object a test puts there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from emulator.workers.bindings import Binding
from emulator.workers.outside import outside
from emulator.workers.python.errors import NotEmulated
from emulator.workers.python.queue_binding import QueueBinding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Unsupported:
    """What the runtime has and is not emulated: every use of it says so, also to `warn`, if that is given, the first time."""

    asks_for_faults = True

    def __init__(self, what: str, instead: str = "", warn: Callable[[str], None] | None = None) -> None:
        self.__dict__.update(_said=(what, instead), _warn=warn)

    def _refuse(self, *_given: Any, **_named: Any) -> NoReturn:
        error, warn = NotEmulated(*self.__dict__["_said"]), self.__dict__["_warn"]
        if warn is not None:
            self.__dict__["_warn"] = None
            warn(str(error))
        raise error

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse()

    __call__ = __getitem__ = __setitem__ = __iter__ = __setattr__ = __contains__ = __await__ = __aenter__ = _refuse

    def __repr__(self) -> str:
        return f"<not emulated: {self.__dict__['_said'][0]}>"


def unsupported_binding(name: str, kind: str, owner: str = "worker", warn: Callable[[str], None] | None = None) -> Unsupported:
    """A binding of a kind that is not emulated."""
    return Unsupported(f"env.{name}, a binding of {kind}", f"put an object of your own there: {owner}.env.{name} = …", warn)


class WorkerEnvironment:
    """Bindings by name, as attributes and items. `env.NAME = object` puts one there; `bind` does the same.

    What is not bound is looked up with `find`, which raises AttributeError, and is otherwise missing.
    """

    def __init__(self, content_type: str, find: Callable[[str], Any], names: Callable[[], Iterator[str]]) -> None:
        self.__dict__.update(_bound={}, _content_type=content_type, _find=find, _names=names)

    def bind(self, name: str, value: Any) -> None:
        """Put an object there, under a name. A queue's binding becomes what a Worker sees; everything else stays as it is."""
        if isinstance(value, Binding):
            value = QueueBinding(value, self._content_type)
        self._bound[name] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._bound:
            return outside(name, self._bound[name])
        try:
            value = self._find(name)
        except AttributeError:
            message = f"there is no binding {name!r} (bindings: {', '.join(sorted(self)) or 'none'})"
            raise AttributeError(message) from None
        return QueueBinding(value, self._content_type) if isinstance(value, Binding) else value

    def __setattr__(self, name: str, value: Any) -> None:
        self.bind(name, value)

    def __delattr__(self, name: str) -> None:
        if name not in self._bound:
            raise AttributeError(name)
        del self._bound[name]

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self, name)
        except AttributeError as error:
            raise KeyError(str(error)) from None

    __setitem__ = bind

    def __contains__(self, name: object) -> bool:
        return name in set(self)

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys([*self._bound, *self._names()])

    def __repr__(self) -> str:
        return f"env({', '.join(sorted(self))})"
