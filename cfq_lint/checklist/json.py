"""The acceptance list as JSON, versioned: the shape is in schemas/checklist.schema.json."""

from __future__ import annotations

import json

from cfq_lint.checklist.model import FAIL, PASS, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.checklist.model import Checklist

VERSION = 1


def render(checklist: Checklist, *, problems: tuple[str, ...] = ()) -> str:
    """The whole list as one JSON object, ASCII only, with a line end."""
    whole = {
        "version": VERSION,
        "summary": {
            **{verdict: checklist.count(verdict) for verdict in (PASS, FAIL, UNKNOWN)},
            "queues": len(checklist.queues),
            "files": len(checklist.files),
            "problems": len(problems),
        },
        "matrix": [
            {"queue": queue, "verdicts": dict(zip((item.name for item in checklist.items), verdicts, strict=True))}
            for queue, verdicts in checklist.matrix
        ],
        "items": [
            {
                "number": item.number,
                "name": item.name,
                "title": item.title,
                "criterion": item.criterion,
                "kind": item.kind,
                "verdict": item.verdict,
                "url": item.source,
                "answers": [
                    {
                        "queue": answer.queue,
                        "verdict": answer.verdict,
                        "said": answer.said,
                        "evidence": [{"kind": each.kind, "where": each.where, "text": each.text} for each in answer.evidence],
                        "todo": list(answer.todo),
                    }
                    for answer in item.answers
                ],
            }
            for item in checklist.items
        ],
        "passed_over": list(checklist.passed_over),
        "problems": list(problems),
    }
    return json.dumps(whole, indent=2) + "\n"
