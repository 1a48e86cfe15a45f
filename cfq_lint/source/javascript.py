"""The parser of JavaScript and TypeScript: tree-sitter with its two grammars, loaded when the first source is read."""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node, Parser

JAVASCRIPT, TYPESCRIPT, TSX = "javascript", "typescript", "tsx"


def parsed(path: str, source: bytes) -> Node | None:
    """The root of a module's syntax tree, by the ending of its path; None where it does not parse."""
    root = tree(TSX if path.endswith("tsx") else TYPESCRIPT if path.endswith("ts") else JAVASCRIPT, source)
    return None if root.has_error else root


def tree(language: str, source: bytes) -> Node:
    """The root of a text's syntax tree, with nodes of errors where it does not parse."""
    return _parser(language).parse(source).root_node


@cache
def _parser(language: str) -> Parser:
    from tree_sitter import Language, Parser  # a run without such sources does not pay for it

    if language == JAVASCRIPT:
        import tree_sitter_javascript

        return Parser(Language(tree_sitter_javascript.language()))
    import tree_sitter_typescript as typescript

    return Parser(Language(typescript.language_tsx() if language == TSX else typescript.language_typescript()))
