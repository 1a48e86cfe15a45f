"""Stores that a Worker binds."""
