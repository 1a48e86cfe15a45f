"""The REST API over an emulator: https://developers.cloudflare.com/api/resources/queues/. Needs the extra `server`.

`create_app(Service(emulator))` is an ASGI application; `Transport(emulator)` serves httpx from it without a socket.
"""

from emulator.server.app import create_app
from emulator.server.httpx_transport import Transport
from emulator.server.service import Service

__all__ = ["Service", "Transport", "create_app"]
