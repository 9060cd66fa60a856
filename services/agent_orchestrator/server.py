"""The two kinds of orchestrator process: one that serves, and workers, any number of them on any machines."""

from __future__ import annotations

from dataclasses import replace

from services.agent_orchestrator.agent.settings import AgentOptions, AnswerSettings
from services.agent_orchestrator.app import Embedders, open_app
from services.agent_orchestrator.entity_memory.settings import EntityMemorySettings
from services.agent_orchestrator.settings import AgentSettings
from services.agent_orchestrator.worker import open_worker
from services.models.breaker import Breakers
from services.models.embedding.cache import CachedEmbedder
from services.models.embedding.embedder import Embedder
from services.models.embedding.factory import build_embedder, verify_local_model
from services.models.embedding.registry import EmbedderRegistry
from services.models.embedding.settings import EmbeddingSettings
from services.models.language.settings import FallbackModelSettings, LanguageModelSettings
from services.models.local.model_files import BGE_SMALL
from services.models.reranking.factory import (
    build_cross_encoder,
    build_reranker,
    report_unusable_cross_encoder,
)
from services.models.reranking.settings import RerankerSettings
from services.runtime.read_settings import read_settings
from services.runtime.server import serve
from services.runtime.settings import RuntimeSettings


def build_embedders(settings: EmbeddingSettings, breakers: Breakers) -> Embedders:
    """Builds the embedders of one model: with a cache for queries, without for documents."""
    documents = build_embedder(settings.model_copy(update={"cache_entries": 0}), breakers)
    if settings.cache_entries == 0:
        return Embedders(queries=documents, documents=documents)
    return Embedders(CachedEmbedder(documents, settings.cache_entries), documents)


def read_agent_options() -> AgentOptions:
    """Reads the agent's settings and language models from the environment."""
    models = (read_settings(LanguageModelSettings), read_settings(FallbackModelSettings))
    return AgentOptions(read_settings(AnswerSettings), models, read_settings(EntityMemorySettings))


async def serve_orchestrator(settings: AgentSettings, runtime: RuntimeSettings) -> None:
    """Serves until it is stopped."""
    embedding = read_settings(EmbeddingSettings)
    await verify_local_model(embedding)
    await report_unusable_cross_encoder()
    breakers = Breakers()
    embedders = build_embedders(embedding, breakers)
    registry = EmbedderRegistry(embedding, embedders.documents, breakers)
    questions = _question_embedder(embedding, embedders)
    try:
        embedders = replace(embedders, documents=registry)
        async with open_app(
            settings,
            runtime,
            embedders,
            read_agent_options(),
            reranker=build_reranker(read_settings(RerankerSettings)),
            cross_encoder=build_cross_encoder(embedding.models_folder, embedding.workers),
            question_embedder=questions,
        ) as app:
            await serve(
                settings=runtime,
                listen=settings.listen,
                services=app.services,
                probes=app.probes,
                impairments=breakers.impairments,
            )
    finally:
        await registry.close()
        await embedders.queries.close()
        await questions.close()


def _question_embedder(settings: EmbeddingSettings, embedders: Embedders) -> Embedder:
    """Returns the embedder with which the planner chooses tools: that of searches if it has the same model."""
    if embedders.queries.model == BGE_SMALL.model:
        return embedders.queries
    local = settings.model_copy(update={"provider": "local", "model": BGE_SMALL.model})
    return build_embedder(local)


async def serve_worker(settings: AgentSettings, runtime: RuntimeSettings) -> None:
    """Runs jobs until it is stopped; serves health checks."""
    embedding = read_settings(EmbeddingSettings)
    await verify_local_model(embedding)
    breakers = Breakers()
    embedder = build_embedder(embedding.model_copy(update={"cache_entries": 0}), breakers)
    registry = EmbedderRegistry(embedding, embedder, breakers)
    try:
        async with open_worker(settings, runtime, embedder, registry) as probes:
            await serve(
                settings=runtime,
                listen=settings.worker_listen,
                services=[],
                probes=probes,
                impairments=breakers.impairments,
            )
    finally:
        await registry.close()
        await embedder.close()
