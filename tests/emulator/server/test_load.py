"""A minute of virtual load on one queue over HTTP, durable: the limit refuses what exceeds it and nothing else, nothing is lost."""

from __future__ import annotations

import http.client
import random
from base64 import b64decode
from collections import deque

import msgspec
import pytest

from tests.emulator.server.servers import Server, pull_queue

SECONDS, PER_SECOND, SECOND_US = 60, 5_000, 1_000_000
HEADERS = {"content-type": "application/json"}


class Window:
    """The limit once more: what was stored in the second that ends now."""

    def __init__(self):
        self.sends, self.count = deque(), 0

    def admits(self, at_us, count):
        """Whether so many more may come; if so they have."""
        while self.sends and self.sends[0][0] <= at_us - SECOND_US:
            self.count -= self.sends.popleft()[1]
        if self.count + count > PER_SECOND:
            return False
        if count:
            self.sends.append((at_us, count))
        self.count += count
        return True


    def room(self, at_us):
        """How many more may come."""
        return PER_SECOND - self.count if self.admits(at_us, 0) else 0


class Account:
    """One queue of a server, through one connection; and what must be in it."""

    def __init__(self, server, id, seed):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.path, self.dice, self.window = f"/client/v4/accounts/a/queues/{id}", random.Random(seed), Window()
        self.at_us = self.sent = self.refused = self.acked = self.retried = 0
        self.times = bytearray((SECONDS + 1) * PER_SECOND)
        self.done = bytearray((SECONDS + 1) * PER_SECOND)

    def post(self, path, body):
        """The status and body of an answer."""
        self.connection.request("POST", path, msgspec.json.encode(body), HEADERS)
        answer = self.connection.getresponse()
        return answer.status, msgspec.json.decode(answer.read())

    def advance(self, us):
        """Let virtual time pass."""
        self.at_us += us
        assert self.post("/emulator/time/advance", {"seconds": us / SECOND_US})[0] == 200

    def push(self, count):
        """Push so many; they are stored, or refused where they exceed the limit."""
        numbers = range(self.sent, self.sent + count)
        status, answer = self.post(f"{self.path}/messages/batch", {"messages": [{"body": number} for number in numbers]})
        if self.window.admits(self.at_us, count):
            assert status == 200, (self.at_us, count, answer)
            self.sent += count
        else:
            assert (status, answer["errors"][0]["code"]) == (429, 10250), (self.at_us, count)
            self.refused += 1

    def second(self, number):
        """A second of load: evenly, now and then all at once or in batches of any size; and always one message too many."""
        kind = number % 30
        if kind == 28:  # what was sent evenly leaves the window a tenth a time, so that a part of this is refused
            for _ in range(50):
                self.push(100)
            self.advance(SECOND_US - 1)
            self.push(1)
            self.advance(1)
            return
        for tenth in range(10):
            for _ in range(5):
                self.push(self.dice.randint(1, 100) if kind == 29 else 100)
            while tenth == 9 and self.window.room(self.at_us):
                self.push(min(100, self.window.room(self.at_us)))
            if tenth == 9:
                self.push(1)
            self.advance(SECOND_US // 10)

    def settle(self):
        """Pull until nothing is ready; acknowledge, but give one in a hundred back."""
        while True:
            status, answer = self.post(f"{self.path}/messages/pull", {"batch_size": 100})
            if status == 429:  # pulls, too, are 5,000 messages a second
                assert answer["errors"][0]["code"] == 10250
                self.advance(SECOND_US)
                continue
            assert status == 200, answer
            messages = answer["result"]["messages"]
            if not messages:
                return
            acks, retries = [], []
            for message in messages:
                number = int(b64decode(message["body"]))
                self.times[number] += 1
                assert self.times[number] == message["attempts"]
                assert not self.done[number], "acknowledged, and there again"
                if message["attempts"] == 1 and number % 100 == 7:
                    retries.append({"lease_id": message["lease_id"]})
                else:
                    acks.append({"lease_id": message["lease_id"]})
                    self.done[number] = 1
            status, answer = self.post(f"{self.path}/messages/ack", {"acks": acks, "retries": retries})
            assert answer["result"] == {"ackCount": len(acks), "retryCount": len(retries), "warnings": {}}
            self.acked += len(acks)
            self.retried += len(retries)


def memory_kb(server):
    """The server's resident memory."""
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


@pytest.mark.slow
def test_a_minute_at_five_thousand_messages_a_second(tmp_path):
    with Server("--time", "virtual", "--control", "--log", "off", folder=tmp_path, db="queues.db") as server:
        with server.client() as client:
            account = Account(server, pull_queue(client, "jobs"), 5)
        early_kb = 0
        for number in range(SECONDS):
            account.second(number)
            account.settle()
            if number == SECONDS // 10:
                early_kb = memory_kb(server)
        account.connection.close()
        late_kb = memory_kb(server)
        with server.client() as client:
            queue = client.get(account.path.removeprefix("/client/v4/accounts/a") + "/metrics").json()["result"]
    assert account.sent > 0.95 * SECONDS * PER_SECOND
    assert account.refused >= SECONDS
    assert account.acked == account.sent == sum(account.done)
    assert account.retried == sum(times - 1 for times in account.times[: account.sent])
    assert queue["backlog_count"] == 0
    assert late_kb - early_kb < 30_000, "what is acknowledged is gone from memory, too"
