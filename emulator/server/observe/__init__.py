"""Metrics, logs and series."""
