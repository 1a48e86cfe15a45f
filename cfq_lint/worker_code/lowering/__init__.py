"""A tree as steps: what happens, in its order, as far as a source tells."""
