"""The modules of a Worker: how they hang together, and what each name means in them."""
