"""What a language model extracts from an episode, who extracts it, and the store that keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from services.graph_query.core.domain import DescribedEntity, EpisodeCounts, GivenFact, Passage
from services.graph_query.findings.domain import GivenFinding
from services.graph_query.ontology.domain import Ontology
from services.models.embedding.embedder import Embedder


class EpisodeExtractor(Protocol):
    """Reads entities and dated facts in texts; it writes nothing."""

    async def read(
        self, space: str, passage: Passage, ontology: Ontology, embedder: Embedder
    ) -> ExtractionResult:
        """What the passage says, with the embedder's vectors.

        LanguageModelUnavailable, or what a store or an embedder raises.
        """
        ...


class Supported(NamedTuple):
    """An existing fact that the text states again; `given` restates it in case it was deleted meanwhile."""

    fact: str
    given: GivenFact


class Contradicted(NamedTuple):
    """An existing fact that the text ends at an instant."""

    fact: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """All that was read in one episode. `facts` are those that were not there; each names the episode."""

    entities: tuple[DescribedEntity, ...] = ()
    facts: tuple[GivenFact, ...] = ()
    supported: tuple[Supported, ...] = ()
    contradicted: tuple[Contradicted, ...] = ()
    findings: tuple[GivenFinding, ...] = ()

    def vector_length(self) -> int:
        """Values in its vectors, which are of one model; 0 without any."""
        vectors = [
            *(one.embedding for one in self.facts),
            *(one.embedding for one in self.entities),
            *(one.embedding for one in self.findings),
        ]
        return next((len(one) for one in vectors if one), 0)


class ExtractionStore(Protocol):
    """Episodes with what was read in them. Raises what `GraphStore` says."""

    async def unread(self, space: str, passages: Sequence[Passage]) -> list[Passage]:
        """Those that no model has read as they are."""

    async def add_extraction(
        self, space: str, passage: Passage, reading: ExtractionResult, model: str
    ) -> EpisodeCounts:
        """Adds a passage with what was read in it, in one transaction; one that is read already changes nothing.

        `model` made the vectors: WrongStateError when the space has vectors of another, OverloadedError while it
        changes over.
        """
