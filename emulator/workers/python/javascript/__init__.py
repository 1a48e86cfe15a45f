"""What a Python Worker sees of JavaScript."""
