"""GraphEmbeddingService: maps messages to the store and back."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np

from braid.graph.internal.v1 import embeddings_pb2, embeddings_pb2_grpc
from services.graph_query.core.store import MAX_DIMENSION
from services.graph_query.embeddings.domain import EmbeddingStore, TextKind, TextVector
from services.graph_query.servicers.page_cursor import position
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.paging import encode_token, page_size

Context: TypeAlias = Any


_DEFAULT_PAGE_SIZE = 100
_MAX_PAGE_SIZE = 500


_KINDS = {
    embeddings_pb2.GRAPH_TEXT_KIND_FACT: TextKind.FACT,
    embeddings_pb2.GRAPH_TEXT_KIND_FINDING: TextKind.FINDING,
    embeddings_pb2.GRAPH_TEXT_KIND_NAME: TextKind.NAME,
}


class GraphEmbeddingServicer(embeddings_pb2_grpc.GraphEmbeddingServiceServicer):
    """Vectors of the caller's space."""

    def __init__(self, store: EmbeddingStore) -> None:
        self._store = store

    async def GetGraphEmbeddings(
        self, _request: embeddings_pb2.GetGraphEmbeddingsRequest, _context: Context
    ) -> embeddings_pb2.GetGraphEmbeddingsResponse:
        """See the contract."""
        found = await self._store.vectors(current_call().space)
        return embeddings_pb2.GetGraphEmbeddingsResponse(
            embedding_model=found.model,
            next_embedding_model=found.changing_to,
            vector_count=found.total,
            dimension=found.dimension,
        )

    async def ListUnembeddedTexts(
        self, request: embeddings_pb2.ListUnembeddedTextsRequest, _context: Context
    ) -> embeddings_pb2.ListUnembeddedTextsResponse:
        """See the contract."""
        space, kind = current_call().space, _KINDS[request.kind]
        size = page_size(request.page_size, default=_DEFAULT_PAGE_SIZE, largest=_MAX_PAGE_SIZE)
        query = ("unembedded", space, kind.value, request.embedding_model)
        after = position(request.page_token, query)
        found = await self._store.unembedded(space, kind, request.embedding_model, after, size)
        return embeddings_pb2.ListUnembeddedTextsResponse(
            texts=(
                embeddings_pb2.UnembeddedText(
                    id=one.uuid,
                    text=one.text,
                    text_sha256=sha256(one.text.encode()).hexdigest(),
                )
                for one in found
            ),
            next_page_token=encode_token(query, [*found[-1].place]) if len(found) == size else "",
        )

    async def PutTextEmbeddings(
        self, request: embeddings_pb2.PutTextEmbeddingsRequest, _context: Context
    ) -> embeddings_pb2.PutTextEmbeddingsResponse:
        """See the contract."""
        stored = await self._store.put_vectors(
            current_call().space, _KINDS[request.kind], request.embedding_model, _vectors(request)
        )
        return embeddings_pb2.PutTextEmbeddingsResponse(stored_count=stored)

    async def ActivateGraphEmbeddingModel(
        self, request: embeddings_pb2.ActivateGraphEmbeddingModelRequest, _context: Context
    ) -> embeddings_pb2.ActivateGraphEmbeddingModelResponse:
        """See the contract."""
        await self._store.activate(current_call().space, request.embedding_model)
        return embeddings_pb2.ActivateGraphEmbeddingModelResponse()


def _vectors(request: embeddings_pb2.PutTextEmbeddingsRequest) -> list[TextVector]:
    dimension = len(request.embeddings[0].values)
    if dimension > MAX_DIMENSION:
        text = f"must have at most {MAX_DIMENSION} values"
        raise InvalidFieldError(FieldError("embeddings[0].values", text))
    return [
        TextVector(
            one.id.lower(),
            one.text_sha256,
            _unit(one.values, dimension, f"embeddings[{i}].values"),
        )
        for i, one in enumerate(request.embeddings)
    ]


def _unit(values: Any, dimension: int, field: str) -> list[float]:
    """Normalizes the values to length 1. Raises InvalidFieldError for another dimension, and for zeros."""
    vector = np.array(values, dtype=np.float64)
    if len(vector) != dimension:
        raise InvalidFieldError(FieldError(field, "must have as many values as the others"))
    length = float(np.linalg.norm(vector))
    if length == 0:
        raise InvalidFieldError(FieldError(field, "must not be all zeros"))
    return [float(value) for value in vector / length]
