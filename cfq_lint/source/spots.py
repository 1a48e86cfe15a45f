"""What stands at an offset of a configuration: the value, the key, and the way there from the root."""

from __future__ import annotations

from cfq_lint.facts.record import record
from cfq_lint.source.document import TOML, from_text
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


def spot_at(text: str, offset: int, path: str = "wrangler.jsonc") -> Spot:
    """What stands at an offset of a configuration's text, in code points; `path` says by its ending what the text is.

    Behind the last character of a key or a value counts as being on it. A text may well not parse.
    """
    return spot_in(from_text(path, text), offset)


def spot_in(document: Document, offset: int) -> Spot:
    """The same of a document that was read."""
    spot = _innermost(document, offset)
    if document.syntax == TOML and spot.node is document.tree.root:
        # A statement that is still being written is in no table yet: it will be in the one before it.
        before = document.text.rstrip()[:offset].rfind("\n")
        while before > 0 and not document.text[document.text.rfind("\n", 0, before) + 1 : before].startswith("["):
            nearer = _innermost(document, before)
            if nearer.node is not document.tree.root:
                path = nearer.path[:-1] if nearer.member is not None else nearer.path
                return Spot(path, _at(document.tree.root, path))
            before = document.text.rfind("\n", 0, before)
    return spot


def _at(node: Node | None, path: tuple[str | int, ...]) -> Node | None:
    for step in path:
        assert node is not None
        node = node.value[step] if isinstance(step, int) else next(each.node for each in node.value if each.key == step)
    return node


def _innermost(document: Document, offset: int) -> Spot:
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
