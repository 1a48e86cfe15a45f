"""Places in a source, as people write them."""

from __future__ import annotations

from cfq_lint.facts.record import record


@record
class Spot:
    """A place in a source, 1-based."""

    path: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"
