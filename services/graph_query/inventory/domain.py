"""The store interface of the inventory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from services.graph_query.core.domain import DeletionCounts

# Episodes that each transaction of a document's deletion removes.
EPISODES_AT_ONCE = 500


class EpisodeRef(NamedTuple):
    """An episode by its uuid, and the document that it belongs to, "" without one."""

    uuid: str
    document_id: str


class EntityPage(NamedTuple):
    """The entities (uuid, name) of a page that have no connections; the page's length; its last (name, uuid)."""

    unjoined: list[tuple[str, str]]
    looked_through: int
    last: tuple[str, str]


class InventoryStore(Protocol):
    """Reads the ids of every space's graph. Raises what `GraphStore` raises."""

    async def list_episodes(self, space: str, after: str, limit: int) -> list[EpisodeRef]:
        """Lists episodes by uuid, with uuids greater than `after`, at most `limit`."""

    async def find_episodes(self, space: str, uuids: Sequence[str]) -> list[str]:
        """Returns the episodes that exist, by uuid."""

    async def list_documents(self, space: str, after: str, limit: int) -> list[str]:
        """Lists document ids by their nodes' uuids, starting after document `after` ("" for the first)."""

    async def unjoined_entities(self, space: str, after: tuple[str, str], limit: int) -> EntityPage:
        """Scans `limit` entities by (name, uuid) after a position; `FIRST` is the beginning."""

    async def delete_unjoined(self, space: str, uuids: Sequence[str]) -> int:
        """Deletes the entities that have no connections; returns how many."""

    async def delete_document(
        self, space: str, document_id: str, deletion_id: str
    ) -> tuple[DeletionCounts, bool]:
        """Deletes `EPISODES_AT_ONCE` of the document's episodes, and with the last of them all its claims.

        Returns what the deletion has removed so far, and whether it has ended; after that it removes nothing.
        """
