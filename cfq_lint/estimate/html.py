"""The estimate as a page of its own."""

from __future__ import annotations

from cfq_lint import __version__
from cfq_lint.drawing.page import escaped, link, page, sentence
from cfq_lint.estimate.rows import TABLE_HEADS, rows, table, table_note, total
from cfq_lint.facts import limits

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
    body = "\n".join(_queue(number, each, estimate.plan) for number, each in enumerate(estimate.queues, 1))
    body = body or "<p>No file names a queue, so there is nothing to estimate.</p>"
    return page("Time and money of the queues", lead, body, f"cfq-lint {escaped(__version__)}")


def _queue(number: int, queue: QueueEstimate, plan: str | None) -> str:
    described = "".join(f"<dt>{escaped(name)}</dt><dd>{sentence(said)}</dd>" for name, said in rows(queue, plan))
    parts = [
        f'<section aria-labelledby="queue-{number}">\n<h2 id="queue-{number}">{escaped(queue.queue)}</h2>',
        f"<dl>{described}</dl>",
        _table(number, queue),
    ]
    if queue.notes:
        notes = "".join(f"<li>{sentence(note)}</li>" for note in queue.notes)
        parts.append(f'<div class="todo fail-todo"><strong>Mind</strong><ul>{notes}</ul></div>')
    if queue.missing:
        missing = "".join(f"<li>{escaped(each)}</li>" for each in queue.missing)
        parts.append(f'<div class="todo"><strong>Not declared</strong><ul>{missing}</ul></div>')
    return "\n".join([*parts, "</section>"])


def _table(number: int, queue: QueueEstimate) -> str:
    heads = "".join(f'<th scope="col" class="number">{escaped(head)}</th>' for head in TABLE_HEADS)
    lines = []
    for row in table(queue):
        first, *rest = (escaped(cell) for cell in row)
        cells = "".join(f'<td class="number">{cell}</td>' for cell in rest)
        chosen = ' class="set"' if "(now)" in first else ""
        lines.append(f'<tr{chosen}><th scope="row" class="number">{first}</th>{cells}</tr>')
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-labelledby="table-{number}">\n<table class="wide">\n'
        f'<caption id="table-{number}">Another number of retries for {escaped(queue.queue)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{chr(10).join(lines)}\n</tbody>\n</table>\n</div>\n"
        f'<p class="soft">{sentence(table_note(queue))}</p>'
    )
