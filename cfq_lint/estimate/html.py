"""The estimate as a page of its own."""

from __future__ import annotations

from cfq_lint import __version__
from cfq_lint.drawing.bars import Bar, bars, legend
from cfq_lint.drawing.page import escaped, link, page, sentence
from cfq_lint.estimate.rows import TABLE_HEADS, rows, table, table_note, total
from cfq_lint.facts import limits
from cfq_lint.facts.quantities import dollars, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.estimate.model import Estimate, QueueEstimate

_ASSUMED = (
    "Deliveries fail independently of each other. A month has 30 days. Workers are billed besides. "
    "Delays that the consumer's code gives to retry() are not known here."
)


def render(estimate: Estimate) -> str:
    """One file: the bill, and each queue with its numbers and the table of retries."""
    lead = f"<p><strong>{escaped(total(estimate))}.</strong></p>\n"
    lead += f'<p class="soft">{escaped(", ".join(estimate.files) or "no file")}. {escaped(_ASSUMED)}'
    lead += f" {link(limits.PAGE_PRICING, 'Prices')}</p>"
    if estimate.passed_over:
        lead += f'\n<p class="soft">Passed over, as not what is deployed: {escaped(", ".join(estimate.passed_over))}</p>'
    body = _months(estimate) + "\n".join(
        _queue(position, each, estimate.plan) for position, each in enumerate(estimate.queues, 1)
    )
    body = body or "<p>No file names a queue, so there is nothing to estimate.</p>"
    return page("Time and money of the queues", lead, body, f"cfq-lint {escaped(__version__)}")


def _months(estimate: Estimate) -> str:
    """What a month of each queue is made of, on one scale."""
    known = [(queue.queue, queue.month) for queue in estimate.queues if queue.month is not None]
    if not known:
        return ""
    rows = tuple(
        Bar(
            name,
            f"{number(month.operations)}, {dollars(month.usd)}",
            (
                (month.writes, "one"),
                (month.reads, "two"),
                (month.deletes, "three"),
                (month.dead_letter_operations, "four"),
            ),
        )
        for name, month in known
    )
    keys = (("one", "writes"), ("two", "reads"), ("three", "deletes"), ("four", "for dead letters"))
    drawn = bars("Operations a month, and their price beyond the included million", rows)
    return f'<section aria-labelledby="months">\n<h2 id="months">A month</h2>\n{legend(keys)}{drawn}\n</section>\n'


def _batches(queue: QueueEstimate) -> str:
    """How many invocations each batch size asks for."""
    if not queue.batches:
        return ""
    size_now = queue.settings["max_batch_size"].value
    rows = tuple(
        Bar(f"max_batch_size {size}", f"{number(rate)}/s", ((rate, "set" if size == size_now else "other"),))
        for size, rate in queue.batches
    )
    return bars(f"Invocations of the consumer of {queue.queue} by batch size", rows)


def _queue(position: int, queue: QueueEstimate, plan: str | None) -> str:
    described = "".join(f"<dt>{escaped(name)}</dt><dd>{sentence(said)}</dd>" for name, said in rows(queue, plan))
    parts = [
        f'<section aria-labelledby="queue-{position}">\n<h2 id="queue-{position}">{escaped(queue.queue)}</h2>',
        f"<dl>{described}</dl>",
        *([_table(position, queue)] if queue.table else []),
        _batches(queue),
    ]
    if queue.notes:
        notes = "".join(f"<li>{sentence(note)}</li>" for note in queue.notes)
        parts.append(f'<div class="todo fail-todo"><strong>Mind</strong><ul>{notes}</ul></div>')
    if queue.missing:
        missing = "".join(f"<li>{escaped(each)}</li>" for each in queue.missing)
        parts.append(f'<div class="todo"><strong>Not declared</strong><ul>{missing}</ul></div>')
    return "\n".join([*parts, "</section>"])


def _table(position: int, queue: QueueEstimate) -> str:
    heads = "".join(f'<th scope="col" class="number">{escaped(head)}</th>' for head in TABLE_HEADS)
    lines = []
    for row in table(queue):
        first, *rest = (escaped(cell) for cell in row)
        cells = "".join(f'<td class="number">{cell}</td>' for cell in rest)
        chosen = ' class="set"' if "(now)" in first else ""
        lines.append(f'<tr{chosen}><th scope="row" class="number">{first}</th>{cells}</tr>')
    read = tuple(
        Bar(
            f"max_retries {each.max_retries}",
            f"{each.poisoned_reads:,} reads",
            ((float(each.poisoned_reads), "set" if each == queue.as_set else "other"),),
        )
        for each in queue.table
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-labelledby="table-{position}">\n<table class="wide">\n'
        f'<caption id="table-{position}">Another number of retries for {escaped(queue.queue)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{chr(10).join(lines)}\n</tbody>\n</table>\n</div>\n"
        f'<p class="soft">{sentence(table_note(queue))}</p>\n'
        + bars(f"Reads of one message of {queue.queue} that never succeeds", read)
    )
