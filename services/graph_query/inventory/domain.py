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


class FactSources(NamedTuple):
    """A stated fact by its position in the listing, with the documents that state it, "" without a document."""

    valid_from: float
    uuid: str
    documents: list[str]


class FindingPage(NamedTuple):
    """The findings of a page that come from an episode which does not exist; the page's length; its last uuid."""

    without_episode: list[str]
    looked_through: int
    last: str


class GraphState(NamedTuple):
    """What a restored backup would take back: the revision and the ontology's version; whether that can be read."""

    revision: int
    ontology_version: int
    ontology_readable: bool


class InventoryStore(Protocol):
    """Reads the ids of every space's graph. Raises what `GraphStore` raises."""

    async def list_spaces(self, after: str, limit: int) -> list[str]:
        """Lists spaces that have a graph by id, with ids greater than `after`, at most `limit`."""

    async def list_episodes(self, space: str, after: str, limit: int) -> list[EpisodeRef]:
        """Lists episodes by uuid, with uuids greater than `after`, at most `limit`."""

    async def find_episodes(self, space: str, uuids: Sequence[str]) -> list[str]:
        """Returns the episodes that exist, by uuid."""

    async def list_documents(self, space: str, after: str, limit: int) -> list[str]:
        """Lists document ids by their nodes' uuids, starting after document `after` ("" for the first)."""

    async def unjoined_entities(self, space: str, after: tuple[str, str], limit: int) -> EntityPage:
        """Scans `limit` entities by (name, uuid) after a position; `FIRST` is the beginning."""

    async def fact_sources(
        self, space: str, after: tuple[float, str], limit: int
    ) -> list[FactSources]:
        """Lists stated facts by (start, uuid) after a position."""

    async def findings_without_episode(self, space: str, after: str, limit: int) -> FindingPage:
        """Scans `limit` findings by uuid after a position."""

    async def graph_state(self, space: str) -> GraphState:
        """Returns the state of the space."""

    async def delete_unjoined(self, space: str, uuids: Sequence[str]) -> int:
        """Deletes the entities that have no connections; returns how many."""

    async def delete_document(
        self, space: str, document_id: str, deletion_id: str
    ) -> tuple[DeletionCounts, bool]:
        """Deletes `EPISODES_AT_ONCE` of the document's episodes, and with the last of them all its claims.

        Returns what the deletion has removed so far, and whether it has ended; after that it removes nothing.
        """

    async def end_document(self, space: str, document_id: str, end: float) -> None:
        """Ends the document's passages at `end`, in epoch seconds; those of a version that begins later remain."""

    async def delete_space(self, space: str, deletion_id: str) -> tuple[DeletionCounts, bool]:
        """Deletes some of what the space contains; the last call makes it like a new one, but for its revision.

        Returns what the deletion has removed so far, and whether it has ended; after that it removes nothing.
        """
