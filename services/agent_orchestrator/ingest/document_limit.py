"""The maximum number of documents of a space: what would exceed it is refused before it is accepted."""

from __future__ import annotations

from services.agent_orchestrator.clients.inventories import VectorInventory
from services.agent_orchestrator.jobs.store import JobStore
from services.runtime.errors import WrongStateError


class DocumentLimit:
    """Checks uploads. Uploads that are accepted at the same moment may exceed the limit by their number."""

    def __init__(self, jobs: JobStore, documents: VectorInventory) -> None:
        self._jobs = jobs
        self._documents = documents

    async def check(self, space: str, document_id: str, count: int) -> None:
        """Raises WrongStateError if `count` more documents are too many; `document_id` is that of a single one."""
        limit = await self._jobs.document_limit(space)
        if limit is None:
            return
        held = await self._documents.count_documents() + limit.waiting
        if held + count <= limit.allowed:
            return
        # A new version of a stored document adds none.
        if count == 1 and document_id and await self._documents.find_documents([document_id]):
            return
        raise WrongStateError(
            f"The space may contain {limit.allowed} documents, and contains {held} with those that are being read: "
            "delete some, or raise the limit of the space."
        )
