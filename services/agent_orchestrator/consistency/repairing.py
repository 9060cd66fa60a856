"""Repairs inconsistencies, one kind at a time. Each step is idempotent: a repair may be interrupted at any point.

Nothing that somebody stated is deleted: it is moved to a quarantine, from which it can be restored.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence

from braid.graph.internal.v1 import quarantine_pb2
from services.agent_orchestrator.clients.inventories import GraphInventory
from services.agent_orchestrator.clients.quarantine import GraphQuarantine
from services.agent_orchestrator.clients.tiers import GraphTier, VectorTier
from services.agent_orchestrator.consistency.confirmation import Work
from services.agent_orchestrator.consistency.embedding_repairs import EmbeddingRepairs
from services.agent_orchestrator.consistency.memory_checks import MemoryRows, Owner
from services.agent_orchestrator.consistency.report import (
    CHUNK,
    DEAD,
    DOCUMENT,
    ENTITY,
    EPISODE,
    FINDING,
    MEMORY,
    MEMORY_TEXT,
    OLDER_GRAPH,
    UNDOCUMENTED_FACT,
    UNEMBEDDED_CHUNK,
    UNEMBEDDED_FACT,
    UNEMBEDDED_FINDING,
    UNSTATED_FACT,
    Inconsistency,
    Kind,
)
from services.agent_orchestrator.ingest.pipeline.episode_retry import (
    EpisodeSender,
    episode_of,
)
from services.agent_orchestrator.jobs.adaptive_batch import AdaptiveBatch
from services.agent_orchestrator.jobs.retries import Retries
from services.runtime.context import current_call

CHUNKS_AT_ONCE = 200
AT_ONCE = 500
# A call quarantines whole documents, with any number of episodes.
DOCUMENTS_AT_ONCE = 1

_QUARANTINED: dict[Kind, quarantine_pb2.QuarantinedKind.ValueType] = {
    DOCUMENT: quarantine_pb2.QUARANTINED_KIND_DOCUMENT,
    EPISODE: quarantine_pb2.QUARANTINED_KIND_EPISODE,
    UNDOCUMENTED_FACT: quarantine_pb2.QUARANTINED_KIND_FACT,
    UNSTATED_FACT: quarantine_pb2.QUARANTINED_KIND_FACT,
    FINDING: quarantine_pb2.QUARANTINED_KIND_FINDING,
}


class Repair:
    """Implements `Repairer` for one run over the current call's space and the partitions of its users' memories."""

    def __init__(
        self,
        vector: VectorTier,
        graph: GraphTier,
        *,
        inventory: GraphInventory,
        quarantine: GraphQuarantine,
        work: Work,
        memories: MemoryRows,
        embeddings: EmbeddingRepairs,
    ) -> None:
        self._vector = vector
        self._inventory = inventory
        self._quarantine = quarantine
        self._work = work
        self._memories = memories
        self._batch_size = AdaptiveBatch(CHUNKS_AT_ONCE)
        # No retries: an unavailable store ends the repair, because its caller waits.
        self._sender = EpisodeSender(graph, Retries(0), self._batch_size)
        self._space = current_call().space
        self._id = str(uuid.uuid4())
        self._has_quarantined = False
        self._repairers: dict[Kind, Callable[[Sequence[Inconsistency]], Awaitable[int]]] = {
            **dict.fromkeys(_QUARANTINED, self._move_to_quarantine),
            CHUNK: self._add_episodes,
            ENTITY: self._delete_entities,
            DEAD: self._retry,
            OLDER_GRAPH: self._accept_graph,
            MEMORY: self._store_memories,
            MEMORY_TEXT: self._list_memories,
            UNEMBEDDED_CHUNK: embeddings.embed,
            UNEMBEDDED_FACT: embeddings.embed,
            UNEMBEDDED_FINDING: embeddings.embed,
        }

    @property
    def quarantine_id(self) -> str:
        """See `Repairer`."""
        return self._id if self._has_quarantined else ""

    async def repair(self, findings: Sequence[Inconsistency]) -> int:
        """See `Repairer`; `findings` is not empty and of one kind. What needs a decision is not repaired."""
        repair = self._repairers.get(findings[0].kind)
        return await repair(findings) if repair is not None else 0

    async def _move_to_quarantine(self, findings: Sequence[Inconsistency]) -> int:
        kind = _QUARANTINED[findings[0].kind]
        size = DOCUMENTS_AT_ONCE if findings[0].kind == DOCUMENT else AT_ONCE
        self._has_quarantined = True
        for part in _parts(findings, size):
            await self._quarantine.quarantine(self._id, kind, [finding.id for finding in part])
        return len(findings)

    async def _add_episodes(self, findings: Sequence[Inconsistency]) -> int:
        """Adds the chunks to the graph, as many at a time as it processes in a few seconds."""
        ids, repaired = [finding.id for finding in findings], 0
        while ids:
            part, ids = ids[: self._batch_size.size], ids[self._batch_size.size :]
            chunks = await self._vector.chunks(part)
            given_up = await self._sender.send([episode_of(chunk) for chunk in chunks])
            # A chunk that was deleted meanwhile counts as repaired too.
            repaired += len(part) - len(given_up)
        return repaired

    async def _accept_graph(self, findings: Sequence[Inconsistency]) -> int:
        await self._work.accept_graph(self._space, int(findings[0].id))
        return len(findings)

    async def _delete_entities(self, findings: Sequence[Inconsistency]) -> int:
        for part in _parts(findings, AT_ONCE):
            await self._inventory.delete_entities([finding.id for finding in part])
        return len(findings)

    async def _store_memories(self, findings: Sequence[Inconsistency]) -> int:
        owner = Owner(self._space, findings[0].user)
        return await self._memories.store_again(owner, [one.id for one in findings])

    async def _list_memories(self, findings: Sequence[Inconsistency]) -> int:
        owner = Owner(self._space, findings[0].user)
        return await self._memories.list_again(owner, [one.id for one in findings])

    async def _retry(self, findings: Sequence[Inconsistency]) -> int:
        retried = {
            job: await self._work.retry(self._space, job)
            for job in dict.fromkeys(finding.id for finding in findings)
        }
        return sum(retried[finding.id] for finding in findings)


def _parts(findings: Sequence[Inconsistency], size: int) -> Iterator[Sequence[Inconsistency]]:
    for start in range(0, len(findings), size):
        yield findings[start : start + size]
