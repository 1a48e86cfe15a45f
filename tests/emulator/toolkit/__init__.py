"""Tests of the toolkit, and of everything else that consumers are built from."""
