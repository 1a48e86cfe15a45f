"""Where a project speaks of its queues: in configurations, and in the code that asks which queue a batch is from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfq_lint.facts.record import record
from cfq_lint.model.wrangler import Consumer
from cfq_lint.source.text import Lines, Place
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import walk
from cfq_lint.worker_code.ways.sends import sends_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.editor.workspace import Judged, Workspace
    from cfq_lint.model.wrangler import Entry, Environment, Field
    from cfq_lint.worker_code.modules.module import Module

CONSUMES, PRODUCES, DEAD_LETTERS, MAKES, ASKS, SENDS = (
    "consumes",
    "produces to",
    "dead-letters into",
    "makes",
    "asks for",
    "sends to",
)
"""What is done with a queue where it is spoken of. A send speaks of the binding, not of the queue's name."""


@record
class Mention:
    """A place that speaks of a queue; `place` is the name alone, without quotes. `entry` is the entry of a configuration."""

    queue: str
    role: str
    place: Place
    worker: str
    entry: Entry | None = None
    environment: Environment | None = None


def configured(workspace: Workspace) -> list[Mention]:
    """All mentions of queues in the configurations of a project."""
    return [mention for each in workspace.all() for mention in _configured(each)]


def mentions(workspace: Workspace, near: str | None = None) -> list[Mention]:
    """The same, and those in code of queues that the project configures; `near` as in `Workspace.modules`."""
    found = configured(workspace)
    names = {each.queue for each in found}
    in_code = {
        (each.place.path, each.place.start): each
        for judged, module in workspace.modules(near)
        for each in (*_asked(judged, module), *_sent(judged, module))
        if each.queue in names
    }
    return [*found, *in_code.values()]


def mention_at(all_mentions: list[Mention], path: str, offset: int) -> Mention | None:
    """The mention at an offset of a file; behind its last character counts as well."""
    return next(
        (each for each in all_mentions if each.place.path == path and each.place.start <= offset <= each.place.end), None
    )


def title(judged: Judged, environment: Environment | None = None) -> str:
    """How a Worker is named to people."""
    top = (environment or judged.worker.top).script
    return f"{top} ({judged.document.path})" if top else judged.document.path


def _configured(judged: Judged) -> Iterator[Mention]:
    seen: set[int] = set()
    worker = judged.worker
    for environment in {id(each): each for each in (*worker.every_environment, *worker.environments)}.values():
        who = title(judged, environment)
        for consumer in environment.consumers:
            yield from _of_entry(consumer, CONSUMES, who, environment, seen)
        for producer in environment.producers:
            yield from _of_entry(producer, PRODUCES, who, environment, seen)
    for declared in worker.declared:
        yield from _of_entry(declared, MAKES, title(judged), None, seen)


def _of_entry(entry: Entry, role: str, who: str, environment: Environment | None, seen: set[int]) -> Iterator[Mention]:
    named = [(role, entry.queue)]
    if isinstance(entry, Consumer):
        named.append((DEAD_LETTERS, entry.dead_letter_queue))
    for what, field in named:
        if field is not None and field.text and field.node.start not in seen:
            seen.add(field.node.start)  # environments that share an entry speak of it once
            yield Mention(field.text, what, _inner(field), who, entry, environment)


def _inner(field: Field) -> Place:
    """The place of a name without its quotes; of a value that is computed, all of it."""
    start, end = field.node.start, field.node.end
    written = field.document.text[start:end]
    at = written.find(field.text or "")
    return field.document.place(start + at, start + at + len(field.text or "")) if at >= 0 else field.place


def _asked(judged: Judged, module: Module) -> Iterator[Mention]:
    """Texts that `batch.queue` is compared with, in `==`, in a switch, or as the keys of a table that it is looked up in."""
    for node in walk(module.source.body):
        texts: list[tuple[n.Node, str]] = []
        match node:
            case n.Binary("==" | "!=", left, right):
                sides = ((left, right), (right, left))
                texts = [(side, side.value) for side, other in sides if isinstance(side, n.Text) and _is_queue(other)]
            case s.Switch(subject, cases) if _is_queue(subject):
                options = [option for case in cases for option in case.options]
                texts = [(option, option.value) for option in options if isinstance(option, n.Text)]
            case n.Index(of, key) if _is_queue(key):
                table = module.once(of.id) if isinstance(of, n.Name) else of
                members = table.members if isinstance(table, n.Record) else ()
                texts = [(each, each.name) for each in members if isinstance(each, n.Pair) and each.name is not None]
        for at, name in texts:
            place = _place(module, at.at, name)
            if place is not None:
                yield Mention(name, ASKS, place, title(judged))


def _is_queue(node: n.Node) -> bool:
    return isinstance(node, n.Member) and node.name == "queue"


def _sent(judged: Judged, module: Module) -> Iterator[Mention]:
    bindings = {each.binding.text: each.queue_name for each in judged.worker.producers() if each.binding is not None}
    for send in sends_of(module):
        place = _place(module, send.mark.node.at, send.binding)
        if send.binding in bindings and place is not None:
            yield Mention(bindings[send.binding], SENDS, place, title(judged))


def _place(module: Module, at: tuple[int, int], name: str) -> Place | None:
    """Where a name is written at or soon behind a node's start, which is a row and a column in bytes."""
    lines = Lines(module.text)
    row, column = at
    if row >= len(lines.starts):
        return None
    written = lines.line(row + 1)
    start = lines.starts[row] + len(written.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))
    found = module.text.find(name, start, start + len(name) + _NEAR)
    return Place(module.path, lines, found, found + len(name)) if found >= 0 else None


_NEAR = 80
"""A binding is written behind `this.env.` and the like."""
