"""What an expression lists: texts, and the keys of a table that something is chosen from."""

from __future__ import annotations

from cfq_lint.worker_code.modules.values import DEPTH_MAX, Values, without_list
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import without_spread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from cfq_lint.worker_code.modules.module import Value

    Keys: TypeAlias = tuple[tuple[str, ...], bool]


class Tables(Values):
    """Looks into lists, objects and maps that are written out."""

    def texts(self, at: Value) -> list[str] | None:
        """The texts that an expression is or lists; None where it holds anything else."""
        found = self.value(at)
        if found is None:
            return None
        match found.node:
            case n.Text(text):
                return [text]
            case n.Listing(items):
                several = [self.texts(found.beside(without_spread(each))) for each in items]
            case n.New(n.Name("Set"), (listed,)):
                several = [self.texts(found.beside(listed))]
            case n.Invoke(n.Member(n.Name("Object"), ("keys" | "values") as part), (of,)):
                several = [self._parts(found.beside(of), part)]
            case _:
                return None
        return None if any(each is None for each in several) else [text for each in several for text in each or ()]

    def _parts(self, at: Value, part: str) -> list[str] | None:
        """`Object.keys(table)` and `Object.values(table)`."""
        keys, table = self.keys(at), self.value(at)
        if keys is None or not keys[1] or table is None:
            return None
        if part == "keys":
            return list(keys[0])
        values = [self.member(table, key) for key in keys[0]]
        texts = [each.node.value for each in values if each is not None and isinstance(each.node, n.Text)]
        return texts if len(texts) == len(values) else None

    def keys(self, at: Value, depth: int = 0) -> Keys | None:
        """The keys of a table, and whether these are all; None where it is no table that is written out."""
        found = self.value(at) if depth < DEPTH_MAX else None
        if found is None or isinstance(found.node, n.Class):
            return None
        match found.node:
            case n.Record(members, owner):
                keys = [self._key(found.beside(each), each, depth) for each in members]
                keys.append((tuple(name for of, name in found.module.set_later if of and of == owner), True))
            case n.New(n.Name("Map"), (entries, *_)):
                keys = self._entries(found.beside(entries))
            case _:
                return None
        return tuple(dict.fromkeys(key for each, _ in keys for key in each)), all(whole for _, whole in keys)

    def _entries(self, at: Value) -> list[Keys]:
        """The keys in `[[key, value], …]`."""
        listed = self.value(at)
        if listed is None or not isinstance(listed.node, n.Listing):
            return [((), False)]
        pairs = [each.items if isinstance(each, n.Listing) else () for each in listed.node.items]
        texts = [self.text(listed.beside(pair[0])) if pair else None for pair in pairs]
        return [((text,), True) if text is not None else ((), False) for text in texts]

    def _key(self, at: Value, member: n.Node, depth: int) -> Keys:
        match member:
            case n.Spread(value):
                return self.keys(at.beside(value), depth + 1) or ((), False)
            case n.Pair(str(name)):
                return (name,), True
            case n.Pair(None, n.Node() as key):
                text = self.text(at.beside(without_list(key)))
                return ((text,), True) if text is not None else ((), False)
            case _:
                return (), False
