// node:timers/promises on the account's clock.
import { sleep } from "./clock.js";

async function wait(ms, value, options) {
  options?.signal?.throwIfAborted();
  try {
    await sleep(ms ?? 1, options?.signal);
  } catch (error) {
    if (!options?.signal?.aborted) throw error;
    throw Object.assign(new Error("The operation was aborted", { cause: options.signal.reason }), { name: "AbortError", code: "ABORT_ERR" });
  }
  return value;
}
async function* repeat(ms, value, options) {
  while (true) yield await wait(ms, value, options);
}
export { wait as setTimeout, repeat as setInterval };
export const setImmediate = (value, options) => wait(0, value, options);
export const scheduler = { wait: (ms, options) => wait(ms, undefined, options), yield: () => wait(0) };
export default { setTimeout: wait, setInterval: repeat, setImmediate, scheduler };
