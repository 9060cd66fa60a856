"""Tells inconsistencies apart from writes in progress."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from services.agent_orchestrator.clients.inventories import DOCUMENTS
from services.runtime.context import current_call


class DeadWork(Protocol):
    """Failed work of a job."""

    @property
    def job_id(self) -> str:
        """The id of the job."""
        ...

    @property
    def document_id(self) -> str:
        """The id of its document, "" for a whole job."""
        ...


class Work(Protocol):
    """The check's access to jobs."""

    async def in_progress(self, space: str, document_ids: Sequence[str]) -> set[str]:
        """Returns the given documents that unfinished jobs may still write or delete."""
        ...

    def dead(self, space: str) -> AsyncIterator[DeadWork]:
        """Yields failed work that a retry may repair."""
        ...

    async def retry(self, space: str, job_id: str) -> bool:
        """Retries a job's failed work; returns whether there was any."""
        ...

    async def seen_graph(self, space: str) -> int:
        """Returns the highest revision of the space's graph that a write was answered with; 0 if unknown."""
        ...

    async def accept_graph(self, space: str, revision: int) -> None:
        """Accepts a graph that was restored from a backup, with its present revision."""
        ...


class Confirmation:
    """Waits until undisturbed writes have ended, and knows which documents jobs still write."""

    def __init__(self, work: Work, settle_seconds: float) -> None:
        self._work = work
        self._settle_seconds = settle_seconds

    async def settle(self) -> None:
        """Waits for longer than a write takes from the first store to the second."""
        await asyncio.sleep(self._settle_seconds)

    async def idle(self, documents: Sequence[str]) -> list[str]:
        """Returns the documents without unfinished jobs. Called before the stores are checked again, so that everything
        a job has written by its end is seen there.
        """
        space, distinct = current_call().space, list(dict.fromkeys(documents))
        busy: set[str] = set()
        for start in range(0, len(distinct), DOCUMENTS):
            busy |= await self._work.in_progress(space, distinct[start : start + DOCUMENTS])
        return [document for document in distinct if document not in busy]
