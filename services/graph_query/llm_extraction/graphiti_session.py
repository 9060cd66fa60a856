"""Extracts one episode with Graphiti. Importing this module imports Graphiti, which is slow."""

from __future__ import annotations

import logging

from graphiti_core import Graphiti
from graphiti_core.graphiti import AddEpisodeResults
from graphiti_core.nodes import EpisodeType, EpisodicNode

from services.graph_query.core.domain import Passage
from services.graph_query.episodes.extraction_result import ExtractionResult
from services.graph_query.llm_extraction.graph_reader import GraphReader
from services.graph_query.llm_extraction.graphiti_conversion import (
    Findings,
    declared_types,
    reading_of,
)
from services.graph_query.llm_extraction.graphiti_driver import BraidOperations, ReadingDriver
from services.graph_query.llm_extraction.graphiti_failures import Failures
from services.graph_query.llm_extraction.graphiti_language import (
    GraphitiEmbedder,
    GraphitiLanguage,
    NoReranker,
)
from services.graph_query.llm_extraction.graphiti_search import BraidSearch
from services.graph_query.ontology.domain import Ontology
from services.models.embedding.embedder import Embedder
from services.models.language.model import LanguageModel
from services.runtime.times import utc_now

_AT_ONCE = 8
# Graphiti logs parts of texts and of answers.
logging.getLogger("graphiti_core").setLevel(logging.CRITICAL)


class Session:
    """Extracts episodes of one space."""

    def __init__(
        self, space: str, known: GraphReader, language: LanguageModel, embedder: Embedder
    ) -> None:
        self._space = space
        self._known = known
        self._language = language
        self._embedder = embedder

    async def read(self, passage: Passage, ontology: Ontology) -> ExtractionResult:
        """Extracts the passage's statements and compares them with the existing graph. Writes nothing."""
        failures = Failures()
        search = BraidSearch(self._space, self._known, failures)
        language = GraphitiLanguage(self._language, failures)
        try:
            results = await self._add_episode(passage, ontology, search, language, failures)
        except Exception as error:  # noqa: BLE001 - told as what it stems from
            raise failures.as_error(error) from None
        failures.check()
        names = [node.name for node in results.nodes]
        vectors = await self._embedder.embed(names)
        ends = language.stated_ends
        found = Findings(results.nodes, results.edges, search.facts, vectors, ends)
        return reading_of(passage, found, ontology)

    async def _add_episode(
        self,
        passage: Passage,
        ontology: Ontology,
        search: BraidSearch,
        language: GraphitiLanguage,
        failures: Failures,
    ) -> AddEpisodeResults:
        episode = self._episode(passage)
        operations = BraidOperations(self._known, search, failures, episode, passage.document_id)
        graphiti = Graphiti(
            graph_driver=ReadingDriver(search, operations),
            llm_client=language,
            embedder=GraphitiEmbedder(self._embedder, failures),
            cross_encoder=NoReranker(),
            max_coroutines=_AT_ONCE,
        )
        types = declared_types(ontology)
        return await graphiti.add_episode(
            name=episode.name,
            episode_body=episode.content,
            source_description=episode.source_description,
            reference_time=episode.valid_at,
            source=EpisodeType.text,
            group_id=self._space,
            uuid=episode.uuid,
            entity_types=types.entity_types,
            edge_types=types.edge_types,
            edge_type_map=types.edge_type_map,
            custom_extraction_instructions=types.instructions,
        )

    def _episode(self, passage: Passage) -> EpisodicNode:
        now = utc_now()
        return EpisodicNode(
            uuid=passage.uuid,
            name=passage.title or passage.document_id,
            group_id=self._space,
            source=EpisodeType.text,
            source_description=passage.title or passage.source,
            content=passage.content,
            created_at=now,
            valid_at=passage.reference_time or now,
        )
