"""Mutants of the emulator's core: small, plausible mistakes, each of which the suite must notice."""
