// node:timers on the account's clock.
export const { setTimeout, setInterval, clearTimeout, clearInterval, setImmediate, clearImmediate } = globalThis;
import * as promises from "./timers_promises.js";
export { promises };
export default { setTimeout, setInterval, clearTimeout, clearInterval, setImmediate, clearImmediate, promises };
