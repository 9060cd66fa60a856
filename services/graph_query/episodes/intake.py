"""Adds episodes: with the local extractor, and with a language model where one is configured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.graph_query.core.domain import EpisodeCounts, Passage
from services.graph_query.core.store import GraphStore
from services.graph_query.embeddings.domain import EmbeddingStore
from services.graph_query.embeddings.space_models import SpaceModels
from services.graph_query.episodes.extraction_result import EpisodeExtractor, ExtractionStore
from services.graph_query.neo4j.space_locks import SpaceLocks
from services.graph_query.ontology.domain import OntologyStore

_MAX_WAIT = 3_600.0


class Stores(GraphStore, Protocol):
    """The graph, extractions, ontologies and embeddings."""

    @property
    def extractions(self) -> ExtractionStore:
        """Returns the store of extractions."""

    @property
    def ontologies(self) -> OntologyStore:
        """Returns the store of ontologies."""

    @property
    def embeddings(self) -> EmbeddingStore:
        """Returns the store of embeddings."""


class EpisodeIntake:
    """Adds episodes. With an extractor they are added one by one, as each extraction depends on the graph."""

    def __init__(self, store: Stores, reader: EpisodeExtractor | None, models: SpaceModels) -> None:
        self._store = store
        self._reader = reader
        self._models = models
        self._space_locks = SpaceLocks(_MAX_WAIT)

    async def add(
        self, space: str, passages: Sequence[Passage], *, extract: bool = True
    ) -> EpisodeCounts:
        """Adds passages that are not stored or not extracted yet. Each is written completely or not at all.

        Without `extract` no language model reads them.
        """
        if self._reader is None or not extract:
            return await self._store.add_episodes(space, passages)
        async with self._space_locks.hold(space):
            return await self._read(space, passages, self._reader)

    async def _read(
        self, space: str, passages: Sequence[Passage], reader: EpisodeExtractor
    ) -> EpisodeCounts:
        unread = await self._store.extractions.unread(space, passages)
        new = {passage.uuid for passage in unread}
        # Known passages may belong to a new version of their document; otherwise this only reads the revision.
        known = [passage for passage in passages if passage.uuid not in new]
        noted = await self._store.add_episodes(space, known) if known else EpisodeCounts()
        if not unread:
            return noted
        ontology = (await self._store.ontologies.ontology(space)).ontology
        counts = EpisodeCounts()
        for passage in unread:
            # Checked before each extraction: no text is read for a space that would refuse its vectors.
            embedder = await self._models.embedder(space)
            reading = await reader.read(space, passage, ontology, embedder)
            added = await self._store.extractions.add_extraction(
                space, passage, reading, embedder.model
            )
            counts = counts.plus(added)
        return counts
