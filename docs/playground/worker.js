// Python in a thread of its own, so that the page never waits for it. Answers carry the number of the question.

import { loadPyodide } from "./pyodide/pyodide.mjs";

const bytes = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
let emulator;

const ready = (async () => {
  const [python, linter] = await Promise.all([loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href }), bytes("cfq_lint.zip")]);
  python.unpackArchive(linter, "zip", { extractDir: "/app" });
  python.runPython("import sys; sys.path.insert(0, '/app')");
  const { lint, rule } = python.pyimport("playground.lint");
  return { python, lint, rule };
})();

const asks = {
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
ready.then(
  () => self.postMessage({ ready: true }),
  (error) => self.postMessage({ error: `Python could not be loaded: ${error.message ?? error}` }),
);
