// Stands between Python and the Workers: takes batches, requests and pings over HTTP, hands them on as events.
const collect = globalThis.gc, COLLECTED_TURNS = 250;
let turns = 0;
const bytes = (text) => (Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
const message = ({ id, ts, attempts, v8, bytes: raw, body }) => ({
  id, timestamp: new Date(ts), attempts,
  ...(v8 === undefined ? { body: raw === undefined ? body : bytes(raw) } : { serializedBody: bytes(v8).buffer }),
});
const begin = (env, { worker, now, id, dies, all }) => {
  if (++turns % COLLECTED_TURNS === 0) collect();
  const begun = env[`HOST${worker}`].begin(now, id, dies);
  return all.length ? Promise.all([begun, tell(env, { all, now })]) : begun;
};
const tell = (env, { all, now }) => Promise.all(all.map((each) => env[`HOST${each}`].tell(now)));

const object = (env, given) => {
  const space = env[`OBJECT${given.worker}_${given.class}`];
  return space.get(space.idFromString(given.object));
};

const asked = {
  async queue(given, env) {
    await begin(env, given);
    try {
      const result = await env[`WORKER${given.worker}`].queue(given.queue, given.messages.map(message), given.metadata);
      if (result.outcome !== "ok") result.driver = await env[`HOST${given.worker}`].lacks("queue");
      return Response.json(result);
    } catch (error) {
      return Response.json({ outcome: "exception", driver: String(error?.stack ?? error) });
    }
  },
  async scheduled(given, env) {
    await begin(env, given);
    const controller = { scheduledTime: new Date(given.scheduledTime), cron: given.cron };
    return Response.json(await env[`WORKER${given.worker}`].scheduled(controller));
  },
  async alarm(given, env) {
    await begin(env, given);
    try {
      return await object(env, given).fetch("http://cfq-alarm/", { method: "POST", body: JSON.stringify(given.info) });
    } catch (error) {
      return new Response(String(error?.stack ?? error), { status: 500 });
    }
  },
  async ping({ workers }, env) {
    return Response.json(await Promise.all(workers.map((each) => env[`HOST${each}`].ping())));
  },
  async reset({ workers, seed, again }, env) {
    const found = await Promise.all(workers.map((each) => env[`HOST${each}`].reset(seed, again)));
    const objects = found.flatMap((each, at) => each.map(([name, id]) => object(env, { worker: workers[at], class: name, object: id })));
    await Promise.allSettled(objects.map((each) => each.fetch("http://cfq-reset/")));
    return new Response();
  },
  async tell(given, env) {
    await tell(env, given);
    return new Response();
  },
  ready: () => new Response(),
};

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/cfq/")) return asked[pathname.slice(5)](await request.json(), env);
    const given = JSON.parse(decodeURIComponent(request.headers.get("x-cfq")));
    await begin(env, given);
    const { method, body } = request, headers = new Headers(request.headers);
    headers.delete("x-cfq");
    const init = { method, headers, redirect: "manual", body: method === "GET" || method === "HEAD" ? null : body };
    try {
      return await env[`WORKER${given.worker}`].fetch(new Request(given.url, init));
    } catch (error) {
      return new Response(String(error?.stack ?? error), { status: 500, headers: { "x-cfq-thrown": "1" } });
    }
  },
};
