"""The face for tests."""
