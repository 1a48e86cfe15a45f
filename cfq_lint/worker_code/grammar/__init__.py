"""The grammars: Python, read with `ast`, JavaScript and TypeScript, read with tree-sitter."""
