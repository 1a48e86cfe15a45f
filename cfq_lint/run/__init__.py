"""A request in, a report out."""
