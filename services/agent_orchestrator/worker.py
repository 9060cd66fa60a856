"""Builds a worker's objects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial

from services.agent_orchestrator.clients.space_models import SpaceModels
from services.agent_orchestrator.clients.tiers import check_serving
from services.agent_orchestrator.connections import PROBE_SECONDS, Tiers, open_tiers
from services.agent_orchestrator.database import Database, open_database
from services.agent_orchestrator.deletion.deletions import DeletionTask
from services.agent_orchestrator.deletion.expiry import ExpiredDocuments
from services.agent_orchestrator.deletion.store import DELETE, DeletionStore
from services.agent_orchestrator.entity_memory.reembedding import MemoryReembedding
from services.agent_orchestrator.entity_memory.store import EntityMemoryStore
from services.agent_orchestrator.ingest.pipeline.graph_turn import GraphTurns
from services.agent_orchestrator.ingest.pipeline.search_turn import SearchTurns
from services.agent_orchestrator.ingest.pipeline.space_embedder import (
    Registry,
    SingleModel,
    SpaceEmbedder,
)
from services.agent_orchestrator.ingest.pipeline.stages import Stages
from services.agent_orchestrator.ingest.sandbox.reader import Parsers, open_parsers
from services.agent_orchestrator.jobs.housekeeping import Housekeeping
from services.agent_orchestrator.jobs.job_watch import Listener
from services.agent_orchestrator.jobs.queue import CHANNEL, GRAPH, SEARCH, TASK, TurnQueue
from services.agent_orchestrator.jobs.records import DELETE_SPACE
from services.agent_orchestrator.jobs.retries import Retries
from services.agent_orchestrator.jobs.store import JobStore
from services.agent_orchestrator.jobs.tasks import Handler, TaskStore
from services.agent_orchestrator.jobs.time_slice import StagePriority
from services.agent_orchestrator.jobs.work_store import WorkStore
from services.agent_orchestrator.jobs.worker import (
    Runner,
    SpaceRunner,
    TaskRunner,
    Worker,
)
from services.agent_orchestrator.model_migration.reembedding import Reembedding
from services.agent_orchestrator.model_migration.reextraction import Reextraction
from services.agent_orchestrator.model_migration.servicer import REEMBED, REEXTRACT
from services.agent_orchestrator.settings import AgentSettings
from services.agent_orchestrator.spaces.deletion import SpaceDeletion
from services.agent_orchestrator.spaces.retention import (
    RETENTION,
    RetentionJobs,
    RetentionTask,
    SettingsStore,
)
from services.agent_orchestrator.spaces.store import SpaceStore
from services.agent_orchestrator.typed_memory.domain import Owner
from services.agent_orchestrator.typed_memory.inference import Inference
from services.agent_orchestrator.typed_memory.inference_jobs import INFER, InferenceTask
from services.agent_orchestrator.typed_memory.memories import Memories
from services.agent_orchestrator.typed_memory.store import MemoryStore
from services.models.embedding.embedder import Embedder
from services.runtime.background import in_background
from services.runtime.health import Probe
from services.runtime.settings import RuntimeSettings

TASKS_AT_ONCE = 2


@asynccontextmanager
async def open_worker(
    settings: AgentSettings,
    runtime: RuntimeSettings,
    embedder: Embedder,
    registry: Registry | None = None,
) -> AsyncIterator[Mapping[str, Probe]]:
    """Runs a worker until the block is left, then releases its turns; yields its health probes.

    `registry` contains the models of spaces that are embedded with another model than that of `embedder`.
    """
    models = registry or SingleModel(embedder)
    async with (
        open_tiers(settings, runtime) as tiers,
        open_database(settings, "braid-agent-worker") as database,
        open_parsers(max_concurrent=settings.jobs_at_once) as parsers,
    ):
        turns = TurnQueue(database, lease_seconds=settings.lease_seconds)
        work = WorkStore(database, turns)
        embedders = SpaceEmbedder(models, tiers.vector_models.recorded, SpaceModels())
        runners = _runners(settings, runtime, tiers, embedders, work=work, parsers=parsers)
        handlers = {
            **_handlers(tiers, database, turns, work),
            **_model_handlers(settings, tiers, models, work, database),
        }
        runners[TASK] = TaskRunner(TaskStore(database, turns), handlers, TASKS_AT_ONCE)
        worker = Worker(turns, runners, lease_seconds=settings.lease_seconds)
        listener = Listener(settings.database(), CHANNEL, worker.wake)
        retention = RetentionJobs(SettingsStore(database), JobStore(database, turns))
        expired = ExpiredDocuments(
            database, DeletionStore(database, turns, JobStore(database, turns))
        )
        housekeeping = Housekeeping(
            work, keep_days=settings.keep_ended_days, also=(retention.enqueue, expired.enqueue)
        )
        async with (
            in_background("listener", listener.run),
            in_background("housekeeping", housekeeping.run),
            in_background("confinement", parsers.report_confinement),
            in_background("worker", worker.run),
        ):
            try:
                yield {"turns": worker.check}
            finally:
                await worker.stop(runtime.drain_seconds)


def _handlers(
    tiers: Tiers, database: Database, turns: TurnQueue, work: WorkStore
) -> Mapping[str, Handler]:
    """Returns the handlers of jobs that are not uploads, by kind."""
    jobs = JobStore(database, turns)
    deletions = DeletionStore(database, turns, jobs)
    store = MemoryStore(database)
    memories = Memories(store, tiers.vector, tiers.graph, tiers.relations)
    inference = Inference(store, memories, tiers.searches, tiers.relations)
    return {
        DELETE: DeletionTask(deletions, tiers.vector, tiers.graph_ids).run,
        DELETE_SPACE: SpaceDeletion(
            SpaceStore(database, turns, jobs), tiers.spaces, store.partitions
        ).run,
        RETENTION: RetentionTask(
            SettingsStore(database),
            lambda space, user, id_: memories.delete(Owner(space, user), id_),
        ).run,
        INFER: InferenceTask(inference, partial(work.others_waiting, TASK)).run,
    }


def _model_handlers(
    settings: AgentSettings,
    tiers: Tiers,
    models: Registry,
    work: WorkStore,
    database: Database,
) -> Mapping[str, Handler]:
    retries = Retries(settings.retry_seconds)
    others_waiting = partial(work.others_waiting, TASK)
    reembedding = Reembedding(
        models,
        tiers.vector_models,
        tiers.graph_models,
        retries,
        others_waiting,
        partitions=MemoryStore(database).partitions,
        entity_memory=MemoryReembedding(EntityMemoryStore(database.pool)),
    )
    reextraction = Reextraction(
        tiers.vector,
        tiers.vector_ids,
        tiers.vector_models,
        tiers.graph,
        retries=retries,
        others_waiting=others_waiting,
    )
    return {REEMBED: reembedding.run, REEXTRACT: reextraction.run}


def _runners(
    settings: AgentSettings,
    runtime: RuntimeSettings,
    tiers: Tiers,
    embedder: SpaceEmbedder,
    *,
    work: WorkStore,
    parsers: Parsers,
) -> dict[str, Runner]:
    retries = Retries(settings.retry_seconds)
    priority = StagePriority()
    search = SearchTurns(
        work,
        Stages(vector=tiers.vector, embedder=embedder, retries=retries),
        parsers.parse,
        priority,
        max_message_bytes=runtime.max_message_bytes,
        turn_seconds=settings.turn_seconds,
    )
    graph = GraphTurns(
        work,
        tiers.graph,
        retries,
        priority,
        check_serving=lambda: check_serving(tiers.channels["graph"], "graph", PROBE_SECONDS),
        turn_seconds=settings.turn_seconds,
    )
    return {
        SEARCH: SpaceRunner(work, settings.jobs_at_once, search.run),
        GRAPH: SpaceRunner(work, settings.graphs_at_once, graph.run),
    }
