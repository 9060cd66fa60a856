"""The asyncio client."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import grpc

from braid.agent.v1 import ingest_pb2, ingest_pb2_grpc, search_pb2, search_pb2_grpc
from braid.graph.v1 import facts_pb2, query_pb2, query_pb2_grpc
from braid.vector.v1 import search_pb2 as vector_pb2
from braid.vector.v1 import search_pb2_grpc as vector_grpc
from braid_client import requests
from braid_client.channel import channel_options
from braid_client.errors import BraidCallError, failure_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from datetime import datetime

    from braid.vector.v1.chunks_pb2 import ChunkFilter

_ENDED = (ingest_pb2.JOB_STATE_SUCCEEDED, ingest_pb2.JOB_STATE_FAILED)


class AsyncBraid:
    """One connection to each tier that is used; opened when first needed, closed by `close` or `async with`.

    `timeout` is every call's deadline in seconds; it travels through all hops. `credentials` switches to TLS.
    Each method raises `BraidCallError`.
    """

    def __init__(
        self,
        target: str = "127.0.0.1:50050",
        *,
        vector_target: str = "127.0.0.1:50051",
        graph_target: str = "127.0.0.1:50052",
        api_key: str | None = None,
        space: str | None = None,
        user: str | None = None,
        timeout: float = 10.0,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        self._targets = {"agent": target, "vector": vector_target, "graph": graph_target}
        self._metadata = requests.call_metadata(api_key, space, user)
        self._timeout = timeout
        self._credentials = credentials
        self._channels: dict[str, grpc.aio.Channel] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes every channel that was opened."""
        channels, self._channels = list(self._channels.values()), {}
        await asyncio.gather(*(channel.close() for channel in channels))

    async def comprehensive_search(
        self,
        query: str,
        *,
        limit: int | None = None,
        use_vector: bool = True,
        use_graph: bool = True,
        text_weight: float | None = None,
        as_of: datetime | None = None,
        chunk_filter: ChunkFilter | None = None,
    ) -> search_pb2.ComprehensiveSearchResponse:
        """Chunks and facts for a question, fused, with how each leg ended."""
        request = requests.comprehensive(
            query,
            limit=limit,
            use_vector=use_vector,
            use_graph=use_graph,
            text_weight=text_weight,
            as_of=as_of,
            chunk_filter=chunk_filter,
        )
        stub = search_pb2_grpc.SearchServiceStub(self._channel("agent"))
        with _typed_errors():
            return await stub.ComprehensiveSearch(request, **self._options())

    async def stream_comprehensive_search(
        self,
        query: str,
        *,
        limit: int | None = None,
        use_vector: bool = True,
        use_graph: bool = True,
        text_weight: float | None = None,
        as_of: datetime | None = None,
        chunk_filter: ChunkFilter | None = None,
    ) -> AsyncIterator[search_pb2.StreamComprehensiveSearchResponse]:
        """The same, each leg as it ends, then the whole."""
        search = requests.comprehensive(
            query,
            limit=limit,
            use_vector=use_vector,
            use_graph=use_graph,
            text_weight=text_weight,
            as_of=as_of,
            chunk_filter=chunk_filter,
        )
        stub = search_pb2_grpc.SearchServiceStub(self._channel("agent"))
        request = search_pb2.StreamComprehensiveSearchRequest(search=search)
        with _typed_errors():
            async for part in stub.StreamComprehensiveSearch(request, **self._options()):
                yield part

    async def hybrid_search(
        self,
        query: str,
        *,
        limit: int | None = None,
        text_weight: float | None = None,
        as_of: datetime | None = None,
        chunk_filter: ChunkFilter | None = None,
    ) -> vector_pb2.HybridSearchResponse:
        """Chunks by meaning and words, straight from the vector tier."""
        request = requests.hybrid(
            query, limit=limit, text_weight=text_weight, as_of=as_of, chunk_filter=chunk_filter
        )
        stub = vector_grpc.VectorSearchServiceStub(self._channel("vector"))
        with _typed_errors():
            return await stub.HybridSearch(request, **self._options())

    async def search_facts(
        self,
        query: str,
        *,
        limit: int | None = None,
        entity_name: str = "",
        relation_type: str = "",
        as_of: datetime | None = None,
    ) -> query_pb2.SearchFactsResponse:
        """Facts that answer a question, straight from the graph tier."""
        request = requests.facts(
            query, limit=limit, entity_name=entity_name, relation_type=relation_type, as_of=as_of
        )
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        with _typed_errors():
            return await stub.SearchFacts(request, **self._options())

    async def neighborhood(
        self, entity_name: str, *, limit: int | None = None
    ) -> query_pb2.GetNeighborhoodResponse:
        """An entity's direct neighbours and the facts that join them."""
        request = query_pb2.GetNeighborhoodRequest(entity_name=entity_name, limit=limit)
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        with _typed_errors():
            return await stub.GetNeighborhood(request, **self._options())

    async def entities(
        self, *, entity_type: str = "", page_size: int = 200
    ) -> AsyncIterator[facts_pb2.Entity]:
        """Every entity of the space by name, page after page."""
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        token = ""
        while True:
            request = query_pb2.ListEntitiesRequest(
                type=entity_type, page_size=page_size, page_token=token
            )
            with _typed_errors():
                page = await stub.ListEntities(request, **self._options())
            for entity in page.entities:
                yield entity
            token = page.next_page_token
            if not token:
                return

    async def ingest_document(
        self, data: bytes | str, *, content_type: str = "text/plain", **described: Any
    ) -> ingest_pb2.IngestJob:
        """Uploads a document, or JSON lines of documents; answers with the job at once.

        `described`: document_id, title, source, metadata, valid_time, as in `DocumentMetadata`.
        """
        content = data.encode() if isinstance(data, str) else data
        parts = requests.document_parts(content, content_type=content_type, **described)
        stub = ingest_pb2_grpc.IngestServiceStub(self._channel("agent"))
        with _typed_errors():
            return (await stub.IngestDocument(parts, **self._options())).job

    async def wait_for_job(self, job_id: str, *, timeout: float = 600.0) -> ingest_pb2.IngestJob:  # noqa: ASYNC109 - it becomes the call's deadline
        """Watches a job until it has ended, at most `timeout` seconds; answers with it as it stands then."""
        stub = ingest_pb2_grpc.IngestServiceStub(self._channel("agent"))
        request = ingest_pb2.WatchIngestJobRequest(job_id=job_id)
        job = ingest_pb2.IngestJob(id=job_id)
        with _typed_errors():
            async for step in stub.WatchIngestJob(request, **self._options(timeout)):
                job = step.job
                if job.state in _ENDED:
                    break
        return job

    def _channel(self, tier: str) -> grpc.aio.Channel:
        if tier not in self._channels:
            self._channels[tier] = self._open(self._targets[tier])
        return self._channels[tier]

    def _open(self, target: str) -> grpc.aio.Channel:
        options = channel_options()
        if self._credentials is None:
            return grpc.aio.insecure_channel(target, options=options)
        return grpc.aio.secure_channel(target, self._credentials, options=options)

    def _options(self, timeout: float | None = None) -> dict[str, Any]:
        return {"timeout": timeout or self._timeout, "metadata": self._metadata}


@contextmanager
def _typed_errors() -> Iterator[None]:
    try:
        yield
    except grpc.aio.AioRpcError as error:
        raise BraidCallError(failure_of(error)) from None
