// Time, chance and console of one isolate. Evaluated before the Worker's own modules, so that they find ours.
import { env } from "cloudflare:workers";
import { AsyncLocalStorage } from "node:async_hooks";

const channel = env.__CFQ;
delete env.__CFQ;
/** `nowMs` is the account's clock, `invocation` whose turn it is, `place` which of the Workers this is. */
export const state = { nowMs: 0, invocation: 0, place: 0 };
export const whose = new AsyncLocalStorage();
/** What belongs to one call of a handler: `open` counts its requests to Python that have not been answered. */
export const live = new Set();
const stray = { open: 0 };
/** How many requests have been begun and not answered, of all that still run. */
export function begun() {
  let sum = stray.open;
  for (const each of live) sum += each.open;
  return sum;
}
function counted(answer) {
  const store = whose.getStore() ?? stray;
  store.open++;
  const done = () => { store.open--; };
  answer.then(done, done);
  return answer;
}
/** The invocation whose code runs: its own promises know it, a stray callback belongs to whose turn it is. */
export const invocation = () => whose.getStore()?.id ?? state.invocation;

/** Asks Python; what was written to the console since the last time goes along, and what was said of messages. */
export function ask(what, failure, signal) {
  const lines = takeLines(), store = whose.getStore(), calls = store?.calls;
  if (calls) {
    store.calls = undefined;
    store.slept = true;  // Python has heard a part, and must hear the rest
  }
  const body = lines || failure !== undefined || calls ? JSON.stringify({ lines, failure, calls: calls?.map(([call, of, delay]) => [call, of.id ?? "", delay]) }) : undefined;
  return counted(channel.fetch(`http://cfq/${what}&by=${invocation()}`, { method: "POST", body, signal }));
}

// --- Date and performance

const RealDate = Date;
function VirtualDate(...given) {
  if (!new.target) return new RealDate(state.nowMs).toString();
  return Reflect.construct(RealDate, given.length ? given : [state.nowMs], new.target === VirtualDate ? RealDate : new.target);
}
Object.setPrototypeOf(VirtualDate, RealDate);
Object.defineProperties(VirtualDate, {
  name: { value: "Date" },
  length: { value: 7 },
  prototype: { value: RealDate.prototype },
  now: { value: () => state.nowMs, writable: true, configurable: true },
});
Object.defineProperty(RealDate.prototype, "constructor", { value: VirtualDate, writable: true, configurable: true });
globalThis.Date = VirtualDate;
Object.defineProperty(performance, "now", { value: () => state.nowMs - performance.timeOrigin, configurable: true });

// --- timers: each waits at Python until its moment has come, in the request that set it

const { setTimeout: realSet, clearTimeout: realClear } = globalThis;
const timers = new Map();
let last = 0;
let asObjects;

/** Resolves `ms` virtual milliseconds later. */
export async function sleep(ms, signal) {
  const wait = Math.min(Math.max(0, Math.trunc(Number(ms)) || 0), 2 ** 53 - 1);
  const answer = await ask(`wait?ms=${wait}`, undefined, signal);
  state.nowMs = Number(answer.headers.get("x-cfq-now"));
}

class Timeout {
  constructor(id, again) { this.id = id; this.again = again; }
  ref() { return this; }
  unref() { return this; }
  hasRef() { return timers.has(this.id); }
  refresh() { clear(this.id); this.again(this.id); return this; }
  close() { clear(this.id); return this; }
  [Symbol.toPrimitive]() { return this.id; }
  [Symbol.dispose ?? Symbol.for("dispose")]() { clear(this.id); }
}

function timer(work, ms, args, repeats) {
  if (typeof work !== "function") throw new TypeError("Failed to execute 'setTimeout': parameter 1 is not of type 'Function'.");
  if (asObjects === undefined) {
    const probe = realSet(() => {}, 0);
    asObjects = typeof probe === "object";
    realClear(probe);
  }
  const begin = (id) => {
    const stop = new AbortController();
    timers.set(id, stop);
    (async () => {
      do {
        await sleep(ms, stop.signal);
        if (timers.get(id) !== stop) return;
        if (!repeats) timers.delete(id);
        try { await work(...args); } catch (error) { say("error", [error], "Uncaught "); }
      } while (timers.get(id) === stop);
    })().catch(() => timers.delete(id));
  };
  const id = ++last;
  begin(id);
  return asObjects ? new Timeout(id, begin) : id;
}
function clear(given) {
  const id = typeof given === "object" && given !== null ? given.id : Number(given), stop = timers.get(id);
  timers.delete(id);
  stop?.abort();
}
globalThis.setTimeout = (work, ms, ...args) => timer(work, ms, args, false);
globalThis.setInterval = (work, ms, ...args) => timer(work, ms, args, true);
globalThis.clearTimeout = globalThis.clearInterval = clear;
if (globalThis.setImmediate) {
  globalThis.setImmediate = (work, ...args) => timer(work, 0, args, false);
  globalThis.clearImmediate = clear;
}
Object.defineProperty(scheduler, "wait", { value: (ms, options) => sleep(ms, options?.signal), configurable: true });
AbortSignal.timeout = (ms) => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")), ms);
  return stop.signal;
};

const realFetch = globalThis.fetch;
globalThis.fetch = async function fetch(...given) {
  const answer = await counted(realFetch(...given)), refused = answer.headers.get("x-cfq-refused");
  if (refused !== null) throw new Error(refused);
  return answer;
};

// --- chance: seeded as the account is, so that a run can be had again

let draw;
/** Draws from a seed from now on; null is real chance. */
export function seed(given) {
  draw = undefined;
  if (given === null) return;
  let a = 0x9e3779b9, b = 0x243f6a88, c = 0xb7e15162, d = 1;
  for (const letter of String(given)) a = Math.imul(a ^ letter.charCodeAt(0), 0x85ebca6b);
  draw = () => {  // sfc32: https://pracrand.sourceforge.net/RNG_engines.txt
    const t = (a + b + d++) | 0;
    a = b ^ (b >>> 9); b = (c + (c << 3)) | 0; c = ((c << 21) | (c >>> 11)) + t | 0;
    return t >>> 0;
  };
  for (let n = 0; n < 12; n++) draw();
}
const realRandom = Math.random, realValues = crypto.getRandomValues.bind(crypto), realUUID = crypto.randomUUID.bind(crypto);
Math.random = () => (draw ? (draw() * 2 ** 21 + (draw() >>> 11)) / 2 ** 53 : realRandom());
function fill(array) {
  if (!draw) return realValues(array);
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  for (let n = 0; n < bytes.length; n++) bytes[n] = draw();
  return array;
}
function uuid() {
  if (!draw) return realUUID();
  const bytes = fill(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}
Object.defineProperties(crypto, {
  getRandomValues: { value: fill, configurable: true, writable: true },
  randomUUID: { value: uuid, configurable: true, writable: true },
});

// --- console: lines go to Python; nothing that is written can fail the one who writes

let lines = [];
/** How a value is shown. */
export function shown(value) {
  try {
    if (typeof value === "string") return value;
    if (value instanceof Error) return textOf(value);
    if (typeof value !== "object" || value === null) return typeof value === "bigint" ? `${value}n` : String(value);
    const above = [];
    return JSON.stringify(value, function (_key, each) {
      if (typeof each === "bigint") return `${each}n`;
      if (typeof each !== "object" || each === null) return typeof each === "function" ? `[Function ${each.name}]` : each;
      while (above.length && above.at(-1) !== this) above.pop();
      if (above.includes(each)) return "[Circular]";
      above.push(each);
      if (each instanceof Error) return textOf(each);
      if (each instanceof Map) return Object.fromEntries(each);
      return each instanceof Set ? [...each] : each;
    });
  } catch (error) {
    return `[${typeof value} that cannot be shown]`;
  }
}
/** The stack of what was thrown, whatever it is. */
export function textOf(error) {
  try {
    const head = String(error), stack = error?.stack;
    if (typeof stack !== "string") return head;
    const cause = error.cause === undefined ? "" : `\n  [cause]: ${textOf(error.cause)}`;
    return (stack.includes(error.message) ? stack : `${head}\n${stack}`) + cause;
  } catch {
    return "an error that cannot be shown";
  }
}
export function say(level, parts, before = "") {
  lines.push([state.place, level, before + parts.map(shown).join(" ")]);
}
/** What was written since the last time; undefined where nothing was. */
export function takeLines() {
  if (!lines.length) return undefined;
  const taken = lines;
  lines = [];
  return taken;
}
export const written = () => lines.length > 0;
for (const level of ["debug", "info", "log", "warn", "error", "trace"]) console[level] = (...parts) => say(level, parts);
addEventListener("unhandledrejection", (event) => say("error", [event.reason], "Uncaught (in promise) "));
addEventListener("error", (event) => say("error", [event.error ?? event.message], "Uncaught "));
