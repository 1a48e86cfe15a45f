// Runs one queue in miniflare and obeys commands on stdin, one JSON object a line; answers with one JSON object a line.
//   {"do": "burst", "count": N, "rounds": R}   sends N small JSON messages in R rounds of sendBatch(100) -> {"ms": …}
//   {"do": "latency", "count": N}              N times: sends one message and waits until it is delivered -> {"ms": median}
// Both are timed here, in the process of the test: what a test in Node waits for.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const { Miniflare, convertV4MiniflareOptions } = createRequire(process.argv[2] + "/")("miniflare");

const script = `
let delivered = 0, total = 0;
async function seen(count) {
  while (delivered < count) await scheduler.wait(1);
}
export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const count = Number(url.searchParams.get("count"));
    const rounds = Number(url.searchParams.get("rounds") ?? 1);
    delivered = total = 0;
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
      await env.SINGLE.send({ id: count, kind: "order", total: 12.5 });
      while (delivered < 1) await scheduler.wait(0);
    }
    return new Response(String(delivered));
  },
  async queue(batch) {
    for (const message of batch.messages) {
      total += message.body.total;
      message.ack();
    }
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

async function timed(path) {
  const before = performance.now();
  const response = await miniflare.dispatchFetch(`http://bench/${path}`);
  const delivered = Number(await response.text());
  return { ms: performance.now() - before, delivered };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { do: what, count, rounds = 1 } = JSON.parse(line);
  if (what === "burst") {
    console.log(JSON.stringify(await timed(`burst?count=${count}&rounds=${rounds}`)));
  } else {
    const times = [];
    for (let k = 0; k < count; k++) times.push((await timed("latency?count=1")).ms);
    times.sort((a, b) => a - b);
    console.log(JSON.stringify({ ms: times[count >> 1], delivered: count }));
  }
}
await miniflare.dispose();
