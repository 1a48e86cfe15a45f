"""Frozen, slotted values: what `@dataclass(frozen=True, slots=True)` gives, without its import.

`import dataclasses` pulls in `inspect`, `ast` and `dis`, and costs a cold run of the linter about as much as everything else
that it does. A type checker sees an ordinary frozen dataclass here.
"""

from __future__ import annotations

from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_options: object) -> object:
        """Stand in for `typing.dataclass_transform`, which only type checkers read."""
        return lambda decorated: decorated


def _refuse_to_change(self: object, name: str, *_value: object) -> None:
    message = f"{type(self).__name__} is frozen: {name!r} cannot be changed; make a new one with replace()"
    raise AttributeError(message)


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a frozen, slotted value class of an annotated class: arguments by place or name, equality, hash, repr, pickling.

    Defaults are the class attributes; they are shared by all values, so they must be immutable.
    """
    fields = tuple(cls.__annotations__)
    defaults = {name: cls.__dict__[name] for name in fields if name in cls.__dict__}
    required = frozenset(fields) - defaults.keys()
    setters: list[Callable[[object, object], None]] = []

    # One loop for all classes: source made and compiled for each, as dataclasses do, takes a cold start twenty times as long.
    def __init__(self: object, *given: object, **named: object) -> None:  # noqa: N807 - it becomes the class's own
        for fill, value in zip(setters, given, strict=False):
            fill(self, value)
        if len(given) == len(fields) and not named:
            return
        rest = fields[len(given) :]
        if len(given) > len(fields) or not named.keys() <= set(rest) or not required.intersection(rest) <= named.keys():
            got = f"{len(given)} values and {', '.join(named) or 'no names'}"
            raise TypeError(f"{cls.__name__} takes {', '.join(fields)}; given were {got}")
        for name, fill in zip(rest, setters[len(given) :], strict=True):
            fill(self, named[name] if name in named else defaults[name])

    values: Callable[[object], tuple[object, ...]]
    if len(fields) > 1:
        values = attrgetter(*fields)
    else:

        def values(self: object) -> tuple[object, ...]:
            return tuple(getattr(self, name) for name in fields)

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def show(self: object) -> str:
        return f"{cls.__name__}({', '.join(f'{n}={v!r}' for n, v in zip(fields, values(self), strict=True))})"

    kept = {k: v for k, v in cls.__dict__.items() if k not in fields and k not in {"__dict__", "__weakref__"}}
    kept |= {
        "__slots__": fields,
        "__match_args__": fields,
        "__init__": __init__,
        "__eq__": equal,
        "__hash__": lambda self: hash(values(self)),
        "__repr__": show,
        "__setattr__": _refuse_to_change,
        "__delattr__": _refuse_to_change,
        "__reduce__": lambda self: (type(self), values(self)),
    }
    made: type[T] = type(cls.__name__, cls.__bases__, kept)
    setters += [getattr(made, name).__set__ for name in fields]
    return made


def replace(value: T, **changes: object) -> T:
    """A copy of a record with some fields changed. Raises TypeError for a field that it does not have."""
    fields: tuple[str, ...] = type(value).__slots__  # type: ignore[attr-defined]
    return type(value)(**({name: getattr(value, name) for name in fields} | changes))
