"""What a grammar makes of a text, the same for every language: expressions, statements, and what can be asked of them."""
