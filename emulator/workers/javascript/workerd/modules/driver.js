// Stands between Python and the Workers: takes batches, alarms and pings over a WebSocket, requests over HTTP, and hands them on as events.
const collect = globalThis.gc, COLLECTED_TURNS = 250;
let turns = 0;
/** What each Worker is, since it was evaluated: whether its default export is a class, and whether that lacks `queue`. */
const known = new Map();
const bytes = (text) => (Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
/** The messages of a batch, which comes in columns; `kinds` is one content type where all have it. */
function messagesOf({ ids, timestamps, attempts, kinds, bodies }) {
  const messages = new Array(ids.length);
  for (let n = 0; n < ids.length; n++) {
    const kind = typeof kinds === "string" ? kinds : kinds[n], body = bodies[n];
    const message = messages[n] = { id: ids[n], timestamp: new Date(timestamps[n]), attempts: attempts[n] };
    if (kind === "v8") message.serializedBody = bytes(body).buffer;
    else message.body = kind === "bytes" ? bytes(body) : body;
  }
  return messages;
}
const begin = (env, { worker, now, id, all }) => {
  const begun = env[`HOST${worker}`].begin(now, id);
  return all.length ? Promise.all([begun, tell(env, { all, now })]) : begun;
};
const tell = (env, { all, now }) => Promise.all(all.map((each) => env[`HOST${each}`].tell(now)));

const object = (env, given) => {
  const space = env[`OBJECT${given.worker}_${given.class}`];
  return space.get(space.idFromString(given.object));
};

/** What is asked over the WebSocket, and the text of its answer; an error is one, too. */
const asked = {
  async queue(given, env) {
    const { worker, now, id, dies, hears, guarded, all } = given, { constructs, lacks } = known.get(worker);
    if (++turns % COLLECTED_TURNS === 0) collect();
    if (constructs) await begin(env, given);  // its constructor knows what time it is
    else if (all.length) await tell(env, given);
    try {
      const name = `${given.queue}\n${now} ${id} ${dies ?? ""} ${hears ? 1 : ""} ${guarded ?? ""}`;  // time and turn come with the batch: a call of its own costs as much as the batch
      const result = await env[`WORKER${worker}`].queue(name, messagesOf(given), given.metadata);
      if (result.outcome !== "ok") result.driver = lacks;
      else if (!result.retryBatch.retry) result.explicitAcks = undefined;  // what is not retried is acknowledged: a hundred ids that say nothing
      return JSON.stringify(result);
    } catch (error) {
      return JSON.stringify({ outcome: "exception", driver: String(error?.stack ?? error) });
    }
  },
  async scheduled(given, env) {
    await begin(env, given);
    const controller = { scheduledTime: new Date(given.scheduledTime), cron: given.cron };
    return JSON.stringify(await env[`WORKER${given.worker}`].scheduled(controller));
  },
  async alarm(given, env) {
    await begin(env, given);
    await object(env, given).fetch("http://cfq-alarm/", { method: "POST", body: JSON.stringify(given.info) });
    return "";
  },
  async ping({ workers }, env) {
    return `[${(await Promise.all(workers.map((each) => env[`HOST${each}`].ping()))).join()}]`;
  },
  async reset({ workers, seed, again }, env) {
    const found = await Promise.all(workers.map((each) => env[`HOST${each}`].reset(seed, again)));
    found.forEach((each, at) => known.set(workers[at], each));
    return "";
  },
  /** Ends every object; Python takes away what they have kept. */
  async forget({ workers }, env) {
    const found = await Promise.all(workers.map((each) => env[`HOST${each}`].forget()));
    const objects = found.flatMap((each, at) => each.map(([name, id]) => object(env, { worker: workers[at], class: name, object: id })));
    await Promise.allSettled(objects.map((each) => each.fetch("http://cfq-reset/")));
    return "";
  },
  async tell(given, env) {
    await tell(env, given);
    return "";
  },
};

/** "NUMBER WHAT JSON" is answered by "NUMBER STATUS TEXT"; what begins with "+" is a part of what comes next. */
function control(env) {
  const { 0: theirs, 1: ours } = new WebSocketPair();
  let parts = "";
  ours.accept();
  ours.addEventListener("message", async ({ data }) => {
    if (data[0] === "+") {
      parts += data.slice(1);
      return;
    }
    const text = parts + data, first = text.indexOf(" "), second = text.indexOf(" ", first + 1), number = text.slice(0, first);
    parts = "";
    try {
      ours.send(`${number} 200 ${await asked[text.slice(first + 1, second)](JSON.parse(text.slice(second + 1)), env)}`);
    } catch (error) {
      ours.send(`${number} 500 ${error?.stack ?? error}`);
    }
  });
  return new Response(null, { status: 101, webSocket: theirs });
}

export default {
  async fetch(request, env) {
    if (request.headers.get("x-cfq") === null) return control(env);
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
