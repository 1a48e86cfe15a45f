"""`cfq-emulator replay JOURNAL`: what happened, read from a journal that nobody changes by it."""

from __future__ import annotations

import sys
from itertools import islice
from typing import Annotated

import typer

from emulator.engine.clock import moment, moment_us
from emulator.engine.journal import JournalError
from emulator.engine.journal.opening import is_postgres, open_journal
from emulator.engine.ledger.ledger import Ledger
from emulator.engine.ledger.table import table
from emulator.engine.ledger.tally import QueueCounts
from emulator.engine.ledger.trace import Trace

_STEP = 1_000


def replay(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="A database that a server or an emulator has written.")],
    message: Annotated[str | None, typer.Option(metavar="ID", help="Show the timeline of one message.")] = None,
    timeline: Annotated[bool, typer.Option(help="Show the timeline of every message.")] = False,
    until: Annotated[str | None, typer.Option(metavar="T", help="Stop at a moment (ISO).")] = None,
) -> None:
    """Fold a journal, and show what became of its messages."""
    try:
        until_us = None if until is None else moment_us(until)
        if not is_postgres(journal):
            with open(journal, "rb"):  # a journal that is not there must not be made
                pass
        opened = open_journal(journal)
    except (JournalError, OSError, ValueError) as error:
        print(f"cfq-emulator: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    ledger, now_us = Ledger(keeps=timeline or message is not None), 0
    try:
        events = opened.read()
        with typer.progressbar(length=opened.length(), label="replaying", file=sys.stderr) as bar:
            while chunk := list(islice(events, _STEP)):
                for event in chunk:
                    if until_us is None or event.at_us <= until_us:
                        ledger.take(event)
                        now_us = event.at_us
                bar.update(len(chunk))
    finally:
        opened.close()
    if ledger.keeps:
        trace = Trace(ledger, message)
        if message is not None and not len(trace):
            print(f"cfq-emulator: {journal} knows no message {message!r}", file=sys.stderr)
            raise typer.Exit(2)
        print(trace)
        return
    rows = [[str(cell) for cell in tally.counts(name)] for name, tally in sorted(ledger.tallies.items())]
    print(f"Queues at {moment(now_us).isoformat()}")
    print(table([name.replace("_", " ") for name in QueueCounts._fields], rows))
