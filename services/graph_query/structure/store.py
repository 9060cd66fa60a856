"""What the graph's shape asks of its store. Neo4j and a fake in memory pass one suite of tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.graph_query.domain import Fact, FactFilter
from services.graph_query.history.domain import Selector
from services.graph_query.structure.domain import (
    EntityDetails,
    NamedEntity,
    Pair,
    Seeds,
    Step,
    Subgraph,
    Titled,
)


class StructureStore(Protocol):
    """The shape of every space's graph. Raises what `GraphStore` says."""

    async def entities(self, space: str, entity: Selector, now: float) -> list[EntityDetails]:
        """The entities that are meant, most mentioned first, then by number of facts, then by uuid."""

    async def names_linked(self, space: str, keys: Sequence[str]) -> dict[str, list[NamedEntity]]:
        """Names by linking key, those of the keys that are known; sorted."""

    async def titled(self, space: str, uuids: Sequence[str]) -> dict[str, Titled]:
        """Those of the entities that are there."""

    async def steps(
        self, space: str, uuids: Sequence[str], only: FactFilter, limit: int, *, local: bool
    ) -> list[Step]:
        """From these entities to all of their neighbours at a time, each once; at most `limit`.

        `local` counts co-occurrences of the time too.
        """

    async def joining(
        self, space: str, pairs: Sequence[Pair], only: FactFilter, *, local: bool
    ) -> dict[Pair, Fact]:
        """The best fact between each two entities: stated before local, the latest to begin, by uuid."""

    async def subgraph(self, space: str, seeds: Seeds) -> Subgraph:
        """The chunks around some chunks and entities."""
