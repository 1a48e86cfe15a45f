// Holds the Worker's own modules, calls their handlers, and evaluates them anew where a test wants a fresh Worker.
import { DurableObject, WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";
import { ask, begun, live, say, seed, state, takeLines, textOf, whose, written } from "./clock.js";
import { guard } from "./outside.js";

const COLLECTED_TURNS = 250, COLLECTED_RESETS = 8;  // V8 does not see what its objects hold in workerd, and would let it grow
const HANDLERS = ["fetch", "queue", "scheduled", "email", "tail", "trace", "test"];
const collect = globalThis.gc;
globalThis.gc = undefined;
let evaluate, current, durable, turns = 0, resets = 0;

/** By a fault, the process dies where the body of this message is read: Python answers nothing of it any more. */
function doom(batch, place) {
  const message = batch.messages[place];
  Object.defineProperty(message, "body", { get() {
    ask("died?").catch(() => {});
    throw new Error("a fault ended the handler's process");
  } });
}

/** Runs a handler; what it writes and throws reaches Python. */
async function run(call) {
  if (whose.getStore()) return call();
  const store = { id: state.invocation, open: 0, parts: 1, guarded: state.guarded, heard: state.hears ? [] : undefined };
  state.guarded = state.hears = false;
  live.add(store);
  return whose.run(store, async () => {
    let failure;
    try {
      return await call();
    } catch (error) {
      failure = textOf(error);
      throw error;
    } finally {
      await tell(failure);
      part(store);
    }
  });
}

/** Tells what was written, and what was thrown. */
async function tell(failure) {
  const store = whose.getStore();
  if (store?.heard) await Promise.all(store.heard);
  if (failure !== undefined || written() || (store?.calls && (store.slept || ignored(store.calls)))) await ask("said?", failure);
}

/** A part of an invocation has ended: the handler, or what it left to waitUntil. After the last one nothing of it is counted. */
function part(store) {
  if (!--store.parts) live.delete(store);
}

/** The Worker's exports, evaluated; its handlers' context is told apart from ours. */
export function start(given, place, objects) {
  evaluate = given;
  durable = new Set(objects);
  state.place = place;
  const made = evaluate();
  if (typeof made?.then === "function") return made.then((found) => { current = prepared(found); });
  current = prepared(made);
}

function prepared(exported) {
  const found = {};
  for (const name of Object.keys(exported)) {
    const value = exported[name];
    found[name] = typeof value === "function" && value.prototype ? classOf(value, name) : value;
  }
  return found;
}

const ALARM = "http://cfq-alarm/", RESET = "http://cfq-reset/";
const seen = new Map(), contexts = new WeakMap();
let forgetting = false;

/** A class of Durable Objects whose alarms are on the account's clock. What Python asks of an object comes as a request. */
function objectClass(Given, name) {
  const Made = class extends Given {
    constructor(ctx, env) {
      if (forgetting) throw new Error("it is not there any more");  // nothing of the Worker runs for that
      keepTime(ctx, name, () => typeof Given.prototype.alarm === "function");
      seen.set(`${name} ${ctx.id}`, [name, String(ctx.id)]);
      super(ctx, env);
      contexts.set(this, ctx);
      if (!Object.hasOwn(this, "fetch")) return;
      const own = this.fetch;
      this.fetch = (request) => asked(this, ctx, request) ?? own.call(this, request);
    }
    fetch(request) {
      const answer = asked(this, contexts.get(this), request);
      if (answer !== undefined) return answer;
      if (typeof super.fetch !== "function") throw new TypeError("Handler does not export a fetch() function.");
      return super.fetch(request);
    }
  };
  Object.defineProperty(Made, "name", { value: Given.name });
  return Made;
}
function asked(object, ctx, request) {
  if (request.url === RESET) return ctx.abort("the next test has objects of its own");
  if (request.url === ALARM) return request.json().then((info) => run(() => object.alarm(info))).then(() => new Response());
}

/** Alarms of an object go to Python, which wakes it at its moment. */
function keepTime(ctx, name, rings) {
  const tell = (at) => ask(`alarm?class=${encodeURIComponent(name)}&id=${ctx.id}&at=${at}`);
  const own = {
    async setAlarm(at) {
      if (!rings()) throw new Error("Your Durable Object class must have an alarm() handler in order to call setAlarm()");
      await tell(Math.trunc(Number(at)));
    },
    async getAlarm() {
      const at = (await tell("")).headers.get("x-cfq-at");
      return at ? Number(at) : null;
    },
    async deleteAlarm() { await tell("never"); },
  };
  const { storage } = ctx, { transaction, deleteAll } = storage;
  const put = (on) => Object.defineProperties(on, Object.fromEntries(Object.entries(own).map(([key, value]) => [key, { value, configurable: true }])));
  put(storage);
  Object.defineProperties(storage, {
    transaction: { value: (work) => transaction.call(storage, (inner) => work(put(inner))), configurable: true },
    deleteAll: { configurable: true, async value(...given) {
      await deleteAll.apply(storage, given);
      if (globalThis.Cloudflare?.compatibilityFlags?.delete_all_deletes_alarm) await own.deleteAlarm();
    } },
  });
}

function classOf(Given, name) {
  if (Given.prototype instanceof DurableObject || durable.has(name)) return objectClass(Given, name);
  if (Given.prototype instanceof WorkerEntrypoint) {
    for (const handler of HANDLERS) {
      const original = Given.prototype[handler];
      if (typeof original !== "function" || Object.hasOwn(original, "__cfq")) continue;
      const wrapped = function (...args) { return handle(handler, args, this.ctx, () => original.apply(this, args)); };
      Object.defineProperty(wrapped, "__cfq", { value: true });
      Object.defineProperty(Given.prototype, handler, { value: wrapped, configurable: true, writable: true });
    }
  }
  return Given;
}

let listened = false;
/** What is said of messages. workerd ignores some of it with a warning that nobody hears: then Python is told of all, in order. */
function listen(batch) {
  if (listened) return;
  listened = true;
  const follow = (prototype, call) => {
    const original = prototype[call];
    if (typeof original !== "function") return;
    prototype[call] = function (options) {
      const answer = original.apply(this, arguments), store = whose.getStore();
      if (!store) return answer;
      (store.calls ??= []).push([call, this, options?.delaySeconds === undefined ? null : Number(options.delaySeconds) | 0]);
      if (store.heard) store.heard.push(ask("said?").catch(() => {}));
      return answer;
    };
  };
  const message = Object.getPrototypeOf(batch.messages[0]), whole = Object.getPrototypeOf(batch);
  for (const call of ["ack", "retry"]) follow(message, call);
  for (const call of ["ackAll", "retryAll"]) follow(whole, call);
}
/** Whether a call came after one that had decided otherwise. */
function ignored(calls) {
  if (calls.every(([call]) => call === calls[0][0])) return false;
  const words = new Map();
  let all;
  for (const [call, of] of calls) {
    const word = words.get(of);
    if (call === "ack") {
      if (all !== "ackAll" && (word === "retry" || all === "retryAll")) return true;
      if (!word) words.set(of, call);
    } else if (call === "retry") {
      if (all === "ackAll" || word === "ack") return true;
      words.set(of, call);
    } else {
      if (all && all !== call) return true;
      all = call;
    }
  }
  return false;
}

/** With the name of its queue a batch brings the time, whose turn it is, the message at which a fault ends the process, and whether faults need to hear at once what is said of messages. */
function turn(batch) {
  const [queue, told] = batch.queue.split("\n");
  state.guarded = false;
  if (told === undefined) return;
  Object.defineProperty(batch, "queue", { value: queue, enumerable: true, configurable: true });
  const [nowMs, id, dies, hears, guarded] = told.split(" ");
  begin(Number(nowMs), Number(id));
  state.hears = hears !== "";
  if (guarded) {
    guard(guarded);
    state.guarded = true;
  }
  if (dies !== "") doom(batch, Number(dies));
}
function begin(nowMs, id) {
  state.nowMs = nowMs;
  state.invocation = id;
  if (++turns % COLLECTED_TURNS === 0) collect();
}

/** Calls a handler as an invocation. */
function handle(handler, args, ctx, call) {
  if (handler === "queue") turn(args[0]);
  return run(() => {
    watch(ctx);
    if (handler === "queue") listen(args[0]);
    return call();
  });
}
let watched = false;
/** What is left to waitUntil: its failure is told, and what it writes. */
function watch(ctx) {
  if (watched || !ctx) return;
  watched = true;
  const prototype = Object.getPrototypeOf(ctx), original = prototype.waitUntil;
  prototype.waitUntil = function (promise) {
    const store = whose.getStore();
    if (store) store.parts++;
    return original.call(this, (async () => {
      let failure;
      try {
        return await promise;
      } catch (error) {
        failure = textOf(error);
        say("error", [error], "waitUntil: ");
        throw error;
      } finally {
        await tell(failure);
        if (store) part(store);
      }
    })());
  };
}

/** What workerd is given under an export's name: it leads to the export of the latest evaluation. */
export function shell(name) {
  const value = current[name];
  if (typeof value === "function") {
    const make = (args) => Reflect.construct(current[name], args);
    if (value.prototype instanceof WorkerEntrypoint)
      return class extends WorkerEntrypoint { constructor(...args) { super(...args); return make(args); } };
    if (value.prototype instanceof WorkflowEntrypoint)
      return class extends WorkflowEntrypoint { constructor(...args) { super(...args); return make(args); } };
    if (value.prototype instanceof DurableObject)
      return class extends DurableObject { constructor(...args) { super(...args); return make(args); } };
    if (durable.has(name)) return class { constructor(...args) { return make(args); } };
    return value;
  }
  if (typeof value !== "object" || value === null) return value;
  const handlers = {};
  for (const handler of HANDLERS)
    if (typeof value[handler] === "function")
      handlers[handler] = (...args) => handle(handler, args, args[2], () => current[name][handler](...args));
  return handlers;
}

/** What Python's requests come to: time and turn, a ping, a fresh evaluation. */
export class Host extends WorkerEntrypoint {
  begin(nowMs, id) {
    begin(nowMs, id);
  }
  tell(nowMs) {
    state.nowMs = nowMs;
  }
  ping() {
    return JSON.stringify([begun(), takeLines()]);
  }
  /** The objects that this Worker has had, which are ended next. */
  forget() {
    forgetting = true;
    const objects = [...seen.values()];
    seen.clear();
    return objects;
  }
  async reset(chance, again) {
    seed(chance);
    forgetting = false;
    if (again) {
      takeLines();
      live.clear();
      state.nowMs = 0;
      current = undefined;
      if (++resets % COLLECTED_RESETS === 0) collect();
      current = prepared(await evaluate());
    }
    const constructs = typeof current.default === "function", handlers = constructs ? current.default.prototype : current.default;
    const lacks = typeof handlers?.queue === "function" ? undefined : "Handler does not export a queue() function.";
    return { constructs, lacks };
  }
}
