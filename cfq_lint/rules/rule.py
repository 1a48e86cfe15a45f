"""What a rule is: its metadata, and one pure generator of findings. The docstring of a rule's module is its page."""

from __future__ import annotations

import sys

from cfq_lint.facts.record import record
from cfq_lint.model.finding import Finding, Fix, Related, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology
    from cfq_lint.model.wrangler import Worker
    from cfq_lint.source.text import Place

FILE = "file"
PROJECT = "project"
FACTS = "facts"
CODE = "code"
LIVE = "live"
DIFF = "diff"
SAFE = "safe"
UNSAFE = "unsafe"

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

    `code` is `CFQ` and three digits, the first its family; `name` states the mistake in kebab case. `fix` is "safe", "unsafe"
    or None. `needs` says what it has to see: one "file", all files of the run ("project"), "facts" about the account, the
    Worker's "code", the account itself ("live"), or two states of a file ("diff"). `source` is the page that it rests on,
    `checked` the ISO day on which that page was last read. A rule that is not `default` runs only when it is selected.
    `limits` are ids of `cfq_lint.facts.limits`.
    `check` judges one Worker; `check_project` the whole run; a rule has one of them.
    """

    code: str
    name: str
    severity: Severity
    source: str
    checked: str
    fix: str | None = None
    needs: str = FILE
    default: bool = True
    limits: tuple[str, ...] = ()
    check: Callable[[Worker, Facts], Iterable[Finding]] | None = None
    check_project: Callable[[Topology, Facts], Iterable[Finding]] | None = None

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
        check = self.check or self.check_project
        assert check is not None, "a rule checks something"
        return sys.modules[check.__module__].__doc__ or ""

    @property
    def summary(self) -> str:
        """The first line of the page: what is true when the rule speaks."""
        return self.page.split("\n", 1)[0].rstrip(".")
