"""Builds the orchestrator's objects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from braid.agent.v1 import (
    agent_pb2_grpc,
    consistency_pb2_grpc,
    entity_memory_pb2_grpc,
    ingest_pb2_grpc,
    jobs_pb2_grpc,
    memories_pb2,
    memories_pb2_grpc,
    models_pb2_grpc,
    profile_pb2_grpc,
    search_pb2_grpc,
    sources_pb2_grpc,
)
from services.agent_orchestrator.agent.settings import AgentOptions
from services.agent_orchestrator.connections import Tiers, any_tier_healthy, open_tiers
from services.agent_orchestrator.consistency.checking import Check
from services.agent_orchestrator.consistency.embedding_repairs import EmbeddingRepairs
from services.agent_orchestrator.consistency.quarantines import Quarantines
from services.agent_orchestrator.consistency.repairing import Repair
from services.agent_orchestrator.consistency.servicer import ConsistencyServicer
from services.agent_orchestrator.consistency.work import JobWork
from services.agent_orchestrator.database import Database, open_database
from services.agent_orchestrator.deletion.deletions import Deletions
from services.agent_orchestrator.deletion.store import DeletionStore
from services.agent_orchestrator.entity_memory.app import EntityMemoryParts, open_entity_memory
from services.agent_orchestrator.ingest.backlog import Backlog
from services.agent_orchestrator.ingest.document_limit import DocumentLimit
from services.agent_orchestrator.ingest.facts import FactIngestion, FactVectors
from services.agent_orchestrator.ingest.servicer import IngestServicer
from services.agent_orchestrator.jobs.job_watch import JOB_CHANGED, Listener, Watchers
from services.agent_orchestrator.jobs.metrics import JobMetrics
from services.agent_orchestrator.jobs.queue import TurnQueue
from services.agent_orchestrator.jobs.servicer import JobServicer
from services.agent_orchestrator.jobs.store import JobStore
from services.agent_orchestrator.migrate import SchemaProbe
from services.agent_orchestrator.model_migration.servicer import ModelServicer
from services.agent_orchestrator.profile.profiles import Profiles
from services.agent_orchestrator.profile.servicer import ProfileServicer
from services.agent_orchestrator.reranking.reranking import Reranking
from services.agent_orchestrator.search.app import build_expander, build_reranking, build_search
from services.agent_orchestrator.search.comprehensive import ComprehensiveSearch
from services.agent_orchestrator.search.expanded_hybrid import ExpandedHybrid
from services.agent_orchestrator.search.memory_leg import MemoryLeg
from services.agent_orchestrator.search.servicer import SearchServicer
from services.agent_orchestrator.settings import AgentSettings
from services.agent_orchestrator.sources.servicer import SourceServicer
from services.agent_orchestrator.sources.store import SourceStore
from services.agent_orchestrator.spaces.services import space_services
from services.agent_orchestrator.spaces.store import SpaceStore
from services.agent_orchestrator.typed_memory.consistency import MemoryInventory
from services.agent_orchestrator.typed_memory.inference import Inference
from services.agent_orchestrator.typed_memory.inference_jobs import InferenceJobs
from services.agent_orchestrator.typed_memory.memories import Memories
from services.agent_orchestrator.typed_memory.search import MemorySearch
from services.agent_orchestrator.typed_memory.servicer import MemoryServicer
from services.agent_orchestrator.typed_memory.sessions import Sessions
from services.agent_orchestrator.typed_memory.store import MemoryStore
from services.models.embedding.embedder import Embedder
from services.models.language.factory import build_language_model
from services.models.language.model import LanguageModel
from services.models.reranking.reranker import PairReranker, Reranker
from services.postgres.idempotency.store import PostgresKeyStore
from services.runtime.admission import AdmissionQueue
from services.runtime.background import in_background
from services.runtime.channels import OutgoingMetadata
from services.runtime.idempotency import KeyedCalls
from services.runtime.server import Service
from services.runtime.settings import RuntimeSettings

if TYPE_CHECKING:
    from services.agent_orchestrator.agent.language_models.configured import AnswerModels
    from services.agent_orchestrator.agent.servicer import AgentServicer
    from services.models.throttle import Throttle
    from services.runtime.health import Probe

SEARCH_SERVICE = "braid.agent.v1.SearchService"
AGENT_SERVICE = "braid.agent.v1.AgentService"
INGEST_SERVICE = "braid.agent.v1.IngestService"
JOB_SERVICE = "braid.agent.v1.JobService"
MODEL_SERVICE = "braid.agent.v1.ModelService"
CONSISTENCY_SERVICE = "braid.agent.v1.ConsistencyService"
ENTITY_MEMORY_SERVICE = "braid.agent.v1.EntityMemoryService"
MEMORY_SERVICE = "braid.agent.v1.MemoryService"
PROFILE_SERVICE = "braid.agent.v1.ProfileService"
SOURCE_SERVICE = "braid.agent.v1.SourceService"
DELETION_SECONDS = 30.0
# Methods that write to the orchestrator's own database only: their writes and their responses are one transaction.
ATOMIC = (
    f"/{AGENT_SERVICE}/CreateConversation",
    f"/{JOB_SERVICE}/RetryJob",
    f"/{JOB_SERVICE}/RetryDeadDocuments",
    f"/{MODEL_SERVICE}/StartReembedding",
    f"/{MODEL_SERVICE}/StartReextraction",
    f"/{ENTITY_MEMORY_SERVICE}/SaveEntity",
    f"/{ENTITY_MEMORY_SERVICE}/SaveRelationship",
    f"/{ENTITY_MEMORY_SERVICE}/MergeEntities",
    f"/{MEMORY_SERVICE}/StartMemoryInference",
)


@dataclass(frozen=True, slots=True)
class Embedders:
    """Two embedders for the same model: documents are embedded once, so they must not displace queries from the cache.

    The documents' embedder may give access to other models, for spaces that are embedded with them.
    """

    queries: Embedder
    documents: Embedder


@dataclass(frozen=True, slots=True)
class App:
    """The services of the process, and its health probes."""

    services: Sequence[Service]
    probes: Mapping[str, Probe]


@asynccontextmanager
async def open_app(
    settings: AgentSettings,
    runtime: RuntimeSettings,
    embedders: Embedders,
    options: AgentOptions | None = None,
    *,
    reranker: Reranker | None = None,
    cross_encoder: PairReranker | None = None,
    question_embedder: Embedder | None = None,
) -> AsyncIterator[App]:
    """Yields the app, with its channels and database open until the block is left.

    `cross_encoder` is the local reranking model, `reranker` the one named by the settings; both are closed at the end.
    `question_embedder` has the local model with whose vectors the planner chooses tools.
    """
    async with AsyncExitStack() as stack:
        tiers = await stack.enter_async_context(open_tiers(settings, runtime))
        database = await stack.enter_async_context(open_database(settings, "braid-agent"))
        turns = TurnQueue(database, lease_seconds=settings.lease_seconds)
        jobs = JobStore(database, turns)
        watchers = Watchers(jobs)
        deletions = Deletions(
            DeletionStore(database, turns, jobs),
            tiers.vector_ids,
            watchers,
            wait_seconds=DELETION_SECONDS,
        )
        ingest = _ingest(settings, tiers, jobs, deletions, embedders.documents)
        expander = build_expander(settings, tiers)
        options = options or AgentOptions()
        models = _answer_models(options)
        # Reranking for a search uses the questions' share of the provider, because a caller waits for it.
        ordering = _language_model(options, models.question_throttles)
        reranking = build_reranking(settings, cross_encoder, ordering, reranker)
        stack.push_async_callback(reranking.close)
        memories = _memories(
            tiers, database, jobs, reranking, names_spaces=runtime.service_key is not None
        )

        def search_memories(
            request: memories_pb2.SearchMemoriesRequest,
        ) -> Awaitable[memories_pb2.SearchMemoriesResponse]:
            return memories.SearchMemories(request, None)

        search = build_search(
            settings,
            tiers,
            embedders.queries,
            expander,
            reranking,
            memories=MemoryLeg(search_memories),
        )
        hybrid = ExpandedHybrid(
            vector=tiers.vector,
            expander=expander,
            reranking=reranking,
            seconds=settings.search_seconds,
        )
        reader = _language_model(options, models.background_throttles)
        if reader is not None:
            stack.push_async_callback(reader.close)
        entity_memory = await stack.enter_async_context(
            open_entity_memory(
                options.memory,
                pool=database.pool,
                recorded=tiers.vector_models.recorded,
                queries=embedders.queries,
                documents=embedders.documents,
                language_model=reader,
            )
        )
        profiles = Profiles(entity_memory.memory, MemoryStore(database), search_memories)
        agent = await stack.enter_async_context(
            _open_agent(
                options,
                models,
                runtime,
                tiers,
                database,
                search,
                hybrid,
                entity_memory,
                cross_encoder,
                question_embedder,
                profiles,
            )
        )
        keyed = KeyedCalls(
            PostgresKeyStore(database.pool, ATOMIC), keep_seconds=runtime.idempotency_hours * 3600
        )
        slots = AdmissionQueue(runtime.search_limits())
        services = [
            Service(
                SEARCH_SERVICE,
                partial(
                    search_pb2_grpc.add_SearchServiceServicer_to_server,
                    SearchServicer(search, hybrid, slots),
                ),
                {"ComprehensiveSearch": slots, "ExpandedHybridSearch": slots},
            ),
            Service(
                AGENT_SERVICE, partial(agent_pb2_grpc.add_AgentServiceServicer_to_server, agent)
            ),
            Service(
                INGEST_SERVICE, partial(ingest_pb2_grpc.add_IngestServiceServicer_to_server, ingest)
            ),
            Service(
                JOB_SERVICE,
                partial(
                    jobs_pb2_grpc.add_JobServiceServicer_to_server, JobServicer(jobs, watchers)
                ),
            ),
            Service(
                CONSISTENCY_SERVICE,
                partial(
                    consistency_pb2_grpc.add_ConsistencyServiceServicer_to_server,
                    _consistency(tiers, database, jobs, embedders.documents),
                ),
            ),
            Service(
                MODEL_SERVICE,
                partial(
                    models_pb2_grpc.add_ModelServiceServicer_to_server,
                    ModelServicer(jobs, tiers.vector_models, embedders.documents.model),
                ),
            ),
            *space_services(
                SpaceStore(database, turns, jobs),
                database,
                tiers.spaces,
                tiers.transfer,
                MemoryStore(database).partitions,
            ),
            Service(
                ENTITY_MEMORY_SERVICE,
                partial(
                    entity_memory_pb2_grpc.add_EntityMemoryServiceServicer_to_server,
                    entity_memory.servicer,
                ),
            ),
            Service(
                PROFILE_SERVICE,
                partial(
                    profile_pb2_grpc.add_ProfileServiceServicer_to_server,
                    ProfileServicer(profiles),
                ),
            ),
            Service(
                SOURCE_SERVICE,
                partial(
                    sources_pb2_grpc.add_SourceServiceServicer_to_server,
                    SourceServicer(SourceStore(database)),
                ),
            ),
            Service(
                MEMORY_SERVICE,
                partial(memories_pb2_grpc.add_MemoryServiceServicer_to_server, memories),
            ),
        ]
        services = [replace(service, keyed=keyed) for service in services]
        listener = Listener(settings.database(), JOB_CHANGED, watchers.wake)
        await stack.enter_async_context(in_background("watchers", watchers.run))
        await stack.enter_async_context(in_background("listener", listener.run))
        await stack.enter_async_context(in_background("idempotency keys", keyed.keep_purging))
        if runtime.exports_metrics:
            await stack.enter_async_context(in_background("job-metrics", JobMetrics(database).run))
        probes = {
            "tiers": any_tier_healthy(tiers.channels),
            "schema": SchemaProbe(database.pool).check,
        }
        yield App(services, probes)


def _ingest(
    settings: AgentSettings,
    tiers: Tiers,
    jobs: JobStore,
    deletions: Deletions,
    embedder: Embedder,
) -> IngestServicer:
    return IngestServicer(
        jobs=jobs,
        backlog=Backlog(
            jobs, max_jobs=settings.max_waiting_jobs, max_bytes=settings.max_waiting_bytes
        ),
        document_limit=DocumentLimit(jobs, tiers.vector_ids),
        facts=FactIngestion(
            graph=tiers.graph,
            vectors=partial(FactVectors, tiers.graph_models, tiers.vector_models, embedder),
            configured=embedder.model,
            note_seen_graph=jobs.note_seen_graph,
        ),
        deletions=deletions,
        max_upload_bytes=settings.max_upload_bytes,
    )


def _consistency(
    tiers: Tiers, database: Database, jobs: JobStore, embedder: Embedder
) -> ConsistencyServicer:
    work = JobWork(database, jobs)
    store = MemoryStore(database)
    memories = MemoryInventory(
        store, Memories(store, tiers.vector, tiers.graph, tiers.relations), tiers.vector
    )
    check = Check(
        tiers.vector_ids,
        tiers.graph_ids,
        work=work,
        memories=memories,
        vector_models=tiers.vector_models,
        graph_models=tiers.graph_models,
    )
    start_repair = partial(
        Repair,
        tiers.vector,
        tiers.graph,
        inventory=tiers.graph_ids,
        quarantine=tiers.quarantine,
        work=work,
        memories=memories,
        embeddings=EmbeddingRepairs(embedder, tiers.vector_models, tiers.graph_models),
    )
    return ConsistencyServicer(check, start_repair, Quarantines(tiers.quarantine, check.scopes))


def _open_agent(  # noqa: PLR0917 - all of these parts are needed
    options: AgentOptions,
    models: AnswerModels,
    runtime: RuntimeSettings,
    tiers: Tiers,
    database: Database,
    search: ComprehensiveSearch,
    hybrid: ExpandedHybrid,
    entity_memory: EntityMemoryParts,
    reader: PairReranker | None,
    question_embedder: Embedder | None,
    profiles: Profiles,
) -> AbstractAsyncContextManager[AgentServicer]:
    # Imported here because its libraries are large and workers do not need them.
    from services.agent_orchestrator.agent.app import open_agent  # noqa: PLC0415

    return open_agent(
        options,
        models=models,
        pool=database.pool,
        search=search,
        hybrid=hybrid,
        vector=tiers.channels["vector"],
        graph=tiers.channels["graph"],
        outgoing=OutgoingMetadata.of(runtime),
        vector_health=tiers.health["vector"],
        graph_health=tiers.health["graph"],
        memory=entity_memory,
        reader=reader,
        question_embedder=question_embedder,
        context_of=profiles.prompt,
    )


def _answer_models(options: AgentOptions) -> AnswerModels:
    # Imported here because its libraries are large and workers do not need them.
    from services.agent_orchestrator.agent.app import answer_models  # noqa: PLC0415

    return answer_models(options)


def _language_model(options: AgentOptions, throttles: Sequence[Throttle]) -> LanguageModel | None:
    """Returns the first configured model with its provider's throttle; None if no model is configured.

    `throttles` has one for each configured model: a pause of a provider applies to all of its throttles.
    """
    configured = [one for one in options.models if one.configured]
    return build_language_model(configured[0], throttles[0]) if configured else None


def _memories(
    tiers: Tiers, database: Database, jobs: JobStore, reranking: Reranking, *, names_spaces: bool
) -> MemoryServicer:
    store = MemoryStore(database)
    memories = Memories(store, tiers.vector, tiers.graph, tiers.relations)
    return MemoryServicer(
        store,
        memories,
        MemorySearch(store, tiers.searches, tiers.relations, reranking),
        Sessions(store, memories),
        Inference(store, memories, tiers.searches, tiers.relations),
        InferenceJobs(jobs),
        tiers.relations,
        names_spaces=names_spaces,
    )
