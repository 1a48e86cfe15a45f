// A client of cfq-emulator: starts the server, moves its time, sends, and asks what became of messages. It needs Node alone.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";

const START_MS = 60_000;
const STOP_MS = 10_000;

/** What the emulator refused, with Cloudflare's code where it has one. */
export class EmulatorError extends Error {
  constructor(message, { code = 0, status = 0 } = {}) {
    super(message);
    this.name = "EmulatorError";
    this.code = code;
    this.status = status;
  }
}

/** Starts `cfq-emulator serve` with Workers, on virtual time, and gives a client of it. `close()` ends it. */
export async function serve(options = {}) {
  const { workers = ["wrangler.jsonc"], env, plan, start, seed = 0, cwd = process.cwd(), extra = [] } = options;
  const command = options.command ?? commandOf(cwd);
  const outgoing = options.fetch ? await answering(options.fetch) : undefined;
  const given = ["serve", "--port", "0", "--db", ":memory:", "--time", "virtual", "--log", "off", "--seed", String(seed)];
  for (const worker of [workers].flat()) given.push("--worker", worker);
  for (const [name, value] of Object.entries({ env, plan, start, outgoing: outgoing?.url }))
    if (value !== undefined) given.push(`--${name}`, value instanceof Date ? value.toISOString() : String(value));
  const [program, ...before] = [command].flat();
  const child = spawn(program, [...before, ...given, ...extra], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const end = () => child.kill("SIGTERM"); // it ends its own workerd, and then itself
  process.once("exit", end);
  try {
    const url = await started(child, program);
    return new Emulator(url, async () => {
      process.off("exit", end);
      outgoing?.close();
      await stopped(child);
    });
  } catch (error) {
    process.off("exit", end);
    outgoing?.close();
    end();
    throw error;
  }
}

/** A client of a server that somebody else has started, with `--control` or `--worker`. */
export function connect(url) {
  return new Emulator(url.replace(/\/(client\/v4\/?)?$/, ""), async () => {});
}

/** What CFQ_EMULATOR says; else the program of a `.venv` from the folder up; else the one on the PATH. */
function commandOf(folder) {
  if (process.env.CFQ_EMULATOR) return process.env.CFQ_EMULATOR.split(" ");
  const [bin, name] = process.platform === "win32" ? ["Scripts", "cfq-emulator.exe"] : ["bin", "cfq-emulator"];
  for (let each = folder; ; each = dirname(each)) {
    if (existsSync(join(each, ".venv", bin, name))) return [join(each, ".venv", bin, name)];
    if (each === dirname(each)) return ["cfq-emulator"];
  }
}

function started(child, program) {
  return new Promise((resolve, reject) => {
    let said = "", wrong = "";
    const late = setTimeout(() => reject(new EmulatorError(`${program} has not started within ${START_MS / 1000} seconds: ${wrong}`)), START_MS);
    const fail = (message) => { clearTimeout(late); reject(new EmulatorError(message)); };
    child.once("error", (error) => fail(error.code === "ENOENT"
      ? `${program} is not there: pip install 'cfq-lint[server]', or say where it is with the option command or in CFQ_EMULATOR`
      : String(error)));
    child.once("exit", (code) => fail(wrong.trim() || `${program} ended with ${code}`));
    child.stderr.setEncoding("utf8").on("data", (text) => { wrong += text; });
    child.stdout.setEncoding("utf8").on("data", (text) => {
      said += text;
      const url = /serving (http:\S+)\/client\/v4/.exec(said);
      if (url) { clearTimeout(late); resolve(url[1]); }
    });
  });
}

function stopped(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    child.once("exit", () => { clearTimeout(late); resolve(); });
    child.kill("SIGTERM");
  });
}

/** A server that answers what Workers fetch by a function of the test: it gets a Request and gives a Response. */
async function answering(answer) {
  const server = createServer(async (incoming, outgoing) => {
    try {
      const chunks = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const { "x-forwarded-host": host, "x-forwarded-proto": scheme, host: _, ...rest } = incoming.headers;
      const headers = Object.entries(rest).filter(([name]) => !["connection", "content-length"].includes(name));
      const body = chunks.length ? Buffer.concat(chunks) : undefined;
      const request = new Request(`${scheme}://${host}${incoming.url}`, { method: incoming.method, headers, body });
      const response = await answer(request);
      outgoing.writeHead(response.status, [...response.headers].flat());
      outgoing.end(Buffer.from(await response.arrayBuffer()));
    } catch (error) {
      outgoing.writeHead(502, { "content-type": "text/plain" });
      outgoing.end(`the test's fetch failed: ${error?.stack ?? error}`);
    }
  });
  await new Promise((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const close = () => { server.close(); server.closeAllConnections(); };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

/** One account of queues and Workers, on a clock that moves by order. */
export class Emulator {
  #url;
  #close;
  #ids = new Map();

  constructor(url, close) {
    this.#url = url;
    this.#close = close;
  }

  /** Where the server is. */
  get url() {
    return this.#url;
  }

  /** Ends the server, if `serve` started it. */
  close() {
    return this.#close();
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.close();
  }

  /** One request to the server; the `result` of its answer. Throws EmulatorError. */
  async request(method, path, body) {
    let response;
    try {
      response = await fetch(this.#url + path, {
        method, body: body === undefined ? undefined : JSON.stringify(body), headers: { "content-type": "application/json" },
      });
    } catch (error) {
      throw new EmulatorError(`the emulator at ${this.#url} does not answer: ${error.cause?.message ?? error.message}`);
    }
    const told = await response.json().catch(() => null);
    if (told?.success !== true) {
      const first = told?.errors?.[0];
      throw new EmulatorError(first ? `${first.message} (${first.code})` : `${method} ${path}: ${response.status}`,
        { code: first?.code, status: response.status });
    }
    return told.result;
  }

  // --- time

  /** The virtual time. */
  async now() {
    return new Date((await this.request("GET", "/emulator/time")).now_ms);
  }

  /** Lets so many seconds pass; everything due on the way happens, each thing at its own moment. The time afterwards. */
  async advance(seconds) {
    return new Date((await this.request("POST", "/emulator/time/advance", { seconds })).now_ms);
  }

  /** Lets time pass up to a moment. */
  async advanceTo(when) {
    return this.advance((new Date(when).getTime() - (await this.now()).getTime()) / 1000);
  }

  /** Lets time pass until no batch is due and no handler runs. */
  async runUntilIdle() {
    return new Date((await this.request("POST", "/emulator/time/run-until-idle", {})).now_ms);
  }

  /** Begins anew: empty queues and stores, Workers as they were loaded first, no faults. Time goes on. */
  async reset() {
    this.#ids.clear();
    await this.request("POST", "/emulator/reset", {});
  }

  // --- what has happened

  /** What became of each message in each queue that it entered, in order of entry, since the last reset. */
  async fates({ queue } = {}) {
    const { fates } = await this.request("GET", `/emulator/fates${query({ queue })}`);
    return fates.map(({ at, content_type, body, ...fate }) => ({ ...fate, at: new Date(at), contentType: content_type, body: value(body, content_type) }));
  }

  /** Every batch that a push consumer received, in order, since the last reset. */
  async deliveries({ queue } = {}) {
    const { deliveries } = await this.request("GET", `/emulator/deliveries${query({ queue })}`);
    return deliveries.map((delivery) => ({
      ...delivery, at: new Date(delivery.at),
      messages: delivery.messages.map(({ content_type, body, ...message }) => ({ ...message, contentType: content_type, body: value(body, content_type) })),
    }));
  }

  /** The timeline of a message (its id, or the start of it), or of all, as lines and as a table to print. */
  async trace(message) {
    const { lines, text } = await this.request("GET", `/emulator/trace${query({ message })}`);
    return { lines: lines.map((line) => ({ ...line, at: new Date(line.at) })), text };
  }

  /** The Workers, with what each has written to its console and fetched since the last reset. */
  async workers() {
    return (await this.request("GET", "/emulator/workers")).workers.map((each) => ({
      ...each, fetches: each.fetches.map((sent) => ({ ...sent, at: new Date(sent.at) })),
    }));
  }

  // --- what goes in

  /** Lets a Worker answer a request: a path, a URL or a Request; the first Worker, unless one is named. */
  async fetch(input, init = {}) {
    const { worker, ...rest } = init;
    const request = new Request(typeof input === "string" && input.startsWith("/") ? `http://localhost${input}` : input, rest);
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer()).toString("base64");
    const told = await this.request("POST", "/emulator/workers/fetch", {
      worker, url: request.url, method: request.method, headers: [...request.headers], body_base64: body,
    });
    const bytes = Buffer.from(told.body_base64, "base64");
    return new Response([101, 204, 205, 304].includes(told.status) ? null : bytes, { status: told.status, headers: told.headers });
  }

  /** The bindings of a Worker (the first, unless one is named), to be called as its code calls them: `await emulator.env().DB.exec(sql)`. */
  env(worker) {
    const chain = (binding, calls) => new Proxy(() => {}, {
      get: (_, name) => {
        if (typeof name === "symbol") return undefined;
        if (name === "then" && calls.length)
          return (...on) => this.request("POST", "/emulator/workers/call", { binding, calls, worker }).then(({ value }) => value).then(...on);
        return name === "then" ? undefined : (...given) => chain(binding, [...calls, [name, ...given]]);
      },
    });
    return new Proxy({}, { get: (_, binding) => (typeof binding === "symbol" || binding === "then" ? undefined : chain(binding, [])) });
  }

  /** The chances of faults, and how often each acted; with chances given, they are changed first. */
  async faults(chances) {
    return chances === undefined ? this.request("GET", "/emulator/faults") : this.request("POST", "/emulator/faults", chances);
  }

  /** A queue by its name. */
  queue(name) {
    return new Queue(this, name, async () => this.#id(name));
  }

  async #id(name) {
    if (!this.#ids.has(name)) {
      const found = await this.request("GET", `/accounts/local/queues?per_page=1000`);
      this.#ids = new Map(found.map((each) => [each.queue_name, each.queue_id]));
      if (!this.#ids.has(name))
        throw new EmulatorError(`there is no queue ${JSON.stringify(name)} (queues: ${[...this.#ids.keys()].join(", ") || "none"})`, { code: 11000, status: 404 });
    }
    return this.#ids.get(name);
  }
}

/** One queue: as a producer and a pull consumer see it, and as its owner does. */
export class Queue {
  #emulator;
  #id;

  constructor(emulator, name, id) {
    this.#emulator = emulator;
    this.name = name;
    this.#id = id;
  }

  async #request(method, path, body) {
    return this.#emulator.request(method, `/accounts/local/queues/${await this.#id()}${path}`, body);
  }

  /** Sends a message: JSON, or text by `contentType`, as Cloudflare's REST API takes it. */
  async send(body, options = {}) {
    await this.#request("POST", "/messages", message(body, options));
  }

  /** Sends messages together: each `{ body, contentType?, delaySeconds? }`. */
  async sendBatch(messages, { delaySeconds } = {}) {
    await this.#request("POST", "/messages/batch", {
      messages: [...messages].map((each) => message(each.body, each)), delay_seconds: delaySeconds,
    });
  }

  /** Leases messages of a queue with an `http_pull` consumer. */
  async pull({ batchSize, visibilityTimeoutMs } = {}) {
    const { messages } = await this.#request("POST", "/messages/pull", { batch_size: batchSize, visibility_timeout_ms: visibilityTimeoutMs });
    return messages.map(({ lease_id, timestamp_ms, metadata, body, ...rest }) => ({
      ...rest, leaseId: lease_id, timestamp: new Date(timestamp_ms), contentType: metadata["CF-Content-Type"], body: value(body, metadata["CF-Content-Type"]),
    }));
  }

  /** Settles leases: `acks` are lease ids, `retries` lease ids or `{ leaseId, delaySeconds }`. */
  async ack({ acks = [], retries = [] }) {
    await this.#request("POST", "/messages/ack", {
      acks: acks.map((lease_id) => ({ lease_id })),
      retries: retries.map((each) => (typeof each === "string" ? { lease_id: each } : { lease_id: each.leaseId, delay_seconds: each.delaySeconds })),
    });
  }

  /** How many messages wait, how large they are, and since when the oldest does. */
  async metrics() {
    const told = await this.#request("GET", "/metrics");
    return { backlogCount: told.backlog_count, backlogBytes: told.backlog_bytes, oldestMessageTimestampMs: told.oldest_message_timestamp_ms };
  }

  /** Stops delivery; messages are stored all the same. */
  async pause() {
    await this.#request("PATCH", "", { settings: { delivery_paused: true } });
  }

  /** Lets delivery go on. */
  async resume() {
    await this.#request("PATCH", "", { settings: { delivery_paused: false } });
  }

  /** Deletes every message. */
  async purge() {
    await this.#request("POST", "/purge", { delete_messages_permanently: true });
  }
}

function query(fields) {
  const given = Object.entries(fields).filter(([, text]) => text !== undefined);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

function message(body, { contentType = "json", delaySeconds } = {}) {
  return { body, content_type: contentType, delay_seconds: delaySeconds };
}

/** A body as it travels, read: JSON as its value, text as a string, bytes (and what V8 wrote) as bytes. */
function value(body, contentType) {
  if (contentType === "text") return body;
  const bytes = Buffer.from(body, "base64");
  return contentType === "json" ? JSON.parse(bytes.toString("utf8")) : new Uint8Array(bytes);
}
