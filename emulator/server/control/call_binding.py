"""POST /emulator/workers/call."""

from __future__ import annotations

import inspect
from typing import Any

from emulator.core.refusals import JSONRequestBodyInvalid
from emulator.engine import bodies
from emulator.server.wire.fields import Body
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.refusals import NoRoute, WorkerFailed
from emulator.server.wire.schemas import Shape, object_of


class CallBinding(Body):
    """A call of a Worker's binding: each call's method and arguments, on what the call before it gave."""

    binding: str
    calls: list[list[Any]]
    worker: str | None = None


async def call_binding(call: Call) -> dict[str, Any]:
    """Call a binding of a Worker as its code does, such as a database or a KV namespace; `value` is what comes of it."""
    service, given = call.service, call.body
    if service.workers is None:
        raise NoRoute("no Worker runs here: start the server with --worker")
    env = service.workers.find(given.worker).worker.env
    if given.binding not in set(env):
        raise NoRoute(f"there is no binding {given.binding!r} (bindings: {', '.join(sorted(env)) or 'none'})")
    found = getattr(env, given.binding)
    async with service.time.order:
        for row in given.calls:
            if not row or not isinstance(row[0], str) or row[0].startswith("_"):
                raise JSONRequestBodyInvalid("a call is a method's name, then its arguments")
            try:
                found = getattr(found, row[0])(*row[1:])
            except Exception as error:
                raise WorkerFailed(f"{type(error).__name__}: {error}") from error
        try:
            value = await found if inspect.isawaitable(found) else found
            return {"value": bodies.decode(bodies.encode(value, "json"), "json")}
        except Exception as error:
            raise WorkerFailed(f"{type(error).__name__}: {error}") from error


OPERATION = Operation(
    "POST", "/emulator/workers/call", call_binding, Shape("Called", object_of(value={})), CallBinding, waits=True
)
