"""The only module that draws chance: ids of 32 hex digits, and seeded streams for faults."""

from __future__ import annotations

import random

_BITS, _BYTES = 128, 16


class Ids:
    """Draws ids. With a seed they are the same in every run; None draws from the system."""

    __slots__ = ("_random",)

    def __init__(self, seed: int | str | None) -> None:
        self._random = random.SystemRandom() if seed is None else random.Random(seed)  # noqa: S311 - ids, not secrets

    def one(self) -> str:
        """One id."""
        return f"{self._random.getrandbits(_BITS):032x}"

    def take(self, count: int) -> tuple[str, ...]:
        """Several ids, drawn at once: the same that `one` would give one after the other."""
        if count <= 1:
            return (self.one(),) if count else ()
        drawn = self._random.getrandbits(_BITS * count).to_bytes(_BYTES * count, "big").hex(" ", _BYTES).split(" ")
        drawn.reverse()
        return tuple(drawn)


Stream = random.Random
"""A stream of chance of its own."""


def stream(name: str, seed: int | str | None) -> random.Random:
    """A stream of chance of its own: the same for the same name and seed."""
    return random.Random(None if seed is None else f"{name}:{seed}")  # noqa: S311 - faults, not secrets
