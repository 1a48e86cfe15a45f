interface Order {
  id: number;
}
interface Env {
  ORDERS: Queue<Order>;
  PAID: KVNamespace;
}

export default {
  async fetch(request, env): Promise<Response> {
    const order = await request.json<Order>();
    await env.ORDERS.send(order);
    return Response.json({ accepted: order.id }, { status: 202 });
  },

  async queue(batch, env): Promise<void> {
    for (const message of batch.messages) {
      const key = String(message.body.id);
      if (await env.PAID.get(key)) continue;
      const answer = await fetch("https://bank.example/charge", { method: "POST", body: JSON.stringify(message.body) });
      if (answer.ok) {
        await env.PAID.put(key, message.id);
      } else {
        console.warn(`attempt ${message.attempts} of order ${key}: ${answer.status}`);
        message.retry({ delaySeconds: 60 * 2 ** (message.attempts - 1) });
      }
    }
  },
} satisfies ExportedHandler<Env, Order>;
