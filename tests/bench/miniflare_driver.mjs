// Runs one queue in miniflare and obeys commands on stdin, one JSON object a line; answers with one JSON object a line.
//   {"do": "burst", "count": N, "rounds": R}   sends N small JSON messages in R rounds of sendBatch(100) -> {"ms": …}
//   {"do": "latency", "count": N}              sends N messages one after the other, each after the last was delivered -> {"ms": …}
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const { Miniflare, convertV4MiniflareOptions } = createRequire(process.argv[2] + "/")("miniflare");

const script = `
let delivered = 0;
async function seen(count) {
  while (delivered < count) await scheduler.wait(1);
}
export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const count = Number(url.searchParams.get("count"));
    const rounds = Number(url.searchParams.get("rounds") ?? 1);
    delivered = 0;
    if (url.pathname === "/burst") {
      const each = count / rounds;
      for (let round = 0; round < rounds; round++) {
        for (let at = 0; at < each; at += 100) {
          const batch = [];
          for (let k = 0; k < 100; k++) batch.push({ body: { id: round * each + at + k, kind: "order", total: 12.5 } });
          await env.BULK.sendBatch(batch);
        }
        await seen((round + 1) * each);
      }
    } else {
      for (let k = 0; k < count; k++) {
        await env.SINGLE.send({ id: k, kind: "order", total: 12.5 });
        while (delivered <= k) await scheduler.wait(0);
      }
    }
    return new Response(String(delivered));
  },
  async queue(batch) {
    for (const message of batch.messages) message.ack();
    delivered += batch.messages.length;
  },
};`;

const miniflare = new Miniflare(convertV4MiniflareOptions({
  modules: true,
  script,
  cf: false,
  compatibilityDate: "2026-06-01",
  queueProducers: { BULK: "bulk", SINGLE: "single" },
  queueConsumers: {
    bulk: { maxBatchSize: 100, maxBatchTimeout: 1 },
    single: { maxBatchSize: 1, maxBatchTimeout: 0 },
  },
}));
await miniflare.ready;
console.log(JSON.stringify({ ready: true }));

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const query = new URLSearchParams({ count: command.count, rounds: command.rounds ?? 1 });
  const before = performance.now();
  const response = await miniflare.dispatchFetch(`http://bench/${command.do}?${query}`);
  const delivered = Number(await response.text());
  console.log(JSON.stringify({ ms: performance.now() - before, delivered }));
}
await miniflare.dispose();
