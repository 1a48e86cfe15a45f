"""From a plan to the common tree: each Worker is an environment, with the consumers and bindings that the plan gives it.

A value that is planned counts before any reference; what only applying would tell, and no reference either, is unknown.
"""

from __future__ import annotations

from cfq_lint.source.dialect import Dialect
from cfq_lint.source.jsonc import parse as parse_json
from cfq_lint.source.node import ARRAY, BROKEN, DECLARED, NULL, NUMBER, OBJECT, STRING, Fault, Member, Node, Tree
from cfq_lint.source.terraform.resources import CONSUMER, QUEUE, SCRIPTS, Plan, Resource, fields, items, known, number, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SETTINGS = {
    "batch_size": "max_batch_size",
    "max_concurrency": "max_concurrency",
    "max_retries": "max_retries",
    "max_wait_time_ms": "max_batch_timeout",
    "retry_delay": "retry_delay",
    "visibility_timeout_ms": "visibility_timeout_ms",
}
WORDS = {name: own for own, name in _SETTINGS.items() if own != name} | {"queue": "queue_name", "script": "script_name"}
_ENTRIES = {"consumers": "the queue consumer", "producers": "queue binding {}"}
PASSED_OVER = ("cfq003", "cfq009", "cfq118", "cfq119", "cfq5", "cfq601", "cfq602", "cfq603", "cfq604", "cfq605", "cfq209")
"""What a wrangler file may not hold, a plan may: pull consumers with their lease, a queue's delay, a concurrency of null."""
_MILLISECONDS = 1000
_TIMEOUT = "max_wait_time_ms"


def parse(whole: str) -> tuple[Tree, Dialect]:
    """The tree of a plan's text, and how it speaks."""
    tree = parse_json(whole)
    if tree.root is None or tree.faults:
        return tree, _dialect((), 0)
    top = fields(tree.root)
    if not known(top.get("format_version")) or "planned_values" not in top:
        return Tree(
            None, [Fault(tree.root.start, tree.root.start + 1, "it is no plan, which `terraform show -json PLANFILE` writes")]
        ), _dialect((), 0)
    plan = Plan(tree.root)
    workers: dict[str, _Worker] = {}
    for resource in plan.resources:
        if resource.kind == CONSUMER:
            script, name = _script(plan, resource, "script_name")
            _of(workers, script, name, resource).consumers.append(_consumer(plan, resource))
        elif resource.kind in SCRIPTS:
            bindings = [*_bindings(resource)]
            if bindings:
                script, name = _own_name(plan, resource)
                _of(workers, script, name, resource).add(resource, bindings)
    declared = [_queue(resource) for resource in plan.resources if resource.kind == QUEUE]
    environments = [Member(key, worker.place.start, worker.place.end, worker.node()) for key, worker in workers.items()]
    root = Node(OBJECT, 0, len(whole), [
        Member("env", 0, 0, Node(OBJECT, 0, len(whole), environments)),
        Member(DECLARED, 0, 0, Node(ARRAY, 0, len(whole), declared)),
    ])  # fmt: skip
    spans = sorted((resource.node.start, resource.node.end, resource.address) for resource in plan.resources)
    addresses = [pair for start, end, address in spans for pair in ((start, address), (end, ""))]
    return Tree(root, []), _dialect(tuple(sorted(addresses)), _unknown(root), tuple(_replaced(plan)))


def _dialect(addresses: tuple[tuple[int, str], ...], unknown: int, replaced: tuple[tuple[int, int, str], ...] = ()) -> Dialect:
    return Dialect(WORDS, _ENTRIES, "Worker {!r}", PASSED_OVER, addresses, unknown=unknown, replaced=replaced)


class _Worker:
    """What a plan says of one Worker. `name` is where it is named, None where the name is not known."""

    def __init__(self, name: Node | None, place: Node) -> None:
        self.name = name
        self.place = place
        self.consumers: list[Node] = []
        self.producers: list[Node] = []
        self.more: list[Member] = []

    def add(self, resource: Resource, bindings: list[Node]) -> None:
        """Take in the bindings of a script, and the settings that rules know."""
        self.producers += bindings
        for key in ("compatibility_date", "compatibility_flags"):
            if known(resource.values.get(key)):
                node = resource.values[key]
                self.more.append(Member(key, node.start, node.end, node))

    def node(self) -> Node:
        """The environment that wrangler would make of it."""
        start, end = self.place.start, self.place.end
        lists = [
            Member(key, start, end, Node(ARRAY, start, end, entries))
            for key, entries in (("producers", self.producers), ("consumers", self.consumers))
            if entries
        ]
        name = [] if self.name is None else [Member("name", self.name.start, self.name.end, self.name)]
        return Node(OBJECT, start, end, [*name, *self.more, Member("queues", start, end, Node(OBJECT, start, end, lists))])


def _of(workers: dict[str, _Worker], script: str, name: Node | None, resource: Resource) -> _Worker:
    return workers.setdefault(script, _Worker(name, resource.place))


def _own_name(plan: Plan, resource: Resource) -> tuple[str, Node | None]:
    """The name of the Worker that a resource is, or that it is a version of."""
    for key in ("script_name", "name"):
        if known(resource.values.get(key)):
            return str(text(resource.values[key])), resource.values[key]
    for key in ("worker_id", "script_name", "name"):
        found = plan.referred(resource, key)
        if found is not None and found[0] is not resource and found[0].kind in SCRIPTS:
            return _own_name(plan, found[0])
    return resource.address, None


def _script(plan: Plan, resource: Resource, key: str) -> tuple[str, Node | None]:
    """The Worker that a consumer belongs to: its name, or the consumer's own address where that is not known."""
    value = resource.values.get(key)
    name = text(value)
    if name is not None:
        return name, value
    found = plan.referred(resource, key)
    if found is not None and found[0].kind in SCRIPTS:
        return _own_name(plan, found[0])
    return resource.address, None


def _member(key: str, node: Node) -> Member:
    return Member(key, node.start, node.end, node)


def _unknown_at(place: Node) -> Node:
    return Node(BROKEN, place.start, place.end, None)


def _consumer(plan: Plan, resource: Resource) -> Node:
    place = resource.place
    members = [_member("queue", _queue_of(plan, resource))]
    kind = resource.values.get("type")
    if kind is not None and known(kind):
        members.append(_member("type", kind))
    dead = _dead_letters(plan, resource)
    if dead is not None:
        members.append(_member("dead_letter_queue", dead))
    settings = resource.values.get("settings")
    inner = items(settings)
    settings = inner[0] if inner else settings  # older providers have a block here
    values = fields(settings)
    unknown = resource.unknown.get("settings")
    unknown = unknown[0] if isinstance(unknown, list) and unknown else unknown
    for own, name in _SETTINGS.items():
        node = values.get(own)
        if node is not None and node.kind != NULL:
            members.append(_member(name, _seconds(node) if own == _TIMEOUT else node))
        elif _may_be_set(resource, unknown, own):
            members.append(_member(name, _unknown_at(place)))
    return Node(OBJECT, place.start, place.end, members)


def _may_be_set(resource: Resource, unknown: object, key: str) -> bool:
    """Whether a setting is unknown because an expression gives it, not because it was left out and the service fills it in."""
    expression = resource.expressions.get("settings")
    is_unknown = unknown is True or (isinstance(unknown, dict) and bool(unknown.get(key)))
    if not is_unknown or not expression:
        return False
    if isinstance(expression, list):
        return any(isinstance(each, dict) and key in each for each in expression)
    if isinstance(expression, dict) and "constant_value" in expression:
        return isinstance(expression["constant_value"], dict) and key in expression["constant_value"]
    return bool(isinstance(expression, dict) and ("references" in expression or key in expression))


def _seconds(node: Node) -> Node:
    """Milliseconds as wrangler's seconds, rounded up: what is below a second is a wait too."""
    if node.kind != NUMBER or node.value != node.value or abs(node.value) == float("inf"):
        return node
    return Node(NUMBER, node.start, node.end, -int(-node.value // _MILLISECONDS))


def _named(node: Node, place: Node) -> Node:
    """A name that another resource gives, at the place that uses it."""
    return Node(STRING, place.start, place.end, node.value)


def _queue_of(plan: Plan, resource: Resource) -> Node:
    """The name of the queue that a consumer consumes."""
    values = resource.values
    if text(values.get("queue_name")) is not None:
        return values["queue_name"]
    own = values.get("queue_id")
    if own is not None and text(own) is not None and text(own) in plan.queue_ids:
        return Node(STRING, own.start, own.end, plan.queue_ids[str(own.value)])
    found = plan.referred(resource, "queue_id")
    if found is not None and found[0].kind == QUEUE:
        name = found[0].values.get("queue_name") or found[0].values.get("name")
        if name is not None and text(name) is not None:
            return _named(name, own if own is not None and known(own) else resource.place)
    return _unknown_at(resource.place)


def _dead_letters(plan: Plan, resource: Resource) -> Node | None:
    """The name of a consumer's dead-letter queue; None where it has none."""
    value = resource.values.get("dead_letter_queue")
    if value is not None and known(value):
        return value
    if not resource.unknown.get("dead_letter_queue"):
        settings = fields(resource.values.get("settings")).get("dead_letter_queue")
        return settings if settings is not None and known(settings) else None
    found = plan.referred(resource, "dead_letter_queue")
    if found is not None and found[0].kind == QUEUE and found[1] in {"queue_name", "name"}:
        name = found[0].values.get(found[1])
        if name is not None and text(name) is not None:
            return _named(name, resource.place)
    return _unknown_at(resource.place)


def _bindings(resource: Resource) -> Iterator[Node]:
    """The bindings of queues that a script or version has."""
    for node in items(resource.values.get("bindings")):
        own = fields(node)
        if text(own.get("type")) == "queue":
            yield _producer(node, own, "name", "queue_name")
    for node in items(resource.values.get("queue_binding")):  # version 4 of the provider
        yield _producer(node, fields(node), "binding", "queue")


def _producer(node: Node, own: dict[str, Node], binding: str, queue: str) -> Node:
    members = [_member(name, own[key]) for name, key in (("binding", binding), ("queue", queue)) if known(own.get(key))]
    if not known(own.get(queue)):
        members.append(_member("queue", _unknown_at(node)))
    return Node(OBJECT, node.start, node.end, members)


def _queue(resource: Resource) -> Node:
    """A queue that the plan makes or keeps, with its settings."""
    place = resource.place
    name = resource.values.get("queue_name") or resource.values.get("name")
    members = [_member("queue", name if name is not None and known(name) else _unknown_at(place))]
    settings = fields(resource.values.get("settings"))
    members += [
        _member(key, settings[key]) for key in ("delivery_delay", "message_retention_period") if number(settings.get(key))
    ]
    return Node(OBJECT, place.start, place.end, members)


def _replaced(plan: Plan) -> Iterator[tuple[int, int, str]]:
    """The consumers and queues that the plan deletes and makes again: the span of each address, and its kind."""
    for resource in plan.resources:
        if resource.kind in {CONSUMER, QUEUE} and {"create", "delete"} <= set(resource.actions):
            yield resource.place.start, resource.place.end, resource.kind


def _unknown(node: Node) -> int:
    if node.kind == BROKEN:
        return 1
    below = node.value if node.kind == ARRAY else [member.node for member in node.value] if node.kind == OBJECT else []
    return sum(_unknown(each) for each in below)
