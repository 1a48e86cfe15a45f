"""The view that rules use: a file as Workers, environments, producers and consumers, each value with its place.

A wrangler file describes one Worker, and each named environment is a Worker of its own. `queues` is not inherited; `name`,
`limits`, `compatibility_date` and `compatibility_flags` are. https://developers.cloudflare.com/workers/wrangler/environments/

No value has been checked: a field that is there may hold anything, and `text`, `number` and their like are None where it holds
something else. So a rule asks for what it can judge and passes over the rest, which is another rule's.

The module is longer than most: field, entry, environment and Worker are one view and mean little apart.
"""

from __future__ import annotations

import os

from cfq_lint.facts.errors import Unreadable
from cfq_lint.facts.keys import CONSUMER_KEYS, DECLARED_KEYS, PRODUCER_KEYS, Key, Spelling, may_mean_queues, meant, normal
from cfq_lint.source.document import CONFIG_NAME, NAMES, PLAN, read
from cfq_lint.source.node import ARRAY, BOOLEAN, DECLARED, NULL, NUMBER, OBJECT, STRING, Member, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import ClassVar

    from cfq_lint.source.document import Document
    from cfq_lint.source.text import Place


class Field:
    """A key with its value, as they stand in the file."""

    __slots__ = ("_fields", "document", "member")

    def __init__(self, document: Document, member: Member) -> None:
        self.document = document
        self.member = member
        self._fields: dict[str, Field] | None = None

    @property
    def key(self) -> str:
        """The key's name."""
        return self.member.key

    @property
    def node(self) -> Node:
        """The value in the syntax tree."""
        return self.member.node

    @property
    def kind(self) -> str:
        """The value's kind, as in `syntax.Node`."""
        return self.member.node.kind

    @property
    def place(self) -> Place:
        """Where the value stands."""
        return self.document.at(self.member.node)

    @property
    def key_place(self) -> Place:
        """Where the key stands."""
        return self.document.place(self.member.start, self.member.end)

    @property
    def text(self) -> str | None:
        """The value, if it is a string."""
        node = self.member.node
        value: str | None = node.value if node.kind == STRING else None
        return value

    @property
    def number(self) -> int | float | None:
        """The value, if it is a number."""
        node = self.member.node
        value: int | float | None = node.value if node.kind == NUMBER else None
        return value

    @property
    def integer(self) -> int | None:
        """The value, if it is a whole number; `10.0` is one."""
        number = self.number
        if number is None or number != number or number in (_INFINITE, -_INFINITE) or number != int(number):  # noqa: PLR0124 - NaN
            return None
        return int(number)

    @property
    def truth(self) -> bool | None:
        """The value, if it is true or false."""
        node = self.member.node
        value: bool | None = node.value if node.kind == BOOLEAN else None
        return value

    @property
    def is_null(self) -> bool:
        """Whether the value is null."""
        return self.member.node.kind == NULL

    @property
    def fields(self) -> dict[str, Field]:
        """The fields of the value, if it is an object; of repeated keys the last, as wrangler reads it."""
        if self._fields is None:
            self._fields = fields_of(self.document, self.member.node)
        return self._fields

    @property
    def items(self) -> list[Node]:
        """The elements of the value, if it is an array."""
        node = self.member.node
        return node.value if node.kind == ARRAY else []

    @property
    def shown(self) -> str:
        """The value as it is written, cut where it is long."""
        node = self.member.node
        return shown(self.document, node)


_INFINITE = float("inf")
_SHOWN_MAX = 40


def shown(document: Document, node: Node) -> str:
    """A value as it is written, in one line, cut where it is long."""
    if node.kind in {OBJECT, ARRAY}:
        return "an object" if node.kind == OBJECT else "an array"
    text = document.text[node.start : node.end]
    if document.dialect is not None:
        text = document.dialect.shown(node, text)
    return text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 1] + "…"


def _holds_queues(field: Field) -> bool:
    """Whether a value has the shape of `queues`, or of one of its lists."""
    if field.kind == OBJECT:
        return any(normal(key) in _LISTS for key in field.fields)
    entries = [fields_of(field.document, item) for item in field.items]
    return any(not _MARKS.isdisjoint(entry) for entry in entries)


_LISTS = frozenset({"producers", "consumers", "producer", "consumer"})
_MARKS = frozenset({"queue", "binding", "dead_letter_queue"})


def fields_of(document: Document, node: Node | None) -> dict[str, Field]:
    """The fields of an object; none of anything else."""
    if node is None or node.kind != OBJECT:
        return {}
    return {member.key: Field(document, member) for member in node.value}


class Entry:
    """One element of `producers` or `consumers` that is an object.

    `queue` is its `queue` field if that holds a name, and `queue_name` the name, else "". `path` is how wrangler names it, e.g.
    `env.staging.queues.consumers[0]`; `environment` is the environment's name, None for
    the top level; `script` the name of the Worker that it belongs to.
    """

    # No reference back to the environment: trees without cycles are freed at once, and a long run needs no garbage collector.
    __slots__ = ("document", "environment", "fields", "node", "path", "queue", "queue_name", "script")
    keys: ClassVar[dict[str, Key]] = {}

    def __init__(self, document: Document, node: Node, path: str, environment: str | None, script: str) -> None:
        self.document = document
        self.node = node
        self.path = path
        self.environment = environment
        self.script = script
        self.fields = fields_of(document, node)
        self.queue = _named(self.fields.get("queue"))
        self.queue_name: str = self.queue.node.value if self.queue is not None else ""

    @property
    def place(self) -> Place:
        """Where the entry stands."""
        return self.document.at(self.node)

    def field(self, key: str) -> Field | None:
        """The field of that key, None where the entry has none."""
        return self.fields.get(key)

    def means(self, key: str) -> bool:
        """Whether the entry has that key, rightly or wrongly spelt: then it is no mistake that it lacks the key."""
        if key in self.fields:
            return True
        return any(spelling.key == key for _, spelling in self.misspelt())

    def misspelt(self) -> Iterator[tuple[Field, Spelling]]:
        """The unknown keys that mean a known one."""
        for field in self.unknown():
            spelling = meant(field.key, self.keys)
            if spelling is not None:
                yield field, spelling

    def unknown(self) -> Iterator[Field]:
        """The keys that wrangler does not know."""
        for key, field in self.fields.items():
            if key not in self.keys:
                yield field


def _named(field: Field | None) -> Field | None:
    """A field that holds a name: a string that is not empty; else None."""
    return field if field is not None and field.node.kind == STRING and field.node.value else None


class Consumer(Entry):
    """An element of `queues.consumers`. `dead_letter_queue` is its field of that name, if it holds a name."""

    __slots__ = ("dead_letter_queue",)
    keys = CONSUMER_KEYS

    def __init__(self, document: Document, node: Node, path: str, environment: str | None, script: str) -> None:
        super().__init__(document, node, path, environment, script)
        self.dead_letter_queue = _named(self.fields.get("dead_letter_queue"))

    @property
    def is_push(self) -> bool:
        """Whether it is a Worker's consumer, the only type that a file may hold."""
        field = self.fields.get("type")
        return field is None or field.text == "worker"


class Producer(Entry):
    """An element of `queues.producers`. `binding` is its field of that name, if it holds a name."""

    __slots__ = ("binding",)
    keys = PRODUCER_KEYS

    def __init__(self, document: Document, node: Node, path: str, environment: str | None, script: str) -> None:
        super().__init__(document, node, path, environment, script)
        self.binding = _named(self.fields.get("binding"))


class Declared(Entry):
    """A queue that the file itself makes, as a Terraform plan does, with its settings."""

    __slots__ = ()
    keys = DECLARED_KEYS


class Environment:
    """The top level (`name` None), one of `env.*`, or `previews` (`is_previews`): what wrangler deploys as one Worker.

    `field` is the key under which it stands, None for the top level; `label` is the prefix of its paths, "" or e.g.
    `env.staging`.
    """

    # As with entries, no reference leads back: the top level knows none of its environments, nor itself.
    __slots__ = ("_consumers", "_producers", "_top", "document", "field", "fields", "is_previews", "label", "name")

    def __init__(
        self,
        document: Document,
        fields: dict[str, Field],
        *,
        name: str | None = None,
        field: Field | None = None,
        top: Environment | None = None,
        label: str = "",
    ) -> None:
        self.document = document
        self.name = name
        self.field = field
        self.fields = fields
        self._top = top
        self.label = label
        self.is_previews = label == "previews"
        self._producers: list[Producer] | None = None
        self._consumers: list[Consumer] | None = None

    @property
    def top(self) -> Environment:
        """The top level of the same file; itself where it is that."""
        return self._top or self

    @property
    def is_pages(self) -> bool:
        """Whether the file configures a Pages project."""
        return "pages_build_output_dir" in self.top.fields

    @property
    def described(self) -> str:
        """How messages name it."""
        return self.label or "the top level"

    @property
    def shown(self) -> str:
        """The label in the words of the file."""
        dialect = self.document.dialect
        return dialect.environment.format(self.name) if dialect is not None and self.name is not None else self.label

    @property
    def queues(self) -> Field | None:
        """The `queues` field, whatever it holds."""
        return self.fields.get("queues")

    @property
    def misnamed_queues(self) -> list[Field]:
        """The fields that hold what `queues` would hold, under a name that wrangler does not know."""
        return [
            field for key, field in self.fields.items() if key != "queues" and may_mean_queues(key) and _holds_queues(field)
        ]

    def is_worker_of(self, other: Environment) -> bool:
        """Whether both are deployed as one Worker, since they give it one name."""
        return self is other or (bool(self.script) and self.script == other.script)

    def list_field(self, key: str) -> Field | None:
        """`queues.producers` or `queues.consumers`, whatever it holds."""
        queues = self.queues
        return queues.fields.get(key) if queues is not None else None

    @property
    def producers(self) -> list[Producer]:
        """The producers that are objects, in order."""
        if self._producers is None:
            self._producers = [Producer(*parts) for parts in self._entries("producers")]
        return self._producers

    @property
    def consumers(self) -> list[Consumer]:
        """The consumers that are objects, in order."""
        if self._consumers is None:
            self._consumers = [Consumer(*parts) for parts in self._entries("consumers")]
        return self._consumers

    @property
    def entries(self) -> list[Entry]:
        """Producers and consumers."""
        return [*self.producers, *self.consumers]

    def _entries(self, key: str) -> Iterator[tuple[Document, Node, str, str | None, str]]:
        listed = self.list_field(key)
        if listed is None:
            return
        prefix = f"{self.label}." if self.label else ""
        script = self.script
        for index, node in enumerate(listed.items):
            if node.kind == OBJECT:
                yield listed.document, node, f"{prefix}queues.{key}[{index}]", self.name, script

    def inherited(self, key: str) -> Field | None:
        """A field of this environment, or else of the top level: for keys that wrangler lets environments inherit."""
        above = self._top if self.document.dialect is None else None  # a mode or a Worker of a plan is a whole of its own
        return self.fields.get(key) or (above.fields.get(key) if above is not None else None)

    @property
    def script(self) -> str:
        """The name under which the Worker is deployed, "" where the file gives none."""
        own = self.fields.get("name")
        if own is not None and own.text:
            return own.text
        top = self.top.fields.get("name") if self.document.dialect is None else None
        base = top.text or "" if top is not None else ""
        return f"{base}-{self.name}" if self.name and base else base


class Worker:
    """One configuration file.

    `environments` are those that the run looks at: all of them, or with `--env` the one named, or the top level where the file
    has no such environment. `every_environment` are the top level and `env.*`, always.
    """

    __slots__ = ("document", "environments", "every_environment", "fields", "selected", "top")

    def __init__(self, document: Document, selected: str | None = None) -> None:
        self.document = document
        self.selected = selected
        self.fields = fields_of(document, document.tree.root)
        self.top = Environment(document, self.fields)
        named = self.fields.get("env")
        environments = [
            Environment(document, field.fields, name=name, field=field, top=self.top, label=f"env.{name}")
            for name, field in (named.fields if named is not None else {}).items()
            if field.kind == OBJECT
        ]
        self.every_environment = [self.top, *environments]
        previews = self.fields.get("previews")
        self.environments = [*self.every_environment]
        if selected is not None:
            self.environments = [each for each in environments if each.name == selected] or [self.top]
        elif previews is not None:
            self.environments.append(Environment(document, previews.fields, field=previews, top=self.top, label="previews"))

    @property
    def speaks_of_queues(self) -> bool:
        """Whether the file has queues anywhere, be it under a wrong name."""
        environments = {id(each): each for each in (*self.every_environment, *self.environments)}.values()
        return any(each.queues is not None or each.misnamed_queues for each in environments)

    @property
    def lacks_selected(self) -> bool:
        """Whether the run names an environment that this file does not have."""
        return self.selected is not None and all(each.name != self.selected for each in self.every_environment)

    @property
    def is_pages(self) -> bool:
        """Whether the file configures a Pages project."""
        return self.top.is_pages

    @property
    def is_plan(self) -> bool:
        """Whether the file is a Terraform plan, of which each environment is another Worker."""
        return self.document.syntax == PLAN

    @property
    def declared(self) -> list[Declared]:
        """The queues that the file itself makes; none in a wrangler file, which cannot."""
        listed = self.fields.get(DECLARED) if self.document.dialect is not None else None
        return [Declared(self.document, node, "the queue", None, "") for node in listed.items] if listed is not None else []

    def consumers(self) -> Iterator[Consumer]:
        """The consumers of all environments of the run."""
        for environment in self.environments:
            yield from environment.consumers

    def producers(self) -> Iterator[Producer]:
        """The producers of all environments of the run."""
        for environment in self.environments:
            yield from environment.producers

    def entries(self) -> Iterator[Entry]:
        """Producers and consumers of all environments of the run, environment by environment."""
        for environment in self.environments:
            yield from environment.entries


def read_worker(path: str, environment: str | None = None) -> Worker:
    """The view of a file, or of the file that wrangler takes in a folder. Raises Unreadable, which says why there is none."""
    if os.path.isdir(path):
        found = [name for name in (*NAMES, CONFIG_NAME) if os.path.isfile(os.path.join(path, name))]
        if not found:
            raise Unreadable(f"{path} has none of {', '.join((*NAMES, CONFIG_NAME))}")
        path = os.path.join(path, found[0])
    return Worker(read(path), environment)
