"""Settings: `[tool.cfq-lint]` in pyproject.toml, or cfq-lint.toml, checked by pydantic.

The nearest file upwards from the files that are linted counts; cfq-lint.toml beats a pyproject.toml beside it. A run without
settings does not load this module, nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cfq_lint.facts.errors import Unreadable, WrongSettings
from cfq_lint.model.account_facts import DeclaredLoad, DeclaredMetrics, QueueFacts
from cfq_lint.model.finding import Severity
from cfq_lint.model.mistakes import field_of, wanted
from cfq_lint.source.document import Document, read
from cfq_lint.source.node import ARRAY, OBJECT

if TYPE_CHECKING:
    from cfq_lint.source import Node

_Seconds = Annotated[int, Field(strict=True, ge=0)]
_Count = Annotated[int, Field(strict=True, ge=0)]
_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
_Said = Annotated[str, Field(min_length=1)]
_Watched = _Said | Literal[False] | None


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class DeclaredWatch(BaseModel):
    """Where a queue's numbers are watched, `[tool.cfq-lint.queues.NAME.metrics]`; false says that nobody watches."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dead_letter_depth: _Watched = Field(None, description="where the depth of its dead-letter queue is watched")
    oldest_message_age: _Watched = Field(None, description="where the age of its oldest message is watched")
    retries: _Watched = Field(None, description="where one sees how often messages are retried")
    duplicates: _Watched = Field(None, description="where one sees how many duplicates the consumer refused")

    def as_facts(self) -> DeclaredMetrics:
        """The same as the checklist sees it."""
        said = {name: getattr(self, name) for name in type(self).model_fields}
        return DeclaredMetrics(**{name: "" if where is False else where for name, where in said.items()})


class DeclaredQueue(BaseModel):
    """What is declared of one queue, `[tool.cfq-lint.queues.NAME]`. Names are those of Cloudflare's API; times are seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    jurisdiction: Literal["eu", "us", "fedramp", "global"] | None = Field(None, description="where the queue's data stay")
    message_retention_period: _Seconds | None = Field(None, description="seconds that a message is kept")
    delivery_delay: _Seconds | None = Field(None, description="seconds that a message waits by default")
    message_size_bytes: _Count | None = Field(
        None, description="bytes of a message's body; also of the largest, unless max_message_size_bytes is given"
    )
    max_message_size_bytes: _Count | None = Field(None, description="bytes of the largest message's body")
    send_batch_messages: _Count | None = Field(None, description="most messages in one sendBatch(); 0: send() alone is used")
    rate_per_second: _Amount | None = Field(
        None, description="messages sent a second, on average; also the peak, unless peak_rate_per_second is given"
    )
    peak_rate_per_second: _Amount | None = Field(None, description="most messages sent in a second")
    processing_seconds: _Amount | None = Field(
        None,
        description="wall time of one consumer invocation, whatever is in it; also the longest, unless max_processing_seconds"
        " is given",
    )
    processing_message_seconds: _Amount | None = Field(
        None, description="wall time of one consumer invocation for each message in it, besides processing_seconds"
    )
    max_processing_seconds: _Amount | None = Field(None, description="longest wall time of one consumer invocation")
    failure_share: Annotated[float, Field(ge=0, le=1, strict=True)] | None = Field(
        None, description="share of the deliveries that fail, 0 to 1"
    )
    idempotency_key: _Said | None = Field(None, description="field of the body in which the producer sends a unique key")
    deduplication: _Said | None = Field(
        None, description="how the consumer refuses what it has seen, e.g. which column is unique"
    )
    acknowledgement: _Said | None = Field(
        None, description="who made sure that each message is acknowledged after its side effect, and when"
    )
    alert: _Said | None = Field(None, description="who is told when the queue's consumer fails; asked of dead-letter queues")
    metrics: DeclaredWatch | None = Field(None, description="where its numbers are watched")

    def load(self) -> DeclaredLoad | None:
        """What is said of its traffic; None where nothing is."""
        names = [name for name in type(self).model_fields if name not in {*_ACCOUNT_FIELDS, "metrics"}]
        said = {name: getattr(self, name) for name in names}
        if self.metrics is None and all(value is None for value in said.values()):
            return None
        return DeclaredLoad(**said, metrics=self.metrics.as_facts() if self.metrics is not None else DeclaredMetrics())


_ACCOUNT_FIELDS = ("jurisdiction", "message_retention_period", "delivery_delay")


class Settings(BaseModel):
    """All settings. Options of the command line win over them."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=_kebab, title="cfq-lint settings")

    plan: Literal["free", "paid"] | None = Field(None, description="the account's Workers plan")
    select: list[str] | None = Field(None, description="run these rules only: names, codes, beginnings of codes, or all")
    ignore: list[str] = Field([], description="leave these rules out")
    exclude: list[str] = Field([], description="globs of files to pass over, as in .gitignore, relative to the settings file")
    fail_on: Literal["error", "warning", "info"] = Field("warning", description="least severity that makes the exit code 1")
    per_path_ignores: dict[str, list[str]] = Field(
        {}, description="rules to leave out in files that match a glob, relative to the settings file"
    )
    known_queues: list[str] | None = Field(None, description="all queues of the account")
    run: bool = Field(
        True,
        description="run a `cloudflare.config.ts` for what its text does not tell, where `@cloudflare/config` is installed",
    )
    source: _Said | None = Field(
        None,
        description="the Worker's entry where `main` is what a build writes, relative to the settings file; counts for the"
        " configurations in whose folder it lies",
    )
    queues: dict[str, DeclaredQueue] = Field({}, description="declared facts about queues, by name")

    def queue_facts(self) -> dict[str, QueueFacts]:
        """The declared queues as the rules see them."""
        return {
            name: QueueFacts(queue.jurisdiction, queue.message_retention_period, queue.delivery_delay)
            for name, queue in self.queues.items()
        }

    def loads(self) -> dict[str, DeclaredLoad]:
        """What is declared of the traffic of queues."""
        said = {name: queue.load() for name, queue in self.queues.items()}
        return {name: load for name, load in said.items() if load is not None}

    @property
    def severity(self) -> Severity:
        """The threshold of the exit code."""
        return Severity(self.fail_on)


def load(path: str, table: tuple[str, ...]) -> Settings:
    """Read the settings in `table` of a TOML file. Raises WrongSettings."""
    try:
        document = read(path)
    except Unreadable as error:
        raise WrongSettings(str(error)) from error
    if document.encoding_problem:
        raise WrongSettings(f"{document.path}: {document.encoding_problem}")
    if document.faults:
        raise WrongSettings("\n".join(_said(document, fault.start, fault.message) for fault in document.faults))
    node = document.tree.root
    for key in table:
        node = _child(node, key)
    try:
        return Settings.model_validate(node.plain() if node is not None else {})
    except ValidationError as error:
        lines = [_mistake(document, node, mistake) for mistake in error.errors(include_url=False)]
        raise WrongSettings("\n".join(dict.fromkeys(lines))) from error


def _child(node: Node | None, key: object) -> Node | None:
    if node is not None and node.kind == OBJECT:
        return next((member.node for member in node.value if member.key == key), None)
    if node is not None and node.kind == ARRAY and isinstance(key, int) and key < len(node.value):
        child: Node = node.value[key]
        return child
    return None


def _mistake(document: Document, node: Node | None, mistake: Any) -> str:
    start = node.start if node is not None else 0
    for key in mistake["loc"]:
        if node is not None and node.kind == OBJECT:
            start = next((member.start for member in node.value if member.key == key), start)
        node = _child(node, key)
    name = field_of(mistake)
    if mistake["type"] == "extra_forbidden":
        from difflib import get_close_matches  # only a typo needs it

        known = _known(len(mistake["loc"]))
        near = get_close_matches(str(mistake["loc"][-1]), known, n=1)
        advice = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"
        return _said(document, start, f"there is no setting {name!r}; {advice}")
    return _said(document, start, f"{name} {wanted(mistake)}")


def _known(depth: int) -> set[str]:
    """The names of the settings in a table that deep in the file."""
    if depth == 1:
        return {_kebab(field) for field in Settings.model_fields}
    return set((DeclaredQueue if depth == _DEPTH_OF_QUEUE else DeclaredWatch).model_fields)


_DEPTH_OF_QUEUE = 3


def _said(document: Document, start: int, message: str) -> str:
    line, column = document.lines.position(start)
    return f"{document.path}:{line}:{column}: {message}"
