"""A consumer behind a URL, on loopback."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OK = {"outcome": "ok", "ackAll": False, "retryBatch": {"retry": False}, "explicitAcks": [], "retryMessages": []}


class Endpoint:
    """A server that answers each batch as a function says; `batches` has those that it was given."""

    def __init__(self, answer):
        self.batches = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                batch = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.batches.append(batch)
                said = answer(batch)
                content = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(500 if content == b"500" else 200)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
