"""Ask `@cloudflare/config`, where a project has it installed, what a `cloudflare.config.ts` computes: one bounded run of Node.

This runs the project's own code, as `wrangler deploy` does, and so only where somebody has installed what the project depends
on, which ran its code already: not without that package, nor with one that the repository itself brings along, as a stranger's
pull request may. A line says that a file was run. `--no-run` and the setting `run = false` switch it off.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from functools import cache
from threading import Thread
from typing import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO, Any

    Contexts = tuple[tuple[str | None, bool], ...]

PACKAGE = "node_modules/@cloudflare/config/package.json"
SECONDS_MAX = 10.0
END_SECONDS_MAX = 1.0
OUTPUT_BYTES_MAX = 2_000_000
_SECRET = re.compile(r"cloudflare|^cf_|token|secret|passw|credential|auth|key|^node_options$", re.IGNORECASE)
"""Names of environment variables that the configuration is not shown."""
_SCRIPT = """
const [file, contexts] = process.argv.slice(1);
const [major, minor] = process.versions.node.split(".").map(Number);
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true;
const text = (thrown) => String(thrown?.message ?? thrown);
const end = (said) => write("\\n" + JSON.stringify(said) + "\\n", () => process.exit(0));
(async () => {
  if (major < 22 || (major === 22 && minor < 18)) return { error: "it needs Node 22.18, and this is " + process.versions.node };
  const { loadAndValidateConfig, convertToWranglerConfig } = await import("@cloudflare/config");
  const one = async ([mode, isPreview]) => {
    const { result } = await loadAndValidateConfig(file, { mode: mode ?? undefined, isPreview });
    if (!result.success) throw new Error("the package refuses the file: " + result.error.issues[0].message);
    const { data } = result;
    return "default" in data ? convertToWranglerConfig(data.default, data.settings) : convertToWranglerConfig(data);
  };
  let error;
  const values = [];
  for (const each of JSON.parse(contexts)) values.push(await one(each).catch((thrown) => ((error ??= text(thrown)), null)));
  return { values, error };
})().then(end, (thrown) => end({ error: text(thrown) }));
"""
"""Both forms: the package keys what a file exports by name until 0.15, and from 0.16 gives the one configuration itself."""


@cache
def ask(file: str, contexts: Contexts, say: Callable[[str], None]) -> tuple[Any, ...] | None:
    """Wrangler's configuration of a file for each context (mode, isPreview); None where it cannot be had: `say` is told why.

    A file is run once: what is asked again, as after a fix, gets the same answer.
    """
    folder, name = os.path.split(os.path.realpath(file))
    above = folder
    while not os.path.isfile(os.path.join(above, PACKAGE)):
        if above == os.path.dirname(above):
            return None
        above = os.path.dirname(above)
    if _is_committed(os.path.join(above, PACKAGE)):
        say(f"{file}: what it computes stays unknown: @cloudflare/config is committed, not installed, so it is not run")
        return None
    values, error = _asked(folder, os.path.join(folder, name), contexts)
    if values is not None:
        say(f"{file} was run for what its text does not tell; --no-run only reads it")
    if error is not None:
        which = "some of what it computes" if values else "what it computes"
        say(f"{file}: {which} stays unknown, as @cloudflare/config gave no answer: {error}")
    return values


def _is_committed(package: str) -> bool:
    """Whether a package belongs to a repository: its folder, wherever links lead to it, or one of those links."""
    folder = os.path.dirname(package)
    scope = os.path.dirname(folder)
    links = [each for each in (folder, scope, os.path.dirname(scope)) if os.path.islink(each)]
    git = shutil.which("git")
    for each in (*links, os.path.realpath(folder)) if git is not None else ():
        command = [str(git), "-C", os.path.dirname(each), "ls-files", "--", os.path.basename(each)]
        if subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout:  # noqa: S603 - no shell
            return True
    return False


def _asked(folder: str, file: str, contexts: Contexts) -> tuple[tuple[Any, ...] | None, str | None]:
    """The configurations, None in the place of one that failed; and in a line why something is not there."""
    node = shutil.which("node")
    if node is None:
        return None, "it needs Node 22.18, and no node is on the PATH"
    output = _output_of([node, "-e", _SCRIPT, "--", file, json.dumps(contexts)], folder)
    if isinstance(output, str):
        return None, output
    try:
        answer = json.loads(output.decode("utf-8").rstrip().rpartition("\n")[2])
    except (ValueError, RecursionError):
        return None, "what it printed is no JSON"
    error, values = (answer.get("error"), answer.get("values")) if isinstance(answer, dict) else (None, None)
    why = (error.splitlines() or ["an error without a text"])[0][:200] if isinstance(error, str) else None
    if (
        not isinstance(values, list)
        or len(values) != len(contexts)
        or not all(isinstance(each, dict | None) for each in values)
    ):
        return None, why or "what it printed is no configuration"
    return (tuple(values) if any(each is not None for each in values) else None), why


def _output_of(command: list[str], folder: str) -> bytes | str:
    """What a command prints; or why there is nothing of use. Its time and its output are bounded, and it has no input."""
    environment = {name: value for name, value in os.environ.items() if _SECRET.search(name) is None}
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(  # noqa: S603 - the user's own node, no shell
            command, cwd=folder, env=environment, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing, start_new_session=True
        )
    except OSError as error:
        return f"node cannot be run: {error.strerror or error}"
    pipe = cast("IO[bytes]", process.stdout)  # it was asked for
    read: list[bytes] = []
    # A thread, as not every system can wait for a pipe with a time limit.
    reader = Thread(target=lambda: read.append(pipe.read(OUTPUT_BYTES_MAX + 1)), daemon=True)
    reader.start()
    try:
        reader.join(SECONDS_MAX)
        if not read:
            return f"it took longer than {SECONDS_MAX:g} seconds"
        if len(read[0]) > OUTPUT_BYTES_MAX:
            return f"it printed more than {OUTPUT_BYTES_MAX:,} bytes"
        status = process.wait(END_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return "it did not end"
    finally:
        _end(process)
        reader.join(END_SECONDS_MAX)
        if not reader.is_alive():  # else something that got away holds the other end
            pipe.close()
    return read[0] if status == 0 else f"node ended with {status}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what still runs, with all that it started."""
    if process.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, 9)
        else:
            process.kill()
        process.wait()
