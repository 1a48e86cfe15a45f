"""Text and spans; JSON and TOML; documents, and which of them wrangler reads."""

from cfq_lint.source.node import Fault, Member, Node, Tree

__all__ = ["Fault", "Member", "Node", "Tree"]
