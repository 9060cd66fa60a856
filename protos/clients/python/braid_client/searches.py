"""Searches, for the asyncio client: across all tiers, of chunks, and of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from braid.agent.v1 import search_pb2, search_pb2_grpc
from braid.common.v1 import reranking_pb2
from braid.common.v1.retrieval_pb2 import TimeSelector
from braid.graph.v1 import facts_pb2, query_pb2, query_pb2_grpc
from braid.vector.v1 import chunks_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from braid.vector.v1 import search_pb2_grpc as vector_grpc
from braid_client.connection import Connection
from braid_client.requests import (
    cache_mode,
    comprehensive,
    expansion_options,
    hybrid,
    timestamp,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import datetime

    from braid.agent.v1.search_pb2 import AnswerPart
    from braid.common.v1.reranking_pb2 import RerankMode
    from braid.common.v1.retrieval_pb2 import CacheMode, QueryEmbedding
    from braid.graph.v1.query_pb2 import DocumentTitles, EntityOrder
    from braid.vector.v1.chunks_pb2 import ChunkFilter, Fusion, TextMatch
    from braid_client.requests import ExpansionLike


class Searches(Connection):
    """Part of `AsyncBraid`."""

    async def comprehensive_search(
        self,
        query: str,
        *,
        limit: int | None = None,
        use_vector: bool = True,
        use_graph: bool = True,
        use_memories: bool = False,
        text_weight: float | None = None,
        as_of: datetime | None = None,
        chunk_filter: ChunkFilter | None = None,
        cache: CacheMode.ValueType | None = None,
        include: Sequence[AnswerPart.ValueType] = (),
        expansion: ExpansionLike | None = None,
        rerank: RerankMode.ValueType | None = None,
        timeout: float | None = None,
    ) -> search_pb2.ComprehensiveSearchResponse:
        """Searches chunks and facts for a question; returns the fused list and the outcome of each leg.

        `limit` is 1–50 hits from each leg and in the fused list; `use_vector`, `use_graph` and `use_memories` select
        the legs (memories are the calling user's, listed among the results); `text_weight` is 0–1, the weight of the
        text score in the chunks' leg; `as_of` is an aware time; `chunk_filter` applies to the chunks' leg; `cache` sets
        whether cached answers of the tiers and a cached query vector may be used (`CACHE_MODE_BYPASS`: neither);
        `include` selects the parts of the answer, such as `[search_pb2.ANSWER_PART_RESULTS]`: the other lists are
        empty; `expansion` sets how the fused list is expanded along the graph, by a mode or by `ExpansionOptions`
        (`EXPANSION_MODE_NONE`: not at all), and `rerank` how it is reranked before that. None, or an empty `include`,
        means the contract's default.
        """
        request = comprehensive(
            query,
            limit=limit,
            use_vector=use_vector,
            use_graph=use_graph,
            use_memories=use_memories,
            text_weight=text_weight,
            as_of=as_of,
            chunk_filter=chunk_filter,
            cache=cache,
            include=include,
            expansion=expansion,
            rerank=rerank,
        )
        stub = search_pb2_grpc.SearchServiceStub(self._channel("agent"))
        with self._typed_errors(timeout):
            return await stub.ComprehensiveSearch(request, **self._options(timeout))

    async def stream_comprehensive_search(
        self,
        query: str,
        *,
        limit: int | None = None,
        use_vector: bool = True,
        use_graph: bool = True,
        use_memories: bool = False,
        text_weight: float | None = None,
        as_of: datetime | None = None,
        chunk_filter: ChunkFilter | None = None,
        cache: CacheMode.ValueType | None = None,
        include: Sequence[AnswerPart.ValueType] = (),
        expansion: ExpansionLike | None = None,
        rerank: RerankMode.ValueType | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[search_pb2.StreamComprehensiveSearchResponse]:
        """Streams a comprehensive search: a message for each leg when it ends, then the whole answer.

        The arguments are those of `comprehensive_search`; `include` applies to the last message.
        """
        search = comprehensive(
            query,
            limit=limit,
            use_vector=use_vector,
            use_graph=use_graph,
            use_memories=use_memories,
            text_weight=text_weight,
            as_of=as_of,
            chunk_filter=chunk_filter,
            cache=cache,
            include=include,
            expansion=expansion,
            rerank=rerank,
        )
        stub = search_pb2_grpc.SearchServiceStub(self._channel("agent"))
        request = search_pb2.StreamComprehensiveSearchRequest(search=search)
        call = stub.StreamComprehensiveSearch(request, **self._options(timeout))
        try:
            with self._typed_errors(timeout):
                async for part in call:
                    yield part
        finally:
            call.cancel()  # when the caller leaves the stream, the services stop as well

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
        query_embedding: QueryEmbedding | None = None,
        cache: CacheMode.ValueType | None = None,
        timeout: float | None = None,
    ) -> vector_pb2.HybridSearchResponse:
        """Finds chunks by meaning and words, with a direct call to the vector tier.

        `limit` is 1–50 hits; `text_weight` is 0–1, the weight of the text score; `fusion` sets how the two lists are
        fused; `as_of` is an aware time; hits below `min_score`, a fused score of 0–1, are left out; `query_embedding`
        is the query's vector, from the space's model; `cache` sets whether a cached answer may be used
        (`CACHE_MODE_BYPASS`: no). None means the contract's default.
        """
        request = hybrid(
            query,
            limit=limit,
            text_weight=text_weight,
            fusion=fusion,
            as_of=as_of,
            chunk_filter=chunk_filter,
            min_score=min_score,
            query_embedding=query_embedding,
            cache=cache,
        )
        stub = vector_grpc.VectorSearchServiceStub(self._channel("vector"))
        with self._typed_errors(timeout):
            return await stub.HybridSearch(request, **self._options(timeout))

    async def expanded_hybrid_search(
        self,
        query: str,
        *,
        expansion: ExpansionLike | None = None,
        rerank: RerankMode.ValueType | None = None,
        limit: int | None = None,
        text_weight: float | None = None,
        fusion: Fusion.ValueType | None = None,
        as_of: datetime | None = None,
        chunk_filter: ChunkFilter | None = None,
        min_score: float | None = None,
        query_embedding: QueryEmbedding | None = None,
        cache: CacheMode.ValueType | None = None,
        timeout: float | None = None,
    ) -> search_pb2.ExpandedHybridSearchResponse:
        """Finds chunks by meaning and words, reranked and expanded along the graph; the answer reports both steps.

        `expansion` is a mode, such as `EXPANSION_MODE_QUERY_AWARE`, or `ExpansionOptions`; `rerank` sets how the
        hits are reranked before that; the other arguments are those of `hybrid_search`.
        """
        request = search_pb2.ExpandedHybridSearchRequest(
            search=hybrid(
                query,
                limit=limit,
                text_weight=text_weight,
                fusion=fusion,
                as_of=as_of,
                chunk_filter=chunk_filter,
                min_score=min_score,
                query_embedding=query_embedding,
                cache=cache,
            ),
            expansion=expansion_options(expansion),
            rerank=reranking_pb2.RERANK_MODE_UNSPECIFIED if rerank is None else rerank,
        )
        stub = search_pb2_grpc.SearchServiceStub(self._channel("agent"))
        with self._typed_errors(timeout):
            return await stub.ExpandedHybridSearch(request, **self._options(timeout))

    async def vector_search(
        self,
        query: str,
        *,
        limit: int | None = None,
        as_of: datetime | None = None,
        chunk_filter: ChunkFilter | None = None,
        min_score: float | None = None,
        query_embedding: QueryEmbedding | None = None,
        cache: CacheMode.ValueType | None = None,
        timeout: float | None = None,
    ) -> vector_pb2.VectorSearchResponse:
        """Finds the chunks nearest in meaning, with a direct call to the vector tier.

        `min_score` is the lowest cosine similarity, −1 to 1; the other arguments are those of `hybrid_search`.
        """
        request = vector_pb2.VectorSearchRequest(
            query=query,
            limit=limit,
            as_of=timestamp(as_of),
            filter=chunk_filter,
            min_score=min_score,
            query_embedding=query_embedding,
            cache=cache_mode(cache),
        )
        stub = vector_grpc.VectorSearchServiceStub(self._channel("vector"))
        with self._typed_errors(timeout):
            return await stub.VectorSearch(request, **self._options(timeout))

    async def text_search(
        self,
        query: str,
        *,
        match: TextMatch.ValueType | None = None,
        limit: int | None = None,
        as_of: datetime | None = None,
        chunk_filter: ChunkFilter | None = None,
        min_score: float | None = None,
        cache: CacheMode.ValueType | None = None,
        timeout: float | None = None,
    ) -> vector_pb2.TextSearchResponse:
        """Finds chunks by their words (BM25), with a direct call to the vector tier; needs no embedding.

        `match` sets how words are matched: any of them (`TEXT_MATCH_ANY`, the default), as a phrase
        (`TEXT_MATCH_PHRASE`), or the last one as a prefix (`TEXT_MATCH_PREFIX`). `min_score` is the lowest
        score, 0–1; the other arguments are those of `hybrid_search`.
        """
        request = vector_pb2.TextSearchRequest(
            query=query,
            match=chunks_pb2.TEXT_MATCH_UNSPECIFIED if match is None else match,
            limit=limit,
            as_of=timestamp(as_of),
            filter=chunk_filter,
            min_score=min_score,
            cache=cache_mode(cache),
        )
        stub = vector_grpc.VectorSearchServiceStub(self._channel("vector"))
        with self._typed_errors(timeout):
            return await stub.TextSearch(request, **self._options(timeout))

    async def search_facts(
        self,
        query: str,
        *,
        limit: int | None = None,
        entity_name: str = "",
        relation_type: str = "",
        as_of: datetime | None = None,
        min_score: float | None = None,
        timeout: float | None = None,
    ) -> query_pb2.SearchFactsResponse:
        """Finds facts that answer a question, with a direct call to the graph tier.

        `limit` is 1–50 facts; `entity_name` and `relation_type` are whole names, letter case ignored; `as_of` is an
        aware time; facts below `min_score`, 0–1, are left out (0 lists everything). None, or an empty name, means
        the contract's default.
        """
        request = query_pb2.SearchFactsRequest(
            query=query,
            limit=limit,
            entity_name=entity_name,
            relation_type=relation_type,
            time=None if as_of is None else TimeSelector(instant=timestamp(as_of)),
            min_score=min_score,
        )
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.SearchFacts(request, **self._options(timeout))

    async def neighborhood(
        self, entity_name: str, *, limit: int | None = None, timeout: float | None = None
    ) -> query_pb2.GetNeighborhoodResponse:
        """Returns an entity's direct neighbors and the facts that connect them.

        `entity_name` is exact, letter case ignored; `limit` None means the contract's default.
        """
        request = query_pb2.GetNeighborhoodRequest(entity_name=entity_name, limit=limit)
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.GetNeighborhood(request, **self._options(timeout))

    async def entities(
        self,
        *,
        entity_type: str = "",
        order_by: EntityOrder.ValueType | None = None,
        document_titles: DocumentTitles.ValueType | None = None,
        page_size: int = 200,
        timeout: float | None = None,
    ) -> AsyncIterator[facts_pb2.Entity]:
        """Lists all entities of the space; `timeout` applies to each page.

        `order_by` is by name (`ENTITY_ORDER_NAME`, the default) or most mentioned first (`ENTITY_ORDER_MENTIONS`);
        `document_titles` leaves out entities that are known only as the title of a document
        (`DOCUMENT_TITLES_EXCLUDE`), or lists only these (`DOCUMENT_TITLES_ONLY`); `document_title` of an entity marks
        them.
        """
        token = ""
        while True:
            request = query_pb2.ListEntitiesRequest(
                type=entity_type,
                page_size=page_size,
                page_token=token,
                order_by=query_pb2.ENTITY_ORDER_UNSPECIFIED if order_by is None else order_by,
                document_titles=query_pb2.DOCUMENT_TITLES_UNSPECIFIED
                if document_titles is None
                else document_titles,
            )
            stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
            with self._typed_errors(timeout):
                page = await stub.ListEntities(request, **self._options(timeout))
            for entity in page.entities:
                yield entity
            token = page.next_page_token
            if not token:
                return
