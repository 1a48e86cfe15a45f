// Calls of Durable Objects and of other Workers stay inside of workerd: where faults may act, Python is asked before each and behind it.
import { env } from "cloudflare:workers";
import { ask, whose } from "./clock.js";

const guarded = new Set();
let calls = 0;

/** Guards bindings from now on, for invocations that say so: `OBJECTS:o,WORKER:s` are a namespace of objects and a service. */
export function guard(named) {
  for (const each of named.split(",")) {
    const [name, kind] = each.split(":");
    if (guarded.has(name) || env[name] === undefined) continue;
    guarded.add(name);
    env[name] = kind === "o" ? spaceOf(name, env[name]) : stubOf(name, env[name]);
  }
}
const spaceOf = (name, space) => new Proxy(space, { get(_target, member) {
  const value = space[member];
  if (typeof value !== "function") return value;
  return member === "get" || member === "getByName" ? (...given) => stubOf(name, space[member](...given)) : value.bind(space);
} });
const stubOf = (name, stub) => new Proxy(stub, { get(_target, member) {
  const value = stub[member];
  if (typeof value !== "function" || typeof member === "symbol" || member === "then") return value;
  const call = (...given) => called(`${name}.${member}`, given, () => stub[member](...given));
  return new Proxy(call, { get(_call, inner) {  // a property that is read and not called: it is awaited, or leads further
    const found = value[inner];
    return typeof found === "function" && ["then", "catch", "finally"].includes(inner) ? found.bind(value) : found;
  } });
} });

/** A call: before it the process may die or it may fail, behind it the process may die or the answer may get lost or come late. */
function called(name, given, act) {
  if (!whose.getStore()?.guarded) return act();
  const what = `name=${encodeURIComponent(name)}&given=${encodeURIComponent(textOf(given))}&call=${++calls}`;
  return piped((async () => {
    heard(await ask(`call?${what}`));
    const value = await act();
    heard(await ask(`called?${what}`));
    return value;
  })());
}
function textOf(given) {
  try {
    return JSON.stringify(given.filter((each) => typeof each !== "object" || each?.constructor === Object || Array.isArray(each))) ?? "[]";
  } catch {
    return "[]";
  }
}
function heard(answer) {
  const refused = answer.headers.get("x-cfq-refused");
  if (refused !== null) throw new Error(refused);
}

/** A promise whose result's methods can be called before it is there, as those of workerd's own. */
const piped = (promise) => new Proxy(promise, { get(_target, member) {
  const value = promise[member];
  if (value !== undefined || typeof member === "symbol") return typeof value === "function" ? value.bind(promise) : value;
  return (...given) => piped(promise.then((found) => found[member](...given)));
} });
