"""cfq-lint: reads wrangler files and says what is wrong with their queues.

`lint_paths`, `lint_text` and `lint_texts` return a `Report` of `Finding`s. The names in `__all__` are public; everything else
may change.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.facts.errors import UnknownRule, WrongSettings
    from cfq_lint.facts.keys import Key, keys_of
    from cfq_lint.model.finding import Edit, Finding, Fix, Related, Severity
    from cfq_lint.run.engine import Report
    from cfq_lint.run.fixer import grouped_fixes
    from cfq_lint.run.lint import lint_paths, lint_text, lint_texts
    from cfq_lint.source.spots import Spot, spot_at
    from cfq_lint.source.text import Place

__all__ = [
    "Edit",
    "Finding",
    "Fix",
    "Key",
    "Place",
    "Related",
    "Report",
    "Severity",
    "Spot",
    "UnknownRule",
    "WrongSettings",
    "grouped_fixes",
    "keys_of",
    "lint_paths",
    "lint_text",
    "lint_texts",
    "spot_at",
]
__version__ = "0.1.0"

_ROOMS = {
    "Key": "facts.keys",
    "Spot": "source.spots",
    "grouped_fixes": "run.fixer",
    "keys_of": "facts.keys",
    "spot_at": "source.spots",
    "Edit": "model.finding",
    "Finding": "model.finding",
    "Fix": "model.finding",
    "Place": "source.text",
    "Related": "model.finding",
    "Report": "run.engine",
    "Severity": "model.finding",
    "UnknownRule": "facts.errors",
    "WrongSettings": "facts.errors",
    "lint_paths": "run.lint",
    "lint_text": "run.lint",
    "lint_texts": "run.lint",
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for: the command line must not pay for what it does not use."""
    if name not in _ROOMS:
        raise AttributeError(f"module 'cfq_lint' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"cfq_lint.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value
