"""A stream of facts on its way to the graph: each message's sentences embedded, then passed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import grpc

from braid.agent.v1 import ingest_pb2
from braid.graph.v1 import ingest_pb2 as graph_pb2
from services.agent_orchestrator.tiers import FactStream, GraphTier
from services.models.embedder import Embedder
from services.runtime.errors import BraidError
from services.runtime.status import error_from_rpc
from services.runtime.telemetry import get_logger

EMBED_SECONDS = 30.0


class FactIngestion:
    """Takes dated facts. Those without a vector get one, or go without while the embedder is away."""

    def __init__(self, *, graph: GraphTier, embedder: Embedder, seconds: float) -> None:
        self._graph = graph
        self._embedder = embedder
        self._seconds = seconds

    async def run(
        self, requests: AsyncIterator[ingest_pb2.IngestFactsRequest]
    ) -> ingest_pb2.IngestFactsResponse:
        """Passes all facts on and answers with what became of them."""
        stream = self._graph.open_facts(self._seconds)
        try:
            await self._send(requests, stream)
            answer = await stream
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None
        finally:
            # Does nothing to a stream that has ended; one that has not is of no use to anybody any more.
            stream.cancel()
        return ingest_pb2.IngestFactsResponse(
            added=answer.added,
            unchanged=answer.unchanged,
            refused=answer.refused,
            refused_total=answer.refused_total,
        )

    async def _send(
        self, requests: AsyncIterator[ingest_pb2.IngestFactsRequest], stream: FactStream
    ) -> None:
        embedding = True
        async for request in requests:
            # Once it has failed it is not asked again: a long stream would wait as often as it has messages.
            embedding = embedding and await self._embed(request.facts)
            message = graph_pb2.AddFactsRequest(
                facts=request.facts, embedding_model=self._model(request.facts)
            )
            try:
                await stream.write(message)
            except asyncio.InvalidStateError:
                return  # the tier has ended the call: its status says why
        await stream.done_writing()

    def _model(self, facts: Sequence[graph_pb2.FactInput]) -> str:
        return self._embedder.model if any(fact.embedding for fact in facts) else ""

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


def sentence(fact: graph_pb2.FactInput) -> str:
    """The statement: as given, else subject, relation and object in words."""
    if fact.fact.strip():
        return fact.fact
    relation = fact.relation.replace("_", " ").lower()
    return f"{fact.subject.name} {relation} {fact.object.name}"
