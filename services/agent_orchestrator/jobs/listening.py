"""Hears when turns are asked for. Deaf while the database is away: whoever waits also looks from time to time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import asyncpg

from services.agent_orchestrator.jobs.queue import CHANNEL

CONNECT_SECONDS = 5.0
AGAIN_SECONDS = 1.0


class Listener:
    """One connection of its own that calls `heard` at each notification."""

    def __init__(self, url: str, heard: Callable[[], None]) -> None:
        self._url = url
        self._heard = heard

    async def run(self) -> None:
        """Listens until cancelled, connecting again as often as it has to."""
        while True:
            try:
                await self._listen()
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                await asyncio.sleep(AGAIN_SECONDS)

    async def _listen(self) -> None:
        connection = await asyncpg.connect(
            self._url,
            timeout=CONNECT_SECONDS,
            server_settings={"application_name": "braid-agent-listen"},
        )
        over = asyncio.Event()
        try:
            connection.add_termination_listener(lambda _: over.set())
            await connection.add_listener(CHANNEL, lambda *_: self._heard())
            self._heard()
            await over.wait()
        finally:
            connection.terminate()
