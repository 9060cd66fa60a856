"""The inventory in Neo4j."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from services.graph_query.core.domain import DeletionCounts
from services.graph_query.core.identity import document_uuid
from services.graph_query.episodes.version_validity import update_periods
from services.graph_query.episodes.writes import remove_passages
from services.graph_query.facts.erasure import erase_past_endings, erase_versions
from services.graph_query.inventory.deletion_records import (
    DeletionRecord,
    keep_deletion,
    read_deletion,
)
from services.graph_query.inventory.domain import (
    EPISODES_AT_ONCE,
    EntityPage,
    EpisodeRef,
    FactSources,
    FindingPage,
    GraphState,
)
from services.graph_query.inventory.space_deletion import remove_rows
from services.graph_query.neo4j.database import Database
from services.graph_query.neo4j.space_writer import SpaceWriter, Write, as_passage
from services.graph_query.ontology.neo4j_store import from_text


class Neo4jInventory:
    """Implements `InventoryStore` on Neo4j."""

    def __init__(self, database: Database, write: Write) -> None:
        self._database = database
        self._write = write

    async def list_spaces(self, after: str, limit: int) -> list[str]:
        """See `InventoryStore`."""
        rows = await self._database.read("list_spaces", after=after, limit=limit)
        return [row["space"] for row in rows]

    async def list_episodes(self, space: str, after: str, limit: int) -> list[EpisodeRef]:
        """See `InventoryStore`."""
        parameters = {"space": space, "after": after, "limit": limit}
        rows = await self._database.read("list_episodes", **parameters)
        return [EpisodeRef(row["uuid"], row["document_id"]) for row in rows]

    async def find_episodes(self, space: str, uuids: Sequence[str]) -> list[str]:
        """See `InventoryStore`."""
        parameters = {"space": space, "uuids": list(uuids)}
        return [row["uuid"] for row in await self._database.read("find_episodes", **parameters)]

    async def list_documents(self, space: str, after: str, limit: int) -> list[str]:
        """See `InventoryStore`."""
        position = document_uuid(space, after) if after else ""
        parameters = {"space": space, "after": position, "limit": limit}
        return [
            row["document_id"] for row in await self._database.read("list_documents", **parameters)
        ]

    async def unjoined_entities(self, space: str, after: tuple[str, str], limit: int) -> EntityPage:
        """See `InventoryStore`."""
        parameters = {
            "space": space,
            "after_name": after[0],
            "after_uuid": after[1],
            "limit": limit,
        }
        row = (await self._database.read("unjoined_entities", **parameters))[0]
        last = (row["last"][0], row["last"][1]) if row["last"] else after
        return EntityPage([(uuid, name) for uuid, name in row["unjoined"]], row["seen"], last)

    async def fact_sources(
        self, space: str, after: tuple[float, str], limit: int
    ) -> list[FactSources]:
        """See `InventoryStore`. Takes two queries, as a single one would read all facts of the same start again."""
        parameters = {"space": space, "after_from": after[0], "after_uuid": after[1]}
        rows = await self._database.read("fact_sources_of_start", **parameters, limit=limit)
        if len(rows) < limit:
            left = limit - len(rows)
            rows += await self._database.read("fact_sources", **parameters, limit=left)
        return [FactSources(row["valid_from"], row["uuid"], row["documents"]) for row in rows]

    async def findings_without_episode(self, space: str, after: str, limit: int) -> FindingPage:
        """See `InventoryStore`."""
        parameters = {"space": space, "after": after, "limit": limit}
        row = (await self._database.read("findings_without_episode", **parameters))[0]
        return FindingPage(row["without"], row["seen"], row["last"] or after)

    async def graph_state(self, space: str) -> GraphState:
        """See `InventoryStore`."""
        row = (await self._database.read("graph_state", space=space))[0]
        return GraphState(row["revision"], row["version"], _is_readable(row["text"], row["events"]))

    async def delete_unjoined(self, space: str, uuids: Sequence[str]) -> int:
        """See `InventoryStore`."""

        async def work(writer: SpaceWriter) -> int:
            own = await writer.read("entities_of_space", uuids=sorted(uuids))
            return await writer.delete_orphans([row["uuid"] for row in own])

        return (await self._write(space, work))[0]

    async def delete_document(
        self, space: str, document_id: str, deletion_id: str
    ) -> tuple[DeletionCounts, bool]:
        """See `InventoryStore`. The counts are stored in the transaction that deletes."""

        return await self._delete(
            space, deletion_id, lambda writer: _remove_episodes(writer, document_id)
        )

    async def end_document(self, space: str, document_id: str, end: float) -> None:
        """See `InventoryStore`."""

        async def work(writer: SpaceWriter) -> None:
            uuid = document_uuid(space, document_id)
            if await writer.note("end_document", uuid=uuid, end=end):
                await update_periods(writer, [uuid])

        await self._write(space, work)

    async def delete_space(self, space: str, deletion_id: str) -> tuple[DeletionCounts, bool]:
        """See `InventoryStore`. The counts are stored in the transaction that deletes."""
        return await self._delete(
            space, deletion_id, lambda writer: remove_rows(writer, deletion_id)
        )

    async def _delete(
        self,
        space: str,
        deletion_id: str,
        remove: Callable[[SpaceWriter], Awaitable[DeletionRecord]],
    ) -> DeletionRecord:
        async def work(writer: SpaceWriter) -> DeletionRecord:
            former = await read_deletion(writer, deletion_id)
            if former.ended:
                return former
            removed = await remove(writer)
            total = DeletionRecord(removed.counts.plus(former.counts), removed.ended)
            await keep_deletion(writer, deletion_id, total)
            return total

        return (await self._write(space, work))[0]


def _is_readable(text: str | None, events: Sequence[str] | None) -> bool:
    """Returns whether an ontology's text can be parsed, and its events are those stored next to it."""
    if not text:
        return True
    try:
        return sorted(from_text(text).events) == sorted(events or ())
    except (ValueError, KeyError, TypeError):
        return False


async def _remove_episodes(writer: SpaceWriter, document_id: str) -> DeletionRecord:
    found = await writer.read(
        "episodes_of_document",
        document=document_uuid(writer.space, document_id),
        limit=EPISODES_AT_ONCE,
    )
    rows = await writer.passages([row["uuid"] for row in found])
    gone = [as_passage(row) for row in rows]
    ended = len(gone) < EPISODES_AT_ONCE
    claims = {document_id} if ended else set()
    removed = await remove_passages(writer, gone, {document_id}, claims, erase=True)
    if not ended:
        return DeletionRecord(removed, ended=False)
    erased = await erase_past_endings(writer, document_id)
    erased += await erase_versions(writer, document_id)
    return DeletionRecord(replace(removed, versions=removed.versions + erased), ended=True)
