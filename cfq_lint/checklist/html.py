"""The acceptance list as a page of its own."""

from __future__ import annotations

from cfq_lint import __version__
from cfq_lint.checklist.model import FAIL, MECHANISM, NOT_ASKED, OPERATION, PASS, UNKNOWN
from cfq_lint.drawing.bars import Bar, bars
from cfq_lint.drawing.page import escaped, link, marked, page, sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.checklist.model import Answer, Checklist, Evidence, Item

_SIGNS = {PASS: "✓", FAIL: "✗", UNKNOWN: "?", NOT_ASKED: "–"}  # noqa: RUF001 - a dash is a sign here
_HEADS = {
    MECHANISM: "How it works: files and sources show most of it",
    OPERATION: "How it runs: somebody has to say how it is",
}


def render(checklist: Checklist) -> str:
    """One file: a matrix of items and queues, then each item with its queues, what they rest on, and what to do."""
    files, queues = len(checklist.files), len(checklist.queues)
    counts = " ".join(_badge(verdict, f"{checklist.count(verdict)} {verdict}") for verdict in (PASS, FAIL, UNKNOWN))
    lead = (
        f'<p class="soft">{queues} queue{"" if queues == 1 else "s"} in {files} file{"" if files == 1 else "s"}: '
        f"{escaped(', '.join(checklist.files) or 'none')}</p>\n<p>{counts}</p>"
    )
    if checklist.passed_over:
        lead += f'\n<p class="soft">Passed over, as not what is deployed: {escaped(", ".join(checklist.passed_over))}</p>'
    body = _overview(checklist)
    for kind, head in _HEADS.items():
        items = "\n".join(_item(item) for item in checklist.items if item.kind == kind)
        body += f'<section class="group" aria-labelledby="{kind}">\n<h2 id="{kind}">{escaped(head)}</h2>\n{items}\n</section>\n'
    foot = (
        f"cfq-lint {escaped(__version__)}. An item passes where something shows it; what nobody can know from here is unknown."
    )
    return page("Acceptance list of the queues", lead, body, foot)


def _overview(checklist: Checklist) -> str:
    """A row for each item and a column for each queue, as a page is longer than wide; and a bar for each queue."""
    rows = checklist.matrix
    heads = "".join(f'<th scope="col">{escaped(queue)}</th>' for queue, _ in rows)
    lines = []
    for column, item in enumerate(checklist.items):
        cells = "".join(f"<td>{_sign(verdicts[column])}</td>" for _, verdicts in rows)
        name = f'<a href="#item-{item.number}">{item.number}. {escaped(item.title)}</a>'
        lines.append(f'<tr><th scope="row">{name}</th><td>{_badge(item.verdict)}</td>{cells}</tr>')
    chart = ""
    if rows:
        drawn = tuple(_bar(queue, verdicts) for queue, verdicts in rows)
        chart = bars("Items that pass, fail or are unknown, by queue", drawn)
    region = '<div class="scroll" role="region" tabindex="0" aria-label="Verdicts by item and queue">'
    return (
        f'<section aria-labelledby="overview">\n<h2 id="overview">Overview</h2>\n{region}\n<table class="matrix">\n<thead><tr>'
        f'<th scope="col">Item</th><th scope="col">All</th>{heads}</tr></thead>\n'
        f"<tbody>\n{chr(10).join(lines)}\n</tbody>\n</table>\n</div>\n{chart}\n</section>\n"
    )


def _bar(queue: str, verdicts: tuple[str, ...]) -> Bar:
    counts = [(verdicts.count(verdict), verdict) for verdict in (PASS, FAIL, UNKNOWN)]
    shown = ", ".join(f"{count} {verdict}" for count, verdict in counts if count) or "not asked"
    return Bar(queue, shown, tuple((float(count), verdict) for count, verdict in counts))


def _sign(verdict: str) -> str:
    name = verdict.replace(" ", "-")
    return f'<span class="{name}" role="img" aria-label="{verdict}" title="{verdict}">{_SIGNS[verdict]}</span>'


def _badge(verdict: str, text: str = "") -> str:
    name = verdict.replace(" ", "-")
    return f'<span class="verdict {name}"><span aria-hidden="true">{_SIGNS[verdict]}</span> {escaped(text or verdict)}</span>'


def _item(item: Item) -> str:
    answers = "\n".join(_answer(answer) for answer in item.answers) or "<p>No file names a queue.</p>"
    return (
        f'<article id="item-{item.number}" aria-labelledby="title-{item.number}">\n<div class="head">'
        f'<h3 id="title-{item.number}" class="title">{item.number}. {escaped(item.title)}</h3>{_badge(item.verdict)}</div>\n'
        f'<p class="soft">{escaped(item.criterion)} {link(item.source, "Source")}</p>\n{answers}\n</article>'
    )


def _answer(answer: Answer) -> str:
    parts = [
        f'<div class="queue">\n<h4><span>{escaped(answer.queue)}</span>{_badge(answer.verdict)}</h4>',
        f"<p>{sentence(answer.said)}</p>",
    ]
    if answer.evidence:
        parts.append(f"<ul>{''.join(map(_evidence, answer.evidence))}</ul>")
    if answer.todo:
        kind = "todo fail-todo" if answer.verdict == FAIL else "todo"
        head = "What to mend" if answer.verdict == FAIL else "How to find out"
        todo = "".join(f"<li>{marked(each)}</li>" for each in answer.todo)
        parts.append(f'<div class="{kind}"><strong>{head}</strong><ul>{todo}</ul></div>')
    return "\n".join([*parts, "</div>"])


def _evidence(evidence: Evidence) -> str:
    return (
        f'<li><span class="kind">{escaped(evidence.kind)}</span> <span class="where">{escaped(evidence.where)}</span> '
        f"{escaped(evidence.text)}</li>"
    )
