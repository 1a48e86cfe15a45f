"""The parser of JavaScript and TypeScript: tree-sitter with its two grammars, loaded when the first source is read."""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Language, Node

JAVASCRIPT, TYPESCRIPT, TSX = "javascript", "typescript", "tsx"


def parsed(path: str, source: bytes) -> Node | None:
    """The root of a module's syntax tree, by the ending of its path; None where it does not parse."""
    from tree_sitter import Parser  # a run without such sources does not pay for it

    kind = TSX if path.endswith("tsx") else TYPESCRIPT if path.endswith("ts") else JAVASCRIPT
    root = Parser(_language(kind)).parse(source).root_node
    return None if root.has_error else root


@cache
def _language(kind: str) -> Language:
    from tree_sitter import Language

    if kind == JAVASCRIPT:
        import tree_sitter_javascript

        return Language(tree_sitter_javascript.language())
    import tree_sitter_typescript

    return Language(tree_sitter_typescript.language_tsx() if kind == TSX else tree_sitter_typescript.language_typescript())
