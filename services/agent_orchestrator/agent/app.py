"""Builds the agent's objects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc

from services.agent_orchestrator.agent.answering import Answering
from services.agent_orchestrator.agent.conversations.store import ConversationStore
from services.agent_orchestrator.agent.conversations.summaries import Summaries
from services.agent_orchestrator.agent.dependencies import ContextOf
from services.agent_orchestrator.agent.language_models.configured import AnswerModels
from services.agent_orchestrator.agent.planner.pydantic_ai_model import PlannerModel
from services.agent_orchestrator.agent.planner_run import linking_ahead, planner_run
from services.agent_orchestrator.agent.question_vectors import QuestionVectors
from services.agent_orchestrator.agent.runs.ask import Limits
from services.agent_orchestrator.agent.runs.event_log import RunLog
from services.agent_orchestrator.agent.runs.runs import Runs
from services.agent_orchestrator.agent.servicer import AgentServicer
from services.agent_orchestrator.agent.settings import AgentOptions, AnswerSettings
from services.agent_orchestrator.agent.tier_reads import TierReads
from services.agent_orchestrator.agent.tools import conversations as conversation_tools
from services.agent_orchestrator.agent.tools import entity_memory
from services.agent_orchestrator.agent.tools.conversations import ConversationTools
from services.agent_orchestrator.agent.tools.entity_memory import MemoryTools
from services.agent_orchestrator.agent.toolsets import build_toolsets
from services.agent_orchestrator.clients.health_watch import HealthWatch
from services.agent_orchestrator.entity_memory.app import EntityMemoryParts
from services.agent_orchestrator.search.comprehensive import ComprehensiveSearch
from services.agent_orchestrator.search.expanded_hybrid import ExpandedHybrid
from services.models.embedding.embedder import Embedder
from services.models.language.factory import build_language_model
from services.models.reranking.reranker import PairReranker
from services.postgres.pool import Pool
from services.runtime.background import in_background
from services.runtime.channels import OutgoingMetadata
from services.runtime.text_worker import TextWorkers

_PURGE_SECONDS = 3600.0
_PLANNER = "services.agent_orchestrator.agent.planner.process"
# A part of a step takes some 5 ms; the worst text that is accepted, 100 ms on an idle core.
_PLAN_SECONDS = 10.0
# The second one starts when the first is at work.
_PLANNERS = 2


def answer_models(options: AgentOptions) -> AnswerModels:
    """Returns the models that answer questions, and their providers' throttles that other users share. No I/O."""
    return AnswerModels(options.models, PlannerModel(planner_run), linking_ahead)


@asynccontextmanager
async def open_agent(
    options: AgentOptions,
    *,
    models: AnswerModels,
    pool: Pool,
    search: ComprehensiveSearch,
    hybrid: ExpandedHybrid,
    vector: grpc.aio.Channel,
    graph: grpc.aio.Channel,
    outgoing: OutgoingMetadata,
    vector_health: HealthWatch,
    graph_health: HealthWatch,
    memory: EntityMemoryParts,
    reader: PairReranker | None,
    question_embedder: Embedder | None,
    context_of: ContextOf,
) -> AsyncIterator[AgentServicer]:
    """Yields the agent's service, which runs until the block is left."""
    settings, limits = options.settings, _limits(options.settings)
    planner = TextWorkers(_PLANNER, seconds=_PLAN_SECONDS, processes=_PLANNERS)
    conversations = ConversationStore(pool, lease_seconds=limits.lease_seconds)
    log = RunLog(pool, lease_seconds=limits.lease_seconds)
    summarizer = None
    for asked, throttle in zip(
        [one for one in options.models if one.configured],
        models.background_throttles,
        strict=True,
    ):
        summarizer = summarizer or build_language_model(asked, throttle)
    runs = Runs(
        answering=Answering(
            build_toolsets(
                [
                    MemoryTools(memory.memory, memory.writes, conversations.forget).toolset(),
                    ConversationTools(conversations).toolset(),
                ]
            ),
            models,
            {"all": [entity_memory.GUIDANCE, conversation_tools.GUIDANCE]},
            context_of,
        ),
        pool=pool,
        log=log,
        conversations=conversations,
        summaries=Summaries(conversations, summarizer, budget=limits.history_tokens),
        search=search,
        hybrid=hybrid,
        tiers=TierReads(
            vector,
            graph,
            outgoing,
            vector_health,
            graph_health,
            seconds=settings.tool_seconds,
            calls_at_once=settings.tool_calls_at_once,
        ),
        limits=limits,
        memory=memory.writes,
        note=memory.note,
        reader=reader,
        planner=planner,
        vector_of=QuestionVectors(question_embedder).vector_of,
    )
    try:
        async with (
            in_background("agent-purge", lambda: _purge(log, settings.keep_days)),
            in_background("planner-start", planner.start),
        ):
            yield AgentServicer(runs, conversations)
    finally:
        await runs.close()
        await planner.close()
        await models.close()
        if summarizer is not None:
            await summarizer.close()


def _limits(settings: AnswerSettings) -> Limits:
    return Limits(
        run_seconds=settings.run_seconds,
        conversation_wait_seconds=settings.conversation_wait_seconds,
        orphan_seconds=settings.resume_seconds,
        max_runs=settings.max_runs,
        history_tokens=settings.history_tokens,
    )


async def _purge(log: RunLog, keep_days: int) -> None:
    """Deletes old runs periodically. Replicas may do this concurrently without harm."""
    while True:
        await asyncio.sleep(_PURGE_SECONDS)
        await log.purge(keep_days)
