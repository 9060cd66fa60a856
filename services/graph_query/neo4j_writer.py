"""One write to a space: the local graph kept equal to what extraction finds, inside one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from services.graph_query.domain import Passage
from services.graph_query.extraction.extract import MentionKind
from services.graph_query.extraction.gazetteer import Gazetteer, Uuids
from services.graph_query.identity import document_uuid
from services.graph_query.local_graph import Changes, ReadPassage, difference, merged, passage_rows
from services.graph_query.lucene import phrase_queries
from services.graph_query.names import is_linkable, link_key
from services.graph_query.neo4j_database import Rows, Transaction


class SpaceWriter:
    """Writes to one space under its lock. `gazetteer` is the space's names as of this transaction."""

    def __init__(
        self, transaction: Transaction, space: str, gazetteer: Gazetteer, now: datetime
    ) -> None:
        self.space = space
        self.gazetteer = gazetteer
        self.now = now
        self.names_changed = False
        self.entities_created = 0
        self._transaction = transaction

    async def run(self, name: str, **parameters: Any) -> Rows:
        """A named query with the space among its parameters."""
        return await self._transaction.run(name, space=self.space, **parameters)

    async def relink(
        self,
        put: Mapping[str, Uuids],
        removed: Collection[str] = (),
    ) -> Changes:
        """Moves to the gazetteer with these names put and removed; what that changes in older passages."""
        old, new = self.gazetteer, self.gazetteer.changed(put, removed)
        if not put and not removed:
            return Changes()
        self.gazetteer, self.names_changed = new, True
        keys = {link_key(name) for name in (*put, *removed)}
        older = await self._passages_with(keys)
        probe = Gazetteer.of(dict.fromkeys((*put, *removed), ("",)))
        return await asyncio.to_thread(_differences, self.space, older, probe, old, new)

    async def apply(self, changes: Changes) -> None:
        """Writes and removes rows; entities that are missing are created first."""
        await self._create_missing(changes)
        if changes.sentences_cut:
            cut = [[row.uuid, row.subject, row.targets] for row in changes.sentences_cut]
            await self.run("delete_sentences", rows=cut)
        if changes.mentions_cut:
            rows = [[row.episode, row.entity] for row in changes.mentions_cut]
            await self.run("delete_mentions", rows=rows)
        await self.run("create_mentions", rows=_by_episode(changes))
        put = [list(row) for row in changes.sentences_put]
        await self.run("create_sentences", rows=put)

    async def create_entities(self, rows: Iterable[tuple[str, str, str, str]]) -> None:
        """Creates entities: (uuid, name key, name as written, type)."""
        told = [
            [
                uuid,
                key,
                name,
                link_key(key),
                entity_type,
                is_linkable(key) and key in self.gazetteer,
            ]
            for uuid, key, name, entity_type in sorted(rows)
        ]
        if told:
            await self.run("create_entities", rows=told, now=self.now)
        self.entities_created += len(told)

    async def link(self, put: Mapping[str, Uuids]) -> None:
        """Marks names as ones that text is linked to."""
        if put:
            await self.run("link_names", keys=sorted(put))

    async def unlink(self, entities: Collection[str]) -> tuple[dict[str, Uuids], list[str]]:
        """Unmarks names of these entities that nothing gives any more: names left with fewer, and gone ones."""
        rows = await self.run("unlink_names", uuids=sorted(entities), about=int(MentionKind.ABOUT))
        gone: dict[str, set[str]] = {}
        for row in rows:
            gone.setdefault(row["key"], set()).add(row["uuid"])
        left = {
            key: tuple(uuid for uuid in self.gazetteer.uuids(key) if uuid not in uuids)
            for key, uuids in gone.items()
        }
        put = {key: uuids for key, uuids in left.items() if uuids}
        return put, [key for key, uuids in left.items() if not uuids]

    async def delete_orphans(self, entities: Collection[str]) -> int:
        """Removes those of the entities that nothing is joined to any more."""
        if not entities:
            return 0
        rows = await self.run("delete_orphans", uuids=sorted(entities))
        return int(rows[0]["deleted"])

    async def cite(self, documents: Collection[str]) -> None:
        """Renews the citations of the facts that these documents claim."""
        if documents:
            await self.run("cite_facts", documents=sorted(documents))

    async def passages(self, uuids: Sequence[str]) -> Rows:
        """Those of the episodes that are there."""
        return await self.run("passages_by_uuid", uuids=list(uuids))

    async def create_passages(self, reads: Sequence[ReadPassage]) -> None:
        """Creates episodes and the documents that they belong to."""
        rows = [_passage_row(self.space, read) for read in reads]
        documents = {row["document"]: row for row in rows}
        told = [
            {**row, "uuid": uuid, "words": "", "content": ""}
            for uuid, row in sorted(documents.items())
        ]
        await self.run("create_documents", rows=told)
        await self.run("create_passages", rows=rows, now=self.now)

    async def _passages_with(self, keys: Collection[str]) -> list[Passage]:
        found: dict[str, Passage] = {}
        for query in phrase_queries(self.space, keys):
            for row in await self.run("passages_with_words", lucene=query):
                found[row["uuid"]] = as_passage(row)
        return list(found.values())

    async def _create_missing(self, changes: Changes) -> None:
        wanted = {row.entity for row in changes.mentions_put}
        rows = await self.run("missing_entities", uuids=sorted(wanted))
        missing = [(uuid, *changes.names[uuid], "") for uuid in rows[0]["uuids"]]
        await self.create_entities(missing)


def as_passage(row: Mapping[str, Any]) -> Passage:
    """A passage of a row."""
    return Passage(row["uuid"], row["document_id"], row["title"], row["source"], row["content"])


def _differences(
    space: str, passages: Sequence[Passage], probe: Gazetteer, old: Gazetteer, new: Gazetteer
) -> Changes:
    """What passages gain and lose by new names; those that the probe finds nothing in are passed over."""
    reads = (ReadPassage.of(passage) for passage in passages)
    return merged(
        difference(passage_rows(space, read, old), passage_rows(space, read, new))
        for read in reads
        if any(probe.find(read.sentences))
    )


def _by_episode(changes: Changes) -> list[list[Any]]:
    ordered = sorted(changes.mentions_put)
    return [
        [episode, [[row.entity, row.kind, row.sentences] for row in rows]]
        for episode, rows in groupby(ordered, key=lambda row: row.episode)
    ]


def _passage_row(space: str, read: ReadPassage) -> dict[str, Any]:
    passage = read.passage
    return {
        "uuid": passage.uuid,
        "document": document_uuid(space, passage.document_id),
        "document_id": passage.document_id,
        "title": passage.title,
        "source": passage.source,
        "content": passage.content,
        "words": read.words,
        "reference_time": passage.reference_time,
    }
