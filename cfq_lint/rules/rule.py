"""What a rule is: its metadata, and one pure generator of findings. The docstring of a rule's module is its page."""

from __future__ import annotations

import sys

from cfq_lint.facts.record import record
from cfq_lint.model.finding import Finding, Fix, Related, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.source.dialect import Dialect
    from cfq_lint.source.text import Place

FILE = "file"
PROJECT = "project"
FACTS = "facts"
CODE = "code"
LIVE = "live"
DIFF = "diff"
SAFE = "safe"
UNSAFE = "unsafe"

CONSUMER = "consumer"
LISTED_CONSUMER = "listed consumer"
PRODUCER = "producer"
ENTRY = "entry"
ENVIRONMENT = "environment"
WORKER = "worker"
SOURCE_CODE = "source code"
RUN = "run"

FAMILIES = {
    "0": "file and syntax",
    "1": "shape",
    "2": "limits",
    "3": "delivery and dead letters",
    "4": "topology",
    "5": "environments",
    "6": "dead and deprecated",
    "7": "cost and throughput",
    "8": "runtime and consumer code",
    "9": "the account",
}


@record
class Rule:
    """One mistake that the linter knows.

    `code` is `CFQ` and three digits, the first its family; `name` states the mistake in kebab case. `source` is the page that
    it rests on, `checked` the ISO day on which that page was last read.

    `visit` says what it judges: `check` is called with each of these and the facts, and yields findings. These are every
    `Consumer` that a deploy attaches, or those too that stand in `previews`, to judge their shape ("listed consumer"), every
    `Producer`, every element of the two lists ("entry"), every `Environment` that the run looks at, the `Worker` of each file,
    its `Code` where the source of a consumer was read ("source code"), or the `Topology` of the whole "run". What a rule says
    twice of one place, since environments inherit it, is reported once. `signs` are those of `cfq_lint.rules.signs` of which a
    file must show one, else the rule is not even loaded.

    `fix` is "safe", "unsafe" or None. `needs` says what it has to see: one "file", all files of the run ("project"), "facts"
    about the account, the Worker's "code", the account itself ("live"), or two states of a file ("diff"). A rule that is not
    `default` runs only when it is selected. Where the account is known, the rule named `superseded_by` runs instead: it knows
    what this one guesses. `limits` are ids of `cfq_lint.facts.limits`.
    """

    code: str
    name: str
    severity: Severity
    source: str
    checked: str
    visit: str
    signs: tuple[str, ...]
    check: Callable[[Any, Facts], Iterable[Finding]]
    fix: str | None = None
    needs: str = FILE
    default: bool = True
    superseded_by: str | None = None
    limits: tuple[str, ...] = ()

    def finding(
        self,
        place: Place,
        message: str,
        *,
        environment: str | None = None,
        fix: Fix | None = None,
        related: Iterable[Related] = (),
        severity: Severity | None = None,
    ) -> Finding:
        """A finding of this rule; `severity` only where the rule's own does not hold.

        What a file says may be quoted in `message` as it is: characters that cannot be printed, such as those that steer a
        terminal, are escaped here.
        """
        dialect = place.lines.dialect
        if dialect is not None:
            message, fix, related = in_words_of(dialect, place, message, fix, related)
        if not message.isprintable():
            message = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in message)
        return Finding(
            self.code, self.name, severity or self.severity, message, place, self.source, environment, fix, tuple(related)
        )

    @property
    def family(self) -> str:
        """The family's name, e.g. "limits"."""
        return FAMILIES[self.code[3]]

    @property
    def page(self) -> str:
        """The rule's page: the docstring of its module, in Markdown."""
        return sys.modules[self.check.__module__].__doc__ or ""

    @property
    def summary(self) -> str:
        """The first line of the page: what is true when the rule speaks."""
        return self.page.split("\n", 1)[0].rstrip(".")


def in_words_of(
    dialect: Dialect, place: Place, message: str, fix: Fix | None, related: Iterable[Related]
) -> tuple[str, Fix | None, tuple[Related, ...]]:
    """A finding in the words of a file that is no wrangler file; a fix goes where an edit of it cannot be made there."""
    told = tuple(
        Related(each.place, each.place.lines.dialect.say(each.message, each.place.start))
        if each.place.lines.dialect is not None
        else each
        for each in related
    )
    if fix is not None and not all(dialect.keeps(place.lines.text[e.place.start : e.place.end], e.text) for e in fix.edits):
        fix = None
    return dialect.say(message, place.start), fix, told
