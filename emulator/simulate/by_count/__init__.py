"""The run by count: the core's decisions for runs of equal messages."""
