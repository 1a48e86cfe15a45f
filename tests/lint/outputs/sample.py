"""One report that holds all that an output must cope with: severities, fixes, related places, wide characters, long lines, odd paths."""

from __future__ import annotations

from cfq_lint.facts.record import replace
from cfq_lint.model.account_facts import Facts
from cfq_lint.run.engine import Report, conclude, judge
from cfq_lint.run.plan import Plan
from cfq_lint.run.selection import choose
from cfq_lint.source.document import from_bytes

API = """{
\t"name": "api", // a tab before
  "queues": {
    "producers": [
      { "binding": "ORDERS", "queue": "orders", "delivery_delay": 60 },
      { "binding": "ORDERS", "queue": "日本語-注文" }
    ],
    "consumers": [
      { "queue": "orders", "max_batch_size": 500, "max_retries": "5", "dead_letter_queue": "orders" },
      { "queue": "orders", "note": "é ünï %: <&\\"'> ]]>", "dead_letter_queue": "orders-dlq" },
      // cfq-lint: ignore[CFQ201] accepted
      { "queue": "mail", "max_batch_size": 1000, "dead_letter_queue": "mail-dlq" }
    ]
  }
}
"""
LONG = '{ "name": "long", "vars": { "A": "' + "x" * 150 + '" }, "queues": { "consumers": [{ "queue": "long", "max_retries": 1000, "dead_letter_queue": "long-dlq" }] } }\n'
WEB = """name = "web"

[[queues.consumers]]
queue = "mail"
visibility_timeout_ms = 30000
max_concurrency = 0
"""
FILES = {
    "apps/api/wrangler.jsonc": API.encode(),
    "apps/a,b: 100%/wrangler.jsonc": b"\xef\xbb\xbf{ 'name': \"x\" }\n",
    "apps/broken/wrangler.jsonc": b'{ "queues": { "consumers": [ }\n\x01',
    "apps/clean/wrangler.jsonc": b'{ "name": "clean" }\n',
    "apps/long/wrangler.jsonc": LONG.encode(),
    "apps/utf16/wrangler.jsonc": "\ufeff{}".encode("utf-16-le"),
    "apps/web/wrangler.toml": WEB.encode(),
}


def sample() -> Report:
    """The report."""
    plan = Plan(choose(), Facts())
    results = [judge(from_bytes(path, data), plan) for path, data in FILES.items()]
    return conclude(results, plan, ["apps/gone: no such file or folder"])


def clean() -> Report:
    """A report without anything to say."""
    plan = Plan(choose(), Facts())
    path = "apps/clean/wrangler.jsonc"
    return conclude([judge(from_bytes(path, FILES[path]), plan)], plan)


def crashed() -> Report:
    """A report with a finding about the linter itself."""
    finding = replace(
        clean_finding(), code="CFQ000", name="internal-error", message="the rule x failed on this file", url="", fix=None, related=()
    )
    return replace(clean(), findings=(finding,), crashed=True)


def clean_finding():
    """Any finding, to make another of."""
    return sample().findings[0]
