"""The orchestrator's clients of the two tiers: one stub for each service, and a timeout for every call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from braid.graph.internal.v1 import deletion_pb2 as graph_deletion_pb2
from braid.graph.internal.v1 import deletion_pb2_grpc as graph_deletion_grpc
from braid.graph.v1 import corrections_pb2, entities_pb2, query_pb2, query_pb2_grpc, structure_pb2
from braid.graph.v1 import ingest_pb2 as graph_ingest_pb2
from braid.graph.v1 import ingest_pb2_grpc as graph_ingest_grpc
from braid.vector.internal.v1 import deletion_pb2, deletion_pb2_grpc
from braid.vector.v1 import (
    chunks_pb2,
    documents_pb2,
    documents_pb2_grpc,
    search_pb2,
    search_pb2_grpc,
)
from services.agent_orchestrator.clients.calls import Calls, WatchedCalls
from services.runtime.errors import StoreUnavailableError
from services.runtime.times import to_datetime

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from google.protobuf.timestamp_pb2 import Timestamp

    from services.agent_orchestrator.clients.health_watch import HealthWatch
    from services.runtime.channels import OutgoingMetadata


class VectorTier:
    """Calls `vector_search` on behalf of the current call. Failures are `BraidError`s, except those of searches."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        outgoing: OutgoingMetadata,
        health: HealthWatch,
        *,
        read_seconds: float,
        write_seconds: float,
    ) -> None:
        self._search = search_pb2_grpc.VectorSearchServiceStub(channel)
        self._documents = documents_pb2_grpc.DocumentServiceStub(channel)
        self._deletion = deletion_pb2_grpc.DocumentDeletionServiceStub(channel)
        self._watched = WatchedCalls(outgoing, health)
        self._reads = Calls(outgoing, read_seconds)
        self._writes = Calls(outgoing, write_seconds)

    async def hybrid_search(
        self, request: search_pb2.HybridSearchRequest, seconds: float
    ) -> search_pb2.HybridSearchResponse:
        """Searches chunks within `seconds`. Raises AioRpcError or TierUnavailableError."""
        return await self._watched.call(self._search.HybridSearch, request, seconds)

    async def score_chunks(
        self, request: search_pb2.ScoreChunksRequest, seconds: float
    ) -> search_pb2.ScoreChunksResponse:
        """Returns scores of chunks within `seconds`. Raises the same errors as `hybrid_search`."""
        return await self._watched.call(self._search.ScoreChunks, request, seconds)

    async def check(
        self, documents: Sequence[documents_pb2.DocumentFingerprint]
    ) -> dict[str, Timestamp]:
        """Returns the given documents whose current version is unchanged: the start of its validity by document id."""
        request = documents_pb2.CheckDocumentsRequest(documents=documents)
        answer = await self._reads.call(self._documents.CheckDocuments, request)
        return {one.document_id: one.valid_time for one in answer.unchanged_documents}

    async def upsert(
        self, documents: Sequence[documents_pb2.DocumentInput], model: str
    ) -> Sequence[documents_pb2.UpsertOutcome]:
        """Stores all documents or none; returns one outcome for each document, in order."""
        request = documents_pb2.BatchUpsertDocumentsRequest(
            documents=documents, embedding_model=model
        )
        answer = await self._writes.call(self._documents.BatchUpsertDocuments, request)
        return answer.outcomes

    async def chunks(self, chunk_ids: Sequence[str]) -> Sequence[chunks_pb2.Chunk]:
        """Returns the given chunks that are stored."""
        request = search_pb2.GetChunksRequest(chunk_ids=chunk_ids)
        answer = await self._reads.call(self._search.GetChunks, request)
        return answer.chunks

    async def delete(
        self, document_id: str, deletion_id: str
    ) -> deletion_pb2.DeleteDocumentResponse:
        """Deletes a document with all its versions, idempotent by `deletion_id`."""
        request = deletion_pb2.DeleteDocumentRequest(
            document_id=document_id, deletion_id=deletion_id
        )
        return await self._writes.call(self._deletion.DeleteDocument, request)

    async def end(self, document_id: str) -> datetime:
        """Ends a document, whose versions remain; returns from when it is no longer valid."""
        request = deletion_pb2.EndDocumentRequest(document_id=document_id)
        answer = await self._writes.call(self._deletion.EndDocument, request)
        return to_datetime(answer.end_time)


class GraphTier:
    """Calls `graph_query` on behalf of the current call. Failures are `BraidError`s, except those of searches."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        outgoing: OutgoingMetadata,
        health: HealthWatch,
        *,
        write_seconds: float,
    ) -> None:
        self._query = query_pb2_grpc.GraphQueryServiceStub(channel)
        self._ingest = graph_ingest_grpc.GraphIngestServiceStub(channel)
        self._deletion = graph_deletion_grpc.GraphDeletionServiceStub(channel)
        self._watched = WatchedCalls(outgoing, health)
        self._writes = Calls(outgoing, write_seconds)

    async def search_facts(
        self, request: query_pb2.SearchFactsRequest, seconds: float
    ) -> query_pb2.SearchFactsResponse:
        """Searches facts within `seconds`. Raises AioRpcError or TierUnavailableError."""
        return await self._watched.call(self._query.SearchFacts, request, seconds)

    async def link_entities(
        self, request: entities_pb2.LinkEntitiesRequest, seconds: float
    ) -> entities_pb2.LinkEntitiesResponse:
        """Returns entities that a text names, within `seconds`. Raises the same errors as `search_facts`."""
        return await self._watched.call(self._query.LinkEntities, request, seconds)

    async def mention_subgraph(
        self, request: structure_pb2.GetMentionSubgraphRequest, seconds: float
    ) -> structure_pb2.GetMentionSubgraphResponse:
        """Returns mentions around chunks and entities, within `seconds`. Raises the same errors as `search_facts`."""
        return await self._watched.call(self._query.GetMentionSubgraph, request, seconds)

    async def add_episodes(
        self,
        episodes: Sequence[graph_ingest_pb2.EpisodeInput],
        *,
        skip_language_model: bool = False,
        patience: int = 1,
    ) -> int:
        """Adds all episodes or none; existing ones are not changed. Returns the revision of the graph after that.

        `patience` multiplies the limit of a write.
        """
        request = graph_ingest_pb2.BatchAddEpisodesRequest(
            episodes=episodes, skip_language_model=skip_language_model
        )
        answer = await self._writes.call(self._ingest.BatchAddEpisodes, request, patience=patience)
        return answer.space_revision

    async def delete_episodes(
        self, chunk_ids: Sequence[str]
    ) -> graph_deletion_pb2.DeleteEpisodesResponse:
        """Deletes episodes and everything that only they state; unknown ones are skipped."""
        request = graph_deletion_pb2.DeleteEpisodesRequest(chunk_ids=chunk_ids)
        return await self._writes.call(self._deletion.DeleteEpisodes, request)

    async def add_facts(
        self, facts: Sequence[graph_ingest_pb2.FactInput], model: str, source: str = ""
    ) -> graph_ingest_pb2.AddFactsResponse:
        """Adds facts that a source states; their vectors, if they have any, are of `model`."""
        request = graph_ingest_pb2.AddFactsRequest(
            facts=facts, embedding_model=model, source=source
        )
        answer: graph_ingest_pb2.AddFactsResponse = await self._writes.call_with_stream(
            self._ingest.AddFacts, request
        )
        return answer

    async def settle_fact_source(
        self, source: str, first_revision: int, *, withdraw: bool
    ) -> corrections_pb2.SettleFactSourceResponse:
        """Compares what a source states with what it stated before; withdraws what it no longer states if asked."""
        request = corrections_pb2.SettleFactSourceRequest(
            source=source, first_revision=first_revision, withdraw=withdraw
        )
        return await self._writes.call(self._ingest.SettleFactSource, request)


async def check_serving(channel: grpc.aio.Channel, name: str, seconds: float) -> None:
    """Checks a tier's health. Raises StoreUnavailableError if it is not serving."""
    stub = health_pb2_grpc.HealthStub(channel)
    try:
        answer = await stub.Check(  # type: ignore[attr-defined] # the stubs lack it
            health_pb2.HealthCheckRequest(), timeout=seconds
        )
    except grpc.aio.AioRpcError:
        raise StoreUnavailableError(name) from None
    if answer.status != health_pb2.HealthCheckResponse.SERVING:
        raise StoreUnavailableError(name)
