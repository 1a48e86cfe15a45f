"""A queue handler followed statement by statement: where every way of a message leads."""
