"""Removes a document from both tiers, in an order that a repeated call can finish.

The graph goes first: while the vector tier still has the document, the same call finds it again after a crash. Chunks
that only former versions had are told by the vector tier as it deletes, so their episodes go last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from braid.agent.v1 import ingest_pb2
from services.agent_orchestrator.ingest.retries import Retries
from services.agent_orchestrator.tiers import GraphTier, VectorTier

POSTGRESQL = "postgresql"
NEO4J = "neo4j"
EPISODES_AT_ONCE = 10_000

Removed = Counter[tuple[str, str]]


class Deletion:
    """Deletes documents and tells what was removed, by store and kind."""

    def __init__(self, *, vector: VectorTier, graph: GraphTier, retries: Retries) -> None:
        self._vector = vector
        self._graph = graph
        self._retries = retries

    async def run(self, document_id: str) -> ingest_pb2.DeleteDocumentResponse:
        """The receipt. Reason NOT_FOUND when the vector tier does not know the document."""
        removed: Removed = Counter()
        current = list(await self._vector.chunk_ids(document_id))
        gone = set(current)
        await self._delete_episodes(current, removed)
        deleted = await self._vector.delete(document_id)
        removed[POSTGRESQL, "versions"] += deleted.versions_deleted
        removed[POSTGRESQL, "chunks"] += deleted.chunks_deleted
        former = [uuid for uuid in deleted.deleted_chunk_ids if uuid not in gone]
        await self._retries.run(lambda: self._delete_episodes(former, removed))
        return _receipt(removed)

    async def _delete_episodes(self, uuids: Sequence[str], removed: Removed) -> None:
        for start in range(0, len(uuids), EPISODES_AT_ONCE):
            answer = await self._graph.delete_episodes(uuids[start : start + EPISODES_AT_ONCE])
            removed[NEO4J, "episodes"] += answer.episodes_deleted
            removed[NEO4J, "facts"] += answer.facts_deleted
            removed[NEO4J, "local_facts"] += answer.local_facts_deleted
            removed[NEO4J, "mentions"] += answer.mentions_deleted
            removed[NEO4J, "entities"] += answer.entities_deleted


def _receipt(removed: Removed) -> ingest_pb2.DeleteDocumentResponse:
    rows: Iterable[tuple[tuple[str, str], int]] = removed.items()
    return ingest_pb2.DeleteDocumentResponse(
        removed=[
            ingest_pb2.RemovedRows(store=store, kind=kind, count=count)
            for (store, kind), count in rows
        ]
    )
