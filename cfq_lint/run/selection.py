"""Which rules a run has: what its user selects and ignores, and what can judge by what is known."""

from __future__ import annotations

from cfq_lint.facts.errors import UnknownRule
from cfq_lint.rules.registry import BY_KEY, INDEX
from cfq_lint.rules.signs import ACCOUNT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.model.account_facts import Facts


def choose(select: Iterable[str] | None = None, ignore: Iterable[str] = ()) -> tuple[str, ...]:
    """The modules of a run's rules: those selected (None: all that are on by default) without those ignored.

    A rule is given by its name, its code, the start of its code (`CFQ2`) or `all`. Raises UnknownRule.
    """
    dropped = {module for key in ignore for module in matching(key)}
    if select is None:
        chosen = {module for module, row in INDEX.items() if row.default}
    else:
        chosen = {module for key in select for module in matching(key)}
    return tuple(module for module in INDEX if module in chosen and module not in dropped)


def able(modules: tuple[str, ...], facts: Facts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The modules that can judge by such facts, and the codes of those that cannot, as they need the account itself.

    Where the account is known, a rule about it takes the place of the one that guesses the same from less.
    """
    live = [module for module in modules if ACCOUNT in INDEX[module].signs]
    if not facts.is_account:
        return tuple(module for module in modules if module not in live), tuple(INDEX[module].code for module in live)
    known = {INDEX[module].name for module in live}
    return tuple(module for module in modules if INDEX[module].superseded_by not in known), ()


def matching(key: str) -> list[str]:
    """The modules of the rules that a name, a code, the start of a code or `all` means. Raises UnknownRule otherwise."""
    if key.lower() == "all":
        return [*INDEX]
    module = BY_KEY.get(key) or BY_KEY.get(key.upper()) or BY_KEY.get(key.lower())
    if module is not None:
        return [module]
    if key.upper().startswith("CFQ"):
        family = [module for module in INDEX if module.startswith(key.lower())]
        if family:
            return family
    from difflib import get_close_matches  # only a typo needs it

    near = get_close_matches(key, BY_KEY, n=1)
    raise UnknownRule(f"no rule {key!r}" + (f"; did you mean {near[0]!r}?" if near else "; `cfq-lint rules` lists them"))
