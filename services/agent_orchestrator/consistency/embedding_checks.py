"""Finds what has no vector of its tier's model in the current call's scope."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from braid.graph.internal.v1 import embeddings_pb2
from services.agent_orchestrator.clients.model_migration import GraphModels, Kind, VectorModels
from services.agent_orchestrator.consistency.confirmation import Confirmation
from services.agent_orchestrator.consistency.report import (
    UNEMBEDDED_CHUNK,
    UNEMBEDDED_FACT,
    UNEMBEDDED_FINDING,
    Inconsistency,
)
from services.agent_orchestrator.consistency.report import Kind as InconsistencyKind

TEXT_KINDS: Mapping[InconsistencyKind, Kind] = {
    UNEMBEDDED_FACT: embeddings_pb2.GRAPH_TEXT_KIND_FACT,
    UNEMBEDDED_FINDING: embeddings_pb2.GRAPH_TEXT_KIND_FINDING,
}

Found = AsyncIterator[Sequence[Inconsistency]]


class EmbeddingChecks:
    """Checks vectors. A space without a model, or one that is moving to another model, has none to miss.

    A graph without any vector misses those of the model that its space's chunks have.
    """

    def __init__(
        self, vector: VectorModels, graph: GraphModels, confirmation: Confirmation
    ) -> None:
        self._vector = vector
        self._graph = graph
        self._confirmation = confirmation

    async def check(self, user: str | None) -> Found:
        """Yields chunks, facts and findings without a vector."""
        of_chunks = (await self._vector.recorded()).model
        if of_chunks:
            async for found in self._chunks(of_chunks, user):
                yield found
        state = await self._graph.state()
        model = state.embedding_model or of_chunks
        if model and not state.next_embedding_model:
            for kind in TEXT_KINDS:
                async for found in self._texts(kind, model):
                    yield found

    async def _chunks(self, model: str, user: str | None) -> Found:
        token, more = "", True
        while more:
            page = await self._vector.missing(model, token)
            if page.chunks:
                await self._confirmation.settle()
                again = {one.chunk_id for one in (await self._vector.missing(model, token)).chunks}
                yield [
                    Inconsistency(UNEMBEDDED_CHUNK, one.chunk_id, "", user)
                    for one in page.chunks
                    if one.chunk_id in again
                ]
            token, more = page.next_page_token, bool(page.next_page_token)

    async def _texts(self, kind: InconsistencyKind, model: str) -> Found:
        texts = TEXT_KINDS[kind]
        token, more = "", True
        while more:
            page = await self._graph.missing(texts, model, token)
            if page.texts:
                await self._confirmation.settle()
                again = {one.id for one in (await self._graph.missing(texts, model, token)).texts}
                yield [Inconsistency(kind, one.id) for one in page.texts if one.id in again]
            token, more = page.next_page_token, bool(page.next_page_token)
