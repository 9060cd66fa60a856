"""All that a language model reads in an episode: findings first, then entities and dated facts."""

from __future__ import annotations

from dataclasses import replace

from services.graph_query.domain import Passage
from services.graph_query.episode_intake import EpisodeReader
from services.graph_query.extracted import Reading
from services.graph_query.findings.reading import FindingReader
from services.graph_query.ontology.domain import Ontology


class WholeReader:
    """An `EpisodeReader` of both layers."""

    def __init__(self, findings: FindingReader, facts: EpisodeReader) -> None:
        self._findings = findings
        self._facts = facts

    @property
    def model(self) -> str:
        """The model that makes the vectors."""
        return self._facts.model

    async def read(self, space: str, passage: Passage, ontology: Ontology) -> Reading:
        """What the passage says; nothing is written."""
        found = await self._findings.read(space, passage)
        reading = await self._facts.read(space, passage, ontology)
        return replace(reading, findings=tuple(found.findings))
