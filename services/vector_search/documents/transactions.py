"""One write of documents in PostgreSQL: a transaction of set-based steps.

Every writer takes locks in the same order, so that none deadlock: documents by id, terms by lexeme, the space's row.
Terms and the space come last, so that writers of one space block each other as briefly as possible.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pgvector import HalfVector

from services.postgres.pool import Row, Session
from services.runtime.errors import OverloadedError
from services.runtime.queries import Queries
from services.vector_search.documents.versions import (
    Planned,
    Stored,
    StoredVersion,
    counts_of,
    ending_of,
    latest_of,
    outcomes_of,
    planned_versions,
    refuse_other_chunks,
    same_versions,
    unchanged,
    version_chunk_columns,
    version_columns,
)
from services.vector_search.domain import (
    FOREVER,
    Deletion,
    Model,
    NewDocument,
    Outcome,
    WriteResult,
)
from services.vector_search.store import MissingVectorsError, SpaceModelError

# Documents that each transaction of a space's deletion removes.
DOCUMENTS_AT_ONCE = 200


class DocumentWrite:
    """Writes documents within one transaction of `session`."""

    def __init__(self, session: Session, queries: Queries, space: str) -> None:
        self._session = session
        self._queries = queries
        self._space = space

    async def run(self, model: Model, documents: Sequence[NewDocument]) -> WriteResult:
        """Writes the new content of `documents`. See `VectorStore.upsert`."""
        await self._fetch("share_model_lock")
        state = checked(await self._row("read_space"), model)
        due = await self._due_documents() if state["change_due"] else []
        before = await self._read_versions([d.document_id for d in documents])
        now = await self._clock()
        # Compared as of now: a document with unchanged content need not be written again.
        same = same_versions(documents, before, now)
        changed = [d for d in documents if d.document_id not in same]
        if not changed and not due:
            return _result(documents, same, {}, state["revision"])
        if state["held_seconds"] > 0:
            raise OverloadedError(state["held_seconds"])
        locked = sorted({d.document_id for d in changed} | set(due))
        await self._fetch("lock_documents", locked)
        stored = await self._read_versions(locked)
        now = await self._clock()
        # Another writer may have stored the same content while this one waited for the locks.
        same |= same_versions(changed, stored, now)
        planned = planned_versions([d for d in changed if d.document_id not in same], stored, now)
        if not planned and not due:
            state = checked(await self._row("read_space"), model)
            return _result(documents, same, {}, state["revision"])
        await self._unlock_missing(locked, stored, planned)
        outcomes, revision = await self._write(state["model_id"], planned, stored, locked, now)
        return _result(documents, same, outcomes, revision)

    async def end(self, document_id: str) -> datetime | None:
        """Ends a document; returns from when it is no longer valid, None if it does not exist."""
        await self._fetch("share_model_lock")
        state = await self._row("read_space")
        await self._fetch("lock_documents", [document_id])
        stored = await self._read_versions([document_id])
        versions = stored[document_id]
        if state is None or not versions:
            await self._unlock_missing([document_id], stored, [])
            return None
        if latest_of(versions).is_end:
            return latest_of(versions).valid_from
        now = await self._clock()
        planned = planned_versions([ending_of(document_id, versions, now)], stored, now)
        await self._write(state["model_id"], planned, stored, [document_id], now)
        return planned[0].version.valid_from

    async def _unlock_missing(
        self, locked: list[str], stored: Stored, planned: list[Planned]
    ) -> None:
        """Deletes rows created by locking, for documents that were deleted concurrently and are not written here."""
        written = {p.document.document_id for p in planned}
        missing = [key for key in locked if not stored[key] and key not in written]
        if missing:
            await self._fetch("unlock_documents", missing)

    async def _write(
        self,
        model_id: int,
        planned: list[Planned],
        stored: Stored,
        locked: list[str],
        now: datetime,
    ) -> tuple[dict[str, Outcome], int]:
        made = await self._insert_chunks(planned)
        retitled = await self._retitle(planned, made)
        await self._put_vectors(model_id, planned, made | retitled)
        retired = await self._retired(planned)
        await self._insert_versions(planned, now)
        seen_before = [document_id for document_id in locked if stored[document_id]]
        flips = await self._refresh_flags(seen_before, now)
        await self._count_terms(made, retitled, flips)
        counts = counts_of(planned, stored, made, retitled, flips)
        await self._fetch("lock_space")
        revision = await self._value(
            "count_space", counts.documents, counts.chunks, counts.current, counts.length
        )
        return outcomes_of(planned, made, retitled, retired), revision

    async def _due_documents(self) -> list[str]:
        return [row["document_id"] for row in await self._fetch("due_documents")]

    async def _clock(self) -> datetime:
        now: datetime = await self._session.value(self._queries["read_clock"])
        return now

    async def _read_versions(self, document_ids: list[str]) -> Stored:
        stored: Stored = defaultdict(list)
        for row in await self._fetch("read_versions", document_ids):
            stored[row["document_id"]].append(
                StoredVersion(
                    row["version"],
                    row["valid_from"],
                    row["valid_until"] or FOREVER,
                    row["content_hash"],
                    row["is_end"],
                )
            )
        return stored

    async def _insert_chunks(self, planned: list[Planned]) -> dict[str, Row]:
        rows = [(p, chunk) for p in planned for chunk in p.document.chunks]
        ids = [chunk.id for _, chunk in rows]
        owners = [p.document.document_id for p, _ in rows]
        contents = [chunk.content for _, chunk in rows]
        made = await self._fetch(
            "insert_chunks",
            ids,
            owners,
            [p.document.title for p, _ in rows],
            contents,
            [p.holds for p, _ in rows],
        )
        if len(made) < len(rows):
            others = await self._fetch("other_chunks", ids, owners, contents)
            refuse_other_chunks(planned, {str(row["id"]) for row in others})
        return {str(row["id"]): row for row in made}

    async def _retitle(self, planned: list[Planned], made: dict[str, Row]) -> dict[str, Row]:
        """Reindexes chunks whose title changed; their vectors are removed."""
        rows = [(p, c.id) for p in planned for c in p.document.chunks if c.id not in made]
        if not rows:
            return {}
        changed = await self._fetch(
            "retitle_chunks",
            [chunk_id for _, chunk_id in rows],
            [p.document.title for p, _ in rows],
            [p.version.valid_from for p, _ in rows],
        )
        return {str(row["id"]): row for row in changed}

    async def _put_vectors(
        self, model_id: int, planned: list[Planned], made: dict[str, Row]
    ) -> None:
        new = [chunk for p in planned for chunk in p.document.chunks if chunk.id in made]
        missing = frozenset(chunk.id for chunk in new if chunk.vector is None)
        if missing:
            raise MissingVectorsError(missing)
        if new:
            await self._session.fetch(
                self._queries["put_embeddings"],
                model_id,
                self._space,
                [chunk.id for chunk in new],
                [made[chunk.id]["current"] for chunk in new],
                [HalfVector(chunk.vector) for chunk in new if chunk.vector is not None],
            )

    async def _retired(self, planned: list[Planned]) -> dict[str, int]:
        former = [p for p in planned if p.version.closes is not None]
        if not former:
            return {}
        rows = await self._fetch(
            "version_chunks",
            [p.document.document_id for p in former],
            [p.version.closes for p in former],
        )
        kept = {p.document.document_id: {c.id for c in p.document.chunks} for p in former}
        retired: dict[str, int] = defaultdict(int)
        for row in rows:
            retired[row["document_id"]] += str(row["chunk_id"]) not in kept[row["document_id"]]
        return retired

    async def _insert_versions(self, planned: list[Planned], now: datetime) -> None:
        if not planned:
            return
        closing = [p for p in planned if p.version.closes is not None]
        if closing:
            await self._fetch(
                "close_versions",
                [p.document.document_id for p in closing],
                [p.version.closes for p in closing],
                [p.version.valid_from for p in closing],
            )
        await self._fetch("insert_versions", *version_columns(planned), now)
        await self._fetch("insert_version_chunks", *version_chunk_columns(planned, now))

    async def _refresh_flags(self, document_ids: list[str], now: datetime) -> list[Row]:
        if not document_ids:
            return []
        flips = await self._fetch("stale_flags", document_ids, now)
        for wanted in (False, True):
            ids = [row["id"] for row in flips if row["wanted"] is wanted]
            if ids:
                await self._fetch("flag_chunks", ids, wanted)
        await self._fetch("activate_versions", document_ids, now)
        return flips

    async def _count_terms(
        self, made: dict[str, Row], retitled: dict[str, Row], flips: list[Row]
    ) -> None:
        new = [*made.values(), *retitled.values()]
        if not new and not flips:
            return
        ids = [row["id"] for row in (*new, *flips)]
        df = [
            *(int(row["current"]) for row in new),
            *(1 if row["wanted"] else -1 for row in flips),
        ]
        postings = [1] * len(new) + [0] * len(flips)
        if not retitled:
            await self._fetch("count_terms", ids, df, postings)
            return
        was = [row["was"] for row in retitled.values()]
        was_df = [int(row["current"]) for row in retitled.values()]
        await self._fetch("recount_terms", ids, df, postings, was, was_df)

    async def _fetch(self, query: str, *args: object) -> list[Row]:
        return await self._session.fetch(self._queries[query], self._space, *args)

    async def _row(self, query: str, *args: object) -> Row | None:
        return await self._session.row(self._queries[query], self._space, *args)

    async def _value(self, query: str, *args: object) -> Any:
        return await self._session.value(self._queries[query], self._space, *args)


def _result(
    documents: Sequence[NewDocument],
    same: dict[str, StoredVersion],
    outcomes: dict[str, Outcome],
    revision: int,
) -> WriteResult:
    keys = [document.document_id for document in documents]
    return WriteResult([outcomes.get(key) or unchanged(key, same[key]) for key in keys], revision)


class DocumentDeletion:
    """Deletes a document within one transaction of `session`. Takes locks in the same order as every write."""

    def __init__(self, session: Session, queries: Queries, space: str) -> None:
        self._session = session
        self._queries = queries
        self._space = space

    async def run(self, document_id: str, deletion_id: str | None) -> Deletion | None:
        """Returns what it removed, or what an earlier deletion of this id removed; None without such a document."""
        if earlier := await self._recall(deletion_id):
            return earlier
        # Removing a model deletes vectors of all documents, in a different order.
        await self._session.fetch(self._queries["share_model_lock"], self._space)
        row = await self._session.row(self._queries["remove_document"], self._space, document_id)
        # A row without a version is not a document and was not counted.
        if row is None or not row["versions"]:
            # The same deletion may have finished in another process while this one waited for the document.
            return await self._recall(deletion_id)
        deletion = Deletion(row["versions"], len(row["ids"]), [str(i) for i in row["ids"]])
        if deletion_id:
            await self._session.execute(
                self._queries["record_deletion"],
                self._space,
                deletion_id,
                deletion.versions,
                deletion.chunks,
            )
        await self._count(row)
        return deletion

    async def _count(self, row: Row) -> None:
        await self._session.fetch(self._queries["lock_space"], self._space)
        await self._session.fetch(
            self._queries["count_space"],
            self._space,
            -1,
            -len(row["ids"]),
            -row["current_chunks"],
            -row["current_length"],
        )

    async def _recall(self, deletion_id: str | None) -> Deletion | None:
        if not deletion_id:
            return None
        row = await self._session.row(self._queries["get_deletion"], self._space, deletion_id)
        return None if row is None else Deletion(row["versions"], row["chunks"], [])


class SpaceDeletion:
    """Deletes some of a space's documents within one transaction. Takes locks in the same order as every write."""

    def __init__(self, session: Session, queries: Queries, space: str) -> None:
        self._session = session
        self._queries = queries
        self._space = space

    async def run(self, deletion_id: str) -> tuple[Deletion, bool]:
        """Returns what all transactions of this id removed, and whether the space is empty now."""
        await self._row("share_model_lock")
        removed = await self._row("remove_documents", DOCUMENTS_AT_ONCE)
        counts = ("documents", "chunks", "current_chunks", "current_length")
        await self._row("lock_space")
        await self._row("count_space", *(-removed[name] for name in counts))
        ended = removed["rows"] < DOCUMENTS_AT_ONCE
        if ended:
            await self._row("reset_space", deletion_id)
        row = await self._row(
            "add_to_deletion", deletion_id, removed["versions"], removed["chunks"]
        )
        return Deletion(row["versions"], row["chunks"], []), ended

    async def _row(self, query: str, *args: object) -> Any:
        return await self._session.row(self._queries[query], self._space, *args)


def checked(state: Row | None, model: Model) -> Row:
    """Returns the space's row. Raises SpaceModelError if the space is embedded with another model."""
    if state is None or state["name"] != model.name:
        raise SpaceModelError("is not the model that the space is embedded with")
    if state["dimension"] != model.dimension:
        raise SpaceModelError(f"has {state['dimension']} dimensions, not {model.dimension}")
    return state
