"""Stores episodes and their extractions in Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.graph_query.core.domain import EpisodeCounts, Passage
from services.graph_query.episodes.extraction_result import ExtractionResult
from services.graph_query.episodes.extraction_writes import write_extraction
from services.graph_query.episodes.writes import add_episodes, is_same
from services.graph_query.neo4j.database import Database, Rows
from services.graph_query.neo4j.space_writer import SpaceWriter, Write, as_passage


class Neo4jExtractions:
    """Implements `ExtractionStore` on Neo4j."""

    def __init__(self, database: Database, write: Write) -> None:
        self._database = database
        self._write = write

    async def unread(self, space: str, passages: Sequence[Passage]) -> list[Passage]:
        """Returns passages that no model has read in their present form."""
        uuids = [passage.uuid for passage in passages]
        rows = await self._database.read("passages_by_uuid", space=space, uuids=uuids)
        return _unread(rows, passages)

    async def add_extraction(
        self, space: str, passage: Passage, reading: ExtractionResult, model: str
    ) -> EpisodeCounts:
        """Adds a passage and its extraction in one transaction."""

        async def work(writer: SpaceWriter) -> EpisodeCounts:
            if not _unread(await writer.passages([passage.uuid]), [passage]):
                # Extracted concurrently; the passage may still belong to another version of its document.
                return await add_episodes(writer, [passage])
            counts = await add_episodes(writer, [passage])
            read = await write_extraction(writer, passage.uuid, reading, model)
            entities = writer.entities_created
            return replace(counts, entities=entities, facts=read.facts, ended=read.ended)

        counts, revision = await self._write(space, work, model, reading.vector_length())
        return replace(counts, revision=revision)


def _unread(rows: Rows, passages: Sequence[Passage]) -> list[Passage]:
    read = {row["uuid"]: as_passage(row) for row in rows if row["read"]}
    return [passage for passage in passages if not is_same(read.get(passage.uuid), passage)]
