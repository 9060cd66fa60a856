"""Builds the tier's objects from its settings and hands them to the server."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Protocol

from braid.graph.internal.v1 import (
    deletion_pb2_grpc,
    embeddings_pb2_grpc,
    inventory_pb2_grpc,
    quarantine_pb2_grpc,
    transfer_pb2_grpc,
)
from braid.graph.v1 import ingest_pb2_grpc, query_pb2_grpc
from services.graph_query.corrections.domain import CorrectionStore
from services.graph_query.embeddings.space_models import SpaceModels
from services.graph_query.entities.domain import EntityStore
from services.graph_query.episodes import intake as episode_intake
from services.graph_query.episodes.extraction_result import EpisodeExtractor
from services.graph_query.episodes.intake import EpisodeIntake
from services.graph_query.expansion.store import RelationStore
from services.graph_query.findings.domain import FindingStore
from services.graph_query.history.domain import HistoryStore
from services.graph_query.inventory.domain import InventoryStore
from services.graph_query.llm_extraction.episode_extractor import (
    GraphitiExtractor,
    LanguageModelExtractor,
)
from services.graph_query.llm_extraction.findings import EmbeddedFindingExtractor, FindingExtractor
from services.graph_query.neo4j.database import Database, open_driver
from services.graph_query.neo4j.queries import load_queries, load_schema
from services.graph_query.neo4j.schema import SchemaError
from services.graph_query.neo4j_store import Neo4jStore
from services.graph_query.quarantine.domain import QuarantineStore
from services.graph_query.search.as_known import AsKnownStore
from services.graph_query.search.fact_search import FactSearcher
from services.graph_query.search.reranking import RerankingStore
from services.graph_query.servicers.corrections import CorrectionHandler
from services.graph_query.servicers.embeddings import GraphEmbeddingServicer
from services.graph_query.servicers.entities import EntityHandler
from services.graph_query.servicers.findings import FindingHandler
from services.graph_query.servicers.history import HistoryHandler
from services.graph_query.servicers.ingest import GraphIngestServicer
from services.graph_query.servicers.inventory import GraphDeletionServicer, GraphInventoryServicer
from services.graph_query.servicers.ontology import OntologyHandler
from services.graph_query.servicers.quarantine import GraphQuarantineServicer
from services.graph_query.servicers.query import GraphQueryServicer
from services.graph_query.servicers.relations import ExpansionCalls, RelationCalls
from services.graph_query.servicers.transfer import GraphTransferServicer
from services.graph_query.settings import GraphSettings
from services.graph_query.transfer.neo4j_store import TransferStore
from services.models.breaker import Breakers
from services.models.embedding.embedder import Embedder
from services.models.embedding.factory import build_embedder, verify_local_model
from services.models.embedding.registry import EmbedderRegistry
from services.models.embedding.settings import EmbeddingSettings
from services.models.language.factory import build_language_model
from services.models.language.model import LanguageModel
from services.models.language.settings import LanguageModelSettings
from services.models.reranking.factory import (
    build_cross_encoder,
    build_reranker,
    report_unusable_cross_encoder,
)
from services.models.reranking.reading import Reader
from services.models.reranking.reranker import Reranker
from services.models.reranking.settings import RerankerSettings
from services.runtime.admission import AdmissionLimits, AdmissionQueue
from services.runtime.background import keep_running
from services.runtime.errors import StoreUnavailableError
from services.runtime.idempotency import KeyedCalls
from services.runtime.pool_metrics import observe_pools
from services.runtime.queries import Queries
from services.runtime.server import Service, serve
from services.runtime.settings import RuntimeSettings
from services.runtime.telemetry import get_logger

_SCHEMA_RETRY_SECONDS = 0.5


class Stores(episode_intake.Stores, Protocol):
    """The combined store interface that the tier's services use."""

    @property
    def findings(self) -> FindingStore:
        """Returns the store of findings."""

    @property
    def history(self) -> HistoryStore:
        """Returns the store of fact histories."""

    @property
    def reranking(self) -> RerankingStore:
        """Returns the store that reranking reads from."""

    @property
    def as_known(self) -> AsKnownStore:
        """Returns the store of facts as they were known at an instant."""

    @property
    def entities(self) -> EntityStore:
        """Returns the store of entities and paths."""

    @property
    def relations(self) -> RelationStore:
        """Returns the store of relations between chunks."""

    @property
    def corrections(self) -> CorrectionStore:
        """Returns the store of withdrawals and corrections of facts."""

    @property
    def inventory(self) -> InventoryStore:
        """Returns the store of ids."""

    @property
    def quarantine(self) -> QuarantineStore:
        """Returns the store of quarantined data."""

    @property
    def transfer(self) -> TransferStore:
        """Returns the store of exports and imports."""


def build_services(
    store: Stores,
    embedder: Embedder,
    reader: EpisodeExtractor | None = None,
    reranker: Reranker | None = None,
    *,
    searches: AdmissionQueue | None = None,
    keyed: KeyedCalls | None = None,
    cross_encoder: Reranker | None = None,
) -> list[Service]:
    """Builds the services of the tier over one store and one embedder.

    `reader` is None without a language model, `reranker` is None without a reranking model. `searches` limits how many
    searches run concurrently. `keyed` serves calls with an idempotency key. `cross_encoder` reads facts if none is
    relevant by its score.
    """
    relations = RelationCalls(store.relations)
    models = SpaceModels(store.embeddings, embedder)
    findings = FindingHandler(store.findings, embedder, models)
    ontologies = OntologyHandler(store.ontologies)
    query = GraphQueryServicer(
        store,
        FactSearcher(
            store,
            embedder,
            reranker,
            None if cross_encoder is None else Reader(cross_encoder),
        ),
        HistoryHandler(store.history),
        EntityHandler(store.entities),
        relations=relations,
        expansions=ExpansionCalls(store.relations),
        findings=findings,
        ontologies=ontologies,
    )
    ingest = GraphIngestServicer(
        store,
        models,
        episodes=EpisodeIntake(store, reader, models),
        ontologies=ontologies,
        findings=findings,
        relations=relations,
        corrections=CorrectionHandler(store.corrections, models, ontologies),
    )
    return [
        Service(
            "braid.graph.v1.GraphQueryService",
            partial(query_pb2_grpc.add_GraphQueryServiceServicer_to_server, query),
            {"SearchFacts": searches} if searches else {},
        ),
        Service(
            "braid.graph.v1.GraphIngestService",
            partial(ingest_pb2_grpc.add_GraphIngestServiceServicer_to_server, ingest),
            keyed=keyed,
        ),
        Service(
            "braid.graph.internal.v1.GraphInventoryService",
            partial(
                inventory_pb2_grpc.add_GraphInventoryServiceServicer_to_server,
                GraphInventoryServicer(store.inventory),
            ),
        ),
        Service(
            "braid.graph.internal.v1.GraphDeletionService",
            partial(
                deletion_pb2_grpc.add_GraphDeletionServiceServicer_to_server,
                GraphDeletionServicer(store, store.inventory),
            ),
        ),
        Service(
            "braid.graph.internal.v1.GraphQuarantineService",
            partial(
                quarantine_pb2_grpc.add_GraphQuarantineServiceServicer_to_server,
                GraphQuarantineServicer(store.quarantine),
            ),
        ),
        Service(
            "braid.graph.internal.v1.GraphTransferService",
            partial(
                transfer_pb2_grpc.add_GraphTransferServiceServicer_to_server,
                GraphTransferServicer(store.transfer),
            ),
        ),
        Service(
            "braid.graph.internal.v1.GraphEmbeddingService",
            partial(
                embeddings_pb2_grpc.add_GraphEmbeddingServiceServicer_to_server,
                GraphEmbeddingServicer(store.embeddings),
            ),
        ),
    ]


def build_store(settings: GraphSettings) -> Neo4jStore:
    """Builds the store from the settings; it connects when first used."""
    queries = load_queries()
    limits = AdmissionLimits(settings.pool_size, settings.queue_size, settings.queue_seconds)
    return Neo4jStore(
        _database(settings, queries, limits),
        load_schema(),
        probed=_database(settings, queries, AdmissionLimits(size=1)),
    )


def open_store(settings: GraphSettings) -> Neo4jStore:
    """Opens the process's store (see `build_store`) and registers its pool in the metrics."""
    store = build_store(settings)
    observe_pools(*store.pools)
    return store


def _database(settings: GraphSettings, queries: Queries, limits: AdmissionLimits) -> Database:
    driver = open_driver(
        settings.neo4j_uri,
        settings.neo4j_user,
        settings.neo4j_password,
        limits.size,
        certificates=settings.neo4j_certificates(),
    )
    return Database(driver, queries, limits)


async def keep_schema(store: Neo4jStore) -> None:
    """Creates the schema, retrying until Neo4j answers. Raises SchemaError for another version's database."""
    log = get_logger("schema")
    while True:
        try:
            await store.ensure_schema()
        except StoreUnavailableError as error:
            log.debug("schema waits", reason=error.message)
        except SchemaError:
            raise
        except Exception:  # A deadline, for example: the failure may be temporary. The tier is NOT_SERVING until then.
            log.exception("no schema")
        else:
            log.info("schema ready")
            return
        await asyncio.sleep(_SCHEMA_RETRY_SECONDS)


def build_extractor(store: Neo4jStore, language: LanguageModel | None) -> EpisodeExtractor | None:
    """Builds the episode extractor; None without a language model."""
    if language is None:
        return None
    findings = EmbeddedFindingExtractor(FindingExtractor(language))
    return LanguageModelExtractor(findings, GraphitiExtractor(language, store.known), language)


async def run(
    settings: GraphSettings,
    runtime: RuntimeSettings,
    embedding: EmbeddingSettings,
    reranking: RerankerSettings,
    language_model: LanguageModelSettings,
) -> None:
    """Serves until stopped; healthy once Neo4j answers and its indexes are online."""
    await verify_local_model(embedding)
    await report_unusable_cross_encoder()
    breakers = Breakers()
    embedder = build_embedder(embedding, breakers)
    registry = EmbedderRegistry(embedding, embedder, breakers)
    reranker = build_reranker(reranking)
    cross_encoder = build_cross_encoder(embedding.models_folder, embedding.workers)
    language = build_language_model(language_model)
    store = open_store(settings)
    keyed = KeyedCalls(store.keys, keep_seconds=runtime.idempotency_hours * 3600)
    schema = asyncio.create_task(keep_schema(store), name="schema")
    serving = asyncio.create_task(
        serve(
            settings=runtime,
            listen=settings.listen,
            services=build_services(
                store,
                registry,
                build_extractor(store, language),
                reranker,
                searches=AdmissionQueue(runtime.search_limits()),
                keyed=keyed,
                cross_encoder=cross_encoder,
            ),
            probes={"neo4j": store.ping},
            impairments=breakers.impairments,
        ),
        name="serving",
    )
    background = [
        schema,
        serving,
        asyncio.create_task(keep_running("warming", store.warmer.run)),
        asyncio.create_task(keep_running("idempotency keys", keyed.keep_purging)),
    ]
    try:
        await asyncio.wait({schema, serving}, return_when=asyncio.FIRST_COMPLETED)
        if schema.done():
            schema.result()
        await serving
    finally:
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        await registry.close()
        await embedder.close()
        await cross_encoder.close()
        if language is not None:
            await language.close()
        if reranker is not None:
            await reranker.close()
        await store.close()
