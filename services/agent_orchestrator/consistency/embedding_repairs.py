"""Computes vectors that are missing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from braid.graph.internal.v1 import embeddings_pb2
from braid.vector.internal.v1 import models_pb2
from services.agent_orchestrator.clients.model_migration import GraphModels, VectorModels
from services.agent_orchestrator.consistency.embedding_checks import TEXT_KINDS
from services.agent_orchestrator.consistency.report import UNEMBEDDED_CHUNK, Inconsistency, Kind
from services.models.embedding.embedder import Embedder
from services.models.embedding.registry import embedder_of

EMBED_SECONDS = 120.0


class EmbeddingRepairs:
    """Embeds texts of the current call's scope with the model of its tier, if that is configured."""

    def __init__(self, embedder: Embedder, vector: VectorModels, graph: GraphModels) -> None:
        self._embedder = embedder
        self._vector = vector
        self._graph = graph

    async def embed(self, findings: Sequence[Inconsistency]) -> int:
        """Embeds what has no vector among findings of one kind; returns how many have one now."""
        kind, wanted = findings[0].kind, {one.id for one in findings}
        if kind == UNEMBEDDED_CHUNK:
            return await self._embed_chunks(wanted)
        return await self._embed_texts(kind, wanted)

    async def _embed_chunks(self, wanted: set[str]) -> int:
        model = (await self._vector.recorded()).model
        embedder = embedder_of(self._embedder, model)
        if embedder is None:
            return 0
        found = (await self._vector.missing(model, "")).chunks
        chunks = [one for one in found if one.chunk_id in wanted]
        rows = await _vectors(embedder, [one.text for one in chunks])
        await self._vector.put(
            model,
            [
                models_pb2.ChunkEmbedding(
                    chunk_id=one.chunk_id, text_sha256=one.text_sha256, values=row
                )
                for one, row in zip(chunks, rows, strict=True)
            ],
        )
        return len(chunks)

    async def _embed_texts(self, kind: Kind, wanted: set[str]) -> int:
        present = (await self._graph.state()).embedding_model
        model = present or (await self._vector.recorded()).model
        embedder = embedder_of(self._embedder, model)
        if embedder is None:
            return 0
        if not present:
            await self._graph.activate(model)
        found = (await self._graph.missing(TEXT_KINDS[kind], model, "")).texts
        texts = [one for one in found if one.id in wanted]
        rows = await _vectors(embedder, [one.text for one in texts])
        vectors = [
            embeddings_pb2.TextEmbedding(id=one.id, text_sha256=one.text_sha256, values=row)
            for one, row in zip(texts, rows, strict=True)
        ]
        if vectors:
            await self._graph.put(TEXT_KINDS[kind], model, vectors)
        return len(texts)


async def _vectors(embedder: Embedder, texts: Sequence[str]) -> Any:
    if not texts:
        return []
    async with asyncio.timeout(EMBED_SECONDS):
        return (await embedder.embed(texts)).tolist()
