"""What the tests of an audit share: a file, an account that fits it, and a run in this process."""

from __future__ import annotations

from cfq_lint.cli import app

from .hostile import ACCOUNT, TOKEN, account, assert_silent, queue

CONFIG = """{
  "name": "shop",
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "orders" }],
    "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }]
  }
}
"""
SHOP = account(queue("orders", [{"type": "worker", "script_name": "shop", "dead_letter_queue": "orders-dlq"}]), queue("orders-dlq"))
WITH_ACCESS = {"CLOUDFLARE_API_TOKEN": TOKEN, "CLOUDFLARE_ACCOUNT_ID": ACCOUNT}


def audit(*options, out):
    """Run in this process; the exit code, output and what was said beside it."""
    code = app.run(["audit", *options])
    said, err = out.readouterr()
    assert_silent(said, err)
    assert "Traceback" not in err
    return code, said, err


def files(room):
    """All that stands in a folder, but what the test put there."""
    return {file.name: file.read_bytes() for file in room.iterdir() if file.name != "wrangler.jsonc"}
