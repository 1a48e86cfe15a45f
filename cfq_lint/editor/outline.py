"""What is shown in and beside a configuration: its queues as symbols, what becomes of messages, and the defaults in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from cfq_lint.editor.telling import hint_of, lens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cfq_lint.editor.mentions import Mention
    from cfq_lint.editor.workspace import Judged
    from cfq_lint.model.wrangler import Consumer, Entry, Environment
    from cfq_lint.source.text import Place


def symbols(judged: Judged, range_of: Callable[[Place], types.Range]) -> list[types.DocumentSymbol]:
    """Each environment with its producers and consumers."""
    found = []
    for environment in judged.worker.every_environment:
        children = [_symbol(each, "consumes", range_of) for each in environment.consumers]
        children += [_symbol(each, "produces to", range_of) for each in environment.producers]
        if not children:
            continue
        field = environment.field or environment.queues
        place = field.place if field is not None else judged.document.top
        whole = range_of(place)
        span = types.Range(
            min((whole.start, *(each.range.start for each in children)), key=_order),
            max((whole.end, *(each.range.end for each in children)), key=_order),
        )
        found.append(
            types.DocumentSymbol(
                environment.shown or environment.script or "queues",
                types.SymbolKind.Namespace,
                span,
                types.Range(span.start, span.start),
                children=children,
            )
        )
    return found


def _order(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def _symbol(entry: Entry, role: str, range_of: Callable[[Place], types.Range]) -> types.DocumentSymbol:
    whole = range_of(entry.place)
    binding = entry.field("binding")
    detail = f"as {binding.text}" if binding is not None and binding.text else None
    chosen = range_of(entry.queue.place) if entry.queue is not None else whole
    is_inside = _order(whole.start) <= _order(chosen.start) and _order(chosen.end) <= _order(whole.end)
    return types.DocumentSymbol(
        f"{role} {entry.queue_name or '?'}", types.SymbolKind.Event, whole, chosen if is_inside else whole, detail=detail
    )


def lenses(judged: Judged, all_mentions: list[Mention], range_of: Callable[[Place], types.Range]) -> list[types.CodeLens]:
    """Above each consumer, what becomes of a message that always fails."""
    return [
        types.CodeLens(range_of(consumer.queue.place), types.Command(said, ""))
        for consumer in _consumers(judged)
        if consumer.queue is not None and (said := lens_of(consumer, all_mentions))
    ]


def hints(judged: Judged, range_of: Callable[[Place], types.Range]) -> list[types.InlayHint]:
    """Behind each consumer's queue, or behind all of it where it is a line, the settings that it leaves out."""
    found = []
    for consumer in _consumers(judged):
        said = hint_of(consumer)
        if consumer.queue is not None and said:
            whole, queue = range_of(consumer.place), range_of(consumer.queue.place)
            at = whole.end if whole.start.line == whole.end.line else queue.end
            found.append(types.InlayHint(at, said, tooltip="what holds where the file says nothing", padding_left=True))
    return found


def _consumers(judged: Judged) -> Iterator[Consumer]:
    seen: set[int] = set()
    for environment in judged.worker.every_environment:
        yield from _new(environment, seen)


def _new(environment: Environment, seen: set[int]) -> Iterator[Consumer]:
    for consumer in environment.consumers:
        if consumer.node.start not in seen:
            seen.add(consumer.node.start)
            yield consumer
