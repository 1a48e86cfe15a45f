"""Settings: `[tool.cfq-lint]` in pyproject.toml, or cfq-lint.toml, checked by pydantic.

The nearest file upwards from the files that are linted counts; cfq-lint.toml beats a pyproject.toml beside it. A run without
settings does not load this module, nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cfq_lint.document import Document, Unreadable, read
from cfq_lint.facts import QueueFacts
from cfq_lint.finding import Severity
from cfq_lint.syntax.node import ARRAY, OBJECT

if TYPE_CHECKING:
    from cfq_lint.syntax import Node

_Seconds = Annotated[int, Field(strict=True, ge=0)]


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class DeclaredQueue(BaseModel):
    """What is declared of one queue, `[tool.cfq-lint.queues.NAME]`. Names are those of Cloudflare's API; times are seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    jurisdiction: Literal["eu", "us", "fedramp"] | None = Field(None, description="where the queue's data stay")
    message_retention_period: _Seconds | None = Field(None, description="seconds that a message is kept")
    delivery_delay: _Seconds | None = Field(None, description="seconds that a message waits by default")


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
    queues: dict[str, DeclaredQueue] = Field({}, description="declared facts about queues, by name")

    def queue_facts(self) -> dict[str, QueueFacts]:
        """The declared queues as the rules see them."""
        return {
            name: QueueFacts(queue.jurisdiction, queue.message_retention_period, queue.delivery_delay)
            for name, queue in self.queues.items()
        }

    @property
    def severity(self) -> Severity:
        """The threshold of the exit code."""
        return Severity(self.fail_on)


class WrongSettings(Exception):  # noqa: N818 - it names what the user wrote
    """A settings file that cannot be used; the message has one line a mistake, each with path, line and column."""


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
        raise WrongSettings("\n".join(lines)) from error


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
    name = ".".join(str(part) for part in mistake["loc"])
    if mistake["type"] == "extra_forbidden":
        from difflib import get_close_matches  # only a typo needs it

        known = DeclaredQueue.model_fields if len(mistake["loc"]) > 1 else {_kebab(field) for field in Settings.model_fields}
        near = get_close_matches(str(mistake["loc"][-1]), known, n=1)
        advice = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"
        return _said(document, start, f"there is no setting {name!r}; {advice}")
    return _said(document, start, f"{name}: {mistake['msg'][0].lower()}{mistake['msg'][1:]}")


def _said(document: Document, start: int, message: str) -> str:
    line, column = document.lines.position(start)
    return f"{document.path}:{line}:{column}: {message}"
