"""From the text of a `cloudflare.config.ts` to the tree of the wrangler file that would mean the same.

Both forms are read: `defineConfig({ accountId, worker })`, and the older `defineWorker({ … })` with a `settings` export. What
the file makes depend on `mode`, which is what `--env` names, becomes an environment of its own for each mode that it knows.
"""

from __future__ import annotations

import os

from cfq_lint.facts.keys import CONSUMER_KEYS, PRODUCER_KEYS
from cfq_lint.source.cloudflare_config import keys
from cfq_lint.source.cloudflare_config.evaluate import Budget, Module
from cfq_lint.source.cloudflare_config.syntax import Source, walk
from cfq_lint.source.cloudflare_config.values import (
    ELSEWHERE,
    FUNCTION,
    OTHERWISE,
    SPREAD,
    TOOL,
    UNDEFINED,
    constant,
    members_of,
    unknown,
    used_at,
)
from cfq_lint.source.dialect import FOREIGN, Dialect
from cfq_lint.source.node import ARRAY, BROKEN, OBJECT, STRING, Fault, Member, Node, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MODES_MAX = 8
ERROR_LENGTH_MAX = 40
ENDINGS = ("", ".ts", ".mts", ".js", ".mjs", ".json", "/index.ts", "/index.js")
"""What an import may leave out, in the order in which it is tried."""
PREVIEW = "preview"
PASSED_OVER = ("cfq118", "cfq119", "cfq5", "cfq605")
"""Each mode is a whole configuration, so nothing is inherited or missing."""


def parse(text: str, path: str, read: Callable[[str], str | None] | None = None) -> tuple[Tree, Dialect]:
    """The tree of a text and how it speaks. `read` gives the text of a module beside it; without, imports are unknown."""
    try:
        return _parsed(text, path, read)
    except RecursionError:
        return Tree(None, [Fault(0, len(text), "it is nested too deeply to be read")]), _dialect(0)


def _dialect(unknown_count: int, contexts: tuple[tuple[str | None, bool], ...] = ()) -> Dialect:
    top = "any other mode" if len(contexts) > 1 else "the Worker"
    entries = {"consumers": "queue trigger {}", "producers": "queue binding {}"}
    return Dialect(keys.WORDS, entries, "mode {!r}", PASSED_OVER, (), True, unknown_count, contexts=contexts, top=top)


def _parsed(text: str, path: str, read: Callable[[str], str | None] | None) -> tuple[Tree, Dialect]:
    source = Source(text)
    faults = list(_faults(source))
    if faults:
        return Tree(None, faults), _dialect(0)
    budget = Budget()
    top = _configured(source, path, read, budget, None)
    if top is None:
        return Tree(None, [Fault(0, 0, "it has no default export that can be read as a configuration")]), _dialect(0)
    members = _members(top, path, read)
    modes: list[Member] = []
    while len(modes) < min(len(budget.modes), MODES_MAX):
        mode = [*budget.modes][len(modes)]
        modes.append(_variant(source, path, read, budget, mode))
    if "isPreview" in text and PREVIEW not in budget.modes:
        modes.append(_variant(source, path, read, budget, PREVIEW, is_preview=True))
    if modes:
        members.append(Member("env", 0, 0, Node(OBJECT, 0, len(text), modes)))
    root = Node(OBJECT, 0, len(text), members)
    # As `_configured` is called above, the top first.
    contexts = [(None, False), *((each.key, False) for each in modes)]
    if modes and PREVIEW not in budget.modes and modes[-1].key == PREVIEW:
        contexts[-1] = (None, True)
    return Tree(root, []), _dialect(len(set(unknown_in(root))), tuple(contexts))


def _variant(
    source: Source, path: str, read: Callable[[str], str | None] | None, budget: Budget, mode: str, *, is_preview: bool = False
) -> Member:
    value = _configured(source, path, read, budget, None if is_preview else mode, is_preview=is_preview)
    whole = Node(OBJECT, 0, len(source.text), _members(value, path, read) if value is not None else [])
    return Member(mode, 0, 0, whole)


def _faults(source: Source) -> Iterable[Fault]:
    """The first place where the text is no TypeScript; what follows it mostly follows from it."""
    if not source.root.has_error:
        return
    found = [node for node in walk(source.root) if node.type == "ERROR" or node.is_missing]
    if not found:
        return
    node = min(found, key=lambda each: (not each.is_missing, each.end_byte - each.start_byte))
    start, end = source.span(node)
    said = f"`{node.type}` is missing here" if node.is_missing else "this is no TypeScript"
    if end - start > ERROR_LENGTH_MAX:  # a bracket that is never closed: the text is wrong at its end
        last = len(source.text.rstrip())
        start, end, said = max(last - 1, 0), last, "the text ends within a bracket or a string"
    yield Fault(start, end, f"{said}; nothing of the file was judged")


def _configured(
    source: Source,
    path: str,
    read: Callable[[str], str | None] | None,
    budget: Budget,
    mode: str | None,
    *,
    is_preview: bool = False,
) -> Node | None:
    """What a file exports in a mode: an object with `worker`, `accountId` and their like; None where there is no such."""
    load = _loader(os.path.dirname(path), read, budget, {})
    module = Module(source, load, budget)
    named = Node(OTHERWISE, ELSEWHERE, ELSEWHERE, None) if mode is None else constant(mode, ELSEWHERE, ELSEWHERE)
    context = Node(OBJECT, ELSEWHERE, ELSEWHERE, [
        Member("mode", ELSEWHERE, ELSEWHERE, named),
        Member("isPreview", ELSEWHERE, ELSEWHERE, constant(is_preview, ELSEWHERE, ELSEWHERE)),
    ])  # fmt: skip
    value = module.exported("default")
    if value is None:
        return None
    value = _resolved(module, value, context)
    if value.kind != OBJECT:
        return Node(OBJECT, 0, len(source.text), [Member("worker", 0, 0, unknown(0, len(source.text)))])
    found = members_of(value)
    if "worker" not in found or ("type" in found and found["type"].node.value == "worker"):
        settings = module.exported("settings")
        settings = _resolved(module, settings, context) if settings is not None else None
        return Node(OBJECT, value.start, value.end, [
            *(settings.value if settings is not None and settings.kind == OBJECT else []),
            Member("worker", value.start, value.end, value),
        ])  # fmt: skip
    worker = _resolved(module, found["worker"].node, context)
    return Node(
        OBJECT, value.start, value.end, [*value.value, Member("worker", found["worker"].start, found["worker"].end, worker)]
    )


def _resolved(module: Module, value: Node, context: Node) -> Node:
    """A value or what the function returns in that context."""
    return module.call(value, [context], module.source.root) if value.kind == FUNCTION else value


def _loader(
    folder: str, read: Callable[[str], str | None] | None, budget: Budget, known: dict[str, Module | Node | None]
) -> Callable[[str], Module | Node | None]:
    """How a module in that folder imports others: each is read once; what is no neighbour is not read."""

    def load(name: str) -> Module | Node | None:
        if read is None:
            return None
        base = os.path.normpath(os.path.join(folder, name))
        tried = [base + ending for ending in ENDINGS]
        if base.endswith((".js", ".mjs")):
            tried += [base[:-3] + ".ts", base[:-4] + ".mts"]
        for path in tried:
            if path in known:
                return known[path]
            text = read(path)
            if text is not None:
                known[path] = None  # while it is read, for modules that import each other
                known[path] = _module(path, text, read, budget, known)
                return known[path]
        return None

    return load


def _module(
    path: str, text: str, read: Callable[[str], str | None], budget: Budget, known: dict[str, Module | Node | None]
) -> Module | Node | None:
    if path.endswith(".json"):
        from cfq_lint.source.jsonc import parse as parse_json  # only where such a file is imported

        root = parse_json(text).root
        return used_at(root, ELSEWHERE, ELSEWHERE, again=True) if root is not None else None
    return Module(Source(text), _loader(os.path.dirname(path), read, budget, known), budget, is_elsewhere=True)


def _members(config: Node, path: str, read: Callable[[str], str | None] | None) -> list[Member]:
    """Wrangler's members for a configuration."""
    given = members_of(config)
    members = [
        Member(name, given[own].start, given[own].end, given[own].node) for own, name in keys.SETTINGS.items() if own in given
    ]
    worker = given["worker"].node
    place = given["worker"]
    if worker.kind != OBJECT:
        members.append(Member("queues", place.start, place.end, unknown(worker.start, worker.end)))
        return [_placed(each, place) for each in members]
    own = members_of(worker)
    for key, name in keys.WORKER.items():
        if key in own:
            members.append(Member(name, own[key].start, own[key].end, own[key].node))
    if "limits" in own and "cpuMs" in members_of(own["limits"].node):
        cpu = members_of(own["limits"].node)["cpuMs"]
        limits = Node(
            OBJECT, own["limits"].node.start, own["limits"].node.end, [Member("cpu_ms", cpu.start, cpu.end, cpu.node)]
        )
        members.append(Member("limits", own["limits"].start, own["limits"].end, limits))
    members += _entrypoint(own, path, read)
    members += _queues(own, worker)
    members += _bindings(own)
    return [_placed(each, place) for each in members]


def _entrypoint(own: dict[str, Member], path: str, read: Callable[[str], str | None] | None) -> list[Member]:
    """`main`: the file that an entrypoint names, which an import may do without its ending."""
    if "entrypoint" not in own:
        return [Member("main", 0, 0, unknown(0, 0))] if SPREAD in own else []
    member = own["entrypoint"]
    node = member.node
    if node.kind == STRING and read is not None:
        base = os.path.join(os.path.dirname(path), node.value)
        ending = next((each for each in ENDINGS if read(base + each) is not None), "")
        node = Node(STRING, node.start, node.end, node.value + ending)
    return [Member("main", member.start, member.end, node)]


def _queues(own: dict[str, Member], worker: Node) -> list[Member]:
    """`queues`, with the triggers of queues as its consumers and the bindings of queues as its producers."""
    lists = []
    for key, name in (("env", "producers"), ("triggers", "consumers")):
        if key in own:
            member = own[key]
            made = _producers(member.node) if key == "env" else _consumers(member.node)
            if made is not None:
                lists.append(Member(name, member.start, member.end, made))
        elif SPREAD in own:
            lists.append(Member(name, worker.start, worker.start, unknown(worker.start, worker.start)))
    if not lists:
        return []
    first = lists[0]
    return [Member("queues", first.start, first.end, Node(OBJECT, worker.start, worker.end, lists))]


def _consumers(node: Node) -> Node | None:
    if node.kind == UNDEFINED:
        return None
    if node.kind != ARRAY:
        return unknown(node.start, node.end)
    items = []
    for each in node.value:
        if each.kind == OBJECT and "type" in members_of(each):
            if members_of(each)["type"].node.value == "queue":
                items.append(_entry(each, keys.CONSUMER, [*CONSUMER_KEYS]))
        elif each.kind in {BROKEN, OBJECT}:
            items.append(unknown(each.start, each.end))
    return Node(ARRAY, node.start, node.end, items) if items else None


def _producers(node: Node) -> Node | None:
    if node.kind == UNDEFINED:
        return None
    if node.kind != OBJECT:
        return unknown(node.start, node.end)
    items = []
    for member in node.value:
        kind = members_of(member.node).get("type")
        if kind is not None and kind.node.value == "queue":
            entry = _entry(member.node, keys.PRODUCER, [*PRODUCER_KEYS])
            entry.value.insert(0, Member("binding", member.start, member.end, constant(member.key, member.start, member.end)))
            items.append(entry)
        elif member.key == SPREAD or (kind is None and member.node.kind in {BROKEN, OBJECT}):
            items.append(unknown(member.node.start, member.node.end))
    return Node(ARRAY, node.start, node.end, items) if items else None


def _entry(node: Node, table: dict[str, str], known: list[str]) -> Node:
    """A consumer or producer with wrangler's keys. What an unknown spread may bring is there, and unknown."""
    members = []
    for member in node.value:
        if member.key in {"type", SPREAD} or member.node.kind == UNDEFINED:
            continue
        name = table.get(member.key) or (member.key + FOREIGN if member.key in known else member.key)
        value = (
            member.node if member.node.kind not in {FUNCTION, OTHERWISE, TOOL} else unknown(member.node.start, member.node.end)
        )
        members.append(Member(name, member.start, member.end, value))
    spread = members_of(node).get(SPREAD)
    if spread is not None:
        present = {member.key for member in members}
        members += [
            Member(name, spread.start, spread.end, unknown(spread.node.start, spread.node.end))
            for name in known
            if name not in present and name not in _SAID_WHERE_THEY_ARE
        ]
    return Node(OBJECT, node.start, node.end, members)


_SAID_WHERE_THEY_ARE = frozenset({"binding", "type", "visibility_timeout_ms", "delivery_delay", "remote"})
"""Keys of which rules say that they should not be there: they are not, as far as anybody can tell."""


def _bindings(own: dict[str, Member]) -> list[Member]:
    """The bindings of stores, and variables: what a Worker's code finds beside its queues."""
    lists: dict[str, list[Node]] = {}
    variables = []
    for member in own["env"].node.value if "env" in own and own["env"].node.kind == OBJECT else ():
        parts = members_of(member.node)
        kind = parts["type"].node.value if "type" in parts else None
        if kind in {"text", "json"} and "value" in parts:
            variables.append(Member(member.key, member.start, member.end, parts["value"].node))
        elif kind in keys.STORES:
            name, table = keys.STORES[str(kind)]
            entry = [Member("binding", member.start, member.end, constant(member.key, member.start, member.end))]
            entry += [Member(table[key], part.start, part.end, part.node) for key, part in parts.items() if key in table]
            lists.setdefault(name, []).append(Node(OBJECT, member.node.start, member.node.end, entry))
    place = own.get("env")
    members = (
        []
        if place is None
        else [Member(k, place.start, place.end, Node(ARRAY, place.start, place.end, v)) for k, v in lists.items()]
    )
    if variables and place is not None:
        members.append(Member("vars", place.start, place.end, Node(OBJECT, place.start, place.end, variables)))
    return members


def _placed(member: Member, place: Member) -> Member:
    """A member of which all stands in this file, and all is of the tree's kinds: what is elsewhere stands where it is used."""
    start, end = (member.start, member.end) if member.start != ELSEWHERE else (max(place.start, 0), max(place.end, 0))
    return Member(member.key, start, end, _settled(member.node, start, end))


def _settled(node: Node, start: int, end: int) -> Node:
    start, end = (node.start, node.end) if node.start != ELSEWHERE else (start, end)
    if node.kind == ARRAY:
        return Node(ARRAY, start, end, [_settled(each, start, end) for each in node.value if each.kind != UNDEFINED])
    if node.kind == OBJECT:
        members = []
        for each in node.value:
            if each.node.kind != UNDEFINED and each.key != SPREAD:
                at, to = (each.start, each.end) if each.start != ELSEWHERE else (start, end)
                members.append(Member(each.key, at, to, _settled(each.node, at, to)))
        return Node(OBJECT, start, end, members)
    return (
        unknown(start, end) if node.kind in {UNDEFINED, OTHERWISE, TOOL, FUNCTION} else Node(node.kind, start, end, node.value)
    )


def unknown_in(node: Node) -> Iterable[tuple[int, int]]:
    """Where values stand that are unknown, of those that concern queues."""
    if node.kind == BROKEN:
        yield (node.start, node.end)
    for each in node.value if node.kind == ARRAY else ():
        yield from unknown_in(each)
    for member in node.value if node.kind == OBJECT else ():
        if member.key not in BESIDE:
            yield from unknown_in(member.node)


BESIDE = frozenset({"vars", *(name for name, _ in keys.STORES.values())})
"""What stands beside the queues, and concerns no rule about them."""
