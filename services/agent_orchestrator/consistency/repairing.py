"""Mends what a check found, a part of one kind at a time. Each step is idempotent: a repair may end anywhere."""

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
    Finding,
    Kind,
    Work,
)
from services.agent_orchestrator.ingest.pipeline.episode_retry import Giver, Pace, episode_of
from services.agent_orchestrator.jobs.retries import Retries
from services.runtime.context import current_call

CHUNKS_AT_ONCE = 200
EPISODES_AT_ONCE = 500


class Repair:
    """Implements `Mender` for one run over the current call's space."""

    def __init__(
        self, vector: VectorTier, graph: GraphTier, inventory: GraphInventory, work: Work
    ) -> None:
        self._vector = vector
        self._graph = graph
        self._inventory = inventory
        self._work = work
        self._pace = Pace(CHUNKS_AT_ONCE)
        # A store that is away ends the repair: its caller waits.
        self._giver = Giver(graph, Retries(0), self._pace)
        self._menders: dict[Kind, Callable[[Sequence[Finding]], Awaitable[int]]] = {
            CHUNK: self._add_episodes,
            EPISODE: self._delete_episodes,
            DOCUMENT: self._delete_documents,
            ENTITY: self._delete_entities,
            DEAD: self._retry,
        }

    async def mend(self, findings: Sequence[Finding]) -> int:
        """See `Mender`; there are some, of one kind."""
        return await self._menders[findings[0].kind](findings)

    async def _add_episodes(self, findings: Sequence[Finding]) -> int:
        """Gives the graph the chunks' text, as many at a time as it takes in a few seconds."""
        ids, mended = [finding.id for finding in findings], 0
        while ids:
            part, ids = ids[: self._pace.size], ids[self._pace.size :]
            chunks = await self._vector.chunks(part)
            given_up = await self._giver.give([episode_of(chunk) for chunk in chunks])
            # A chunk that was deleted since is mended too.
            mended += len(part) - len(given_up)
        return mended

    async def _delete_episodes(self, findings: Sequence[Finding]) -> int:
        for part in _parts(findings, EPISODES_AT_ONCE):
            await self._graph.delete_episodes([finding.id for finding in part])
        return len(findings)

    async def _delete_documents(self, findings: Sequence[Finding]) -> int:
        for finding in findings:
            await self._inventory.delete_document(finding.id, str(uuid.uuid4()))
        return len(findings)

    async def _delete_entities(self, findings: Sequence[Finding]) -> int:
        for part in _parts(findings, EPISODES_AT_ONCE):
            await self._inventory.delete_entities([finding.id for finding in part])
        return len(findings)

    async def _retry(self, findings: Sequence[Finding]) -> int:
        space = current_call().space
        retried = {
            job: await self._work.retry(space, job)
            for job in dict.fromkeys(finding.id for finding in findings)
        }
        return sum(retried[finding.id] for finding in findings)


def _parts(findings: Sequence[Finding], size: int) -> Iterator[Sequence[Finding]]:
    for start in range(0, len(findings), size):
        yield findings[start : start + size]
