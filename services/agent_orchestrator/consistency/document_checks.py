"""Compares documents, chunks and entities of both tiers in the current call's scope."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from services.agent_orchestrator.clients.inventories import (
    GraphInventory,
    Ref,
    VectorInventory,
    in_parts,
)
from services.agent_orchestrator.consistency.confirmation import Confirmation
from services.agent_orchestrator.consistency.memory_checks import MemoryRows, Owner
from services.agent_orchestrator.consistency.report import (
    CHUNK,
    DOCUMENT,
    ENTITY,
    EPISODE,
    Inconsistency,
    InconsistencyReport,
)
from services.agent_orchestrator.consistency.streams import Seen, UnmatchedRef, symmetric_difference

SUSPECTS = 1_000

Found = AsyncIterator[Sequence[Inconsistency]]


class DocumentChecks:
    """Checks documents, chunks and entities. What a memory's row can restore is not an inconsistency of the graph."""

    def __init__(
        self,
        vector: VectorInventory,
        graph: GraphInventory,
        memories: MemoryRows,
        confirmation: Confirmation,
    ) -> None:
        self._vector = vector
        self._graph = graph
        self._memories = memories
        self._confirmation = confirmation

    async def documents(self, report: InconsistencyReport, owner: Owner) -> Found:
        """Yields documents of the graph that the vector tier does not have."""
        async for page in self._graph.documents():
            report.graph_documents += len(page)
            unknown = await self._unknown(page, owner)
            if not unknown:
                continue
            await self._confirmation.settle()
            idle = await self._confirmation.idle(unknown)
            left = await self._unknown(idle, owner)
            yield [Inconsistency(DOCUMENT, one, one, owner.user) for one in left]

    async def pairs(self, report: InconsistencyReport, owner: Owner) -> Found:
        """Yields chunks without an episode, and episodes without a chunk."""
        seen = Seen()
        suspects = symmetric_difference(self._vector.chunks(), self._graph.episodes(), seen)
        async for part in in_parts(suspects, SUSPECTS):
            await self._confirmation.settle()
            still = await self._still(part, owner)
            report.pending += len(part) - len(still)
            yield await self._without_episode([one.ref for one in still if one.first], owner)
            yield await self._without_chunk([one.ref for one in still if not one.first], owner)
        report.chunks += seen.first
        report.episodes += seen.second

    async def unjoined_entities(self, report: InconsistencyReport) -> Found:
        """Yields entities that no episode names and no fact joins."""
        token, more = "", True
        while more:
            page = await self._graph.entities(token)
            report.entities += page.looked_through
            if page.unjoined:
                await self._confirmation.settle()
                again = {uuid for uuid, _ in (await self._graph.entities(token)).unjoined}
                yield [Inconsistency(ENTITY, uuid) for uuid, _ in page.unjoined if uuid in again]
            token, more = page.next_token, bool(page.next_token)

    async def _still(self, part: Sequence[UnmatchedRef], owner: Owner) -> list[UnmatchedRef]:
        idle = set(await self._confirmation.idle([one.ref.document_id for one in part]))
        still = [one for one in part if one.ref.document_id in idle]
        if owner.user is None or not still:
            return still
        waiting = await self._memories.waiting(owner, [one.ref.id for one in still])
        return [one for one in still if one.ref.id not in waiting]

    async def _unknown(self, documents: Sequence[str], owner: Owner) -> list[str]:
        known = await self._vector.find_documents(documents)
        unknown = [document for document in documents if document not in known]
        if owner.user is not None and unknown:
            known |= await self._memories.documents(owner, unknown)
        return [document for document in unknown if document not in known]

    async def _without_episode(self, refs: Sequence[Ref], owner: Owner) -> list[Inconsistency]:
        """Checks again: whether the graph lacks the episode, then whether the chunk still exists."""
        ids = [ref.id for ref in refs]
        there = await self._graph.find_episodes(ids)
        left = await self._vector.find_chunks([one for one in ids if one not in there])
        return [
            Inconsistency(CHUNK, ref.id, ref.document_id, owner.user)
            for ref in refs
            if ref.id in left
        ]

    async def _without_chunk(self, refs: Sequence[Ref], owner: Owner) -> list[Inconsistency]:
        ids = [ref.id for ref in refs]
        there = await self._vector.find_chunks(ids)
        if owner.user is not None and ids:
            there |= await self._memories.existing(owner, ids)
        left = await self._graph.find_episodes([one for one in ids if one not in there])
        return [
            Inconsistency(EPISODE, ref.id, ref.document_id, owner.user)
            for ref in refs
            if ref.id in left
        ]
