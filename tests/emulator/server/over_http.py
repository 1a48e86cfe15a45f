"""The emulator as scenarios see it when they speak REST: queues are made, fed, pulled and settled through the transport."""

from __future__ import annotations

import json
from base64 import b64decode
from types import SimpleNamespace

import httpx

from emulator import Refused
from emulator.server import Transport
from tests.emulator.random_scenarios import Play
from tests.emulator.scenario_files import Player

REST_TYPES = {None, "json", "text"}


class OverHTTP(Player):
    """Everything that REST can do goes over it; handlers run in process, because the test moves time."""

    def open(self):
        """The emulator behind its API."""
        return Account(super().open())


class PlayOverHTTP(Play):
    """A random scenario; its handlers speak REST, too."""

    def open(self):
        """The emulator behind its API."""
        return Account(super().open())


def value_of(message):
    """A body as it was sent, where a pull client can know."""
    kind = message["metadata"]["CF-Content-Type"]
    return json.loads(b64decode(message["body"])) if kind == "json" else message["body"]


class Account:
    """An emulator whose queues are reached over HTTP."""

    def __init__(self, emu):
        self._emu = emu
        self._client = httpx.Client(transport=Transport(emu), base_url="http://emulator/client/v4/accounts/a")

    def __getattr__(self, name):
        return getattr(self._emu, name)

    def call(self, method, path, body=None):
        """The result of a request; what is refused is raised."""
        response = self._client.request(method, path, json=body)
        answer = response.json()
        if not answer["success"]:
            refused = Refused(answer["errors"][0]["message"])
            refused.status = response.status_code
            raise refused
        return answer["result"]

    def create_queue(self, name, delivery_delay=0, message_retention_period=None):
        """Create a queue."""
        settings = {"delivery_delay": delivery_delay, "message_retention_period": message_retention_period}
        self.call("POST", "/queues", {"queue_name": name, "settings": settings})

    def consume(self, name, handler=None, **settings):
        """An http_pull consumer over REST, a handler in process."""
        if handler is not None:
            return self._emu.consume(name, handler, **settings)
        names = {"max_batch_size": "batch_size", "max_retries": "max_retries", "retry_delay": "retry_delay"}
        body = {"type": settings.pop("type"), "dead_letter_queue": settings.pop("dead_letter_queue", None)}
        body["settings"] = {names[key]: value for key, value in settings.items() if key in names}
        return self.call("POST", f"/queues/{self.queue(name).id}/consumers", body)

    def queue(self, name):
        """A queue by its name, as wrangler finds it."""
        found = self.call("GET", f"/queues?page=1&name={name}")
        if not found:
            raise Refused
        return OverREST(self, self._emu.queue(name), f"/queues/{found[0]['queue_id']}", found[0]["queue_id"])


class OverREST:
    """A queue over REST; what REST does not have is asked of the queue itself."""

    def __init__(self, account, queue, path, id):
        self._account, self._queue, self._path, self.id = account, queue, path, id

    def __getattr__(self, name):
        return getattr(self._queue, name)

    def send(self, body, content_type=None, delay_seconds=None):
        """Push, or send in process what REST does not take."""
        if content_type not in REST_TYPES:
            return self._queue.send(body, content_type=content_type, delay_seconds=delay_seconds)
        message = {"body": body, "content_type": content_type, "delay_seconds": delay_seconds}
        return self._account.call("POST", f"{self._path}/messages", message)

    def send_batch(self, rows, delay_seconds=None):
        """Push in bulk."""
        if any(row.get("contentType") not in REST_TYPES for row in rows):
            return self._queue.send_batch(rows, delay_seconds=delay_seconds)
        messages = [
            {"body": row["body"], "content_type": row.get("contentType"), "delay_seconds": row.get("delaySeconds")} for row in rows
        ]
        return self._account.call("POST", f"{self._path}/messages/batch", {"messages": messages, "delay_seconds": delay_seconds})

    def pull(self, **options):
        """Pull."""
        found = self._account.call("POST", f"{self._path}/messages/pull", options)["messages"]
        return [SimpleNamespace(**message, value=value_of(message)) for message in found]

    def ack(self, acks=(), retries=()):
        """Acknowledge and retry."""
        rows = [{"lease_id": r} if isinstance(r, str) else {"lease_id": r[0], "delay_seconds": r[1]} for r in retries]
        body = {"acks": [{"lease_id": lease} for lease in acks], "retries": rows}
        return self._account.call("POST", f"{self._path}/messages/ack", body)

    def pause(self):
        """Pause."""
        self._account.call("PATCH", self._path, {"settings": {"delivery_paused": True}})

    def resume(self):
        """Resume."""
        self._account.call("PATCH", self._path, {"settings": {"delivery_paused": False}})

    def purge(self):
        """Purge."""
        self._account.call("POST", f"{self._path}/purge", {"delete_messages_permanently": True})
