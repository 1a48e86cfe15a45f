"""The REST API, a file for each operation."""
