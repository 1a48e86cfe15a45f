"""`cfq-emulator replay JOURNAL`: what happened, read from a journal that nobody changes by it."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from emulator.core.apply import apply
from emulator.core.model import State
from emulator.engine.clock import moment, moment_us
from emulator.engine.journal import JournalError
from emulator.engine.journal.sqlite import SQLiteJournal
from emulator.engine.ledger.history import table, trace

if TYPE_CHECKING:
    from emulator.core.events import Event

_STEP = 1_000
_COUNTS = ("sent", "received", "delivered", "acked", "retried", "dead_lettered", "dropped", "expired", "purged")


def replay(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="A database that a server or an emulator has written.")],
    message: Annotated[str | None, typer.Option(metavar="ID", help="Show the timeline of one message.")] = None,
    timeline: Annotated[bool, typer.Option(help="Show the timeline of every message.")] = False,
    until: Annotated[str | None, typer.Option(metavar="T", help="Stop at a moment (ISO).")] = None,
    plan: Annotated[str, typer.Option(metavar="P", help="free or paid.")] = "paid",
) -> None:
    """Fold a journal into the state that it gives, and show what became of its messages."""
    try:
        until_us = None if until is None else moment_us(until)
        with open(journal, "rb"):  # a journal that is not there must not be made
            pass
        opened = SQLiteJournal(journal)
    except (JournalError, OSError, ValueError) as error:
        print(f"cfq-emulator: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    state = State(plan)
    kept: list[Event] = []
    try:
        events = opened.read()
        with typer.progressbar(length=opened.length(), label="replaying", file=sys.stderr) as bar:
            while chunk := list(islice(events, _STEP)):
                wanted = [event for event in chunk if until_us is None or event.at_us <= until_us]
                for event in wanted:
                    apply(state, event)
                kept += wanted if timeline or message is not None else ()
                bar.update(len(chunk))
    finally:
        opened.close()
    if timeline or message is not None:
        print(trace(kept, message))
        return
    rows = [
        (name, *(str(getattr(queue.counts, count)) for count in _COUNTS), str(len(queue.messages)))
        for name, queue in sorted(state.queues.items())
    ]
    print(f"Queues at {moment(state.now_us).isoformat()}")
    print(table(("queue", *(count.replace("_", " ") for count in _COUNTS), "waiting"), rows))
