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
from braid_client.errors import BraidCallError, Failure, failure_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from datetime import datetime

    from braid.vector.v1.chunks_pb2 import CacheMode, ChunkFilter, Fusion

_ENDED = (
    ingest_pb2.JOB_STATE_SUCCEEDED,
    ingest_pb2.JOB_STATE_FAILED,
    ingest_pb2.JOB_STATE_CANCELLED,
)


class AsyncBraid:
    """One connection to each tier that is used; opened when first needed, closed by `close` or `async with`.

    `timeout` is every call's deadline in seconds; it travels through all hops. `credentials` switches to TLS.
    `api_key`, `space` and `user` are printable ASCII: ValueError otherwise, TypeError for what is not str.

    Each method raises `BraidCallError` when the call fails, also for values that break the contract's rules. Arguments
    that no request can carry raise before anything is sent: TypeError for another type, ValueError for a naive time, a
    number that is too large, text that is no Unicode. Methods that stream raise when they are first read.
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
        cache: CacheMode.ValueType | None = None,
    ) -> search_pb2.ComprehensiveSearchResponse:
        """Chunks and facts for a question, fused, with how each leg ended.

        `limit` is 1–50 hits from each leg and in the fused list; `use_vector` and `use_graph` choose the legs;
        `text_weight` is 0–1, the text score's share in the chunks' leg; `as_of` is an aware time; `chunk_filter` is for
        the chunks' leg; `cache` says whether earlier answers of the tiers, and an earlier vector of the query, may be
        used (`CACHE_MODE_BYPASS`: neither). None leaves the contract's default.
        """
        request = requests.comprehensive(
            query,
            limit=limit,
            use_vector=use_vector,
            use_graph=use_graph,
            text_weight=text_weight,
            as_of=as_of,
            chunk_filter=chunk_filter,
            cache=cache,
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
        cache: CacheMode.ValueType | None = None,
    ) -> AsyncIterator[search_pb2.StreamComprehensiveSearchResponse]:
        """The same with the same arguments: a message for each leg as it ends, then one with the whole answer."""
        search = requests.comprehensive(
            query,
            limit=limit,
            use_vector=use_vector,
            use_graph=use_graph,
            text_weight=text_weight,
            as_of=as_of,
            chunk_filter=chunk_filter,
            cache=cache,
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
        fusion: Fusion.ValueType | None = None,
        as_of: datetime | None = None,
        chunk_filter: ChunkFilter | None = None,
        min_score: float | None = None,
        cache: CacheMode.ValueType | None = None,
    ) -> vector_pb2.HybridSearchResponse:
        """Chunks by meaning and words, straight from the vector tier.

        `limit` is 1–50 hits; `text_weight` is 0–1, the text score's share; `fusion` says how the two lists become one;
        `as_of` is an aware time; hits below `min_score`, a fused score of 0–1, are left out; `cache` says whether an
        earlier answer may be used (`CACHE_MODE_BYPASS`: no). None leaves the contract's default.
        """
        request = requests.hybrid(
            query,
            limit=limit,
            text_weight=text_weight,
            fusion=fusion,
            as_of=as_of,
            chunk_filter=chunk_filter,
            min_score=min_score,
            cache=cache,
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
        """Facts that answer a question, straight from the graph tier.

        `limit` is 1–50 facts; `entity_name` and `relation_type` are exact names, letter case ignored; `as_of` is an
        aware time. None, or an empty name, leaves the contract's default.
        """
        request = requests.facts(
            query, limit=limit, entity_name=entity_name, relation_type=relation_type, as_of=as_of
        )
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        with _typed_errors():
            return await stub.SearchFacts(request, **self._options())

    async def neighborhood(
        self, entity_name: str, *, limit: int | None = None
    ) -> query_pb2.GetNeighborhoodResponse:
        """An entity's direct neighbours and the facts that join them.

        `entity_name` is exact, letter case ignored; None leaves the contract's default `limit`.
        """
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
        self,
        data: bytes | str,
        *,
        content_type: str = "text/plain",
        document_id: str = "",
        title: str = "",
        source: str = "",
        metadata: Mapping[str, Any] | None = None,
        valid_time: datetime | None = None,
    ) -> ingest_pb2.IngestJob:
        """Uploads a document, or JSON lines of documents; answers with the job at once.

        What describes it is as in `DocumentMetadata`: `metadata` holds values of JSON by name, `valid_time` is an aware
        time. Before anything is sent: TypeError for arguments and names of another type, ValueError for a naive time
        and for metadata that JSON does not have.
        """
        parts = requests.document_parts(
            data,
            content_type=content_type,
            document_id=document_id,
            title=title,
            source=source,
            metadata=metadata,
            valid_time=valid_time,
        )
        stub = ingest_pb2_grpc.IngestServiceStub(self._channel("agent"))
        with _typed_errors():
            return (await stub.IngestDocument(parts, **self._options())).job

    async def wait_for_job(self, job_id: str, *, timeout: float = 600.0) -> ingest_pb2.IngestJob:  # noqa: ASYNC109 - it becomes the call's deadline
        """Watches a job until it has ended, at most `timeout` seconds; answers with it as it stands then.

        `state` tells whether it has ended. BraidCallError with DEADLINE_EXCEEDED when nothing was heard of it by then.
        """
        ends_at = asyncio.get_running_loop().time() + timeout
        stub = ingest_pb2_grpc.IngestServiceStub(self._channel("agent"))
        request = ingest_pb2.WatchIngestJobRequest(job_id=job_id)
        job: ingest_pb2.IngestJob | None = None
        try:
            with _typed_errors():
                async for step in stub.WatchIngestJob(request, **self._options(timeout)):
                    job = step.job
                    if job.state in _ENDED:
                        break
        except BraidCallError as error:
            if job is None or not _is_time_up(error.failure, ends_at):
                raise
        return ingest_pb2.IngestJob(id=job_id) if job is None else job

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
        return {
            "timeout": self._timeout if timeout is None else timeout,
            "metadata": self._metadata,
        }


@contextmanager
def _typed_errors() -> Iterator[None]:
    try:
        yield
    except grpc.aio.AioRpcError as error:
        raise BraidCallError(failure_of(error)) from None


def _is_time_up(failure: Failure, ends_at: float) -> bool:
    # A store that gives up earlier, by a limit of its own, fails with the same code and Braid's reason.
    late = not failure.reason or asyncio.get_running_loop().time() >= ends_at
    return failure.code is grpc.StatusCode.DEADLINE_EXCEEDED and late
