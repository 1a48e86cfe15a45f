"""A bundle in real workerd, without the emulator: what its `fetch` answers."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request

SECONDS = 20


def answer(tools, modules, folder, *, date, flags, bindings="", services=""):
    """The text that the first module's `fetch` answers with. `modules` are (name, kind, file); the others are workerd's own."""
    rows = []
    for number, (name, kind, file) in enumerate(modules):
        (folder / f"m{number}").write_bytes(file.read_bytes())
        rows.append(f'(name={json.dumps(name)}, {kind}=embed "m{number}")')
    (folder / "c.capnp").write_text(
        f"""using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name="m", worker=(modules=[{", ".join(rows)}],
    compatibilityDate="{date}", compatibilityFlags={json.dumps(sorted(flags))}, bindings=[{bindings}])), {services}],
  sockets = [(name="s", address="127.0.0.1:0", http=(), service="m")]);"""
    )
    command = [tools.workerd, "serve", "--experimental", "--control-fd=1", folder / "c.capnp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            told = process.stdout.readline()
            assert told, process.stderr.read().decode()
            port = json.loads(told)["port"]
            deadline = time.monotonic() + SECONDS
            while True:
                try:
                    return urllib.request.urlopen(f"http://127.0.0.1:{port}/").read().decode()
                except urllib.error.HTTPError as error:
                    raise AssertionError(error.read().decode()) from error
                except OSError:
                    assert time.monotonic() < deadline
        finally:
            process.kill()
