"""Three Workers: one sends, one consumes, one reads the dead letters."""

from __future__ import annotations

API = """{
  "name": "api", // 📮 takes orders
  "main": "src/index.ts",
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] }
}
"""
JOBS = """{
  "name": "jobs",
  "main": "src/index.ts",
  "queues": {
    "consumers": [
      { "queue": "orders", "max_retries": 3, "retry_delay": 60, "dead_letter_queue": "orders-dlq" }
    ]
  }
}
"""
LATE = """name = "late"
main = "src/index.ts"

[[queues.consumers]]
queue = "orders-dlq"
max_batch_size = 10
max_retries = 3
dead_letter_queue = "orders-lost"
"""
HANDLER = """export default {
  async queue(batch, env) {
    switch (batch.queue) {
      case "orders":
        for (const message of batch.messages) {
          await env.DB.prepare("insert or ignore into orders values (?)").bind(message.body.id).run();
          message.ack();
        }
        break;
      default:
        batch.retryAll({ delaySeconds: 60 });
    }
  },
};
"""

SENDER = "export default { async fetch(request, env) { await env.ORDERS.send({}); return new Response() } };\n"
FILES = {
    "api/wrangler.jsonc": API,
    "api/src/index.ts": SENDER,
    "jobs/wrangler.jsonc": JOBS,
    "jobs/src/index.ts": HANDLER,
    "late/wrangler.toml": LATE,
    "late/src/index.ts": HANDLER.replace('"orders"', '"orders-dlq"'),
}


def write(root, files=FILES):
    """Put files into a folder, byte for byte."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return root
