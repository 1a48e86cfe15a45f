"""The reference of the public names, from their own docstrings: docs/emulator/reference.md."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import emulator
from emulator.engine.ledger.message_states import Layer, MessageState
from emulator.engine.ledger.records import Line as TraceLine
from emulator.engine.ledger.tally import Operations, QueueCounts
from emulator.engine.ledger.trace import Trace
from emulator.engine.metrics import Metrics
from emulator.engine.targets.batch import BatchMetadata, Message, MessageBatch
from emulator.engine.targets.handlers import Context
from emulator.explore import __all__ as _search_names
from emulator.testing.hand_made import QueueResult, RetryBatch, RetryMessage
from emulator.testing.queue import Held, Leased, Peeked, Settings
from emulator.testing.report import Report
from emulator.workers.bindings import Binding, Environment, SendReply
from emulator.workers.console import Line
from emulator.workers.python.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator


_HANDLER = """`handler(batch)`, `handler(batch, env)` or `handler(batch, env, ctx)`, sync or async.
JavaScript's names and their snake_case twins are the same: `ackAll` and `ack_all`, `sendBatch` and `send_batch`, `delaySeconds`
and `delay_seconds`, by keyword or in a mapping."""
_EMULATOR = "`emu.env` has the bindings by name. `with Emulator() as emu:` closes it at the end."
_INTERNAL = frozenset({
    "acknowledges", "after_ack", "bind", "calls", "crash_at", "declare", "forget", "hear_no_more", "send_columns", "settlement",
})  # fmt: skip
"""Names that are for the emulator itself."""


class Part(NamedTuple):
    """A part of the page: its heading, what it is about, and the classes and functions in it, by name."""

    heading: str
    text: str
    things: dict[str, Any]


def parts() -> list[Part]:
    """The page's parts. Every public name stands in one of them."""
    named = {name: getattr(emulator, name) for name in emulator.__all__}
    first = ("Emulator", "Queue")
    told = ("Delivery", "Fate")
    workers = ("Outgoing", "Response")
    made = ("create_batch", "result_of")
    searched = {name: getattr(emulator.explore, name) for name in _search_names}
    rest = [name for name in named if name not in {*first, *told, *workers, *made, *searched}]
    return [
        Part("The emulator and its queues", _EMULATOR, {name: named[name] for name in first}),
        Part(
            "What a handler gets",
            _HANDLER,
            _by_name(MessageBatch, Message, BatchMetadata, Metrics, Environment, Binding, SendReply, Context),
        ),
        Part("What a queue gives", "", _by_name(Held, Leased, Peeked, Settings)),
        Part(
            "What happened",
            "`emu.deliveries`, `emu.fates`, `emu.trace(id)` and `emu.report()`.",
            {name: named[name] for name in told}
            | _by_name(Trace, TraceLine, Report, QueueCounts, Operations, MessageState, Layer),
        ),
        Part(
            "Batches made by hand",
            "For a test of a handler alone.",
            {name: named[name] for name in made} | _by_name(QueueResult, RetryBatch, RetryMessage),
        ),
        Part(
            "Workers",
            "`emu.worker(path)` gives one: see [Python Workers](python-workers.md).",
            _by_name(Worker, Line) | {name: named[name] for name in workers},
        ),
        Part("The search for a schedule", "`from emulator import explore`.", searched),
        Part("Settings, errors and the rest", "", {name: named[name] for name in rest}),
    ]


def _by_name(*things: Any) -> dict[str, Any]:
    return {thing.__name__: thing for thing in things}


def text() -> str:
    """The page."""
    lines = ["# Reference", "", "Every public name. Generated from the code: `python -m emulator.cli.generate`.", ""]
    for part in parts():
        names = ", ".join(f"`{name}`" for name in part.things)
        lines.append(f"- [{part.heading}](#{re.sub('[^a-z ]', '', part.heading.lower()).replace(' ', '-')}): {names}")
    for part in parts():
        lines += ["", f"## {part.heading}", *(["", part.text] if part.text else [])]
        for name, thing in part.things.items():
            lines += ["", f"### {name}", "", *_told(name, thing)]
    return "\n".join(lines) + "\n"


def _told(name: str, thing: Any) -> Iterator[str]:
    if not inspect.isclass(thing):
        if callable(thing):
            yield f"`{name}{_signature(thing)}`"
            yield ""
        yield _prose(thing)
        return
    if name in _MADE_BY_USERS:
        yield f"`{name}{_signature(thing.__init__)}`"
        yield ""
    yield _prose(thing)
    rows = list(_members(thing))
    if rows:
        yield ""
        yield from rows


_MADE_BY_USERS = frozenset({"Emulator", "Faults", "Response"})


def members(kind: type) -> dict[str, Any]:
    """The public methods and properties of a class, its own and those that it inherits from ours."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("emulator."):
            found |= {name: value for name, value in vars(base).items() if not name.startswith("_") and name not in _INTERNAL}
    fields = getattr(kind, "_fields", ())
    methods = {name: value for name, value in found.items() if name not in fields and _is_told(value)}
    return dict(sorted(methods.items()))


def _is_told(value: Any) -> bool:
    return isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value)


def _members(kind: type) -> Iterator[str]:
    fields = [name for name in getattr(kind, "_fields", getattr(kind, "__struct_fields__", ())) if not name.startswith("_")]
    if fields:
        yield f"- fields: {', '.join(f'`{name}`' for name in fields)}"
    done: dict[int, str] = {}
    for name, value in members(kind).items():
        function = (
            value.fget
            if isinstance(value, property)
            else value.__func__
            if isinstance(value, classmethod | staticmethod)
            else value
        )
        if id(function) in done:
            yield f"- `{name}`: the same as `{done[id(function)]}`"
            continue
        done[id(function)] = name
        shown = name if isinstance(value, property) else f"{name}{_signature(function)}"
        yield f"- `{shown}`: {_prose(function)}"


def _signature(function: Any) -> str:
    """The parameters without their types: docstrings say what they are."""
    shown, star = [], False
    for each in inspect.signature(function).parameters.values():
        if each.name in {"self", "cls"}:
            continue
        if each.kind is each.KEYWORD_ONLY and not star:
            shown.append("*")
            star = True
        star = star or each.kind is each.VAR_POSITIONAL
        mark = "*" if each.kind is each.VAR_POSITIONAL else "**" if each.kind is each.VAR_KEYWORD else ""
        default = "" if each.default is each.empty else f"={each.default!r}"
        shown.append(f"{mark}{each.name}{default}")
    return f"({', '.join(shown)})"


def _prose(thing: Any) -> str:
    """A docstring as one paragraph, without what is an example."""
    paragraphs = [part for part in (inspect.getdoc(thing) or "").split("\n\n") if ">>>" not in part]
    return re.sub(r"\s+", " ", " ".join(paragraphs)).strip().replace("<", "&lt;")
