"""Quarantines in Neo4j: each item is a node with its serialized content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from services.graph_query.core.identity import document_uuid
from services.graph_query.episodes.writes import remove_passages
from services.graph_query.neo4j.database import Database
from services.graph_query.neo4j.space_writer import SpaceWriter, Write
from services.graph_query.quarantine.content import decode, encode
from services.graph_query.quarantine.domain import (
    TEXT_LENGTH,
    Counts,
    Item,
    ItemKind,
    NewItem,
    Quarantine,
)
from services.graph_query.quarantine.episodes import (
    FACTS_AT_ONCE,
    quarantine_claims,
    quarantine_episodes,
    quarantine_past,
    quarantine_past_endings,
    restore_document,
    restore_episode,
)
from services.graph_query.quarantine.facts import quarantine_facts, restore_facts
from services.graph_query.quarantine.findings import quarantine_findings, restore_finding

# Episodes in one transaction.
EPISODES_AT_ONCE = 100
PURGED_AT_ONCE = 500

Step: TypeAlias = Callable[[SpaceWriter], Awaitable[list[NewItem]]]
Content: TypeAlias = Mapping[str, Any]


class Neo4jQuarantine:
    """Implements `QuarantineStore` on Neo4j."""

    def __init__(self, database: Database, write: Write) -> None:
        self._database = database
        self._write = write

    async def quarantine(
        self, space: str, quarantine_id: str, kind: ItemKind, ids: Sequence[str]
    ) -> Counts:
        """See `QuarantineStore`. Each transaction moves a limited amount of data."""
        counts: Counts = Counter()
        if kind is ItemKind.DOCUMENT:
            for document_id in ids:
                counts += await self._quarantine_document(space, quarantine_id, document_id)
            return counts
        for part in _parts(ids, EPISODES_AT_ONCE):
            counts += await self._step(space, quarantine_id, _step(kind, part))
        return counts

    async def quarantines(self, space: str, after: str, limit: int) -> list[Quarantine]:
        """See `QuarantineStore`."""
        parameters = {"space": space, "after": after, "limit": limit}
        rows = await self._database.read("quarantines_of_space", **parameters)
        return [
            Quarantine(
                row["id"],
                row["created_at"].to_native(),
                dict(zip(ItemKind, row["counts"], strict=True)),
                row["items"],
            )
            for row in rows
        ]

    async def items(self, space: str, quarantine_id: str, after: str, limit: int) -> list[Item]:
        """See `QuarantineStore`."""
        parameters = {"space": space, "quarantine": quarantine_id, "after": after, "limit": limit}
        rows = await self._database.read("quarantined_items", **parameters)
        return [
            Item(
                row["id"],
                ItemKind(row["kind"]),
                row["subject"],
                row["document_id"],
                row["text"],
                row["created_at"].to_native(),
            )
            for row in rows
        ]

    async def restore(self, space: str, quarantine_id: str, ids: Sequence[str]) -> Counts:
        """See `QuarantineStore`. Each item is restored in one transaction with its removal from the quarantine."""
        counts: Counts = Counter()
        for one in sorted(set(ids)):
            counts += await self._restore(space, quarantine_id, one)
        return counts

    async def purge(self, space: str, quarantine_id: str) -> Counts:
        """See `QuarantineStore`."""
        counts: Counts = Counter()
        more = True
        while more:
            kinds = await self._purge_some(space, quarantine_id)
            counts.update(kinds)
            more = len(kinds) == PURGED_AT_ONCE
        return counts

    async def _quarantine_document(
        self, space: str, quarantine_id: str, document_id: str
    ) -> Counts:
        """Moves a document in steps that each leave the graph consistent: facts first, the document itself last."""
        counts: Counts = Counter()
        steps: tuple[Step, ...] = (
            lambda writer: _facts_of(writer, document_id),
            lambda writer: quarantine_claims(writer, document_id),
            lambda writer: _episodes_of(writer, document_id),
            lambda writer: _empty_document(writer, document_id),
            lambda writer: quarantine_past_endings(writer, document_id),
            lambda writer: quarantine_past(writer, document_id),
        )
        for step in steps:
            while moved := await self._step(space, quarantine_id, step):
                counts += moved
        return counts

    async def _step(self, space: str, quarantine_id: str, step: Step) -> Counts:
        """Runs a step and stores its items, in one transaction."""

        async def work(writer: SpaceWriter) -> Counts:
            items = await step(writer)
            if items:
                await _put(writer, quarantine_id, items)
            return Counter(item.kind for item in items)

        return (await self._write(space, work))[0]

    async def _restore(self, space: str, quarantine_id: str, item_id: str) -> Counts:
        async def work(writer: SpaceWriter) -> Counts:
            place = {"quarantine": quarantine_id, "id": item_id}
            rows = await writer.read("quarantined_content", **place)
            if not rows:
                return Counter()
            kind = ItemKind(rows[0]["kind"])
            left = await _restore_content(writer, kind, decode(rows[0]["content"]))
            if left is None:
                await writer.write("drop_quarantined", quarantine=quarantine_id, ids=[item_id])
                return Counter([kind])
            await writer.write(
                "put_quarantine",
                quarantine=quarantine_id,
                now=writer.now,
                counts=[0] * len(ItemKind),
                items=[{"id": item_id, "content": encode(left)}],
            )
            return Counter()

        return (await self._write(space, work))[0]

    async def _purge_some(self, space: str, quarantine_id: str) -> list[ItemKind]:
        parameters = {"quarantine": quarantine_id, "limit": PURGED_AT_ONCE}

        async def work(writer: SpaceWriter) -> list[ItemKind]:
            rows = await writer.read("purge_quarantined", **parameters)
            return [ItemKind(kind) for kind in rows[0]["kinds"]]

        return (await self._write(space, work))[0]


async def _restore_content(writer: SpaceWriter, kind: ItemKind, content: Content) -> Content | None:
    """Restores an item's content; returns what could not be restored yet, None if nothing is left."""
    if kind is ItemKind.FACT:
        await restore_facts(writer, [content])
        return None
    if kind is ItemKind.FINDING:
        return await restore_finding(writer, content)
    if kind is ItemKind.DOCUMENT:
        await restore_document(writer, content)
        return None
    return await restore_episode(writer, content)


def _step(kind: ItemKind, ids: Sequence[str]) -> Step:
    if kind is ItemKind.FACT:
        return lambda writer: quarantine_facts(writer, ids)
    if kind is ItemKind.FINDING:
        return lambda writer: quarantine_findings(writer, ids)
    return lambda writer: quarantine_episodes(writer, ids, keep_documents=True)


async def _facts_of(writer: SpaceWriter, document_id: str) -> list[NewItem]:
    parameters = {"document_id": document_id, "limit": FACTS_AT_ONCE}
    rows = await writer.read("facts_stated_by_document", **parameters)
    return await quarantine_facts(writer, [row["uuid"] for row in rows])


async def _episodes_of(writer: SpaceWriter, document_id: str) -> list[NewItem]:
    rows = await writer.read(
        "episodes_of_document",
        document=document_uuid(writer.space, document_id),
        limit=EPISODES_AT_ONCE,
    )
    return await quarantine_episodes(writer, [row["uuid"] for row in rows], keep_documents=False)


async def _empty_document(writer: SpaceWriter, document_id: str) -> list[NewItem]:
    """Removes a document that has no episode left."""
    await remove_passages(writer, [], {document_id})
    return []


async def _put(writer: SpaceWriter, quarantine_id: str, items: Sequence[NewItem]) -> None:
    found = Counter(item.kind for item in items)
    rows = [
        {
            "id": item.id_within(writer.space, quarantine_id),
            "kind": item.kind.value,
            "subject": item.subject,
            "document_id": item.document_id,
            "text": item.text[:TEXT_LENGTH],
            "content": encode({**item.content, "document_id": item.document_id}),
        }
        for item in items
    ]
    await writer.write(
        "put_quarantine",
        quarantine=quarantine_id,
        now=writer.now,
        counts=[found[kind] for kind in ItemKind],
        items=rows,
    )


def _parts(ids: Sequence[str], size: int) -> list[Sequence[str]]:
    return [ids[start : start + size] for start in range(0, len(ids), size)]
