"""Consumers at work: what may be one, an invocation from its batch to its end, and the time in which all of it happens."""

from emulator.engine.targets.python import Runner

__all__ = ["Runner"]
