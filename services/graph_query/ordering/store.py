"""What orders of found facts ask of the graph's store. Neo4j and a fake in memory pass one suite of tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.graph_query.domain import FactFilter

# Facts between two entities beyond which they are told apart no more.
FARTHEST = 4


class OrderingStore(Protocol):
    """Reads of a space. Raises what `GraphStore` says."""

    async def entities_named(self, space: str, name_key: str, entity_type: str) -> list[str]:
        """Uuids of the entities of a name, of a type unless that is ""."""

    async def fact_vectors(self, space: str, uuids: Sequence[str]) -> dict[str, Sequence[float]]:
        """The vectors of those of the stated facts that have one."""

    async def distances(
        self, space: str, centers: Sequence[str], uuids: Sequence[str], only: FactFilter
    ) -> dict[str, int]:
        """How many facts lie between each entity and the nearest centre; none for those beyond `FARTHEST`.

        Of `only`, the time counts. Co-occurrences of the time are ways too.
        """
