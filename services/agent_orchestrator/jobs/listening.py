"""Hears when turns are asked for, or jobs change. Deaf while the database is away: who waits looks now and then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import asyncpg

JOB_CHANGED = "braid_job_changed"
CONNECT_SECONDS = 5.0
AGAIN_SECONDS = 1.0


class Listener:
    """One connection of its own that calls `heard` at each notification of a channel."""

    def __init__(self, url: str, channel: str, heard: Callable[[], None]) -> None:
        self._url = url
        self._channel = channel
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
            await connection.add_listener(self._channel, lambda *_: self._heard())
            self._heard()
            await over.wait()
        finally:
            connection.terminate()
