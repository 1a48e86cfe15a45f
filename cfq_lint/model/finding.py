"""What the linter says: findings and the edits that repair them. Frozen values that outputs turn into text."""

from __future__ import annotations

import re
from enum import StrEnum

from cfq_lint.facts.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.source.text import Place


class Severity(StrEnum):
    """How bad a finding is.

    ERROR: Cloudflare or wrangler refuses it, or messages are lost. WARNING: legal, but probably wrong, costly, or different
    locally and in production. INFO: worth knowing; never fails a run by default.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for info, 1 for warning, 2 for error."""
        return _RANKS[self]


_RANKS = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}


@record
class Edit:
    """Replace what stands at `place` (its offsets count) by `text`. An offset of -1 is the byte order mark before the text."""

    place: Place
    text: str


@record
class Fix:
    """A repair: what it does, and edits of one file that do not overlap. A `safe` one keeps the meaning of the file."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool


@record
class Related:
    """Another place that a finding rests on, perhaps in another file, and what it has to do with it."""

    place: Place
    message: str


@record
class Finding:
    """One mistake at one place.

    `code` and `name` are the rule's. `message` says what is there, what is allowed and what to do. `url` is the page of
    Cloudflare that it rests on. `environment` is the wrangler environment, None for the top level. Lines and columns are
    1-based and count code points; the end is exclusive.
    """

    code: str
    name: str
    severity: Severity
    message: str
    place: Place
    url: str
    environment: str | None = None
    fix: Fix | None = None
    related: tuple[Related, ...] = ()

    @property
    def path(self) -> str:
        """The file as it was named to the run, with forward slashes."""
        return self.place.path

    @property
    def line(self) -> int:
        """1-based line at which the mistake starts."""
        return self.place.line

    @property
    def column(self) -> int:
        """1-based column, in code points, at which the mistake starts."""
        return self.place.column

    @property
    def end_line(self) -> int:
        """1-based line at which the mistake ends."""
        return self.place.end_line

    @property
    def end_column(self) -> int:
        """1-based column just behind the mistake."""
        return self.place.end_column


def fingerprint(finding: Finding, path: str) -> str:
    """What a finding is known by when lines move: its rule, its file and what it says, without line numbers.

    `path` is the file as the reader of the fingerprint names it. Two findings that say the same of one file have the same one.
    Of the account, what stands in brackets changes from hour to hour and does not count.
    """
    said = re.sub(r"\bline \d+", "line", finding.message)
    if finding.code.startswith(_ACCOUNT):
        said = re.sub(r" \([^()]*\)", "", said)
    return f"{path}\0{finding.code}\0{said}"


_ACCOUNT = "CFQ9"


def sort_key(finding: Finding) -> tuple[str, int, int, str, str]:
    """Order of a report: by file, position, code; the same whatever the order in which the files were given."""
    place = finding.place
    return (place.path, place.start, place.end, finding.code, finding.message)
