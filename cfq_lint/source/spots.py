"""What stands at an offset of a configuration: the value, the key, and the way there from the root."""

from __future__ import annotations

from cfq_lint.facts.record import record
from cfq_lint.source.document import TOML
from cfq_lint.source.node import ARRAY, OBJECT, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.source.document import Document
    from cfq_lint.source.node import Member


@record
class Spot:
    """What stands at an offset.

    `path` are the keys and indexes that lead there from the root. `node` is the innermost value around the offset, or that of
    the key that stands there; None outside of all. `member` is the key with its value, None in an array or at the root, and
    `on_key` says that it is the key itself.
    """

    path: tuple[str | int, ...]
    node: Node | None
    member: Member | None = None
    on_key: bool = False


def spot_at(document: Document, offset: int) -> Spot:
    """What stands at an offset, in code points; behind the last character of a key or a value counts as being on it."""
    root = document.tree.root
    found = Spot((), None)
    waiting = [Spot((), root)] if root is not None else []
    while waiting:
        spot = waiting.pop()
        node = spot.node
        assert node is not None
        if spot.on_key or node.start <= offset <= node.end:
            if _is_nearer(spot, found):
                found = spot
        elif document.syntax != TOML:
            continue  # of TOML, a table that deeper headers imply spans its key, and they stand elsewhere
        waiting += _within(spot, offset)
    return found


def _within(spot: Spot, offset: int) -> Iterator[Spot]:
    node = spot.node
    if node is None or spot.on_key:
        return
    if node.kind == OBJECT:
        for member in node.value:
            if member.start <= offset <= member.end:
                yield Spot((*spot.path, member.key), member.node, member, on_key=True)
            yield Spot((*spot.path, member.key), member.node, member)
    elif node.kind == ARRAY:
        for index, item in enumerate(node.value):
            yield Spot((*spot.path, index), item)


def _is_nearer(spot: Spot, found: Spot) -> bool:
    """Whether a spot is further in: tables of TOML span each other, and the smaller one is meant."""
    if found.node is None or spot.on_key != found.on_key:
        return found.node is None or spot.on_key
    assert spot.node is not None
    size, other = spot.node.end - spot.node.start, found.node.end - found.node.start
    return size < other or (size == other and len(spot.path) > len(found.path))
