"""The result of extraction by a language model, the extractor's interface, and the store of results."""

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
    """Extracts entities and dated facts from texts; writes nothing."""

    async def read(
        self, space: str, passage: Passage, ontology: Ontology, embedder: Embedder
    ) -> ExtractionResult:
        """Extracts the passage's statements, with the embedder's vectors.

        Raises LanguageModelUnavailable, or what a store or an embedder raises.
        """
        ...


class Supported(NamedTuple):
    """An existing fact that the text states again; `given` restates it in case it was deleted concurrently."""

    fact: str
    given: GivenFact


class Contradicted(NamedTuple):
    """An existing fact that the text ends at an instant."""

    fact: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """Everything extracted from one episode. `facts` did not exist before; each names the episode."""

    entities: tuple[DescribedEntity, ...] = ()
    facts: tuple[GivenFact, ...] = ()
    supported: tuple[Supported, ...] = ()
    contradicted: tuple[Contradicted, ...] = ()
    findings: tuple[GivenFinding, ...] = ()

    def vector_length(self) -> int:
        """Returns the length of its vectors, which are of one model; 0 without vectors."""
        vectors = [
            *(one.embedding for one in self.facts),
            *(one.embedding for one in self.entities),
            *(one.embedding for one in self.findings),
        ]
        return next((len(one) for one in vectors if one), 0)


class ExtractionStore(Protocol):
    """Stores episodes with what was extracted from them. Raises what `GraphStore` raises."""

    async def unread(self, space: str, passages: Sequence[Passage]) -> list[Passage]:
        """Returns passages that no model has read in their present form."""

    async def add_extraction(
        self, space: str, passage: Passage, reading: ExtractionResult, model: str
    ) -> EpisodeCounts:
        """Adds a passage and its extraction in one transaction; an already extracted passage changes nothing.

        `model` made the vectors: raises WrongStateError if the space has vectors of another model, OverloadedError
        while it changes models.
        """
