"""How fast the server is beside miniflare and beside its own /health: `python tests/bench/server_bench.py [--messages N] [--rounds N]`.

Bulk push, pull and acknowledge over HTTP, 100 messages a request, durable, against miniflare's rate in process, in turn in one run;
a single durable push against /health; what single pushes cost the server at 1,000 and 4,900 a second in real time against 100; a
message's way and /metrics at 10,000 queues; and a restart with 1,000,000 messages waiting. Durable is what `cfq-emulator serve` does
unless told otherwise: each answer leaves when its append is committed to SQLite (synchronous=NORMAL), so that a killed process loses
nothing that was answered. One client on one connection waits for each answer; `--standard` takes Python's own http.client, which costs
about as much as the server.
Exit code 1 where a goal is missed. miniflare is installed into `.bench/` when missing.
"""

from __future__ import annotations

import argparse
import http.client
import socket
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.emulator_bench import Peer  # noqa: E402 - the repository is not installed
from tests.emulator.server.servers import Server  # noqa: E402 - as above

BATCH, BURST = 100, 5_000
LEAST = {"rate": 1.5}
MOST = {
    "median": 3.0, "p99": 10.0, "push at 4,900/s": 1.3, "way at all queues": 1.3, "/metrics seconds": 0.3, "restart seconds": 2.0,
    "restart after a kill seconds": 2.0,
}  # fmt: skip
RATES = (100, 1_000, 4_900)
SENDERS = 4

class Client:
    """One connection that is kept open, and no more HTTP than it needs: what a client costs should not count."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head = f"host: 127.0.0.1:{port}\r\naccept: */*\r\nuser-agent: bench\r\n"

    def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """The body of an answer."""
        fields = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n" if body else ""
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\n{self.head}{fields}\r\n".encode() + body)
        got = self.socket.recv(65_536)
        while (end := got.find(b"\r\n\r\n")) < 0:
            got += self.socket.recv(65_536)
        size = int(got[:end].lower().partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0])
        while len(got) < end + 4 + size:
            got += self.socket.recv(65_536)
        return got[end + 4 :]

    def post(self, path: str, body: bytes) -> dict:
        """The result of a POST."""
        answer = msgspec.json.decode(self.ask("POST", f"/client/v4/accounts/a{path}", body))
        assert answer["success"], answer
        return answer["result"]

    def advance(self) -> None:
        """A second of virtual time, so that the throughput limit never counts."""
        self.ask("POST", "/emulator/time/advance", b'{"seconds": 1}')


class StandardClient(Client):
    """The standard library's client, as many programs use it."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        self.connection.request(method, path, body or None, {"content-type": "application/json"} if body else {})
        return self.connection.getresponse().read()


def queue(client: Client, name: str) -> str:
    """A queue with an http_pull consumer; its path."""
    made = client.post("/queues", msgspec.json.encode({"queue_name": name}))
    path = f"/queues/{made['queue_id']}"
    client.post(f"{path}/consumers", b'{"type": "http_pull"}')
    return path


def burst(client: Client, path: str, count: int) -> float:
    """Seconds to push, pull and acknowledge so many messages."""
    took, done = 0.0, 0
    for start in range(0, count, BURST):
        before = time.perf_counter()
        for at in range(start, min(start + BURST, count), BATCH):
            rows = [{"body": {"id": at + k, "kind": "order", "total": 12.5}} for k in range(BATCH)]
            client.post(f"{path}/messages/batch", msgspec.json.encode({"messages": rows}))
        for _ in range(0, min(BURST, count - start), BATCH):
            messages = client.post(f"{path}/messages/pull", b'{"batch_size": 100}')["messages"]
            leases = [{"lease_id": message["lease_id"]} for message in messages]
            done += client.post(f"{path}/messages/ack", msgspec.json.encode({"acks": leases}))["ackCount"]
        took += time.perf_counter() - before
        client.advance()
    assert done == count, done
    return took


def latencies(client: Client, path: str, count: int) -> tuple[list[float], list[float]]:
    """Seconds of so many single pushes and of as many /health, in turn."""
    pushes, healths = [], []
    for number in range(count):
        before = time.perf_counter()
        client.post(f"{path}/messages", b'{"body": {"id": 1, "kind": "order", "total": 12.5}}')
        between = time.perf_counter()
        client.ask("GET", "/health")
        pushes.append(between - before)
        healths.append(time.perf_counter() - between)
        if number % 1_000 == 999:
            client.advance()
    return pushes, healths


def cpu_seconds(server: Server) -> float:
    """How long the server has run on a processor until now."""
    return int(Path(f"/proc/{server.process.pid}/schedstat").read_text().split()[0]) / 1e9


def paced(server: Server, path: str, rate: int, seconds: float) -> float:
    """What a single push costs the server, in seconds of a processor, when so many come a second in real time."""
    count = int(rate * seconds)
    clients = [Client(server.port) for _ in range(SENDERS)]

    def send(sender: int) -> None:
        following = start + sender / rate
        for _ in range(sender, count, SENDERS):
            time.sleep(max(0.0, following - time.perf_counter()))
            following = max(following, time.perf_counter() - SENDERS / rate) + SENDERS / rate  # who is late does not hurry
            clients[sender].post(f"{path}/messages", b'{"body": {"id": 1, "kind": "order", "total": 12.5}}')

    before, start = cpu_seconds(server), time.perf_counter()
    with ThreadPoolExecutor(SENDERS) as pool:
        list(pool.map(send, range(SENDERS)))
    took = time.perf_counter() - start
    print(f"  {count / took:,.0f} single pushes a second: {(cpu_seconds(server) - before) / count * 1e6:,.0f} us of a processor each")
    return (cpu_seconds(server) - before) / count


def way(client: Client, path: str, count: int) -> float:
    """The median seconds of a message from its push until it is acknowledged."""
    spans = []
    for _ in range(count):
        before = time.perf_counter()
        client.post(f"{path}/messages", b'{"body": 1}')
        (message,) = client.post(f"{path}/messages/pull", b"{}")["messages"]
        client.post(f"{path}/messages/ack", msgspec.json.encode({"acks": [{"lease_id": message["lease_id"]}]}))
        spans.append(time.perf_counter() - before)
    return statistics.median(spans)


def many_queues(client: Client, few: int, all_: int, count: int) -> dict[str, float]:
    """A message's way at all queues against a few, and the seconds of /metrics at all of them."""
    path = queue(client, "one-of-many")
    for number in range(few):
        queue(client, f"q-{number}")
    first = way(client, path, count)
    for number in range(few, all_ - 1):
        client.post("/queues", msgspec.json.encode({"queue_name": f"q-{number}"}))
    last = way(client, path, count)
    spans = []
    for _ in range(5):
        before = time.perf_counter()
        client.ask("GET", "/metrics")
        spans.append(time.perf_counter() - before)
    return {"way at all queues": last / first, "/metrics seconds": statistics.median(spans)}


def restarts(server: Server, waiting: int) -> dict[str, float]:
    """Seconds until a server answers again with so many messages waiting, after its end and after a kill."""
    client = Client(server.port)
    path = queue(client, "waiting")
    for at in range(0, waiting, BATCH):
        rows = [{"body": {"id": at + k, "kind": "order", "total": 12.5}} for k in range(BATCH)]
        client.post(f"{path}/messages/batch", msgspec.json.encode({"messages": rows}))
        if at % BURST == BURST - BATCH:
            client.advance()
    found = {}
    for name, end in (("restart seconds", server.stop), ("restart after a kill seconds", server.kill)):
        before = time.perf_counter()
        end()
        between = time.perf_counter()
        server.start()
        assert b'"ok"' in Client(server.port).ask("GET", "/health")
        found[name] = time.perf_counter() - between
        print(f"  {waiting:,} waiting: {between - before:.2f} s to end, {found[name]:.2f} s to be there again")
    return found


def p99(spans: list[float]) -> float:
    """What 99 of 100 stay below."""
    return statistics.quantiles(spans, n=100)[98]


def main() -> int:
    """Run, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pushes", type=int, default=3_000)
    parser.add_argument("--seconds", type=float, default=5.0, help="of single pushes at each rate")
    parser.add_argument("--queues", type=int, default=9_990)
    parser.add_argument("--waiting", type=int, default=1_000_000)
    parser.add_argument("--standard", action="store_true", help="ask with http.client")
    given = parser.parse_args()
    peer = Peer(ROOT / ".bench" / "miniflare")
    ours, theirs = [], []
    virtual = ("--time", "virtual", "--control")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Server(*virtual, folder=folder, db="bench.db") as server:
            client = (StandardClient if given.standard else Client)(server.port)
            path = queue(client, "bulk")
            burst(client, path, BURST)
            peer.do("burst", BURST)
            for _ in range(given.rounds):
                theirs.append(given.messages / peer.do("burst", given.messages))
                ours.append(given.messages / burst(client, path, given.messages))
            pushes, healths = latencies(client, queue(client, "single"), given.pushes)
        peer.close()
        measured = {
            "rate": statistics.median(ours) / statistics.median(theirs),
            "median": statistics.median(pushes) / statistics.median(healths),
            "p99": p99(pushes) / p99(healths),
        }
        print(f"push, pull and ack over HTTP, durable: {statistics.median(ours):,.0f} messages/s; miniflare {statistics.median(theirs):,.0f}")
        print(f"single durable push: median {statistics.median(pushes) * 1e3:.2f} ms, p99 {p99(pushes) * 1e3:.2f} ms;", end=" ")
        print(f"/health: median {statistics.median(healths) * 1e3:.2f} ms, p99 {p99(healths) * 1e3:.2f} ms")
        with Server("--log", "off", folder=folder, db="paced.db") as server:
            costs = [paced(server, queue(Client(server.port), f"paced-{rate}"), rate, given.seconds) for rate in RATES]
        measured["push at 4,900/s"] = costs[-1] / costs[0]
        with Server(*virtual, "--log", "off", folder=folder, db="many.db") as server:
            measured |= many_queues(Client(server.port), min(100, given.queues // 2), given.queues, 500)
        with Server(*virtual, "--log", "off", folder=folder, db="waiting.db") as server:
            measured |= restarts(server, given.waiting)
    missed = 0
    for name, value in measured.items():
        least = name in LEAST
        met = value >= LEAST[name] if least else value <= MOST[name]
        missed += not met
        print(f"{name}: {value:.2f} ({f'at least {LEAST[name]:g}' if least else f'at most {MOST[name]:g}'}) {'met' if met else 'MISSED'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
