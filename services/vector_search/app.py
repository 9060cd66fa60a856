"""Builds the tier's objects from its settings and hands them to the server."""

from __future__ import annotations

from functools import partial

from braid.vector.internal.v1 import (
    deletion_pb2_grpc,
    inventory_pb2_grpc,
    models_pb2_grpc,
    transfer_pb2_grpc,
)
from braid.vector.v1 import documents_pb2_grpc, search_pb2_grpc
from services.models.breaker import Breakers
from services.models.embedding.cache import CachedEmbedder
from services.models.embedding.embedder import Embedder
from services.models.embedding.factory import build_embedder, verify_local_model
from services.models.embedding.query_embedder import QueryEmbedder
from services.models.embedding.registry import EmbedderRegistry
from services.models.embedding.settings import EmbeddingSettings
from services.models.reranking.factory import (
    build_cross_encoder,
    report_unusable_cross_encoder,
)
from services.models.reranking.reading import Reader
from services.models.reranking.reranker import Reranker
from services.postgres.pool import PoolLimits
from services.runtime.admission import AdmissionQueue
from services.runtime.pool_metrics import observe_pools
from services.runtime.server import Service, serve
from services.runtime.settings import RuntimeSettings
from services.vector_search.documents.version_activation import VersionActivation
from services.vector_search.documents.writer import DocumentWriter
from services.vector_search.embedding_models.query_embedders import QueryEmbedders, Registry
from services.vector_search.indexing.index_queue import IndexQueue
from services.vector_search.postgres_store import PostgresStore
from services.vector_search.search.result_cache import ResultCache
from services.vector_search.search.searcher import Searcher
from services.vector_search.servicers.documents import (
    DocumentDeletionServicer,
    DocumentServicer,
    InventoryServicer,
)
from services.vector_search.servicers.embedding_models import ModelServicer
from services.vector_search.servicers.search import SearchServicer
from services.vector_search.servicers.transfer import TransferServicer
from services.vector_search.settings import VectorSettings
from services.vector_search.store import Store

_SEARCHES = ("VectorSearch", "TextSearch", "HybridSearch")


def build_services(
    store: Store,
    embedder: Embedder,
    *,
    queries: QueryEmbedders | None = None,
    result_cache_bytes: int = 0,
    registry: Registry | None = None,
    indexing: IndexQueue | None = None,
    searches: AdmissionQueue | None = None,
    cross_encoder: Reranker | None = None,
) -> list[Service]:
    """Builds the services of the tier over one store and one embedder.

    `registry` has the models of spaces that were embedded with another one. `queries` embeds queries with the same
    models; by default without caches. `indexing` is notified of written vectors. `searches` limits how many searches
    run concurrently. `cross_encoder` reads hits whose relevance is in doubt; without it, their scores decide.
    """
    queries = queries or QueryEmbedders(QueryEmbedder(embedder), registry)
    results = ResultCache(store, result_cache_bytes)
    reader = None if cross_encoder is None else Reader(cross_encoder)
    searcher = Searcher(store, queries, results, reader)
    search = SearchServicer(searcher, store)
    models = ModelServicer(store, indexing)
    documents = DocumentServicer(DocumentWriter(store, embedder, registry, indexing), store)
    return [
        Service(
            "braid.vector.v1.VectorSearchService",
            partial(search_pb2_grpc.add_VectorSearchServiceServicer_to_server, search),
            dict.fromkeys(_SEARCHES, searches) if searches else {},
        ),
        Service(
            "braid.vector.v1.DocumentService",
            partial(documents_pb2_grpc.add_DocumentServiceServicer_to_server, documents),
        ),
        Service(
            "braid.vector.internal.v1.EmbeddingModelService",
            partial(models_pb2_grpc.add_EmbeddingModelServiceServicer_to_server, models),
        ),
        Service(
            "braid.vector.internal.v1.InventoryService",
            partial(
                inventory_pb2_grpc.add_InventoryServiceServicer_to_server, InventoryServicer(store)
            ),
        ),
        Service(
            "braid.vector.internal.v1.DocumentDeletionService",
            partial(
                deletion_pb2_grpc.add_DocumentDeletionServiceServicer_to_server,
                DocumentDeletionServicer(store),
            ),
        ),
        Service(
            "braid.vector.internal.v1.VectorTransferService",
            partial(
                transfer_pb2_grpc.add_VectorTransferServiceServicer_to_server,
                TransferServicer(store.transfer),
            ),
        ),
    ]


async def open_store(settings: VectorSettings) -> PostgresStore:
    """Opens the process's store from its settings; it connects when first used. Registers its pools in the metrics."""
    store = await PostgresStore.open(
        read_url=settings.reader(),
        write_url=settings.writer(),
        replica_urls=settings.replicas(),
        limits=PoolLimits(
            size=settings.pool_size,
            queue_size=settings.queue_size,
            queue_seconds=settings.queue_seconds,
            statement_seconds=settings.statement_seconds,
        ),
    )
    observe_pools(*store.pools)
    return store


def build_queries(
    settings: VectorSettings,
    embedding: EmbeddingSettings,
    store: PostgresStore,
    registry: EmbedderRegistry,
) -> QueryEmbedders:
    """Builds the query embedders: each model with a cache of its own, and all with the store if there is one."""
    stored = (
        store.query_embeddings(settings.stored_embeddings) if settings.stored_embeddings else None
    )

    def build(embedder: Embedder) -> QueryEmbedder:
        return QueryEmbedder(CachedEmbedder(embedder, embedding.cache_entries), stored)

    return QueryEmbedders(build(registry.default), registry, build)


async def run(
    settings: VectorSettings, runtime: RuntimeSettings, embedding: EmbeddingSettings
) -> None:
    """Serves until the process is asked to stop."""
    await verify_local_model(embedding)
    await report_unusable_cross_encoder()
    store = await open_store(settings)
    # Documents are embedded once and would only evict queries from the cache.
    breakers = Breakers()
    embedder = build_embedder(embedding.model_copy(update={"cache_entries": 0}), breakers)
    registry = EmbedderRegistry(embedding, embedder, breakers)
    queries = build_queries(settings, embedding, store, registry)
    indexing = IndexQueue(store)
    cross_encoder = build_cross_encoder(embedding.models_folder, embedding.workers)
    services = build_services(
        store,
        embedder,
        queries=queries,
        result_cache_bytes=settings.result_cache_mib * 1024 * 1024,
        registry=registry,
        indexing=indexing,
        searches=AdmissionQueue(runtime.search_limits()),
        cross_encoder=cross_encoder,
    )
    try:
        replicas = store.monitor(max_lag=settings.replica_max_lag_seconds)
        async with indexing.running(), VersionActivation(store).running(), replicas.running():
            await serve(
                settings=runtime,
                listen=settings.listen,
                services=services,
                probes={"postgresql": store.ping},
                impairments=breakers.impairments,
            )
    finally:
        await queries.close()
        await registry.close()
        await embedder.close()
        await cross_encoder.close()
        await store.close()
