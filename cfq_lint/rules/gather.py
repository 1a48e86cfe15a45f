"""Gather what the rules say of themselves into the text of `index.py`. It reads the folder, so a new rule needs no list."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parent
COLUMNS = ("code", "name", "visit", "signs", "needs", "default", "superseded_by")
_LINE_LENGTH_MAX = 128
_HEAD = '''"""What the engine must know of every rule before it loads one. Generated from the rules by `make generate`.

{columns}, as `registry.Row` has them.
"""

from __future__ import annotations

ROWS: tuple[tuple[str, str, str, tuple[str, ...], str, bool, str | None], ...] = (
'''


def index_text() -> str:
    """The text of `index.py`."""
    rows = []
    for file in sorted(FOLDER.glob("cfq*.py")):
        rule = import_module(f"cfq_lint.rules.{file.stem}").RULE
        rows.append(_line([_literal(getattr(rule, column)) for column in COLUMNS]))
    columns = ", ".join(COLUMNS)
    return _HEAD.format(columns=columns[0].upper() + columns[1:]) + "".join(rows) + ")\n"


def _line(cells: list[str]) -> str:
    """A row as the formatter writes it: on one line where it fits."""
    line = f"    ({', '.join(cells)}),\n"
    split = "".join(f"        {cell},\n" for cell in cells)
    return line if len(line) <= _LINE_LENGTH_MAX + 1 else f"    (\n{split}    ),\n"


def _literal(value: object) -> str:
    """A value as the formatter writes it."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    return f'"{value}"' if isinstance(value, str) else repr(value)
