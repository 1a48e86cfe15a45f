"""A server that is the only one of its account: one service from start to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.server.app import create_app

if TYPE_CHECKING:
    from emulator.server.service import Service


class Single:
    """An application, and what keeps it going."""

    def __init__(self, service: Service) -> None:
        self.service, self.app = service, create_app(service, listens=True)
        self.real_time = service.time.speed == 1
        self.prompt = self.app.prompt

    def stop(self) -> None:
        """The end was asked for."""
        self.service.stopping = True

    async def run(self) -> None:
        """Keep time running until cancelled."""
        await self.service.time.pump()

    async def finish(self, grace_seconds: float) -> None:
        """Let what runs end within so many seconds, and close."""
        await self.service.time.finish(grace_seconds)
        self.service.close()
