"""Names that are asked for and are not there: in the runtime neither, or only here. Both are told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from emulator.engine.options import meant
from emulator.workers.python.errors import NoSuchMember, tell

if TYPE_CHECKING:
    from collections.abc import Iterable


def missing(owner: Any, shown: str, name: str) -> AttributeError:
    """An error for a name that the runtime's object lacks as well; told, where it has the name in JavaScript's spelling."""
    twin = _camel(name)
    if twin != name and not name.startswith("_") and hasattr(owner, twin):
        tell(f"{shown}.{name} does not exist in the runtime: it is {twin}")
    return AttributeError(f"{shown} has no attribute {name!r}")


def known(call: str, given: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The options that a call of the runtime knows; told of the others where one of these is meant."""
    wanted = list(names)
    for name in given:
        if name not in wanted and (close := meant(name, wanted)) is not None:
            tell(f"{call}({name}=…) has no effect in the runtime: it is {close}")
    return {name: given[name] for name in wanted if given.get(name) is not None}


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


class _PartialType(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NoSuchMember(f"{cls.__name__}.{name}")


class Partial(metaclass=_PartialType):
    """Stands for an object or a constructor of the runtime, and has a part of its members: who asks for more is told."""

    asks_for_faults = True
    """Its calls do; for who puts something of a test's in its place."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if _camel(name) != name:
            raise missing(self, type(self).__name__, name)
        raise NoSuchMember(f"{type(self).__name__}.{name}")
