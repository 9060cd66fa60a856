"""Repairs inconsistencies, one kind at a time. Each step is idempotent: a repair may be interrupted at any point."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence

from services.agent_orchestrator.clients.inventories import GraphInventory
from services.agent_orchestrator.clients.tiers import GraphTier, VectorTier
from services.agent_orchestrator.consistency.checking import (
    CHUNK,
    DEAD,
    DOCUMENT,
    ENTITY,
    EPISODE,
    Inconsistency,
    Kind,
    Work,
)
from services.agent_orchestrator.ingest.pipeline.episode_retry import (
    EpisodeSender,
    episode_of,
)
from services.agent_orchestrator.jobs.adaptive_batch import AdaptiveBatch
from services.agent_orchestrator.jobs.retries import Retries
from services.runtime.context import current_call

CHUNKS_AT_ONCE = 200
EPISODES_AT_ONCE = 500


class Repair:
    """Implements `Repairer` for one run over the current call's space."""

    def __init__(
        self, vector: VectorTier, graph: GraphTier, inventory: GraphInventory, work: Work
    ) -> None:
        self._vector = vector
        self._graph = graph
        self._inventory = inventory
        self._work = work
        self._batch_size = AdaptiveBatch(CHUNKS_AT_ONCE)
        # No retries: an unavailable store ends the repair, because its caller waits.
        self._sender = EpisodeSender(graph, Retries(0), self._batch_size)
        self._repairers: dict[Kind, Callable[[Sequence[Inconsistency]], Awaitable[int]]] = {
            CHUNK: self._add_episodes,
            EPISODE: self._delete_episodes,
            DOCUMENT: self._delete_documents,
            ENTITY: self._delete_entities,
            DEAD: self._retry,
        }

    async def repair(self, findings: Sequence[Inconsistency]) -> int:
        """See `Repairer`; `findings` is not empty and of one kind."""
        return await self._repairers[findings[0].kind](findings)

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

    async def _delete_episodes(self, findings: Sequence[Inconsistency]) -> int:
        for part in _parts(findings, EPISODES_AT_ONCE):
            await self._graph.delete_episodes([finding.id for finding in part])
        return len(findings)

    async def _delete_documents(self, findings: Sequence[Inconsistency]) -> int:
        for finding in findings:
            await self._inventory.delete_document(finding.id, str(uuid.uuid4()))
        return len(findings)

    async def _delete_entities(self, findings: Sequence[Inconsistency]) -> int:
        for part in _parts(findings, EPISODES_AT_ONCE):
            await self._inventory.delete_entities([finding.id for finding in part])
        return len(findings)

    async def _retry(self, findings: Sequence[Inconsistency]) -> int:
        space = current_call().space
        retried = {
            job: await self._work.retry(space, job)
            for job in dict.fromkeys(finding.id for finding in findings)
        }
        return sum(retried[finding.id] for finding in findings)


def _parts(findings: Sequence[Inconsistency], size: int) -> Iterator[Sequence[Inconsistency]]:
    for start in range(0, len(findings), size):
        yield findings[start : start + size]
