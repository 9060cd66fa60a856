"""Versions with a valid time in the future are made the current ones once they are in force.

Searches find them from their first moment. But until a write of the space, or this, has told the chunks so, each search
goes by the versions' times, which costs more, and no result is given again.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from services.runtime.errors import StoreUnavailableError
from services.vector_search.background import beside, put_off

ROUND_SECONDS = 30.0
_NAME = "settling"


class SettlingStore(Protocol):
    """Raises StoreUnavailableError, OverloadedError or DeadlineError when it cannot answer."""

    async def due_spaces(self) -> list[str]:
        """Spaces in which a version has come into force since they were last written to."""
        ...

    async def settle(self, space: str) -> None:
        """Makes these versions the current ones. OverloadedError also while the space's writes are held."""
        ...


class Settling:
    """Of one process; several do not disturb each other."""

    def __init__(self, store: SettlingStore, *, seconds: float = ROUND_SECONDS) -> None:
        """`seconds` pass between two rounds."""
        self._store = store
        self._seconds = seconds

    def running(self) -> AbstractAsyncContextManager[None]:
        """Sees to what is due for as long as the block runs."""
        return beside(self._run(), _NAME)

    async def round(self) -> None:
        """Sees to all that is due now; what fails by itself is left until the next round. StoreUnavailableError."""
        for space in await self._store.due_spaces():
            try:
                await self._store.settle(space)
            except StoreUnavailableError:
                raise
            except Exception as error:  # noqa: BLE001 - other spaces' must not wait for it
                put_off(_NAME, error)

    async def _run(self) -> None:
        while True:
            try:
                await self.round()
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not end what keeps searches fast
                put_off(_NAME, error)
            await asyncio.sleep(self._seconds)
