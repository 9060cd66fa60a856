"""A stream of facts on its way to the graph: their sentences embedded, then passed on, in calls of some hundreds.

Each call to the tier is short and whole: a stream of our own to it would lose the tier's reason when it refuses one
message while the next is being written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import NamedTuple

from braid.agent.v1 import ingest_pb2
from braid.graph.v1 import ingest_pb2 as graph_pb2
from services.agent_orchestrator.ingest.fact_vectors import FactVectors, Made
from services.agent_orchestrator.tiers import GraphTier
from services.runtime.errors import BraidError

FACTS_AT_ONCE = 500
MAX_REFUSED = 1000

Requests = AsyncIterator[ingest_pb2.IngestFactsRequest]


class Slice(NamedTuple):
    """Some facts of a stream: the first one's place in it, and the model of the vectors that some were given with."""

    facts: Sequence[graph_pb2.FactInput]
    start: int
    model: str


class FactIngestion:
    """Takes dated facts. Those without a vector get one, or go without while none is to be had."""

    def __init__(
        self, *, graph: GraphTier, vectors: Callable[[], FactVectors], configured: str
    ) -> None:
        """`vectors` is called for each stream; `configured` is the model of vectors whose model is not said."""
        self._graph = graph
        self._vectors = vectors
        self._configured = configured

    async def run(self, requests: Requests) -> ingest_pb2.IngestFactsResponse:
        """Passes all facts on, some being embedded while others are stored; what became of them all."""
        total = ingest_pb2.IngestFactsResponse()
        sending: asyncio.Task[None] | None = None
        vectors = self._vectors()
        try:
            async with asyncio.TaskGroup() as group:
                async for some in _slices(requests, self._configured):
                    made = await vectors.fill(some.facts, some.model)
                    if sending is not None:
                        await sending
                    sending = group.create_task(self._send(some, vectors, made, total))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return total

    async def _send(
        self,
        some: Slice,
        vectors: FactVectors,
        made: Made,
        total: ingest_pb2.IngestFactsResponse,
    ) -> None:
        answer = await self._give(some, vectors, made)
        total.added += answer.added
        total.unchanged += answer.unchanged
        total.refused_total += answer.refused_total
        for one in answer.refused[: MAX_REFUSED - len(total.refused)]:
            total.refused.add(index=some.start + one.index, reason=one.reason)

    async def _give(
        self, some: Slice, vectors: FactVectors, made: Made
    ) -> graph_pb2.AddFactsResponse:
        """Without the vectors made here when the graph has come to another model; given ones are never left out."""
        made = vectors.kept(made)
        try:
            return await self._graph.add_facts(some.facts, some.model or made.model)
        except BraidError as error:
            if some.model or not await vectors.refused(made, error):
                raise
        return await self._graph.add_facts(some.facts, "")


async def _slices(requests: Requests, configured: str) -> AsyncIterator[Slice]:
    """The stream's facts in order, `FACTS_AT_ONCE` at a time however its messages are cut; vectors of one model."""
    waiting: list[graph_pb2.FactInput] = []
    model, start = "", 0
    async for request in requests:
        said = request.embedding_model or configured
        if waiting and said != model:
            yield _slice(waiting, start, model)
            start += len(waiting)
            waiting = []
        model = said
        waiting.extend(request.facts)
        while len(waiting) >= FACTS_AT_ONCE:
            yield _slice(waiting[:FACTS_AT_ONCE], start, model)
            start += FACTS_AT_ONCE
            del waiting[:FACTS_AT_ONCE]
    if waiting:
        yield _slice(waiting, start, model)


def _slice(facts: Sequence[graph_pb2.FactInput], start: int, model: str) -> Slice:
    return Slice(facts, start, model if any(fact.embedding for fact in facts) else "")
