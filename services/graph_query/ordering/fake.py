"""What orders of found facts ask, in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from services.graph_query.domain import FactFilter
from services.graph_query.fake_reads import FakeReads, joining_facts
from services.graph_query.ordering.store import FARTHEST


@dataclass(frozen=True, slots=True)
class FakeOrdering:
    """`OrderingStore` over the spaces of a fake graph."""

    graph: FakeReads

    async def entities_named(self, space: str, name_key: str, entity_type: str) -> list[str]:
        """Uuids of the entities of a name."""
        named = self.graph.readable(space).types.get(name_key, {})
        return [uuid for kind, uuid in named.items() if entity_type in ("", kind)]

    async def fact_vectors(self, space: str, uuids: Sequence[str]) -> dict[str, Sequence[float]]:
        """Vectors of facts."""
        facts = self.graph.readable(space).facts
        return {
            uuid: facts[uuid].embedding for uuid in uuids if uuid in facts and facts[uuid].embedding
        }

    async def distances(
        self, space: str, centers: Sequence[str], uuids: Sequence[str], only: FactFilter
    ) -> dict[str, int]:
        """How far entities are from the nearest centre, ring by ring."""
        joined: dict[str, set[str]] = defaultdict(set)
        for fact in joining_facts(self.graph.readable(space), FactFilter(only.since, only.until)):
            joined[fact.source.uuid].add(fact.target.uuid)
            joined[fact.target.uuid].add(fact.source.uuid)
        reached = dict.fromkeys(centers, 0)
        ring = set(centers)
        for distance in range(1, FARTHEST + 1):
            ring = {far for near in ring for far in joined[near]} - reached.keys()
            reached |= dict.fromkeys(ring, distance)
        return {uuid: reached[uuid] for uuid in uuids if reached.get(uuid)}
