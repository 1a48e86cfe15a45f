"""The audit's page: each queue's findings beside its charts, drawn from what was measured, without a script."""

from __future__ import annotations

import json
import re

from cfq_lint.drawing.series import Series, series
from cfq_lint.model.wrangler import Worker
from cfq_lint.report.audit_page import render
from cfq_lint.report.deploy import deploy_of
from tests.lint.account.test_account_rules import report
from tests.lint.account.test_measured import FILE, account
from tests.lint.support import account_of, document_of

EVIL = "<script>alert(1)</script>"


def page(held):
    """The page of an account."""
    found = report(FILE, held)
    facts = account_of(held)
    return render(found, deploy_of(found, [Worker(document_of(FILE))], facts), facts.measured)


HELD = account((3, {"written": 1, "largest_bytes": 118_000, "backlog_messages": 2.0, "lag_ms": 5_000.0}), (4, {"backlog_messages": 8.0}))


def test_a_queue_has_its_findings_beside_its_charts():
    text = page(HELD)
    section = text[text.index("<h2 id=") : text.index("</section>")]
    assert "message-near-limit" in section
    assert re.findall(r"<figcaption>(.*?),", section) == ["Backlog", "Lag"]
    assert 'aria-label="Backlog. Highest 8 messages, last 8"' in section
    assert 'aria-label="Lag. Highest 5 seconds from writing to delivery, last 5"' in section
    assert "<dt>largest message</dt><dd>118,000 bytes</dd>" in section
    assert "Measured in 7 days to 2026-01-05T00:00:00Z" in text
    assert "<script" not in text


def test_without_measurements_there_is_a_page_too():
    text = page({**HELD, "measured": None})
    assert "was not read" in text
    assert "<svg" not in text


def test_what_a_server_says_is_text():
    held = json.loads(json.dumps(HELD))
    held["measured"]["missing"] = {"backlog": EVIL}
    held["measured"]["queues"][EVIL] = held["measured"]["queues"].pop("orders")
    assert EVIL not in page(held)


def test_a_line_is_broken_where_nothing_is_known_and_holds_for_its_hour():
    drawn = series(Series("Lag", "s", ((0, 1.0), (1, 2.0), (3, 2.0)), 4, "one"), ((0, "Mon"),))
    lines = re.findall(r'<polyline class="one stroke" points="([^"]*)"', drawn)
    assert lines == ["64.0,69.0 166.0,69.0 166.0,12.0 268.0,12.0", "370.0,12.0 472.0,12.0"]


def test_a_chart_of_zeros_is_on_the_floor():
    drawn = series(Series("Retries", "each", ((0, 0.0),), 1, "one"), ())
    assert 'points="64.0,126.0 472.0,126.0"' in drawn
