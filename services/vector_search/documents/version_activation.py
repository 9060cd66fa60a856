"""Makes versions with a valid time in the future current once they are in force.

Searches find such a version from its first moment. Until a write of the space, or an activation, has updated the flags
of its chunks, each search compares the versions' times, which costs more, and no cached result is used.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from services.runtime.background import in_background, log_failure
from services.runtime.errors import StoreUnavailableError

ROUND_SECONDS = 30.0
_NAME = "version_activation"


class ActivationStore(Protocol):
    """Activates versions. Raises StoreUnavailableError, OverloadedError or DeadlineError if the store cannot answer."""

    async def due_spaces(self) -> list[str]:
        """Returns spaces in which a version has come into force since their last write."""
        ...

    async def activate_versions(self, space: str) -> None:
        """Makes due versions of the space current. Raises OverloadedError also while the space's writes are on hold."""
        ...


class VersionActivation:
    """Activates versions in the background; several processes may do so concurrently."""

    def __init__(self, store: ActivationStore, *, seconds: float = ROUND_SECONDS) -> None:
        """`seconds` is the time between two rounds."""
        self._store = store
        self._seconds = seconds

    def running(self) -> AbstractAsyncContextManager[None]:
        """Activates due versions for as long as the block runs."""
        return in_background(_NAME, self._run)

    async def round(self) -> None:
        """Activates all due versions. A space that fails is retried in the next round. Raises StoreUnavailableError."""
        for space in await self._store.due_spaces():
            try:
                await self._store.activate_versions(space)
            except StoreUnavailableError:
                raise
            except Exception as error:  # noqa: BLE001 - other spaces must not be affected
                log_failure(_NAME, error)

    async def _run(self) -> None:
        while True:
            try:
                await self.round()
            except Exception as error:  # noqa: BLE001 - no error may end the loop
                log_failure(_NAME, error)
            await asyncio.sleep(self._seconds)
