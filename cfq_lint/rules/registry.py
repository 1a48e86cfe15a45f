"""The rules by code, by name and by module; a rule itself is loaded when a file shows a sign that it goes by."""

from __future__ import annotations

import sys

from cfq_lint.facts.record import record
from cfq_lint.rules.index import ROWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.rules.rule import Rule


@record
class Row:
    """What is known of a rule before it is loaded; each field is the rule's own of that name, see `Rule`."""

    code: str
    name: str
    visit: str
    signs: tuple[str, ...]
    needs: str
    default: bool
    superseded_by: str | None


def module_of(code: str, name: str) -> str:
    """The module of a rule."""
    return f"{code.lower()}_{name.replace('-', '_')}"


INDEX: dict[str, Row] = {module_of(row[0], row[1]): Row(*row) for row in ROWS}
"""Every rule's row by its module, in order of their codes."""
BY_KEY: dict[str, str] = {key: module for module, row in INDEX.items() for key in (row.code, row.name)}
"""Every rule's module by its code and by its name."""


def load(module: str) -> Rule:
    """The rule in a module. Raises KeyError where there is no such rule."""
    path = f"cfq_lint.rules.{module}"
    if path not in sys.modules:
        from importlib import import_module  # the first rule of a run needs it, a clean run does not

        if module not in INDEX:
            raise KeyError(module)
        import_module(path)
    rule: Rule = sys.modules[path].RULE
    return rule


def every_rule() -> tuple[Rule, ...]:
    """All rules, in order of their code."""
    return tuple(load(module) for module in INDEX)
