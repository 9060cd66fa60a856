"""Builds the objects of search: expansion, reranking, and the search of all tiers."""

from __future__ import annotations

from braid.common.v1 import reranking_pb2
from services.agent_orchestrator.clients.space_models import SpaceModels
from services.agent_orchestrator.connections import Tiers
from services.agent_orchestrator.expansion.expander import Expander
from services.agent_orchestrator.expansion.formula import Formula
from services.agent_orchestrator.expansion.query_aware import QueryAware
from services.agent_orchestrator.reranking.reranking import Reranking
from services.agent_orchestrator.search.comprehensive import ComprehensiveSearch
from services.agent_orchestrator.search.memory_leg import MemoryLeg
from services.agent_orchestrator.search.query_embedding import QueryEmbeddings
from services.agent_orchestrator.settings import AgentSettings, SettingError
from services.models.embedding.embedder import Embedder
from services.models.language.model import LanguageModel
from services.models.reranking.language_model import LanguageReranker
from services.models.reranking.reranker import PairReranker, Reranker


def build_expander(settings: AgentSettings, tiers: Tiers) -> Expander:
    """Builds the expansion of results along relations."""
    return Expander(
        QueryAware(tiers.vector, tiers.graph),
        Formula(tiers.relations),
        seconds=settings.expansion_seconds,
    )


def build_reranking(
    settings: AgentSettings,
    cross_encoder: PairReranker | None,
    language: LanguageModel | None,
    reranker: Reranker | None,
) -> Reranking:
    """Builds the rerankers by mode."""
    rerankers: dict[reranking_pb2.RerankMode.ValueType, Reranker] = {}
    if cross_encoder is not None:
        rerankers[reranking_pb2.RERANK_MODE_LOCAL] = cross_encoder
    if reranker is not None:
        rerankers[reranking_pb2.RERANK_MODE_CROSS_ENCODER] = reranker
    if language is not None:
        rerankers[reranking_pb2.RERANK_MODE_LANGUAGE_MODEL] = LanguageReranker(language)
    default = reranking_pb2.RerankMode.Value(f"RERANK_MODE_{settings.rerank.upper()}")
    if default not in {*rerankers, reranking_pb2.RERANK_MODE_NONE}:
        raise SettingError(
            f"BRAID_AGENT_RERANK is {settings.rerank}, and no such model is configured"
        )
    return Reranking(rerankers, default)


def build_search(
    settings: AgentSettings,
    tiers: Tiers,
    embedder: Embedder,
    expander: Expander,
    reranking: Reranking,
    *,
    memories: MemoryLeg,
) -> ComprehensiveSearch:
    """Builds the search of all tiers, for its own service and for the agent."""
    queries = QueryEmbeddings(
        embedder,
        max_concurrent=settings.query_embeddings_at_once,
        seconds=settings.query_embedding_seconds,
    )
    return ComprehensiveSearch(
        vector=tiers.vector,
        graph=tiers.graph,
        queries=queries,
        expander=expander,
        reranking=reranking,
        models=SpaceModels(),
        memories=memories,
        seconds=settings.search_seconds,
        leg_seconds=settings.leg_seconds,
    )
