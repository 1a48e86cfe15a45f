// Run by the build, in Node: starts Python, imports the linter and keeps the memory. A page that begins with this memory is spared
// nine tenths of Pyodide's start. Pyodide's options for it begin with an underscore: its version is pinned.

import { readFileSync, writeFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import { loadPyodide } from "pyodide";

const [linter, script, target] = process.argv.slice(2);
const python = await loadPyodide({ _makeSnapshot: true, env: { PYTHONHASHSEED: "0" } });
python.unpackArchive(new Uint8Array(readFileSync(linter)), "zip", { extractDir: "/app" });
try {
  python.runPython(readFileSync(script, "utf8"));
} catch (error) {
  console.error(error.message); // uncaught, Node would show Pyodide's source before it: a megabyte in a line
  process.exit(1);
}
const memory = python.makeMemorySnapshot();
writeFileSync(target, deflateRawSync(memory, { level: 9 }));
console.log(memory.length);
