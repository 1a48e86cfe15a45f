// What the page starts with: a file with the usual mistakes, and consumers that show one thing each.

export const CONFIGS = {
  "wrangler.jsonc": `{
  "name": "shop",
  "main": "src/index.ts",
  "compatibility_date": "2026-01-01",
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "orders" }],
    "consumers": [
      // A limit of 100, and a name that is one letter off.
      {
        "queue": "orders",
        "max_retries": 1000,
        "dead_letter_queue": "order-dlq"
      },
      { "queue": "orders-dlq", "max_batch_size": "10" }
    ]
  }
}
`,
  "wrangler.toml": `name = "shop"
main = "src/index.ts"
compatibility_date = "2026-01-01"

[[queues.producers]]
binding = "ORDERS"
queue = "orders"

[[queues.consumers]]
queue = "orders"
max_batch_timeout = 90
dead_letter_queue = "orders"
`,
};

export const EXAMPLES = {
  "retries and dead letters": `# emu is an account with a clock of its own.
# Order 2 always fails.
orders = emu.create_queue("orders")
emu.create_queue("orders-dlq")

@emu.consume("orders", max_batch_size=3, max_retries=2,
             retry_delay=60, dead_letter_queue="orders-dlq")
def handle(batch):
    for message in batch.messages:
        if message.body["order"] == 2:
            message.retry()
        else:
            message.ack()

orders.send_batch([{"body": {"order": n}} for n in (1, 2, 3)])
emu.run_until_idle()
`,
  "first call wins": `# The first call on a message counts. Later ones do nothing.
jobs = emu.create_queue("jobs")

@emu.consume("jobs", max_batch_size=3, max_retries=1)
def handle(batch):
    for message in batch.messages:
        if message.body == "ack, retry":
            message.ack()
            message.retry()  # too late
        if message.body == "retry, ack" and message.attempts == 1:
            message.retry()
            message.ack()  # too late
    batch.ackAll()  # those that nothing was said about

for name in ("ack, retry", "retry, ack", "nothing"):
    jobs.send(name)
emu.run_until_idle()
`,
  "a batch fails together": `# An exception brings the whole batch back, but for
# what was acknowledged before it.
mails = emu.create_queue("mails")

@emu.consume("mails", max_batch_size=4, max_retries=3)
def handle(batch):
    for message in batch.messages:
        if message.body == "broken" and message.attempts < 3:
            raise ValueError("no such address")
        if message.body == "a":
            message.ack()

for body in ("a", "b", "broken", "c"):
    mails.send(body)
emu.run_until_idle()
`,
  "four days": `# A dead-letter queue without a consumer keeps a message
# for four days.
emu.create_queue("jobs")
emu.create_queue("jobs-dlq")

@emu.consume("jobs", max_retries=0, dead_letter_queue="jobs-dlq")
def handle(batch):
    raise RuntimeError("down")

emu.queue("jobs").send("lost at the end")
emu.run_until_idle()
emu.advance(3 * 86_400)
print("after three days:", emu.queue("jobs-dlq").bodies())
emu.advance(2 * 86_400)
print("after five:", emu.queue("jobs-dlq").bodies())
`,
  "backoff by attempts": `# The delay grows with the attempts: 30 s, 60 s, 120 s, 240 s.
import asyncio

calls = emu.create_queue("calls")

@emu.consume("calls", max_retries=5)
async def handle(batch):
    for message in batch.messages:
        await asyncio.sleep(2)  # virtual time, too
        if message.attempts < 5:
            delay = 30 * 2 ** (message.attempts - 1)
            message.retry(delaySeconds=delay)

calls.send({"to": "a service that wakes up late"})
emu.run_until_idle()
`,
};
