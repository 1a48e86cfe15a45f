"""The resources of a plan: what each will be, what is unknown until it is applied, and what its expressions refer to.

Shape: https://developer.hashicorp.com/terraform/internals/json-format
"""

from __future__ import annotations

import re

from cfq_lint.facts.record import record
from cfq_lint.source.node import ARRAY, BROKEN, NULL, NUMBER, OBJECT, STRING, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

QUEUE = "cloudflare_queue"
CONSUMER = "cloudflare_queue_consumer"
SCRIPTS = frozenset({
    "cloudflare_workers_script", "cloudflare_worker_script", "cloudflare_worker", "cloudflare_worker_version",
    "cloudflare_workers_deployment",
})  # fmt: skip
KINDS = frozenset({QUEUE, CONSUMER, *SCRIPTS})
_PART = re.compile(r"^module\.([^.\[]+)(?:\[(.+?)\])?(?:\.|$)")
_REFERENCE = re.compile(r"^([a-z_]+)\.([\w-]+)(?:\[(\d+|\"[^\"]*\")\])?(?:\.(\w+))?")
_EACH = frozenset({"each.key", "each.value", "count.index"})
_DEPTH_MAX = 20


@record
class Resource:
    """A resource as it will be. `node` is its object in the plan, `values` what is planned, by key.

    `index` is its key under `for_each` or `count` as it is written in its address, None where there is neither; `module` the
    modules that it stands in, each a name and its index; `unknown` the keys that only applying tells, as the plan has them;
    `expressions` what its configuration says of each key, `for_each` of what there is one for each; `actions` what the plan
    does to it.
    """

    kind: str
    name: str
    index: str | None
    address: str
    module: tuple[tuple[str, str | None], ...]
    node: Node
    place: Node
    values: dict[str, Node]
    unknown: dict[str, Any]
    expressions: dict[str, Any]
    for_each: dict[str, Any]
    actions: tuple[str, ...]
    prior: dict[str, Any]


def fields(node: Node | None) -> dict[str, Node]:
    """The values of an object by key; none of anything else."""
    return {member.key: member.node for member in node.value} if node is not None and node.kind == OBJECT else {}


def items(node: Node | None) -> list[Node]:
    """The elements of an array; none of anything else."""
    return node.value if node is not None and node.kind == ARRAY else []


def text(node: Node | None) -> str | None:
    """The value, if it is a string that is not empty."""
    return node.value if node is not None and node.kind == STRING and node.value else None


class Plan:
    """All resources of a plan that concern queues, and how to follow references between them."""

    def __init__(self, root: Node) -> None:
        top = fields(root)
        changes: dict[str, dict[str, Node]] = {}
        for each in items(top.get("resource_changes")):
            own = fields(each)
            changes[text(own.get("address")) or ""] = fields(own.get("change"))
        self.changes = changes
        self.configuration = _plain(fields(top.get("configuration")).get("root_module"))
        self.resources = list(self._walk(fields(top.get("planned_values")).get("root_module")))
        self.by_name: dict[tuple[Any, ...], list[Resource]] = {}
        for resource in self.resources:
            self.by_name.setdefault((resource.module, resource.kind, resource.name), []).append(resource)
        self.queue_ids = dict(self._ids(top))

    def _walk(self, root: Node | None) -> Iterator[Resource]:
        waiting = [root] if root is not None else []
        while waiting:
            module = fields(waiting.pop())
            path = module_path(text(module.get("address")) or "")
            config = self._config(path)
            declared = {str(each.get("address")): each for each in _dicts(config.get("resources"))}
            for node in items(module.get("resources")):
                own = fields(node)
                kind, name, address = text(own.get("type")), text(own.get("name")), text(own.get("address"))
                if kind not in KINDS or name is None or address is None or (text(own.get("mode")) or "managed") != "managed":
                    continue
                change = self.changes.get(address, {})
                index = own.get("index")
                yield Resource(
                    kind,
                    name,
                    None if index is None else str(index.value),
                    address,
                    path,
                    node,
                    own["address"],
                    fields(own.get("values")),
                    _dict(_plain(change.get("after_unknown"))),
                    _dict(declared.get(f"{kind}.{name}", {}).get("expressions")),
                    _dict(declared.get(f"{kind}.{name}", {}).get("for_each_expression")),
                    tuple(str(each.value) for each in items(change.get("actions"))),
                    _dict(_plain(change.get("before"))),
                )
            waiting += items(module.get("child_modules"))

    def _ids(self, top: dict[str, Node]) -> Iterator[tuple[str, str]]:
        """The names of queues by their ids, as far as the state before and the plan tell."""
        waiting = [fields(fields(top.get("prior_state")).get("values")).get("root_module")]
        waiting.append(fields(top.get("planned_values")).get("root_module"))
        while waiting:
            module = fields(waiting.pop())
            waiting += items(module.get("child_modules"))
            for node in items(module.get("resources")):
                own = fields(node)
                values = fields(own.get("values"))
                name = text(values.get("queue_name")) or text(values.get("name"))
                if text(own.get("type")) == QUEUE and name is not None:
                    for key in ("queue_id", "id"):
                        if text(values.get(key)) is not None:
                            yield str(values[key].value), name

    def _config(self, path: tuple[tuple[str, str | None], ...]) -> dict[str, Any]:
        """The configuration of a module."""
        at = _dict(self.configuration)
        for name, _ in path:
            at = _dict(_dict(_dict(at.get("module_calls")).get(name)).get("module"))
        return at

    def referred(self, resource: Resource, key: str) -> tuple[Resource, str] | None:
        """The resource, and its attribute, that an expression of a resource comes to; None where that is not certain."""
        references = _dict(resource.expressions.get(key)).get("references")
        attribute = _attribute_of_each(references)
        if attribute is not None:  # one for each of other resources
            found = self._follow(
                [*_strings(resource.for_each.get("references")), "each.key"], resource.module, resource.index, 0
            )
            return (found[0], attribute) if found is not None and not found[1] else None
        return self._follow(references, resource.module, resource.index, 0)

    def _follow(
        self, references: Any, module: tuple[tuple[str, str | None], ...], index: str | None, depth: int
    ) -> tuple[Resource, str] | None:
        named = _strings(references)
        each_key = not _EACH.isdisjoint(named) or any(one.startswith("each.value.") for one in named)
        named = [each for each in named if each.split(".")[0] not in {"each", "count", "path", "terraform"}]
        # Of `a.b.c` Terraform lists `a.b` as well: the longest alone says more.
        longest = [
            each for each in named if not any(other != each and other.startswith((f"{each}.", f"{each}[")) for other in named)
        ]
        if len(longest) != 1 or depth > _DEPTH_MAX:
            return None
        reference = longest[0]
        if reference.startswith("var.") and module:
            (name, call_index), parent = module[-1], module[:-1]
            call = _dict(_dict(self._config(parent).get("module_calls")).get(name))
            expression = _dict(_dict(call.get("expressions")).get(reference.split(".")[1]))
            return self._follow(expression.get("references"), parent, call_index, depth + 1)
        if reference.startswith("module."):
            return self._output(reference, module, index if each_key else None, depth)
        found = _REFERENCE.match(reference)
        if found is None:
            return None
        kind, name, written, attribute = found.groups()
        instances = self.by_name.get((module, kind, name), [])
        wanted = written.strip('"') if written is not None else index if each_key else None
        if wanted is not None:
            instances = [each for each in instances if each.index == wanted] or ([] if written else instances)
        return (instances[0], attribute or "") if len(instances) == 1 else None

    def _output(
        self, reference: str, module: tuple[tuple[str, str | None], ...], index: str | None, depth: int
    ) -> tuple[Resource, str] | None:
        part = _PART.match(reference)
        if part is None:
            return None
        name, written = part[1], part[2]
        output = re.split(r"[.\[]", reference[part.end() :], maxsplit=1)[0]
        inside = (*module, (name, written.strip('"') if written else index))
        expression = _dict(_dict(_dict(self._config(inside).get("outputs")).get(output)).get("expression"))
        return self._follow(expression.get("references"), inside, None, depth + 1)


def _strings(references: Any) -> list[str]:
    return [each for each in references if isinstance(each, str)] if isinstance(references, list) else []


def _attribute_of_each(references: Any) -> str | None:
    """The attribute that an expression takes of `each.value`, if it is made of nothing else."""
    named = set(_strings(references)) - {"each.value"}
    parts = named.pop().split(".") if len(named) == 1 else []
    return parts[2] if len(parts) == _PARTS and parts[:2] == ["each", "value"] else None


_PARTS = 3


def module_path(address: str) -> tuple[tuple[str, str | None], ...]:
    """The modules of an address such as `module.a["x"].module.b`."""
    path = []
    while match := _PART.match(address):
        path.append((match[1], match[2].strip('"') if match[2] else None))
        address = address[match.end() :]
    return tuple(path)


def known(node: Node | None) -> bool:
    """Whether a value is there."""
    return node is not None and node.kind not in {NULL, BROKEN}


def number(node: Node | None) -> bool:
    """Whether a value is a number."""
    return node is not None and node.kind == NUMBER


def _plain(node: Node | None) -> Any:
    return node.plain() if node is not None else {}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
