"""What is read of a text serves for the next one: functions that are written as they were are taken over.

A function stands for itself: what it holds follows from its text alone, but for its place and for the scope around it. Both are
set anew; so what a function was taken out of is of no use any more.
"""

from __future__ import annotations

from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable


class Made:
    """A function that was read: its node, its scope, the names that it binds to what is not seen, the functions in it."""

    __slots__ = ("around", "inner", "is_taken", "key", "node", "rebound", "scope")

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.around: Made | None = None
        self.inner: list[Made] = []
        self.node: n.Lambda
        self.scope = n.Scope()
        self.rebound: set[str] = set()
        self.is_taken = False

    def take(self) -> None:
        """Note that the node stands elsewhere now, and what is in it; what is around it lacks it."""
        waiting, around = [self], self.around
        while waiting:
            each = waiting.pop()
            each.is_taken = True
            waiting += each.inner
        while around is not None:
            around.is_taken = True
            around = around.around

    def hold(self, inner: Made) -> None:
        """Note a function that is written into this one."""
        self.inner.append(inner)
        inner.around = self


class Functions:
    """The functions of a text, by what tells them apart."""

    def __init__(self) -> None:
        self.known: dict[Hashable, list[Made]] = {}

    def add(self, made: Made) -> None:
        """Keep a function, with those in it, for the next text."""
        made.is_taken = False
        self.known.setdefault(made.key, []).append(made)
        for each in made.inner:
            self.add(each)

    def next(self, root: Made) -> Functions:
        """What serves for the next text, when all of this one is read; what was not taken is forgotten."""
        self.known.clear()
        for made in root.inner:
            self.add(made)
        return self

    def taken(self, key: Hashable, at: tuple[int, int], scope: n.Scope) -> Made | None:
        """The function that is written so, moved to where it stands now."""
        several = self.known.get(key)
        made = next((each for each in several if not each.is_taken), None) if several else None
        if made is None:
            return None
        made.take()
        made.scope.outer = scope
        _move(made.node, at)
        return made


def _move(function: n.Lambda, to: tuple[int, int]) -> None:
    """Set anew where all of a function stands."""
    row, column = function.at
    down, right = to[0] - row, to[1] - column
    if not down and not right:
        return
    for each in walk(function):
        line, start = each.at
        if (line, start) == (0, 0) and isinstance(each, n.Other) and not each.inner:
            continue  # it stands nowhere
        each.at = (line + down, start + right if line == row else start)
