"""Places in a source."""

from __future__ import annotations

from cfq_lint.worker_code.tree.nodes import Invoke, Member
from cfq_lint.worker_code.tree.statements import Case

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.modules.module import Module
    from cfq_lint.worker_code.tree.nodes import Node


class Mark:
    """A place in a source: the node and its module. There is one for each node, so that the same place is the same mark."""

    __slots__ = ("module", "node")

    def __init__(self, node: Node, module: Module) -> None:
        self.node = node
        self.module = module.base

    @property
    def order(self) -> tuple[str, int, int]:
        """The order of places."""
        return self.module.path, *self.node.at

    @property
    def is_call(self) -> bool:
        """Whether it is a call."""
        return isinstance(self.node, Invoke)

    @property
    def is_catch(self) -> bool:
        """Whether what it stands for is done with a failure there and then: a handler of `try`, or `.catch(…)`."""
        node = self.node
        return isinstance(node, Case) or (
            isinstance(node, Invoke) and isinstance(node.callee, Member) and node.callee.name == "catch"
        )

    @property
    def is_case(self) -> bool:
        """Whether it is a case of a switch."""
        return isinstance(self.node, Case)
