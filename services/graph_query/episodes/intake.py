"""Taking episodes in: by the local extractor, and by a language model where one is configured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.graph_query.core.domain import EpisodeCounts, Passage
from services.graph_query.core.store import GraphStore
from services.graph_query.embeddings.domain import EmbeddingStore
from services.graph_query.embeddings.space_models import SpaceModels
from services.graph_query.episodes.extraction_result import EpisodeReader, ReadingStore
from services.graph_query.neo4j.space_locks import Turns
from services.graph_query.ontology.domain import OntologyStore

_LONGEST_WAIT = 3_600.0


class Stores(GraphStore, Protocol):
    """The graph with what was read, and ontologies."""

    @property
    def readings(self) -> ReadingStore:
        """What language models read."""

    @property
    def ontologies(self) -> OntologyStore:
        """What spaces are about."""

    @property
    def embeddings(self) -> EmbeddingStore:
        """Vectors, as they change from model to model."""


class EpisodeIntake:
    """Adds episodes. With a reader one after the other: what is read depends on what is there."""

    def __init__(self, store: Stores, reader: EpisodeReader | None, models: SpaceModels) -> None:
        self._store = store
        self._reader = reader
        self._models = models
        self._turns = Turns(_LONGEST_WAIT)

    async def add(self, space: str, passages: Sequence[Passage]) -> EpisodeCounts:
        """Adds passages that are not there or not read yet. Each is written whole or not at all."""
        if self._reader is None:
            return await self._store.add_episodes(space, passages)
        async with self._turns.of(space):
            return await self._read(space, passages, self._reader)

    async def _read(
        self, space: str, passages: Sequence[Passage], reader: EpisodeReader
    ) -> EpisodeCounts:
        unread = await self._store.readings.unread(space, passages)
        new = {passage.uuid for passage in unread}
        # Those that are read may stand in a further version of their document; else it tells the revision alone.
        known = [passage for passage in passages if passage.uuid not in new]
        noted = await self._store.add_episodes(space, known) if known else EpisodeCounts()
        if not unread:
            return noted
        ontology = (await self._store.ontologies.ontology(space)).ontology
        counts = EpisodeCounts()
        for passage in unread:
            # Asked before each: no text is read for a space that would refuse its vectors.
            embedder = await self._models.embedder(space)
            reading = await reader.read(space, passage, ontology, embedder)
            added = await self._store.readings.add_reading(space, passage, reading, embedder.model)
            counts = counts.plus(added)
        return counts
