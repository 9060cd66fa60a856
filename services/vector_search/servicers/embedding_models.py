"""EmbeddingModelService: maps messages to the store and back."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from braid.vector.internal.v1 import models_pb2, models_pb2_grpc
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.paging import encode_token, page_size, uuid_position
from services.vector_search.domain import ChunkVector, Model, unit_vector
from services.vector_search.indexing.index_queue import IndexQueue
from services.vector_search.store import ModelStore

Context: TypeAlias = Any

_DEFAULT_PAGE_SIZE = 100
_MAX_PAGE_SIZE = 500


class ModelServicer(models_pb2_grpc.EmbeddingModelServiceServicer):
    """Embedding models of the caller's space."""

    def __init__(self, store: ModelStore, indexing: IndexQueue | None = None) -> None:
        """`indexing` is notified of stored vectors."""
        self._store = store
        self._indexing = indexing

    async def ListEmbeddingModels(
        self, _request: models_pb2.ListEmbeddingModelsRequest, _context: Context
    ) -> models_pb2.ListEmbeddingModelsResponse:
        """See the contract."""
        found = await self._store.list_models(current_call().space)
        return models_pb2.ListEmbeddingModelsResponse(
            models=(
                models_pb2.EmbeddingModel(
                    embedding_model=each.model.name,
                    dimension=each.model.dimension,
                    active=each.active,
                    embedded_chunk_count=each.embedded,
                    unindexed_chunk_count=each.unindexed,
                )
                for each in found.models
            ),
            chunk_count=found.chunks,
        )

    async def AddEmbeddingModel(
        self, request: models_pb2.AddEmbeddingModelRequest, _context: Context
    ) -> models_pb2.AddEmbeddingModelResponse:
        """See the contract."""
        await self._store.add_model(
            current_call().space, Model(request.embedding_model, request.dimension)
        )
        return models_pb2.AddEmbeddingModelResponse()

    async def ListChunksWithoutEmbedding(
        self, request: models_pb2.ListChunksWithoutEmbeddingRequest, _context: Context
    ) -> models_pb2.ListChunksWithoutEmbeddingResponse:
        """See the contract."""
        space = current_call().space
        query = ("chunks-without-embedding", space, request.embedding_model)
        after = uuid_position(request.page_token, query)
        size = page_size(request.page_size, default=_DEFAULT_PAGE_SIZE, largest=_MAX_PAGE_SIZE)
        # One more than requested shows whether there is a next page.
        found = await self._store.unembedded_chunks(
            space, request.embedding_model, after or None, size + 1
        )
        more = len(found) > size
        return models_pb2.ListChunksWithoutEmbeddingResponse(
            chunks=(
                models_pb2.UnembeddedChunk(
                    chunk_id=chunk.chunk_id, text=chunk.text, text_sha256=chunk.text_sha256
                )
                for chunk in found[:size]
            ),
            next_page_token=encode_token(query, [found[size - 1].chunk_id]) if more else "",
        )

    async def PutEmbeddings(
        self, request: models_pb2.PutEmbeddingsRequest, _context: Context
    ) -> models_pb2.PutEmbeddingsResponse:
        """See the contract."""
        space = current_call().space
        stored = await self._store.fill_embeddings(
            space, request.embedding_model, _vectors(request)
        )
        if self._indexing:
            await self._indexing.written(space, stored)
        return models_pb2.PutEmbeddingsResponse(stored_count=stored)

    async def HoldWrites(
        self, request: models_pb2.HoldWritesRequest, _context: Context
    ) -> models_pb2.HoldWritesResponse:
        """See the contract."""
        seconds = request.duration.ToTimedelta().total_seconds()
        await self._store.hold_writes(current_call().space, math.ceil(seconds))
        return models_pb2.HoldWritesResponse()

    async def ActivateEmbeddingModel(
        self, request: models_pb2.ActivateEmbeddingModelRequest, _context: Context
    ) -> models_pb2.ActivateEmbeddingModelResponse:
        """See the contract."""
        revision = await self._store.activate_model(current_call().space, request.embedding_model)
        return models_pb2.ActivateEmbeddingModelResponse(space_revision=revision)

    async def RemoveEmbeddingModel(
        self, request: models_pb2.RemoveEmbeddingModelRequest, _context: Context
    ) -> models_pb2.RemoveEmbeddingModelResponse:
        """See the contract."""
        removed = await self._store.remove_model(current_call().space, request.embedding_model)
        return models_pb2.RemoveEmbeddingModelResponse(removed_count=removed)


def _vectors(request: models_pb2.PutEmbeddingsRequest) -> list[ChunkVector]:
    found: dict[str, ChunkVector] = {}
    for i, message in enumerate(request.embeddings):
        chunk_id = message.chunk_id.lower()
        if chunk_id in found:
            raise InvalidFieldError(FieldError(f"embeddings[{i}].chunk_id", "occurs twice"))
        values = unit_vector(message.values, f"embeddings[{i}].values")
        found[chunk_id] = ChunkVector(chunk_id, message.text_sha256, values)
    return list(found.values())
