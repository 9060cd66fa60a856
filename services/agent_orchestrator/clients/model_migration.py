"""Reads and changes the embedding models of a space in both tiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import grpc
from google.protobuf.duration_pb2 import Duration

from braid.graph.internal.v1 import embeddings_pb2, embeddings_pb2_grpc
from braid.vector.internal.v1 import models_pb2, models_pb2_grpc
from braid.vector.v1 import documents_pb2, documents_pb2_grpc
from services.agent_orchestrator.clients.calls import Calls
from services.agent_orchestrator.clients.space_models import Recorded
from services.runtime.channels import OutgoingMetadata

Kind: TypeAlias = "embeddings_pb2.GraphTextKind.ValueType"

KINDS: tuple[Kind, ...] = (
    embeddings_pb2.GRAPH_TEXT_KIND_FACT,
    embeddings_pb2.GRAPH_TEXT_KIND_FINDING,
    embeddings_pb2.GRAPH_TEXT_KIND_NAME,
)
PAGE = 128


class VectorModels:
    """The models of a space in the vector tier. Failures are `BraidError`s."""

    def __init__(
        self, channel: grpc.aio.Channel, outgoing: OutgoingMetadata, *, seconds: float
    ) -> None:
        self._models = models_pb2_grpc.EmbeddingModelServiceStub(channel)
        self._documents = documents_pb2_grpc.DocumentServiceStub(channel)
        self._calls = Calls(outgoing, seconds)

    async def recorded(self) -> Recorded:
        """Returns the space's model."""
        request = documents_pb2.GetVectorStatsRequest()
        answer = await self._calls.call(self._documents.GetVectorStats, request)
        return Recorded(answer.embedding_model, answer.embedding_dimension)

    async def dimensions(self) -> Mapping[str, int]:
        """Returns the dimension of each of the space's models, including former ones that are still stored."""
        request = models_pb2.ListEmbeddingModelsRequest()
        answer = await self._calls.call(self._models.ListEmbeddingModels, request)
        return {one.embedding_model: one.dimension for one in answer.models}

    async def chunks(self) -> int:
        """Returns the number of chunks in the space."""
        request = models_pb2.ListEmbeddingModelsRequest()
        return int((await self._calls.call(self._models.ListEmbeddingModels, request)).chunk_count)

    async def add(self, model: str, dimension: int) -> None:
        """Adds a further model to the space."""
        request = models_pb2.AddEmbeddingModelRequest(embedding_model=model, dimension=dimension)
        await self._calls.call(self._models.AddEmbeddingModel, request)

    async def missing(
        self, model: str, token: str
    ) -> models_pb2.ListChunksWithoutEmbeddingResponse:
        """Returns a page of the chunks without a vector of the model."""
        request = models_pb2.ListChunksWithoutEmbeddingRequest(
            embedding_model=model, page_size=PAGE, page_token=token
        )
        return await self._calls.call(self._models.ListChunksWithoutEmbedding, request)

    async def put(self, model: str, vectors: Sequence[models_pb2.ChunkEmbedding]) -> None:
        """Stores vectors of the model."""
        request = models_pb2.PutEmbeddingsRequest(embedding_model=model, embeddings=vectors)
        await self._calls.call(self._models.PutEmbeddings, request)

    async def hold_writes(self, seconds: int) -> None:
        """Makes writes wait for up to `seconds`."""
        request = models_pb2.HoldWritesRequest(duration=Duration(seconds=seconds))
        await self._calls.call(self._models.HoldWrites, request)

    async def activate(self, model: str) -> None:
        """Makes the model the space's active one."""
        request = models_pb2.ActivateEmbeddingModelRequest(embedding_model=model)
        await self._calls.call(self._models.ActivateEmbeddingModel, request)

    async def remove(self, model: str) -> None:
        """Removes the vectors of a former model."""
        request = models_pb2.RemoveEmbeddingModelRequest(embedding_model=model)
        await self._calls.call(self._models.RemoveEmbeddingModel, request)


class GraphModels:
    """The model of a space's graph. Failures are `BraidError`s."""

    def __init__(
        self, channel: grpc.aio.Channel, outgoing: OutgoingMetadata, *, seconds: float
    ) -> None:
        self._stub = embeddings_pb2_grpc.GraphEmbeddingServiceStub(channel)
        self._calls = Calls(outgoing, seconds)

    async def state(self) -> embeddings_pb2.GetGraphEmbeddingsResponse:
        """Returns the state of the graph's models."""
        request = embeddings_pb2.GetGraphEmbeddingsRequest()
        return await self._calls.call(self._stub.GetGraphEmbeddings, request)

    async def missing(
        self, kind: Kind, model: str, token: str
    ) -> embeddings_pb2.ListUnembeddedTextsResponse:
        """Returns a page of the texts without a vector of the model."""
        request = embeddings_pb2.ListUnembeddedTextsRequest(
            kind=kind, embedding_model=model, page_size=PAGE, page_token=token
        )
        return await self._calls.call(self._stub.ListUnembeddedTexts, request)

    async def put(
        self, kind: Kind, model: str, vectors: Sequence[embeddings_pb2.TextEmbedding]
    ) -> None:
        """Stores vectors of the model."""
        request = embeddings_pb2.PutTextEmbeddingsRequest(
            kind=kind, embedding_model=model, embeddings=vectors
        )
        await self._calls.call(self._stub.PutTextEmbeddings, request)

    async def activate(self, model: str) -> None:
        """Makes the model the graph's active one."""
        request = embeddings_pb2.ActivateGraphEmbeddingModelRequest(embedding_model=model)
        await self._calls.call(self._stub.ActivateGraphEmbeddingModel, request)
