// Hands batches to a Worker's queue() in miniflare, as its getWorker() does it, and obeys commands on stdin, one JSON object a line:
//   {"do": "batches", "count": N, "size": S}   N batches of S small JSON messages, one after the other -> {"ms": …, "delivered": N}
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const { Miniflare, convertV4MiniflareOptions } = createRequire(process.argv[2] + "/")("miniflare");
const miniflare = new Miniflare(convertV4MiniflareOptions({
  modules: true, script: readFileSync(process.argv[3], "utf8"), cf: false, compatibilityDate: "2026-06-01",
}));
const worker = await miniflare.getWorker();
console.log(JSON.stringify({ ready: true }));

for await (const line of createInterface({ input: process.stdin })) {
  const { count, size } = JSON.parse(line);
  let delivered = 0;
  const before = performance.now();
  for (let at = 0; at < count; at++) {
    const messages = Array.from({ length: size }, (_, n) => ({ id: `${at}-${n}`, timestamp: new Date(), attempts: 1, body: { id: n, kind: "order", total: 12.5 } }));
    delivered += (await worker.queue("bench", messages)).explicitAcks.length;
  }
  console.log(JSON.stringify({ ms: performance.now() - before, delivered: delivered / size }));
}
await miniflare.dispose();
