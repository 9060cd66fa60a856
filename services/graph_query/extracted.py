"""What a language model read in a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from services.graph_query.domain import EntityName, GivenFact, Scalar
from services.graph_query.findings.domain import GivenFinding


@dataclass(frozen=True, slots=True)
class DescribedEntity:
    """An entity as a text describes it; `embedding` is its name's, L2-normalised or empty."""

    name: EntityName
    summary: str = ""
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    embedding: Sequence[float] = ()


class Supported(NamedTuple):
    """A fact that is there already and that the text states again; `given` is how, should it go meanwhile."""

    fact: str
    given: GivenFact


class Contradicted(NamedTuple):
    """A fact that is there already and that ends, by the text, at an instant."""

    fact: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Reading:
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
