"""A stream of facts on its way to the graph: their sentences embedded, then passed on, in calls of some hundreds.

Each call to the tier is short and whole: a stream of our own to it would lose the tier's reason when it refuses one
message while the next is being written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from braid.agent.v1 import ingest_pb2
from braid.common.v1 import errors_pb2
from braid.graph.v1 import ingest_pb2 as graph_pb2
from services.agent_orchestrator.tiers import GraphTier
from services.models.embedder import Embedder
from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger

EMBED_SECONDS = 30.0
FACTS_AT_ONCE = 500
MAX_REFUSED = 1000

Requests = AsyncIterator[ingest_pb2.IngestFactsRequest]


class FactIngestion:
    """Takes dated facts. Those without a vector get one, or go without while the embedder is away."""

    def __init__(self, *, graph: GraphTier, embedder: Embedder) -> None:
        self._graph = graph
        self._embedder = embedder

    async def run(self, requests: Requests) -> ingest_pb2.IngestFactsResponse:
        """Passes all facts on, some being embedded while others are stored; what became of them all."""
        total = ingest_pb2.IngestFactsResponse()
        sending: asyncio.Task[None] | None = None
        embedding, start = True, 0
        try:
            async with asyncio.TaskGroup() as group:
                async for facts in _slices(requests):
                    # Once it has failed it is not asked again: a long stream would wait as often as it has slices.
                    embedding = embedding and await self._embed(facts)
                    if sending is not None:
                        await sending
                    sending = group.create_task(self._send(facts, start, total))
                    start += len(facts)
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return total

    async def _send(
        self,
        facts: Sequence[graph_pb2.FactInput],
        start: int,
        total: ingest_pb2.IngestFactsResponse,
    ) -> None:
        answer = await self._give(facts)
        total.added += answer.added
        total.unchanged += answer.unchanged
        total.refused_total += answer.refused_total
        for one in answer.refused[: MAX_REFUSED - len(total.refused)]:
            total.refused.add(index=start + one.index, reason=one.reason)

    async def _give(self, facts: Sequence[graph_pb2.FactInput]) -> graph_pb2.AddFactsResponse:
        """Vectors of another model than the graph's are left out: facts go without until it has changed over."""
        model = self._embedder.model if any(fact.embedding for fact in facts) else ""
        try:
            return await self._graph.add_facts(facts, model)
        except BraidError as error:
            if not model or error.reason != errors_pb2.ERROR_REASON_WRONG_STATE:
                raise
        for fact in facts:
            fact.ClearField("embedding")
        return await self._graph.add_facts(facts, "")

    async def _embed(self, facts: Sequence[graph_pb2.FactInput]) -> bool:
        """Fills in missing vectors. False when the embedder is away: the facts are as they were then."""
        missing = [fact for fact in facts if not fact.embedding]
        if not missing:
            return True
        try:
            async with asyncio.timeout(EMBED_SECONDS):
                rows = await self._embedder.embed([sentence(fact) for fact in missing])
        except (BraidError, TimeoutError) as error:
            get_logger("ingest").warning("facts not embedded", error=type(error).__name__)
            return False
        for fact, row in zip(missing, rows.tolist(), strict=True):
            fact.embedding.extend(row)
        return True


async def _slices(requests: Requests) -> AsyncIterator[list[graph_pb2.FactInput]]:
    """The stream's facts in order, `FACTS_AT_ONCE` at a time, however its messages are cut."""
    waiting: list[graph_pb2.FactInput] = []
    async for request in requests:
        waiting.extend(request.facts)
        while len(waiting) >= FACTS_AT_ONCE:
            yield waiting[:FACTS_AT_ONCE]
            del waiting[:FACTS_AT_ONCE]
    if waiting:
        yield waiting


def sentence(fact: graph_pb2.FactInput) -> str:
    """The statement: as given, else subject, relation and object in words."""
    if fact.fact.strip():
        return fact.fact
    relation = fact.relation.replace("_", " ").lower()
    return f"{fact.subject.name} {relation} {fact.object.name}"
