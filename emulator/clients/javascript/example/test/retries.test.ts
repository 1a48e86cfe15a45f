import { serve, type Emulator } from "cfq-emulator";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

let emulator: Emulator;
let bank: (request: Request) => Response;

beforeAll(async () => {
  emulator = await serve({ workers: "wrangler.jsonc", fetch: (request) => bank(request) });
}, 60_000);
afterAll(() => emulator?.close());
beforeEach(() => emulator.reset());

async function order(id: number) {
  const answer = await emulator.fetch("/orders", { method: "POST", body: JSON.stringify({ id }) });
  expect(answer.status).toBe(202);
}

test("an order that the bank takes is paid once", async () => {
  bank = () => new Response("thanks");
  await order(1);
  await emulator.runUntilIdle();
  expect(await emulator.fates()).toMatchObject([{ queue: "orders", state: "acked", attempts: 1, body: { id: 1 } }]);
  expect((await emulator.workers())[0].fetches).toHaveLength(1);
});

test("the fourth attempt falls seven minutes after the first", async () => {
  bank = () => new Response("closed", { status: 503 });
  await order(2);
  await emulator.advance(10 * 60);
  const [first, , , fourth] = await emulator.deliveries();
  expect(fourth.messages[0]).toMatchObject({ attempts: 4, body: { id: 2 } });
  expect((fourth.at.getTime() - first.at.getTime()) / 1000).toBe(60 + 120 + 240 + 3); // and a second for each batch to fill
});

test("after five attempts the order is a dead letter, and four days later it is gone", async () => {
  bank = () => new Response("closed", { status: 503 });
  await order(3);
  await emulator.runUntilIdle();
  expect(await emulator.fates()).toMatchObject([
    { queue: "orders", state: "dead-lettered", attempts: 5 },
    { queue: "orders-dead", state: "waiting" },
  ]);
  await emulator.advance(4 * 86_400);
  expect(await emulator.fates({ queue: "orders-dead" })).toMatchObject([{ state: "expired" }]);
});

test("a message that comes twice charges once", async () => {
  let charged = 0;
  bank = () => new Response(`${++charged}`);
  await emulator.faults({ duplicates: 1 });
  await order(4);
  await emulator.advance(2);
  await emulator.faults({ duplicates: 0 });
  await emulator.runUntilIdle();
  expect((await emulator.deliveries()).length).toBeGreaterThan(1);
  expect(charged).toBe(1);
});
