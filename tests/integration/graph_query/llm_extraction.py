"""Adds episodes with a scripted language model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from services.graph_query.app import build_extractor
from services.graph_query.core.domain import Passage
from services.graph_query.embeddings.space_models import SpaceModels
from services.graph_query.episodes.intake import EpisodeIntake
from services.graph_query.neo4j_store import Neo4jStore
from services.models.embedding.embedder import Embedder
from tests.store_suite.graph.builders import new_space, passage
from tests.stubs.language import Script
from tests.stubs.language_model import scripted_model
from tests.stubs.openai_server import OpenAIStub
from tests.unit.graph_query.embedder import CountingEmbedder


@dataclass
class Reading:
    """The episode intake of one space, and the scripted model that extracts from its episodes."""

    intake: EpisodeIntake
    stub: OpenAIStub
    script: Script
    space: str

    def episode(self, document: str, text: str, part: int = 0) -> Passage:
        """A chunk of a document."""
        return passage(self.space, document, f"Note {document}", text, part)


@asynccontextmanager
async def reading(
    store: Neo4jStore,
    provider: str = "openai",
    seconds: float = 20.0,
    embedder: Embedder | None = None,
) -> AsyncIterator[Reading]:
    """An intake whose model is a stub of the provider's API."""
    script = Script()
    async with scripted_model(script, provider, seconds) as (language, stub):
        configured = embedder or CountingEmbedder()
        reader = build_extractor(store, language)
        models = SpaceModels(store.embeddings, configured)
        yield Reading(EpisodeIntake(store, reader, models), stub, script, new_space())
