"""The inventory of every space in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from services.graph_query.core.domain import DeletionCounts
from services.graph_query.core.identity import document_uuid
from services.graph_query.inventory.domain import EPISODES_AT_ONCE, EntityPage, EpisodeRef
from tests.oracles.graph.space import FakeSpace


class Graph(Protocol):
    """The fake graph as the inventory uses it."""

    spaces: dict[str, FakeSpace]

    async def remove(
        self,
        space: str,
        uuids: Sequence[str],
        claimed: Collection[str] = (),
        *,
        erase: bool = False,
    ) -> DeletionCounts: ...


@dataclass(slots=True)
class FakeInventory:
    """`InventoryStore` over the spaces of a fake graph."""

    graph: Graph
    deletions: dict[tuple[str, str], tuple[DeletionCounts, bool]] = field(default_factory=dict)

    async def list_episodes(self, space: str, after: str, limit: int) -> list[EpisodeRef]:
        """See `InventoryStore`."""
        passages = self._space(space).passages
        uuids = sorted(uuid for uuid in passages if uuid > after)[:limit]
        return [EpisodeRef(uuid, passages[uuid].document_id) for uuid in uuids]

    async def find_episodes(self, space: str, uuids: Sequence[str]) -> list[str]:
        """See `InventoryStore`."""
        return sorted(set(uuids) & self._space(space).passages.keys())

    async def list_documents(self, space: str, after: str, limit: int) -> list[str]:
        """See `InventoryStore`."""
        documents = {passage.document_id for passage in self._space(space).passages.values()}
        placed = sorted((document_uuid(space, document), document) for document in documents)
        position = document_uuid(space, after) if after else ""
        return [document for uuid, document in placed if uuid > position][:limit]

    async def unjoined_entities(self, space: str, after: tuple[str, str], limit: int) -> EntityPage:
        """See `InventoryStore`. In memory the graph is what its passages and facts make it: all are joined."""
        held = self._space(space)
        places = sorted((held.names[uuid], uuid) for uuid in held.entities())
        page = [place for place in places if place > after][:limit]
        return EntityPage([], len(page), page[-1] if page else after)

    async def delete_unjoined(self, space: str, uuids: Sequence[str]) -> int:
        """See `InventoryStore`."""
        return 0

    async def delete_document(
        self, space: str, document_id: str, deletion_id: str
    ) -> tuple[DeletionCounts, bool]:
        """See `InventoryStore`."""
        before, ended = self.deletions.get((space, deletion_id), (DeletionCounts(), False))
        if ended:
            return before, True
        passages = self._space(space).passages.values()
        uuids = [p.uuid for p in passages if p.document_id == document_id][:EPISODES_AT_ONCE]
        ended = len(uuids) < EPISODES_AT_ONCE
        claimed = {document_id} if ended else ()
        removed = await self.graph.remove(space, uuids, claimed, erase=True)
        self.deletions[space, deletion_id] = removed.plus(before), ended
        return removed.plus(before), ended

    def _space(self, space: str) -> FakeSpace:
        return self.graph.spaces.get(space) or FakeSpace(space)
