// Python in a thread of its own, so that the page never waits for it. Answers carry the number of the question.

import { loadPyodide } from "pyodide";
import { CONFIGS } from "./examples.js";

const bytes = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
let emulator;

// Python's memory as the build left it. Pyodide asks for its length before it compiles, and for its bytes only after that: they are
// unpacked meanwhile. The length is written by the build.
const memory = new Uint8Array(SNAPSHOT_LENGTH);

async function unpack() {
  const { body } = await fetch("python.snapshot");
  const parts = body.pipeThrough(new DecompressionStream("deflate-raw")).getReader(); // not every browser iterates over a stream
  for (let at = 0, part; !(part = await parts.read()).done; at += part.value.length) memory.set(part.value, at);
}

async function start() {
  const unpacked = unpack(), module = import("./pyodide/pyodide.asm.mjs");
  const createPyodideModule = async (settings) => {
    const made = await (await module).default(settings);
    await unpacked;
    return made;
  };
  const python = await loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href, _loadSnapshot: memory, createPyodideModule });
  const { lint, rule } = python.pyimport("playground.lint");
  return { python, lint, rule };
}

const ready = start();

const WARM_MS = 1000, QUICK_MS = 4;

const asks = {
  // WebAssembly is compiled again, better, while it runs. Until then a lint takes some 10 ms: some go ahead of what is typed.
  async ready() {
    const { lint } = await ready, until = performance.now() + WARM_MS;
    for (let from = 0, took = Infinity; took > QUICK_MS && from < until; took = performance.now() - from) {
      await new Promise((then) => setTimeout(then)); // what the page asks for goes first
      from = performance.now();
      lint(CONFIGS["wrangler.jsonc"], "wrangler.jsonc", "");
    }
  },
  async lint({ text, path, plan }) {
    return JSON.parse((await ready).lint(text, path, plan));
  },
  async rule({ code }) {
    return (await ready).rule(code);
  },
  async run({ source }) {
    const { python } = await ready;
    emulator ??= (async () => {
      const [own, msgspec] = await Promise.all([bytes("emulator.zip"), bytes("msgspec.whl")]);
      python.unpackArchive(own, "zip", { extractDir: "/app" });
      python.unpackArchive(msgspec, "wheel");
      return python.pyimport("playground.emulate");
    })();
    return JSON.parse((await emulator).run(source));
  },
};

self.onmessage = async ({ data: { id, ask, ...given } }) => {
  try {
    self.postMessage({ id, answer: await asks[ask](given) });
  } catch (error) {
    self.postMessage({ id, error: String(error.message ?? error) });
  }
};
