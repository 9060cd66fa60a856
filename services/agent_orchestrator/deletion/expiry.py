"""Deletes documents automatically at the time that their upload has set: each by a job, whose receipt is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.agent_orchestrator.database import Database
from services.runtime.context import CallContext

if TYPE_CHECKING:
    from services.agent_orchestrator.deletion.store import DeletionStore

DOCUMENTS_AT_ONCE = 1_000


class ExpiredDocuments:
    """The documents of every space whose time is over."""

    def __init__(self, database: Database, deletions: DeletionStore) -> None:
        self._pool = database.pool
        self._queries = database.queries
        self._deletions = deletions

    async def enqueue(self) -> None:
        """Accepts the deletion of each; those that an accepted upload may add again wait for it."""
        async with self._pool.session() as session:
            due = await session.fetch(self._queries["expired_documents"], DOCUMENTS_AT_ONCE)
        for row in due:
            call = CallContext(
                request_id="", method="", space=row["space"], user="", scopes=frozenset()
            )
            await self._deletions.accept(call, row["document_id"], keep_versions=False)
