"""POST /emulator/workers/fetch."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

from msgspec import field

from emulator.core.refusals import JSONRequestBodyInvalid
from emulator.server.wire.fields import Body
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.refusals import NoRoute, WorkerFailed
from emulator.server.wire.schemas import COUNT, TEXT, Shape, list_of, object_of

_RESPONSE = Shape("WorkerResponse", object_of(status=COUNT, headers=list_of(list_of(TEXT)), body_base64=TEXT))


class FetchWorker(Body):
    """A request to a Worker's fetch handler: to the first Worker, unless one is named."""

    url: str
    worker: str | None = None
    method: str = "GET"
    headers: list[tuple[str, str]] = field(default_factory=list)
    body_base64: str | None = None


async def fetch_worker(call: Call) -> dict[str, Any]:
    """Let a Worker answer a request. Virtual time passes as its handler asks for it."""
    service, given = call.service, call.body
    if service.workers is None:
        raise NoRoute("no Worker runs here: start the server with --worker")
    worker = service.workers.find(given.worker).worker
    options: dict[str, Any] = {"method": given.method, "headers": given.headers}
    if given.body_base64 is not None:
        try:
            options["body"] = b64decode(given.body_base64, validate=True)
        except ValueError:
            raise JSONRequestBodyInvalid("body_base64 is no base64") from None
    async with service.time.order:
        try:
            response = await worker.fetch(given.url, **options)
            content = await response.bytes()
        except Exception as error:
            raise WorkerFailed(f"{type(error).__name__}: {error}") from error
    headers = [[str(name), str(value)] for name, value in response.headers.items()]
    return {"status": response.status, "headers": headers, "body_base64": b64encode(content).decode()}


OPERATION = Operation("POST", "/emulator/workers/fetch", fetch_worker, _RESPONSE, FetchWorker, waits=True)
