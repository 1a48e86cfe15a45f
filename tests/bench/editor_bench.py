"""How long after a key the editor knows: `cfq-lint server` beside the JSON server of VS Code, with wrangler's schema, in one run.

That one waits half a second for the next key before it looks, so that the ratio says little; its figure shows what people are used
to. Both are asked over their own protocol on standard input and output: a whole text goes in, and the time until its diagnostics
are out is measured. A file of 300 lines with its Worker, and the same Worker's source; then 200 wrangler files at the start.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time

from tests.bench.lint_bench import ROOM, make_typescript, peers, show

PEER = "vscode-langservers-extracted"
PAUSE_SECONDS = 0.03
"""Between two keys: faster than anybody types."""


class Server:
    """A language server as a process."""

    def __init__(self, command, root, settings=None):
        self.process = subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.settings = settings
        self.version = 0
        start = time.perf_counter()
        uri = root.as_uri()
        params = {"processId": None, "rootUri": uri, "workspaceFolders": [{"uri": uri, "name": "w"}], "capabilities": {}}
        self.send({"id": 1, "method": "initialize", "params": params})
        self.until(lambda message: message.get("id") == 1)
        self.send({"method": "initialized", "params": {}})
        if settings is not None:
            self.send({"method": "workspace/didChangeConfiguration", "params": {"settings": settings}})
        self.started = time.perf_counter() - start

    def send(self, message):
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def until(self, is_it):
        while True:
            size = 0
            while (line := self.process.stdout.readline()) != b"\r\n":
                if not line:
                    sys.exit("the server ended")
                if line.lower().startswith(b"content-length"):
                    size = int(line.split(b":")[1])
            message = json.loads(self.process.stdout.read(size))
            if "id" in message and "method" in message:  # a question of the server's
                self.send({"id": message["id"], "result": None})
            if is_it(message):
                return message

    def told(self, uri):
        def is_it(message):
            params = message.get("params") or {}
            is_about = message.get("method") == "textDocument/publishDiagnostics" and params.get("uri") == uri
            return is_about and params.get("version", self.version) == self.version

        return self.until(is_it)["params"]["diagnostics"]

    def open(self, file, language):
        self.version = 1
        document = {"uri": file.as_uri(), "languageId": language, "version": 1, "text": file.read_text(encoding="utf-8")}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        return self.told(file.as_uri())

    def typed(self, file, texts):
        """Milliseconds from each text to its diagnostics."""
        took = []
        for text in texts:
            self.version += 1
            time.sleep(PAUSE_SECONDS)
            start = time.perf_counter()
            document = {"uri": file.as_uri(), "version": self.version}
            self.send({"method": "textDocument/didChange", "params": {"textDocument": document, "contentChanges": [{"text": text}]}})
            self.told(file.as_uri())
            took.append((time.perf_counter() - start) * 1000)
        return took

    def close(self):
        self.process.kill()
        self.process.wait()


def configuration(queues):
    """A wrangler file with consumers, about twelve lines each."""
    consumers = [
        {"queue": f"q{n}", "max_batch_size": 10, "max_batch_timeout": 5, "max_retries": 3, "retry_delay": 60, "dead_letter_queue": f"q{n}-dlq"}
        for n in range(queues)
    ]
    consumers += [{"queue": f"q{n}-dlq", "max_retries": 3} for n in range(queues)]
    producers = [{"binding": "ORDERS", "queue": "q0"}]
    whole = {"name": "w", "main": "src/index.ts", "compatibility_date": "2026-01-01", "queues": {"producers": producers, "consumers": consumers}}
    return json.dumps(whole, indent=2)


def figures(took):
    ordered = sorted(took)
    return f"median {statistics.median(ordered):5.1f} ms, p95 {ordered[int(len(ordered) * 0.95)]:5.1f}, most {ordered[-1]:5.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=150)
    keys = parser.parse_args().keys
    _, wrangler, schema = peers()
    modules = ROOM / "npm" / "node_modules"
    if not (modules / PEER).exists():
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", PEER], cwd=ROOM / "npm", check=True)
    root = ROOM / "editor"
    shutil.rmtree(root, ignore_errors=True)
    make_typescript(root)
    (root / "wrangler.json").unlink()
    file, source = root / "wrangler.jsonc", root / "src" / "index.ts"
    text, code = configuration(21), source.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    at = text.index('"max_retries": 3') + len('"max_retries": 3')
    numbers = [text[:at] + "0" * (n % 4) + text[at:] for n in range(keys)]
    comments = [f"{code}// {'x' * (n % 40)}\n" for n in range(keys)]
    peer = [wrangler[0], modules / PEER / "bin" / "vscode-json-language-server", "--stdio"]
    settings = {"json": {"validate": {"enable": True}, "schemas": [{"fileMatch": ["wrangler.jsonc"], "url": schema.as_uri()}]}}
    ours, theirs = Server([sys.executable, "-m", "cfq_lint", "server"], root), Server(peer, root, settings)
    ours.open(file, "jsonc")
    theirs.open(file, "jsonc")
    mine, others = ours.typed(file, numbers), theirs.typed(file, numbers)
    print(f"wrangler.jsonc of {text.count(chr(10))} lines: cfq-lint {figures(mine)}; VS Code's JSON server {figures(others)}")
    ours.open(source, "typescript")
    print(f"its Worker of {code.count(chr(10))} lines:      cfq-lint {figures(ours.typed(source, comments))}")
    ours.close()
    theirs.close()
    many = ROOM / "editor-200"
    shutil.rmtree(many, ignore_errors=True)
    for n in range(200):
        (many / f"w{n}").mkdir(parents=True)
        (many / f"w{n}" / "wrangler.jsonc").write_text(configuration(3).replace('"q', f'"q{n}-').replace('"w"', f'"w{n}"'), encoding="utf-8")
    took = []
    for _ in range(5):
        start = time.perf_counter()
        server = Server([sys.executable, "-m", "cfq_lint", "server"], many)
        server.open(many / "w7" / "wrangler.jsonc", "jsonc")
        took.append(time.perf_counter() - start)
        server.close()
    print(f"200 wrangler files, from nothing to diagnostics: {statistics.median(took):.2f} s, at most 1")
    show("a key in a file of 300 lines: cfq-lint / VS Code's JSON server", statistics.median(mine) / statistics.median(others), "no bar", {})


if __name__ == "__main__":
    main()
