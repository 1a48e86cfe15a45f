"""What the page asks of the linter: plain JSON in and out, with offsets in the units of JavaScript's strings."""

from __future__ import annotations

import json

from cfq_lint import lint_text
from cfq_lint.rules.registry import BY_KEY, load


def units(text):
    """A function from offsets in code points to offsets in UTF-16."""
    if text.isascii():
        return lambda offset: max(offset, 0)
    return lambda offset: len(text[: max(offset, 0)].encode("utf-16-le", "surrogatepass")) // 2


def lint(text, path, plan):
    """The findings on a text, as JSON."""
    at = units(text)

    def shown(finding):
        fix = finding.fix
        place = finding.place
        return {
            "code": finding.code,
            "name": finding.name,
            "severity": str(finding.severity),
            "message": finding.message,
            "line": finding.line,
            "column": finding.column,
            "from": at(place.start),
            "to": at(place.end),
            "url": finding.url,
            "fix": fix
            and {
                "title": fix.title,
                "safe": fix.safe,
                "changes": [{"from": at(e.place.start), "to": at(e.place.end), "insert": e.text} for e in fix.edits],
            },
        }

    return json.dumps([shown(each) for each in lint_text(text, path, plan=plan or None).findings])


def rule(code):
    """A rule's page in Markdown."""
    made = load(BY_KEY[code])
    return f"## {made.code} {made.name}\n\n{made.page}\n\n[What Cloudflare says]({made.source})"
