"""The deletion of a document in PostgreSQL."""

from __future__ import annotations

from services.postgres.pool import Row, Session
from services.runtime.queries import Queries
from services.vector_search.domain import Deletion


class DocumentDeletion:
    """Runs within one transaction of `session`. Takes locks in the order that every write takes them."""

    def __init__(self, session: Session, queries: Queries, space: str) -> None:
        self._session = session
        self._queries = queries
        self._space = space

    async def run(self, document_id: str, deletion_id: str | None) -> Deletion | None:
        """What it removed, or what the deletion of this id removed before; None where there is no such document."""
        if told := await self._recall(deletion_id):
            return told
        # Removing a model takes vectors of all documents, in an order of its own.
        await self._session.fetch(self._queries["share_model"], self._space)
        row = await self._session.row(self._queries["remove_document"], self._space, document_id)
        # A row without a version is no document: an older program left it. It goes, and was not counted.
        if row is None or not row["versions"]:
            # The same deletion may have ended elsewhere while this one waited for the document.
            return await self._recall(deletion_id)
        gone = Deletion(row["versions"], len(row["ids"]), [str(i) for i in row["ids"]])
        if deletion_id:
            await self._session.execute(
                self._queries["keep_deletion"],
                self._space,
                deletion_id,
                gone.versions,
                gone.chunks,
            )
        await self._count(row)
        return gone

    async def _count(self, row: Row) -> None:
        await self._session.fetch(self._queries["lock_space"], self._space)
        await self._session.fetch(
            self._queries["count_space"],
            self._space,
            -1,
            -len(row["ids"]),
            -row["current_chunks"],
            -row["current_length"],
        )

    async def _recall(self, deletion_id: str | None) -> Deletion | None:
        if not deletion_id:
            return None
        row = await self._session.row(self._queries["recall_deletion"], self._space, deletion_id)
        return None if row is None else Deletion(row["versions"], row["chunks"], [])
