"""From the text of a file to one tree with spans: JSONC and TOML give the same nodes."""

from cfq_lint.syntax.node import Fault, Member, Node, Tree

__all__ = ["Fault", "Member", "Node", "Tree"]
