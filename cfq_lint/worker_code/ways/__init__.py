"""Every way of a message through a queue handler: what was done on it, awaited, caught, acknowledged, retried, thrown."""
