"""What the inventory asks of its store. Neo4j and a fake in memory pass one suite of tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from services.graph_query.core.domain import DeletionCounts

# Episodes that one transaction of a document's deletion removes.
EPISODES_AT_ONCE = 500


class EpisodeRef(NamedTuple):
    """An episode by its uuid, and the document that it belongs to, "" for none."""

    uuid: str
    document_id: str


class EntityPage(NamedTuple):
    """Of a page of entities those (uuid, name) that are joined to nothing; how many it had; its last (name, uuid)."""

    unjoined: list[tuple[str, str]]
    looked_through: int
    last: tuple[str, str]


class InventoryStore(Protocol):
    """Ids of every space's graph. Errors as in `GraphStore`."""

    async def list_episodes(self, space: str, after: str, limit: int) -> list[EpisodeRef]:
        """Episodes by uuid, with uuids greater than `after`, at most `limit`."""

    async def find_episodes(self, space: str, uuids: Sequence[str]) -> list[str]:
        """Those of the episodes that are there, by uuid."""

    async def list_documents(self, space: str, after: str, limit: int) -> list[str]:
        """Ids of the graph's documents by their nodes' uuids, from the one after document `after` on ("" for all)."""

    async def unjoined_entities(self, space: str, after: tuple[str, str], limit: int) -> EntityPage:
        """Looks through `limit` entities by (name, uuid) after a position; `FIRST` is the beginning."""

    async def delete_unjoined(self, space: str, uuids: Sequence[str]) -> int:
        """Removes those of the entities that are joined to nothing; how many."""

    async def delete_document(
        self, space: str, document_id: str, deletion_id: str
    ) -> tuple[DeletionCounts, bool]:
        """Removes `EPISODES_AT_ONCE` of the document's episodes, and with the last of them all that it claims.

        What the deletion removed so far, and whether it has ended: from then on it removes nothing.
        """
